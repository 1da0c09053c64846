"""From batches to a timeline: which row takes effect at which tick, which goes where instead (DESIGN part 2).

In: batches of raw rows with the commands picked up beside them. Out: a `Timeline`.
This is the only part of the semantics that depends on batches, and only through late rows, `max_ahead` and
commands without a time of their own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.rows import Oid, Row, oid_order, read_row
from vedette.model import Statement

BEFORE_TIME = -math.inf


@dataclass
class Timeline:
    """Everything that happens, each at its tick, and what was sorted out on the way."""

    effects: dict[int, dict[Oid, Row]] = field(default_factory=lambda: defaultdict(dict))
    commands: list[tuple[float, int, Statement]] = field(default_factory=list)  # (c, sequence, what)
    frontiers: list[int | None] = field(default_factory=list)  # after each batch; the last is that of the finish
    late: list[Row] = field(default_factory=list)
    rejects: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    late_seen: int = 0
    late_applied: int = 0
    duplicates: int = 0


@dataclass
class Ingest:
    """The bookkeeping of `ingest`: a timeline in the making, and what has been accepted so far."""

    kind: str
    lateness: int
    timeout: int | None
    late: str
    max_ahead: int | None
    timeline: Timeline = field(default_factory=Timeline)
    frontier: int | None = None
    greatest: int | None = None
    accepted_late: dict[Oid, int] = field(default_factory=dict)  # own t of the newest late row that took effect

    def commands(self, statements: Iterable[Statement]) -> None:
        """Give each command its tick: "the default c is the frontier before; a past c becomes that"."""
        for statement in statements:
            start = BEFORE_TIME if self.frontier is None else self.frontier
            c = start if statement.at is None else max(statement.at, start)
            self.timeline.commands.append((c, len(self.timeline.commands), statement))

    def batch(self, raws: Sequence[Mapping[str, Any]]) -> None:
        """Take one batch in and move the frontier."""
        late: dict[Oid, list[Row]] = defaultdict(list)
        times = []
        for raw in raws:
            row = read_row(raw, self.kind)
            if isinstance(row, str):
                self.timeline.rejects.append((raw, row))
            elif self.is_too_far_ahead(row):
                x, y = ("lon", "lat") if self.kind == "lonlat" else ("x", "y")  # read already, hence normalised
                self.timeline.rejects.append(({**raw, x: row.x, y: row.y}, "too far ahead"))
            else:
                times.append(row.t)
                if self.frontier is not None and row.t < self.frontier:
                    late[row.oid].append(row)
                else:
                    self.on_time(row)
        for rows in late.values():
            self.late_rows(rows)
        if times:
            self.greatest = max(times) if self.greatest is None else max(self.greatest, *times)
            reached = max(times) - self.lateness
            self.frontier = reached if self.frontier is None else max(self.frontier, reached)
        self.timeline.frontiers.append(self.frontier)

    def is_too_far_ahead(self, row: Row) -> bool:
        """ "A `t` more than `max_ahead` ahead of the frontier"."""
        return self.max_ahead is not None and self.frontier is not None and row.t - self.frontier > self.max_ahead

    def on_time(self, row: Row) -> None:
        """The row takes effect at its own t; of several with one (oid, t) the smallest counts."""
        rival = self.timeline.effects[row.t].get(row.oid)
        if rival is None or rival.t < row.t:  # (a late row that waited here for its tick gives way)
            self.timeline.effects[row.t][row.oid] = row
        else:
            self.timeline.duplicates += 1
            self.timeline.effects[row.t][row.oid] = min(row, rival, key=Row.identity_order)

    def late_rows(self, rows: list[Row]) -> None:
        """All late rows of one object in one batch: the newest may take effect at the earliest open tick."""
        assert self.frontier is not None
        if self.late == "drop":  # "all late rows go to the late output"
            self.timeline.late_seen += len(rows)
            self.timeline.late += rows
            return
        known = self.last_applied(rows[0].oid)
        one_per_t: dict[int, Row] = {}
        for row in rows:
            rival = one_per_t.get(row.t)
            self.timeline.duplicates += row.t == known or rival is not None
            if row.t != known:
                one_per_t[row.t] = row if rival is None else min(row, rival, key=Row.identity_order)
        self.timeline.late_seen += len(one_per_t)
        newest_t = max(row.t for row in rows)
        for row in one_per_t.values():
            is_timed_out = self.timeout is not None and self.frontier - row.t >= self.timeout
            if row.t == newest_t and (known is None or row.t > known) and not is_timed_out:
                self.take_late(row)
            else:
                self.timeline.late.append(row)

    def take_late(self, row: Row) -> None:
        """The row takes effect at the frontier, unless the object has a row of that very tick: greatest own t wins."""
        assert self.frontier is not None
        self.timeline.late_applied += 1
        self.accepted_late[row.oid] = row.t
        rival = self.timeline.effects[self.frontier].get(row.oid)
        if rival is None or rival.t < row.t:
            self.timeline.effects[self.frontier][row.oid] = row

    def last_applied(self, oid: Oid) -> int | None:
        """Own t of the object's last applied (or accepted late) row; None once it has timed out before the frontier."""
        assert self.frontier is not None
        closed = (tick for tick, rows in self.timeline.effects.items() if tick < self.frontier and oid in rows)
        last = max((self.timeline.effects[tick][oid].t for tick in closed), default=None)
        waiting = self.accepted_late.get(oid)
        if waiting is not None:
            last = waiting if last is None else max(last, waiting)
        if last is not None and self.timeout is not None and last + self.timeout < self.frontier:
            return None
        return last

    def finish(self) -> None:
        """ "A punctuation that closes everything seen"."""
        self.frontier = None if self.greatest is None else self.greatest + 1
        self.timeline.frontiers.append(self.frontier)
        self.timeline.late.sort(key=lambda row: (row.t, oid_order(row.oid)))
