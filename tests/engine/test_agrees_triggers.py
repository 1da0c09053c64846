"""However a trigger is evaluated, and however stream and work are cut, the same tuples fire."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.engine.drive import expect, play
from tests.engine.test_agrees_cuts import in_one_batch, other_batches
from tests.trigger_stories import STRATEGIES, TRIGGERS, Casting, one_in, told_by, trigger_stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
STREAM = TRIGGERS.but(disorder=True, mess=True, commands=True)


@KINDS
@one_in(6)
@given(data=st.data())
def test_all_strategies(kind: str, data: st.DataObject) -> None:
    story = data.draw(trigger_stories(kind, STREAM))
    first, *others = (play(told_by(story, strategy)).changes for strategy in STRATEGIES)
    oracle.assert_same_changes(first, expect(story))
    for other in others:
        oracle.assert_same_changes(other, first)


@KINDS
@one_in(4)
@given(data=st.data())
def test_any_number_of_buckets_and_regions(kind: str, data: st.DataObject) -> None:
    casting = Casting(nearness=data.draw(st.sampled_from(["mixed", "all"])))
    story = data.draw(trigger_stories(kind, STREAM, casting))
    buckets, regions = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 9))
    cut = play(story, buckets=buckets, regions=regions)
    oracle.assert_same_changes(cut.changes, expect(story))
    assert cut.totals.get("alerts", 0) == len(cut.changes)


@KINDS
@one_in(7)
@given(data=st.data())
def test_any_batches_and_any_order_within_them(kind: str, data: st.DataObject) -> None:
    whole = in_one_batch(data.draw(trigger_stories(kind, TRIGGERS.but(mess=True))))
    other = data.draw(other_batches(whole))
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    oracle.assert_same_changes(play(other, buckets=buckets, regions=regions).changes, play(whole).changes)


@KINDS
@one_in(10)
@given(data=st.data())
def test_one_row_a_batch(kind: str, data: st.DataObject) -> None:
    whole = in_one_batch(data.draw(trigger_stories(kind, TRIGGERS.but(max_rows=20))))
    ((rows, _),) = whole.batches
    apart = replace(whole, batches=[([row], []) for row in rows])
    oracle.assert_same_changes(play(apart).changes, play(whole).changes)


@KINDS
@one_in(6)
@given(data=st.data())
def test_saving_and_restoring_between_batches(kind: str, data: st.DataObject) -> None:
    story = data.draw(trigger_stories(kind, STREAM))
    saved = data.draw(st.sets(st.integers(0, len(story.batches)), min_size=1))
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    straight = play(story, buckets=buckets, regions=regions)
    resumed = play(story, saved_before=saved.__contains__, buckets=buckets, regions=regions)
    for feed, same in zip(resumed.feeds, straight.feeds, strict=True):
        oracle.assert_same_changes(feed, same)
    assert {**resumed.totals, "probed_events": 0} == {**straight.totals, "probed_events": 0}  # those in another order
