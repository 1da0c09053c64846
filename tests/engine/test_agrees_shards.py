"""Whole in one shard, over the regions of space, or all in one place: the same tuples fire.

Whether a trigger is whole is decided by a limit (`MOST_COPIES`), so moving the limit moves the triggers. The stages
take events some at a time (`AT_ONCE`); here these are so few that ticks are cut.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vedette as vd
from tests import oracle
from tests.engine.drive import expect, play, table, watch_of
from tests.engine.test_agrees_cuts import in_one_batch, other_batches
from tests.runtime.by_hand import play_by_hand
from tests.strategies import Story
from tests.trigger_stories import TRIGGERS, Casting, one_in, trigger_stories
from vedette.pipeline.triggers import shard, shards, track

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
LIMITS = {"whole": -1.0, "as it comes": shards.MOST_COPIES, "by space": float("inf")}
STREAM = TRIGGERS.but(disorder=True, mess=True, commands=True)
NEAR = Casting(nearness="all")


@contextmanager
def limit(copies: float, at_once: int = 1 << 16) -> Iterator[None]:
    """While it lasts, triggers that are placed are whole beyond so many copies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "MOST_COPIES", copies)
        patch.setattr(shard, "AT_ONCE", at_once)
        patch.setattr(track, "AT_ONCE", at_once)
        yield


def places(run: Any) -> dict[int, int]:
    """The shard of each trigger, -1 for those that are spread; all buckets say the same."""
    told = [dict(t._parts["TRIGGER"]._shards.places) for t in run._tracks if "TRIGGER" in t._parts]
    assert all(each == told[0] for each in told)
    return told[0] if told else {}


@KINDS
@one_in(3)
@given(data=st.data())
def test_whole_or_spread_or_in_one_shard(kind: str, data: st.DataObject) -> None:
    story = data.draw(trigger_stories(kind, STREAM, data.draw(st.sampled_from([NEAR, Casting()]))))
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 9))
    at_once = data.draw(st.integers(1, 7))
    expected = expect(story)
    for copies in LIMITS.values():
        with limit(copies, at_once):
            oracle.assert_same_changes(play(story, buckets=buckets, regions=regions).changes, expected)


@KINDS
@one_in(6)
@given(data=st.data())
def test_any_batches(kind: str, data: st.DataObject) -> None:
    whole = in_one_batch(data.draw(trigger_stories(kind, TRIGGERS.but(mess=True), NEAR)))
    other = data.draw(other_batches(whole))
    one = play(whole).changes
    with limit(data.draw(st.sampled_from([*LIMITS.values()])), data.draw(st.integers(1, 5))):
        played = play(other, buckets=data.draw(st.integers(1, 3)), regions=data.draw(st.integers(2, 9)))
    oracle.assert_same_changes(played.changes, one)


@KINDS
@one_in(6)
@given(data=st.data())
def test_saved_and_restored_with_another_limit(kind: str, data: st.DataObject) -> None:
    """What is placed stays where it is, whatever the rule would say by now; the next one goes by the new rule."""
    story = data.draw(trigger_stories(kind, STREAM, NEAR))
    regions = data.draw(st.integers(2, 9))
    watch = watch_of(story, data.draw(st.integers(1, 3)), regions)
    run, told = vd.local(watch), []
    for rows, commands in story.batches:
        before = places(run)
        with limit(data.draw(st.sampled_from([*LIMITS.values()])), 3):
            if data.draw(st.booleans()):
                run = vd.local(watch, state=run.save())
            for sql in commands:
                watch.add(sql)
            told += oracle.compare.read_changes(run.feed(table(story, rows)))
        after = places(run)
        assert {qid: after[qid] for qid in before if qid in after} == {q: s for q, s in before.items() if q in after}
    told += oracle.compare.read_changes(run.finish())
    oracle.assert_same_changes(told, expect(story))


@KINDS
@one_in(6)
@given(data=st.data())
def test_stations_that_forget_and_hear_of_the_cut_late(kind: str, data: st.DataObject) -> None:
    """Until there are rows there is no cut; triggers given before that are placed when it comes."""
    story = data.draw(trigger_stories(kind, TRIGGERS, NEAR))
    silent: list[Any] = [([], [])] * data.draw(st.integers(0, 2))
    story = Story(**{**vars(story), "batches": [*silent, *story.batches]})
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    with limit(data.draw(st.sampled_from([*LIMITS.values()])), data.draw(st.integers(1, 5))):
        regions = data.draw(st.integers(2, 9))
        played = play_by_hand(story, chance, buckets=data.draw(st.integers(1, 3)), regions=regions)
    oracle.assert_same_changes(played.changes, expect(story))


TWO = "CREATE TRIGGER {name} FOR E AS a, E AS b WHEN DISTANCE(a, b) < {near} AND b.t - a.t IN [0, 5];"


def test_example_where_triggers_go() -> None:
    """A hundred objects in a row, four regions. A distance of 0.1 copies the three at a cut, one of 200 all of them."""
    sql = [TWO.format(name=f"far{n}", near=200) for n in range(6)] + [TWO.format(name="near", near=0.1)]
    sql.append("CREATE TRIGGER any FOR E AS a, E AS b WHEN b.t - a.t IN [0, 5];")
    sql.append("CREATE TRIGGER same FOR E AS a, E AS b WHEN a.oid = b.oid AND b.t - a.t IN [0, 5];")
    watch = vd.Watch(space=vd.planar(), queries="".join(sql), regions=4)
    run = vd.local(watch)
    run.feed([{"oid": n, "t": t, "x": float(n), "y": 0.0} for t in range(3) for n in range(100)])
    assert list(places(run).values()) == [0, 1, 2, 3, 0, 1, -1, 2, -1]
    watch.add("DROP TRIGGER far0; DROP TRIGGER far4;")  # both of shard 0
    watch.add(TWO.format(name="late", near=200) + TWO.format(name="later", near=200))
    run.feed([{"oid": n, "t": 4, "x": float(n), "y": 0.0} for n in range(100)])
    assert list(places(run).values()) == [1, 2, 3, 1, -1, 2, -1, 0, 0]
    known: list[Any] = [region._parts["TRIGGER"] for region in run._regions]
    assert [len(part._triggers) for part in known] == [4, 4, 4, 3]  # the spread ones everywhere
