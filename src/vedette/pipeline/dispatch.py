"""TRACK's post: what happened to a bucket's objects, split by the regions that have to hear of it.

In: events, focal moves, balls and commands of a step, segment by segment. Out: one message per region, in time order.
It remembers which regions know of which ball, so that those that a ball has left hear of it once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import B1, F64, I32, I64, U64, enlarged
from vedette.kernels.routing import outcome, route_balls, route_events
from vedette.kernels.sweep import REFRESH, UPSERT, QueryMoves
from vedette.pipeline.messages import (
    BallColumns,
    FocalColumns,
    MoveColumns,
    RegionMessage,
    merge_columns,
    no_balls,
    no_focals,
)
from vedette.pipeline.setup import Setup


@dataclass
class Happenings:
    """The events of a segment, with what regions need to know of each; row -1 where no row brought it about."""

    t: I64
    slot: I32
    old: I32
    new: I32
    x: F64
    y: F64
    row: I64
    words: U64
    values: F64


class Dispatch:
    """The messages of one bucket: `open`, then whatever there is to tell, then `close`."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._regions = setup.regions.size
        self._known: B1 = np.zeros((0, self._regions), np.bool_)  # by ball slot and region
        self._messages: list[RegionMessage] = []
        self._moves: list[list[MoveColumns]] = []
        self._focals: list[list[FocalColumns]] = []
        self._balls: list[list[BallColumns]] = []

    def open(self, no_moves: MoveColumns) -> None:
        """Begin a step."""
        self._messages = [RegionMessage(no_moves, no_focals(), no_balls()) for _ in range(self._regions)]
        self._moves = [[] for _ in range(self._regions)]
        self._focals = [[] for _ in range(self._regions)]
        self._balls = [[] for _ in range(self._regions)]

    def close(self, frontier: int) -> list[RegionMessage]:
        """The messages of the step, by region."""
        for r, message in enumerate(self._messages):
            message.moves = merge_columns(self._moves[r] or [message.moves])
            message.focals = merge_columns(self._focals[r] or [message.focals])
            message.balls = merge_columns(self._balls[r] or [message.balls])
            message.frontier = frontier
        return self._messages

    # ------------------------------------------------------------------------------------------- tell

    def command(self, qid: int, command: dict[str, Any], answer: dict[str, Any]) -> None:
        """A query comes or goes: every region hears of it, and one of them passes the answer's part on."""
        for message in self._messages:
            message.commands.append(command)
        self._messages[qid % self._regions].answers.append(answer)

    def moves(self, h: Happenings, gid: I64, oids: pa.Array) -> None:
        """Events; an id (of `oids`, by row) goes along where the object is new to the region."""
        start, item, op = route_events(h.old, h.new, self._regions)
        op[(op == UPSERT) & (h.row[item] < 0)] = REFRESH
        for r in range(self._regions):
            i = item[start[r] : start[r + 1]]
            arrives = (op[start[r] : start[r + 1]] == UPSERT) & (h.old[i] != h.new[i])
            name = np.where(arrives, np.cumsum(arrives) - 1, -1)
            names = oids.take(pa.array(h.row[i[arrives]]))
            self._moves[r].append(
                MoveColumns(
                    h.t[i], gid[i], op[start[r] : start[r + 1]], h.x[i], h.y[i], h.words[i], h.values[i], name, names
                )
            )

    def focals(self, focals: FocalColumns, start: I64, item: I64) -> None:
        """Focal moves; those of region r are item[start[r] : start[r + 1]]."""
        for r in range(self._regions):
            f = item[start[r] : start[r + 1]]
            self._focals[r].append(
                FocalColumns(focals.t[f], focals.focal[f], focals.gid[f], focals.x[f], focals.y[f], focals.on[f])
            )

    def no_ball_known(self, slot: int) -> None:
        """A new ball has this slot: what regions know of the last one there does not count."""
        self._known[slot : slot + 1] = False

    def balls(self, balls: QueryMoves, qid: I64) -> None:
        """Balls that changed; `qid` by ball slot."""
        if len(self._known) < len(qid):
            self._known = enlarged(self._known, len(qid))
        self.discs(balls, qid, self._known)

    def discs(self, balls: QueryMoves, qid: I64, known: B1) -> None:
        """Discs that changed, and by slot their queries and the regions that know of them; that is kept up to date."""
        start, item = route_balls(balls.query, balls.on, balls.p, known, self._setup.regions, self._setup.wraps)
        for r in range(self._regions):
            b = item[start[r] : start[r + 1]]
            self._balls[r].append(BallColumns(balls.t[b], qid[balls.query[b]], balls.p[b], balls.skip[b], balls.on[b]))

    # ------------------------------------------------------------------------------------ save and load

    def balls_known(self, slots: I64) -> B1:
        """Which regions know of the balls in these slots."""
        known = np.zeros((len(slots), self._regions), np.bool_)
        inside = slots < len(self._known)
        known[inside] = self._known[slots[inside]]
        return known

    def load_balls_known(self, known: B1) -> None:
        """The same again, by slot."""
        self._known = known


def outcome_of(h: Happenings, scratch: I64) -> Happenings:
    """What became of each object: one event instead of all of them, enough for regions in which no query stands.

    `scratch` is by slot, all -1 before and after.
    """
    last, old = outcome(h.slot, h.old, scratch)
    columns = {name: getattr(h, name)[last] for name in Happenings.__dataclass_fields__}
    return Happenings(**{**columns, "old": old})


def in_time_order(parts: list[Happenings], unsorted: bool) -> Happenings:
    """Several groups of events as one; `unsorted` where a single group may not be in time order itself."""
    names = list(Happenings.__dataclass_fields__)
    columns = {
        f: np.concatenate([getattr(p, f) for p in parts]) if len(parts) > 1 else getattr(parts[0], f) for f in names
    }
    if unsorted or len(parts) > 1:
        order = np.argsort(columns["t"], kind="stable")
        columns = {f: column[order] for f, column in columns.items()}
    return Happenings(**columns)
