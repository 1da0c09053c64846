"""Alerts and combinations against brute force: all constraints, come and gone mid-stream, with timeouts and disorder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.engine.drive import check, expect, play
from tests.strategies import EVERYTHING
from tests.strategies_alerts import alert_stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
ALL = EVERYTHING.but(max_rows=32, max_queries=4)


@KINDS
@given(data=st.data())
def test_oracle_alerts(kind: str, data: st.DataObject) -> None:
    check(data.draw(alert_stories(kind, "ALERT", ALL)))


@KINDS
@given(data=st.data())
def test_oracle_alerts_over_buckets_and_regions(kind: str, data: st.DataObject) -> None:
    story = data.draw(alert_stories(kind, "ALERT", ALL))
    buckets, regions = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 6))
    saved = data.draw(st.sets(st.integers(0, len(story.batches))))
    played = play(story, buckets=buckets, regions=regions, saved_before=saved.__contains__)
    oracle.assert_same_changes(played.changes, expect(story))


@KINDS
@given(data=st.data())
def test_oracle_combinations(kind: str, data: st.DataObject) -> None:
    check(data.draw(alert_stories(kind, "QUERY", ALL)))


@KINDS
@given(data=st.data())
def test_oracle_both_over_buckets_and_regions(kind: str, data: st.DataObject) -> None:
    story = data.draw(alert_stories(kind, "both", ALL))
    buckets, regions = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 6))
    saved = data.draw(st.sets(st.integers(0, len(story.batches))))
    played = play(story, buckets=buckets, regions=regions, saved_before=saved.__contains__)
    oracle.assert_same_changes(played.changes, expect(story))
