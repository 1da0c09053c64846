"""TRACK's side of RKNN: around each such object the open disc whose border runs through the constraint's point.

In: the bucket's events. Out: discs that changed, in time order. How many other objects are inside a disc is counted
like any other COUNT: by the regions that it touches, and where the alert lives.
"Strictly closer" is a closed disc whose squared radius is the next number below the squared distance of the point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.kernels.arrays import B1, F64, I32, I64, enlarged
from vedette.kernels.shapes import PARAMETERS
from vedette.kernels.sweep import QueryMoves, units_of
from vedette.kernels.trace import Tracks
from vedette.pipeline.catalogue import Entry
from vedette.pipeline.dispatch import Happenings
from vedette.pipeline.setup import Setup


class ReverseCircles:
    """The discs of one bucket, in slots. `known` tells which regions know of which disc."""

    def __init__(self, setup: Setup, bucket: int) -> None:
        self._setup, self._bucket = setup, bucket
        self.qid: I64 = np.zeros(0, np.int64)
        self.known: B1 = np.zeros((0, setup.regions.size), np.bool_)
        self._object: I32 = np.zeros(0, np.int32)  # the slot of the object, by slot of the disc
        self._point: F64 = np.zeros((0, PARAMETERS))
        self._slot: dict[int, int] = {}
        self._free: list[int] = []
        self._fresh: list[int] = []

    @property
    def is_active(self) -> bool:
        """Whether there are any."""
        return bool(self._slot)

    def add(self, entry: Entry, object_slot: int) -> None:
        """A disc comes; it is first told of by the next call of `positions`."""
        if not self._free:
            first, room = len(self.qid), 2 * len(self.qid) + 4
            self.qid, self._object = enlarged(self.qid, room), enlarged(self._object, room)
            self._point, self.known = enlarged(self._point, room), enlarged(self.known, room)
            self._free = list(range(room - 1, first - 1, -1))
        slot = self._free.pop()
        self.qid[slot], self._object[slot] = entry.qid, object_slot
        self._point[slot], self.known[slot] = entry.plan.figure.p, False
        self._slot[entry.qid] = slot
        self._fresh.append(slot)

    def drop(self, qid: int) -> None:
        """A disc goes."""
        slot = self._slot.pop(qid, None)
        if slot is not None:
            self.qid[slot] = self._object[slot] = -1
            self._free.append(slot)
            self._fresh = [s for s in self._fresh if s != slot]

    def positions(self, tracks: Tracks, c: int) -> QueryMoves:
        """The discs that are new, as they are at the start of tick c."""
        fresh = np.array([s for s in self._fresh if self._object[s] >= 0 <= tracks.region[self._object[s]]], np.int32)
        self._fresh = []
        slot = self._object[fresh]
        gid = slot.astype(np.int64) * self._setup.buckets + self._bucket
        t = np.full(len(fresh), c, np.int64)
        return self._moves(t, fresh, np.ones(len(fresh), np.bool_), tracks.x[slot], tracks.y[slot], gid)

    def follow(self, h: Happenings, gid: I64, standing: QueryMoves | None) -> QueryMoves:
        """The discs around objects that moved, after those that were told of already."""
        used = np.flatnonzero(self._object >= 0).astype(np.int32)
        by_object = used[np.argsort(self._object[used], kind="stable")]
        objects = self._object[by_object]
        first = np.searchsorted(objects, h.slot, "left")
        count = np.searchsorted(objects, h.slot, "right") - first
        row = np.repeat(np.arange(len(h.t)), count)
        disc = by_object[np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(row))]
        moves = self._moves(h.t[row], disc, h.new[row] >= 0, h.x[row], h.y[row], gid[row])
        if standing is None or not len(standing.t):
            return moves
        pairs: Any = zip(standing, moves, strict=True)
        return QueryMoves(*map(np.concatenate, pairs))

    def _moves(self, t: I64, disc: I32, on: B1, x: F64, y: F64, gid: I64) -> QueryMoves:
        """Discs around positions; one of radius 0 holds nobody."""
        p = np.zeros((len(t), PARAMETERS))
        p[:, 0], p[:, 1] = x, y
        point = self._point[disc]
        if self._setup.wraps:
            p[:, 3:6] = units_of(x, y)
            delta = p[:, 3:6] - point[:, 3:6]
            d2 = (delta[:, 0] * delta[:, 0] + delta[:, 1] * delta[:, 1]) + delta[:, 2] * delta[:, 2]
        else:
            dx, dy = x - point[:, 0], y - point[:, 1]
            d2 = dx * dx + dy * dy
        p[:, 2] = np.maximum(np.nextafter(d2, -np.inf), 0.0)
        return QueryMoves(t, disc, on & (d2 > 0.0), p, gid)

    # ------------------------------------------------------------------------------------ save and load

    def dump(self) -> dict[str, Any]:
        """The discs, as arrays."""
        used = np.flatnonzero(self.qid >= 0) if self._slot else np.zeros(0, np.int64)
        return {
            "disc_qid": self.qid[used],
            "disc_object": self._object[used],
            "disc_point": self._point[used],
            "disc_known": self.known[used],
        }

    def load(self, arrays: dict[str, Any]) -> None:
        """The discs again, in slots in the order in which they were saved."""
        self.qid, self._object = arrays["disc_qid"], arrays["disc_object"]
        self._point, self.known = arrays["disc_point"], arrays["disc_known"]
        self._slot = {qid: slot for slot, qid in enumerate(self.qid.tolist())}
