"""Motion patterns: the engine says what brute force says."""

from __future__ import annotations

import itertools
from dataclasses import replace

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
def test_the_only_pattern_goes(kind: str, data: st.DataObject) -> None:
    """Nothing stands for a while, a batch or a part of one; what comes then counts from there on."""
    story = data.draw(pattern_stories(kind, Tried(most_steps=3), most=1))
    ticks = sorted(data.draw(st.sets(st.integers(1, 14), min_size=1, max_size=4)))
    turns = itertools.cycle(["DROP PATTERN p0;", story.queries[-1]])
    queries = [*story.queries, *(f"AT {t} {sql}" for t, sql in zip(ticks, turns, strict=False))]
    check(replace(story, queries=queries, resident_updates=data.draw(st.sampled_from([1, 1000]))))


@KINDS
@one_in(2)
@given(data=st.data())
def test_everything_at_once(kind: str, data: st.DataObject) -> None:
    check(data.draw(pattern_stories(kind, wanted=EVERYTHING)))
