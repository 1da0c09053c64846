"""Motion patterns: the engine says what brute force says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.drive import check
from tests.pattern_stories import Tried, pattern_stories
from tests.strategies import Wanted

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
FEWER = settings(max_examples=max(10, settings.default.max_examples // 2))
EVERYTHING = Wanted(timeouts=True, disorder=True, mess=True, commands=True, timestamps=True, max_rows=40)


@KINDS
@FEWER
@given(data=st.data())
def test_inside_and_disjoint(kind: str, data: st.DataObject) -> None:
    check(data.draw(pattern_stories(kind, Tried(scores=False, filters=False))))


@KINDS
@FEWER
@given(data=st.data())
def test_scores(kind: str, data: st.DataObject) -> None:
    check(data.draw(pattern_stories(kind, Tried(filters=False, most_steps=3))))


@KINDS
@FEWER
@given(data=st.data())
def test_everything_at_once(kind: str, data: st.DataObject) -> None:
    check(data.draw(pattern_stories(kind, wanted=EVERYTHING)))
