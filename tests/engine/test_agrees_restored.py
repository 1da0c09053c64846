"""A stage that is restored from its saved state says what the one that was never saved says, message by message.

The run goes on with the live stages; beside each of them stand copies that were restored before some batch and hear
the same messages. Compared are the messages themselves, numbers of objects (gids) included, in any order within.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vedette as vd
from tests.engine import seeded
from tests.engine.drive import table, watch_of
from tests.paged_stories import paged_story, small_pages
from tests.strategies import EVERYTHING, Story, stories
from vedette.pipeline.assemble import Assemble, Changes
from vedette.pipeline.cellar import MemoryCellar
from vedette.pipeline.messages import Letter, MoveColumns
from vedette.pipeline.participate import Participate
from vedette.pipeline.setup import Setup
from vedette.pipeline.track import Track
from vedette.runtime.local import LocalRun

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
STAGES = pytest.mark.parametrize("stage", [Track, Participate, Assemble])


class Twins:
    """A stage and its restored copies; whatever it is told, they are told too, and must answer alike."""

    def __init__(self, live: Any, load: Callable[[dict[str, bytes]], Any], saved_before: Callable[[int], bool]) -> None:
        self.live, self.load, self.saved_before = live, load, saved_before
        self.setup = live.setup
        self.copies: list[Any] = []
        self.batches = 0

    @property
    def frontier(self) -> int:
        frontier: int = self.live.frontier
        return frontier

    @property
    def metrics(self) -> dict[str, int]:
        metrics: dict[str, int] = self.live.metrics
        return metrics

    def step(self, *told: Any) -> Any:
        if self.saved_before(self.batches):
            saved = {name: bytes(bytearray(section)) for name, section in self.live.save().items()}  # other objects
            self.copies.append(self.load(saved))
            assert self.copies[-1].save()["standing"] is saved["standing"]
        self.batches += 1
        said = self.live.step(*told)
        for copy in self.copies:
            assert plain(copy.step(*told)) == plain(said)
        return said


def plain(value: Any) -> Any:
    """A message as something that is equal where it says the same: columns become sorted rows."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        # restored patterns take nothing for known, and look at more
        return {name: plain(v) for name, v in value.items() if not str(name).startswith("pattern_")}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, pa.Array):
        return value.to_pylist()
    if not is_dataclass(value):
        return value
    if isinstance(value, Letter):
        return plain(value.meta), list(value.arrays), rows_of(list(value.arrays.values()))
    parts = {f.name: getattr(value, f.name) for f in fields(value) if getattr(value, f.name) is not None}
    if isinstance(value, MoveColumns):  # the id itself in the place of where it stands
        names = [*parts.pop("names").to_pylist(), None]
        parts["name"] = pa.array([names[n] for n in parts["name"]])
    if isinstance(value, Changes):
        names = parts.pop("names")
        parts["query"] = pa.array([names[n] for n in parts["query"]])
    if not any(isinstance(part, np.ndarray) for part in parts.values()):
        return {name: plain(part) for name, part in parts.items()}
    parts.update(parts.pop("attributes", {}))
    widths = {name: part.shape[1:] for name, part in parts.items() if isinstance(part, np.ndarray)}
    return list(parts), widths, rows_of(list(parts.values()))


def rows_of(columns: list[Any]) -> Any:
    """The order of rows is free where all columns are as long as each other; what is no number equals itself."""
    listed = [column.to_pylist() if isinstance(column, pa.Array) else column.tolist() for column in columns]
    if len({len(column) for column in listed}) > 1:
        return repr(listed)
    return sorted(map(repr, zip(*listed, strict=True)))


class TwinRun(LocalRun):
    """A run in which the stages of one kind have twins."""

    stage: type
    saved_before: Callable[[int], bool]

    def _build(self, setup: Setup) -> None:
        super()._build(setup)
        assert self._intake is not None
        empty, kind = self._intake.empty(), self._intake.oid_type
        saved = type(self).saved_before
        if self.stage is Track:
            self._tracks = [
                Twins(t, lambda s, b=b, c=c: Track.load(setup, b, empty, s, MemoryCellar(c.values)), saved)  # type: ignore[misc]
                for b, (t, c) in enumerate(zip(self._tracks, self._cellars, strict=True))
            ]
        elif self.stage is Participate:
            self._regions = [
                Twins(p, lambda s, r=r: Participate.load(setup, r, kind, s), saved)  # type: ignore[misc]
                for r, p in enumerate(self._regions)
            ]
        else:
            self._answers = [
                Twins(a, lambda s: Assemble.load(setup, kind, s), saved)  # type: ignore[misc]
                for a in self._answers
            ]


def play_with_twins(story: Story, stage: type, saved: set[int], buckets: int, regions: int) -> None:
    kind = type("Run", (TwinRun,), {"stage": stage, "saved_before": staticmethod(saved.__contains__)})
    watch = watch_of(story, buckets, regions)
    run = kind(watch)
    for rows, commands in story.batches:
        for sql in commands:
            watch.add(sql)
        run.feed(table(story, rows))
    run.finish()


@KINDS
@STAGES
@given(data=st.data())
def test_a_restored_stage_says_what_the_live_one_says(stage: type, kind: str, data: st.DataObject) -> None:
    story = data.draw(stories(kind, EVERYTHING))
    saved = data.draw(st.sets(st.integers(0, len(story.batches)), min_size=1))
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    play_with_twins(story, stage, saved, buckets, regions)


@KINDS
@STAGES
def test_example_a_longer_stream_with_queries_that_come_and_go(stage: type, kind: str) -> None:
    """Balls that have been counted in for a while, and balls, polygons and filters that take the place of others."""
    story = seeded.story(kind, 1)
    commands = [
        ["DROP QUERY q2;", "DROP QUERY q1;"],
        ["CREATE QUERY k AS SELECT oid FROM objects WHERE speed > 0.2 KNN (2, 3, 1);"],
        ["DROP QUERY q3;", "DROP QUERY q6;"],
        [
            "CREATE QUERY m AS SELECT oid FROM objects KNN 1 AROUND '10';",
            "CREATE QUERY z AS SELECT oid FROM objects INSIDE zone;",
        ],
    ]
    batches = [(rows, commands[n % 8 // 2] if n in (1, 3, 5, 7) else []) for n, (rows, _) in enumerate(story.batches)]
    play_with_twins(replace(story, batches=batches), stage, set(range(len(batches) + 1)), 2, 3)


@KINDS
def test_example_updates_in_pages(kind: str) -> None:
    """Each copy has a cellar as it was when it was restored, and goes on with it alone."""
    story = paged_story(kind, 2, ticks=40)
    with small_pages():
        play_with_twins(story, Track, set(range(1, len(story.batches), 2)), 2, 1)


def test_example_a_ball_in_the_slot_of_another() -> None:
    """Regions that knew the ball of a dropped query hear nothing of the next one, restored or not."""
    rows = [{"oid": f"{n}", "t": 0, "x": n % 5 + 100.0 * (n // 5), "y": 0.0} for n in range(10)]
    commands = [[], [], ["DROP QUERY q;"], [], ["CREATE QUERY r AS SELECT oid FROM objects KNN (1, 102, 0);"], [], []]
    story = Story(
        queries=["CREATE QUERY q AS SELECT oid FROM objects KNN (1, 2, 0);"],
        batches=[
            (rows if t == 0 else [{"oid": "0", "t": t, "x": 0.0, "y": 0.0}], sql) for t, sql in enumerate(commands)
        ],
    )
    play_with_twins(story, Track, set(range(len(commands))), 1, 2)


def test_example_slots_that_came_free_one_after_the_other() -> None:
    """Objects go in another order than they came, then others come: all get the numbers that the live stage gives."""
    story = Story(
        queries=["CREATE QUERY q AS SELECT oid FROM objects INSIDE (0, 0, 9, 9);"],
        batches=[
            ([{"oid": oid, "t": t, "x": 1.0, "y": 1.0} for oid, t in rows], [])
            for rows in (
                [("a", 5), ("b", 4), ("c", 3), ("d", 2), ("e", 1)],
                *([("z", t)] for t in range(9, 18)),
                [("h", 18), ("g", 18)],
                [("f", 19), ("i", 19)],
                [("z", 20)],
            )
        ],
        timeout=6,
    )
    play_with_twins(story, Track, set(range(len(story.batches))), 1, 1)


def test_example_standing_is_the_same_object_until_a_statement_acts() -> None:
    watch = vd.Watch(queries="CREATE QUERY q AS SELECT oid FROM objects KNN (1, 0, 0);", buckets=2, regions=2)
    run = vd.local(watch)

    def standing() -> list[bytes]:
        stages: list[Any] = [*run._tracks, *run._regions, *run._answers]
        return [stage.save()["standing"] for stage in stages]

    run.feed([{"oid": n, "t": 0, "x": n / 2, "y": 1.0} for n in range(5)])
    run.feed([{"oid": 0, "t": 1, "x": 2.0, "y": 1.0}])
    first = standing()
    run.feed([{"oid": 1, "t": 2, "x": 3.0, "y": 1.0}, {"oid": 7, "t": 2, "x": 0.0, "y": 0.0}])
    assert all(now is then for now, then in zip(standing(), first, strict=True))
    watch.add("CREATE QUERY r AS SELECT oid FROM objects INSIDE (-9, -9, 9, 9);")
    run.feed([{"oid": 1, "t": 3, "x": 3.0, "y": 1.0}])
    run.feed([{"oid": 1, "t": 4, "x": 3.0, "y": 1.0}])
    changed = [now != then for now, then in zip(standing(), first, strict=True)]
    assert changed[:4] == [True] * 4
    assert sum(changed[4:]) == 1  # only the query's home among the query buckets
