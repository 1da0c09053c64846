"""Triggers: the engine fires for exactly the tuples that brute force finds."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.engine.drive import check, expect, play
from tests.oracle import assert_same_changes
from tests.trigger_stories import TRIGGERS, Casting, one_in, trigger_stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
SETS = ((2,), (3,), (4,), (5,), (2, 1), (1, 3), (2, 2), (1, 2, 1), (3, 2))
SEVERAL = ((1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1, 1), (2, 1), (1, 2, 1))
STREAM = TRIGGERS.but(disorder=True, mess=True, timeouts=True)


@KINDS
def test_the_stories_are_worth_telling(kind: str) -> None:
    """Something fires in a good share of them."""
    told = []

    @settings(max_examples=60, phases=[Phase.generate], database=None)
    @given(data=st.data())
    def tell(data: st.DataObject) -> None:
        told.append(any(change.members for change in expect(data.draw(trigger_stories(kind))).changes))

    tell()
    assert sum(told) >= 0.4 * len(told), f"{sum(told)} of {len(told)} stories fire"


@KINDS
@one_in(3)
@given(data=st.data())
def test_triggers_of_all_kinds(kind: str, data: st.DataObject) -> None:
    check(data.draw(trigger_stories(kind)))


@KINDS
@one_in(6)
@given(data=st.data())
def test_sets_of_events(kind: str, data: st.DataObject) -> None:
    check(data.draw(trigger_stories(kind, casting=Casting(casts=SETS))))


@KINDS
@one_in(7)
@given(data=st.data())
def test_events_with_one_key(kind: str, data: st.DataObject) -> None:
    casting = Casting(casts=SEVERAL, comparisons="key", nearness=data.draw(st.sampled_from(["none", "mixed"])))
    check(data.draw(trigger_stories(kind, casting=casting)))


@KINDS
@one_in(7)
@given(data=st.data())
def test_events_near_each_other(kind: str, data: st.DataObject) -> None:
    casting = Casting(casts=SEVERAL, comparisons="none", nearness="all", unary=False)
    check(data.draw(trigger_stories(kind, TRIGGERS.but(max_rows=24), casting)))


@one_in(5)
@given(data=st.data())
def test_time_alone(data: st.DataObject) -> None:
    """Nothing but bounds on time, many triggers at once: what expires too early is missed, what repeats is too much."""
    casting = Casting(casts=SEVERAL, comparisons="none", nearness="none")
    check(data.draw(trigger_stories("planar", TRIGGERS.but(max_queries=8, max_rows=20), casting)))


@KINDS
@one_in(2)
@given(data=st.data())
def test_triggers_that_come_and_go_in_a_stream_in_disorder(kind: str, data: st.DataObject) -> None:
    check(data.draw(trigger_stories(kind, STREAM.but(commands=True))))


@KINDS
@one_in(10)
@given(data=st.data())
def test_triggers_beside_queries(kind: str, data: st.DataObject) -> None:
    story = data.draw(trigger_stories(kind, STREAM.but(commands=True, filters=True, max_queries=2)))
    buckets, regions = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    assert_same_changes(play(story, buckets=buckets, regions=regions).changes, expect(story))
