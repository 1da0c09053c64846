"""The oracle's front door: `run`.

In: what a user would give to a watch and feed to a run. Out: an `Expected`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.oracle.answers import Change, Figure, World, tell
from tests.oracle.ingest import Ingest
from tests.oracle.rows import Oid, Row
from tests.oracle.shapes import space_of
from tests.oracle.statements import Reader
from tests.oracle.triggers import fire
from vedette.model import Statement

Batch: TypeAlias = tuple[Sequence[Mapping[str, Any]], Sequence[str | Statement]]


@dataclass(frozen=True)
class Expected:
    """What the engine must say."""

    changes: list[Change]
    answers: dict[str, set[Oid] | Figure]  # at the end, of every live query
    late: list[Row]  # normalised, ordered by (t, oid)
    rejects: list[tuple[Mapping[str, Any], str]]  # the rows as they came, with our own words for the reason
    frontiers: list[int | None]  # after each batch and after the finish
    counts: dict[str, int]  # late, late_applied, duplicates, rejects
    statements: list[Statement]  # everything that was commanded
    sql: list[str] = field(default_factory=list)  # the same as written, for messages


def run(
    kind: str,
    commands: Sequence[str | Statement],
    batches: Sequence[Batch],
    *,
    lateness: int = 0,
    timeout: int | None = None,
    late: str = "apply",
    max_ahead: int | None = None,
    t_type: str = "long",
    finish: bool = True,
) -> Expected:
    """The changes of a whole run: `commands` registered at the start, then one batch after the other, then the end.

    Times are ints in the unit of `t` (microseconds where `t_type` is "timestamp", like the options). Commands are
    SQL or statements.
    """
    reader = Reader(kind)
    ingest = Ingest(kind, lateness, timeout, late, max_ahead)
    ingest.commands(reader.read(commands, None))
    for rows, more in batches:
        ingest.commands(reader.read(more, ingest.frontier))
        ingest.batch(rows)
    if finish:
        ingest.finish()
    timeline = ingest.timeline
    space = space_of(kind)
    world = World(space, timeout, t_type)
    told = [*tell(timeline, world), *fire(timeline, space, t_type)]
    return Expected(
        changes=sorted(told, key=lambda change: (change.t, change.query)),
        answers=world.answers(),
        late=timeline.late,
        rejects=timeline.rejects,
        frontiers=timeline.frontiers,
        counts={
            "late": timeline.late_seen,
            "late_applied": timeline.late_applied,
            "duplicates": timeline.duplicates,
            "rejects": len(timeline.rejects),
        },
        statements=[statement for _, _, statement in timeline.commands],
        sql=[text for texts in (commands, *(more for _, more in batches)) for text in map(str, texts)],
    )
