"""TRACK's side of nearest neighbours: the bucket's objects in a grid, and the balls of the kNN queries at home here.

In: the bucket's events. Out: balls that changed, in time order. Costs nothing while there are no such queries.
See `kernels.balls` for why a ball found in one bucket is right for all objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.kernels.arrays import F64, I32, I64, U64, all_enlarged, enlarged, widened
from vedette.kernels.balls import Balls, Events, Focals, follow
from vedette.kernels.grid import Grid, fit, share_outside
from vedette.kernels.plane import build_lists, empty_objects, empty_queries
from vedette.kernels.shapes import DISC
from vedette.kernels.sweep import QueryMoves, units_of
from vedette.pipeline.catalogue import Entry


class BallIndex:
    """Grid, objects and balls of one bucket."""

    def __init__(self, wraps: bool, buckets: int, bucket: int) -> None:
        self._wraps = wraps
        self._buckets, self._bucket = buckets, bucket
        self._grid: Grid = fit(np.zeros(0), np.zeros(0), 1)
        self._objects = empty_objects(1, 0, 0)
        self._queries = empty_queries(1)
        self._balls = Balls(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.bool_))
        self._lists = build_lists(self._grid, self._objects, self._queries, wraps)
        self.qid: I64 = np.full(1, -1, np.int64)
        self._slot: dict[int, int] = {}
        self._free: list[int] = []
        self._fresh: list[int] = []
        self._stale = False

    @property
    def is_active(self) -> bool:
        """Whether there is any kNN query at home here."""
        return bool(self._slot)

    def load_objects(self, slots: I32, x: F64, y: F64, words: U64, span: int) -> None:
        """Take the bucket's objects in, when the first query comes."""
        self._place_objects(slots, x, y, words, span)
        self._refit(x, y, len(slots))

    def _place_objects(self, slots: I32, x: F64, y: F64, words: U64, span: int) -> None:
        self._objects = empty_objects(span + 1, words.shape[1], 0)
        self._number()
        objects = self._objects
        objects.x[slots], objects.y[slots] = x, y
        objects.words[slots] = words
        objects.cell[slots] = 0
        if self._wraps:
            objects.ux[slots], objects.uy[slots], objects.uz[slots] = units_of(x, y).T

    def add(self, entry: Entry, focal_slot: int) -> int:
        """Watch over a query; its ball is found in the next call of `follow`. Returns the ball's slot."""
        if not self._free:
            first, room = len(self.qid) - 1, 2 * len(self.qid) + 1
            self._queries = all_enlarged(self._queries, room)
            self._balls = all_enlarged(self._balls, room)
            self.qid = enlarged(self.qid, room)
            self._free = list(range(room - 2, first - 1, -1))
        slot = self._free.pop()
        q = self._queries
        q.kind[slot], q.on[slot], q.still[slot], q.moves[slot] = DISC, False, False, False
        q.filter[slot] = entry.filter
        q.part[slot] = focal_slot
        q.skip[slot] = -1 if focal_slot < 0 else focal_slot * self._buckets + self._bucket
        q.p[slot] = 0.0
        if entry.plan.figure.p:
            q.p[slot] = entry.plan.figure.p
        self._balls.k[slot] = entry.plan.figure.k
        self._balls.inside[slot] = 0
        self._balls.waits[slot] = False
        self.qid[slot] = entry.qid
        self._slot[entry.qid] = slot
        self._fresh.append(slot)
        self._stale = True
        return slot

    def drop(self, qid: int) -> None:
        """Watch over it no more."""
        slot = self._slot.pop(qid, None)
        if slot is not None:
            self._queries.on[slot] = False
            self.qid[slot] = -1
            self._fresh = [s for s in self._fresh if s != slot]
            self._free.append(slot)
            self._stale = True

    def follow(self, events: Events, t: int, focal_of_slot: I32, focals: int, span: int, words: int) -> QueryMoves:
        """Apply events (the first of them not before t, where fresh queries get their first ball)."""
        if span + 1 > len(self._objects.cell) or words > self._objects.words.shape[1]:
            room = max(span + 1, int(1.5 * len(self._objects.cell)) if span + 1 > len(self._objects.cell) else span + 1)
            room = max(room, len(self._objects.cell))
            objects = all_enlarged(self._objects, room)
            self._objects = objects._replace(words=widened(objects.words, words))
            self._number()
        live = int(np.count_nonzero(self._objects.cell >= 0))
        estimate = live + (0 if live else len(events.t))
        if (
            estimate > 4 * self._grid.rows * self._grid.columns * 4
            or estimate * 16 < self._grid.rows * self._grid.columns
            or share_outside(self._grid, events.x, events.y) > 0.2
        ):
            self._refit(events.x, events.y, estimate)
            self._stale = False
        if self._stale:
            self._lists = build_lists(self._grid, self._objects, self._queries, self._wraps)
            self._stale = False
        start, query = self._followers(focal_of_slot, focals)
        self._lists, moves = follow(
            events,
            Focals(focal_of_slot, start, query),
            np.array(self._fresh, np.int32),
            t,
            self._grid,
            self._objects,
            self._queries,
            self._lists,
            self._balls,
            self._wraps,
        )
        self._fresh = []
        return moves

    def _followers(self, focal_of_slot: I32, focals: int) -> tuple[I64, I32]:
        following = np.flatnonzero((self.qid >= 0) & (self._queries.part >= 0))
        number = focal_of_slot[self._queries.part[following]]
        order = np.argsort(number, kind="stable")
        start = np.zeros(focals + 1, np.int64)
        np.cumsum(np.bincount(number, minlength=focals)[:focals], out=start[1:])
        return start, following[order].astype(np.int32)

    def _refit(self, x: F64, y: F64, count: int) -> None:
        live = self._objects.cell >= 0
        side = int(np.clip(np.sqrt(max(count, 1) / 3), 1, 1024))
        self._grid = fit(np.concatenate((self._objects.x[live], x)), np.concatenate((self._objects.y[live], y)), side)
        self._lists = build_lists(self._grid, self._objects, self._queries, self._wraps)

    def _number(self) -> None:
        self._objects.gid[:] = np.arange(len(self._objects.gid)) * self._buckets + self._bucket

    def dump(self, alive: I32) -> dict[str, Any]:
        """The balls, and the filter bits of the objects alive, as arrays. Where objects are, TRACK knows."""
        used = np.flatnonzero(self.qid >= 0)
        q = self._queries
        return {
            "ball_qid": self.qid[used],
            "ball_p": q.p[used],
            "ball_on": q.on[used],
            "ball_filter": q.filter[used],
            "ball_part": q.part[used],
            "ball_skip": q.skip[used],
            "ball_k": self._balls.k[used],
            "ball_inside": self._balls.inside[used],
            "ball_words": self._objects.words[alive if self.is_active else alive[:0]],
            "ball_grid": np.array(self._grid, np.float64),
        }

    def load(self, arrays: dict[str, Any], alive: I32, x: F64, y: F64, span: int) -> None:
        """The balls again, in slots by the order in which they were saved, and the objects alive."""
        qid = arrays["ball_qid"]
        n = len(qid)
        if n == 0:
            return
        self._queries, self.qid = empty_queries(n + 1), np.append(qid, np.int64(-1))
        q = self._queries
        q.kind[:], q.still[:] = DISC, False
        for name in ("p", "on", "filter", "part", "skip"):
            getattr(q, name)[:n] = arrays["ball_" + name]
        self._balls = Balls(np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64), np.zeros(n + 1, np.bool_))
        self._balls.k[:n], self._balls.inside[:n] = arrays["ball_k"], arrays["ball_inside"]
        self._slot = dict(zip(qid.tolist(), range(n), strict=True))
        x0, y0, per_x, per_y, columns, rows = arrays["ball_grid"].tolist()
        self._grid = Grid(x0, y0, per_x, per_y, int(columns), int(rows))
        self._place_objects(alive, x, y, arrays["ball_words"], span)
        self._lists = build_lists(self._grid, self._objects, self._queries, self._wraps)
