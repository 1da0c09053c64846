"""Stations that exchange bytes say what the stages say in one process, however badly they are treated."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.engine.drive import expect, play
from tests.paged_stories import paged_story, small_pages
from tests.pattern_stories import pattern_stories
from tests.runtime.by_hand import play_by_hand
from tests.strategies import EVERYTHING, Story, stories
from tests.trigger_stories import TRIGGERS, one_in, trigger_stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])


@KINDS
@given(data=st.data())
def test_agrees_parcels_in_any_order_and_stations_restored(kind: str, data: st.DataObject) -> None:
    assert_agrees(data.draw(stories(kind, EVERYTHING)), data)


@KINDS
@one_in(20)
@given(data=st.data())
def test_agrees_triggers(kind: str, data: st.DataObject) -> None:
    assert_agrees(data.draw(trigger_stories(kind, TRIGGERS.but(disorder=True, mess=True, commands=True))), data)


@KINDS
@one_in(20)
@given(data=st.data())
def test_agrees_patterns(kind: str, data: st.DataObject) -> None:
    assert_agrees(data.draw(pattern_stories(kind, wanted=EVERYTHING)), data)


@KINDS
@one_in(20)
@given(data=st.data())
def test_agrees_updates_in_pages(kind: str, data: st.DataObject) -> None:
    story = replace(data.draw(pattern_stories(kind, wanted=EVERYTHING)), resident_updates=data.draw(st.integers(1, 4)))
    with small_pages():
        assert_agrees(story, data)


@KINDS
def test_agrees_pages_of_a_longer_stream(kind: str) -> None:
    """Stations forget at every second step, and ends come in between that more input makes void."""
    story = paged_story(kind, 3, ticks=60)
    with small_pages():
        there = play_by_hand(story, random.Random(7), buckets=2, regions=2, forgets=0.5)
    oracle.assert_same_changes(there.changes, expect(story))


def assert_agrees(story: Story, data: st.DataObject) -> None:
    buckets, regions = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    chance = data.draw(st.randoms(use_true_random=False))
    forgets = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    here = play(story)
    there = play_by_hand(story, chance, buckets=buckets, regions=regions, forgets=forgets)
    for feed, same in zip(there.feeds, here.feeds, strict=True):
        oracle.assert_same_changes(feed, same)
    for told, same in ((there.late, here.late), (there.rejects, here.rejects)):
        assert sorted(map(str, told.to_pylist())) == sorted(map(str, same.to_pylist()))
    assert there.totals == {name: here.totals[name] for name in there.totals}  # (what shards store, each for itself)
