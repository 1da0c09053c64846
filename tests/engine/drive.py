"""Plays a story on the engine and holds it against the oracle.

In: a `Story`, and how the engine is to be cut (buckets, regions, saved and restored or not). Out: a `Played`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyarrow as pa

import vedette as vd
from tests import oracle
from tests.oracle.compare import assert_same_rows, read_changes
from tests.strategies import Raw, Story

COUNTS = ("late", "late_applied", "duplicates", "rejects")


@dataclass(frozen=True)
class Played:
    """Everything the engine said, feed by feed; the last one is the finish."""

    feeds: list[list[oracle.Change]]
    late: pa.Table
    rejects: pa.Table
    totals: dict[str, Any]

    @property
    def changes(self) -> list[oracle.Change]:
        """All changes in the order in which they came."""
        return [change for feed in self.feeds for change in feed]


def schema(story: Story) -> pa.Schema:
    """The explicit schema of a story's batches, so that a column of nulls has its type."""
    x, y = ("lon", "lat") if story.kind == "lonlat" else ("x", "y")
    return pa.schema(
        [
            ("oid", pa.string() if story.oid_type == "string" else pa.int64()),
            ("t", pa.int64() if story.t_type == "long" else pa.timestamp("us", tz="UTC")),
            (x, pa.float64()),
            (y, pa.float64()),
            ("speed", pa.float64()),
            ("load", pa.int64()),
            ("type", pa.string()),
            ("ok", pa.bool_()),
        ]
    )


def table(story: Story, rows: Sequence[Raw]) -> pa.Table:
    """A batch as the engine likes it best."""
    return pa.Table.from_pylist(list(rows), schema=schema(story))


def watch_of(story: Story, buckets: int = 1, regions: int = 1) -> vd.Watch:
    """The story's watch."""

    def length(ticks: int | None) -> Any:
        return ticks if ticks is None or story.t_type == "long" else timedelta(seconds=ticks)

    return vd.Watch(
        space=vd.lonlat() if story.kind == "lonlat" else vd.planar(),
        queries="\n".join(story.queries) + "\n",
        lateness=length(story.lateness),
        timeout=length(story.timeout),
        late=story.late,
        max_ahead=length(story.max_ahead),
        buckets=buckets,
        regions=regions,
        resident_updates=story.resident_updates,
    )


def play(
    story: Story,
    *,
    saved_before: Callable[[int], bool] = lambda _: False,
    batch_of: Callable[[Story, Sequence[Raw]], Any] = table,
    buckets: int = 1,
    regions: int = 1,
) -> Played:
    """Feed every batch, then finish; where `saved_before(n)`, batch n meets an engine restored from its saved state."""
    watch = watch_of(story, buckets, regions)
    run = vd.local(watch)
    outcomes = []
    for n, (rows, commands) in enumerate(story.batches):
        if saved_before(n):
            run = vd.local(watch, state=run.save())
        for sql in commands:
            watch.add(sql)
        run.feed(batch_of(story, rows))
        outcomes.append(run.last)
    if saved_before(len(story.batches)):
        run = vd.local(watch, state=run.save())
    run.finish()
    outcomes.append(run.last)
    return Played(
        feeds=[read_changes(outcome.changes) for outcome in outcomes],
        late=pa.concat_tables([outcome.late for outcome in outcomes], promote_options="permissive"),
        rejects=pa.concat_tables([outcome.rejects for outcome in outcomes], promote_options="permissive"),
        totals=dict(run.totals),
    )


def expect(story: Story) -> oracle.Expected:
    """What the oracle says."""
    tick = story.tick
    return oracle.run(
        story.kind,
        story.queries,
        story.batches,
        lateness=story.lateness * tick,
        timeout=None if story.timeout is None else story.timeout * tick,
        late=story.late,
        max_ahead=None if story.max_ahead is None else story.max_ahead * tick,
        t_type=story.t_type,
    )


def check(story: Story) -> None:
    """The engine says what the oracle says: changes, when they come, late rows, rejects, counts."""
    expected, played = expect(story), play(story)
    oracle.assert_same_changes(played.changes, expected)
    assert_on_time(played, expected)
    x, y = ("lon", "lat") if story.kind == "lonlat" else ("x", "y")
    assert_same_rows(played.late, [(row.oid, row.t, row.x, row.y) for row in expected.late], "late rows")
    assert_same_rows(
        played.rejects, [[raw[name] for name in ("oid", "t", x, y)] for raw, _ in expected.rejects], "rejects"
    )
    assert all(played.rejects.column("reason").to_pylist()), "a reject without a reason"
    assert {name: played.totals[name] for name in COUNTS} == expected.counts


def assert_on_time(played: Played, expected: oracle.Expected) -> None:
    """A feed tells the changes of exactly the ticks that it closes."""
    before: int | None = None
    for feed, frontier in zip(played.feeds, expected.frontiers, strict=True):
        for change in feed:
            assert frontier is not None
            assert change.t < frontier, f"{change} told before its tick was closed at {frontier}"
            assert before is None or change.t >= before, f"{change} told after its tick was closed at {before}"
        before = frontier
