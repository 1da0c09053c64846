"""Alerts and combinations do not depend on how the stream was cut, on who did what, or on what was inferred."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracle
from tests.engine.drive import play
from tests.runtime.by_hand import play_by_hand
from tests.strategies import EVERYTHING
from tests.strategies_alerts import alert_stories
from vedette.pipeline.alerts.shard import Shard
from vedette.space import planar

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
FEWER = settings(max_examples=max(15, settings().max_examples // 15))
ALL = EVERYTHING.but(max_rows=32, max_queries=4)


@KINDS
@FEWER
@given(data=st.data())
def test_agrees_stations_restored_at_any_time(kind: str, data: st.DataObject) -> None:
    story = data.draw(alert_stories(kind, "both", ALL))
    buckets, regions = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    chance = data.draw(st.randoms(use_true_random=False))
    there = play_by_hand(
        story, chance, buckets=buckets, regions=regions, forgets=data.draw(st.sampled_from([0.0, 1.0]))
    )
    for feed, same in zip(there.feeds, play(story).feeds, strict=True):
        oracle.assert_same_changes(feed, same)


@FEWER
@given(data=st.data())
def test_agrees_links_on_and_off(data: st.DataObject) -> None:
    story = data.draw(alert_stories("planar", "ALERT", ALL))
    inferred = play(story).changes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shard.__init__, "__defaults__", (False,))
        assert Shard(planar()).links is None
        oracle.assert_same_changes(play(story).changes, inferred)


@KINDS
@FEWER
@given(data=st.data())
def test_agrees_any_batch_split(kind: str, data: st.DataObject) -> None:
    """Without disorder and commands, one batch or many give the same."""
    wanted = ALL.but(disorder=False, mess=False, commands=False)
    story = data.draw(alert_stories(kind, "both", wanted))
    rows = [row for batch, _ in story.batches for row in batch]
    cuts = sorted(data.draw(st.tuples(*[st.integers(0, len(rows))] * 3)))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    one = play(replace(story, batches=[(rows, [])])).changes
    oracle.assert_same_changes(play(replace(story, batches=[(part, []) for part in parts])).changes, one)
