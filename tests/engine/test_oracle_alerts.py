"""Alerts and combinations against brute force: all constraints, mid-stream, with timeouts and disorder."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import oracle
from tests.engine.drive import check, expect, play
from tests.strategies import EVERYTHING
from tests.strategies_alerts import alert_stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
# Each of these plays a whole run and asks brute force: a fraction of the examples that other properties get.
FEWER = settings(max_examples=max(20, settings().max_examples // 8))
ALL = EVERYTHING.but(max_rows=32, max_queries=4)


@KINDS
@FEWER
@given(data=st.data())
def test_oracle_alerts(kind: str, data: st.DataObject) -> None:
    check(data.draw(alert_stories(kind, "ALERT", ALL)))


@KINDS
@FEWER
@given(data=st.data())
def test_oracle_alerts_over_buckets_and_regions(kind: str, data: st.DataObject) -> None:
    story = data.draw(alert_stories(kind, "ALERT", ALL))
    buckets, regions = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 6))
    saved = data.draw(st.sets(st.integers(0, len(story.batches))))
    played = play(story, buckets=buckets, regions=regions, saved_before=saved.__contains__)
    oracle.assert_same_changes(played.changes, expect(story))


@KINDS
@FEWER
@given(data=st.data())
def test_oracle_combinations(kind: str, data: st.DataObject) -> None:
    check(data.draw(alert_stories(kind, "QUERY", ALL)))


@KINDS
@FEWER
@given(data=st.data())
def test_oracle_both_over_buckets_and_regions(kind: str, data: st.DataObject) -> None:
    story = data.draw(alert_stories(kind, "both", ALL))
    buckets, regions = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 6))
    saved = data.draw(st.sets(st.integers(0, len(story.batches))))
    played = play(story, buckets=buckets, regions=regions, saved_before=saved.__contains__)
    oracle.assert_same_changes(played.changes, expect(story))
