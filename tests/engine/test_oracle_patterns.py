"""Motion patterns: the engine says what brute force says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.drive import check
from tests.pattern_stories import Tried, pattern_stories
from tests.strategies import Wanted
from tests.trigger_stories import one_in

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
EVERYTHING = Wanted(timeouts=True, disorder=True, mess=True, commands=True, timestamps=True, max_rows=40)


@KINDS
@one_in(2)
@given(data=st.data())
def test_inside_and_disjoint(kind: str, data: st.DataObject) -> None:
    check(data.draw(pattern_stories(kind, Tried(scores=False, filters=False))))


@KINDS
@one_in(2)
@given(data=st.data())
def test_scores(kind: str, data: st.DataObject) -> None:
    check(data.draw(pattern_stories(kind, Tried(filters=False, most_steps=3))))


@KINDS
@one_in(2)
@given(data=st.data())
def test_everything_at_once(kind: str, data: st.DataObject) -> None:
    check(data.draw(pattern_stories(kind, wanted=EVERYTHING)))
