"""Stations that exchange bytes say what the stages say in one process, however badly they are treated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.engine.drive import play
from tests.runtime.by_hand import play_by_hand
from tests.strategies import EVERYTHING, stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])


@KINDS
@given(data=st.data())
def test_agrees_parcels_in_any_order_and_stations_restored(kind: str, data: st.DataObject) -> None:
    story = data.draw(stories(kind, EVERYTHING))
    buckets, regions = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    chance = data.draw(st.randoms(use_true_random=False))
    forgets = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    here = play(story)
    there = play_by_hand(story, chance, buckets=buckets, regions=regions, forgets=forgets)
    for feed, same in zip(there.feeds, here.feeds, strict=True):
        oracle.assert_same_changes(feed, same)
    for told, same in ((there.late, here.late), (there.rejects, here.rejects)):
        assert sorted(map(str, told.to_pylist())) == sorted(map(str, same.to_pylist()))
    assert there.totals == here.totals
