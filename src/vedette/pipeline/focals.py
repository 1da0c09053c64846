"""The focal objects at home in a bucket: objects that queries move with.

In: events of the bucket's objects. Out: the focal ones among them, and the regions that have to hear of each, once per
region however many queries follow the same object (PLACE*).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vedette.kernels.arrays import B1, F64, I32, I64
from vedette.kernels.ids import IdTable
from vedette.kernels.routing import route_focals
from vedette.kernels.shapes import RECT
from vedette.kernels.trace import Tracks
from vedette.pipeline.catalogue import Entry
from vedette.pipeline.messages import FocalColumns
from vedette.pipeline.planning import focal_bytes
from vedette.pipeline.setup import Setup, bucket_of


class FocalTable:
    """Slots of focal objects, and how far their ranges reach. `of_slot` is -1 for objects that no query follows."""

    def __init__(self, setup: Setup, bucket: int) -> None:
        self._setup = setup
        self._bucket = bucket
        self.of_slot: I32 = np.full(0, -1, np.int32)
        self._slot: dict[int, int] = {}
        self._reach: F64 = np.zeros((0, 3))
        self._known: B1 = np.zeros((0, setup.regions.size), np.bool_)

    @property
    def span(self) -> int:
        """One more than the greatest focal number."""
        return len(self._reach)

    def make_room(self, slots: int) -> None:
        """There are more object slots now."""
        if slots > len(self.of_slot):
            grown = np.full(slots, -1, np.int32)
            grown[: len(self.of_slot)] = self.of_slot
            self.of_slot = grown

    def slot(self, focal: int) -> int:
        """The object slot of a focal, -1 where it is at home elsewhere."""
        return self._slot.get(focal, -1)

    def follow(self, entries: Iterable[Entry], ids: IdTable) -> None:
        """These are the queries that there are now; focal objects get a slot before they are seen."""
        following = [e for e in entries if e.focal >= 0]
        span = max((e.focal + 1 for e in following), default=0)
        if span > len(self._reach):
            known = np.zeros((span, self._known.shape[1]), np.bool_)
            known[: len(self._known)] = self._known
            self._known = known
        self._reach = np.full((max(span, len(self._known)), 3), -1.0)
        self.of_slot[:] = -1
        self._slot = {}
        for entry in following:
            figure = entry.plan.figure
            assert figure.focal is not None
            key = focal_bytes(figure.focal, self._setup.schema)
            if key is None or bucket_of(key, self._setup.buckets) != self._bucket:
                continue
            if entry.focal not in self._slot:
                offsets = np.array([0, len(key)], np.int64)
                slot = int(ids.add(offsets, np.frombuffer(key or b"\0", np.uint8))[0])
                self.make_room(ids.span)
                self._slot[entry.focal] = slot
                self.of_slot[slot] = entry.focal
            reach = self._reach[entry.focal]
            if figure.reverse:
                continue
            if figure.k == 0 and figure.kind == RECT:
                reach[:2] = np.maximum(reach[:2], figure.p)
            elif figure.k == 0:
                reach[2] = max(reach[2], figure.p[0])

    def positions(self, entries: Iterable[Entry], tracks: Tracks, c: int) -> FocalColumns:
        """Where the focals of new queries are at the start of tick c."""
        numbers = {e.focal for e in entries if e.focal >= 0 and e.focal in self._slot}
        focal = np.array(sorted(f for f in numbers if tracks.region[self._slot[f]] >= 0), np.int32)
        slot = np.array([self._slot[int(f)] for f in focal], np.int64)
        gid = slot * self._setup.buckets + self._bucket
        t = np.full(len(focal), c, np.int64)
        return FocalColumns(t, focal, gid, tracks.x[slot], tracks.y[slot], np.ones(len(focal), np.bool_))

    def moves(self, t: I64, slot: I32, gid: I64, x: F64, y: F64, on: B1) -> FocalColumns:
        """The focal ones among the events."""
        which = np.flatnonzero(self.of_slot[slot] >= 0) if self._slot else np.zeros(0, np.int64)
        return FocalColumns(t[which], self.of_slot[slot[which]], gid[which], x[which], y[which], on[which])

    def route(self, moves: FocalColumns) -> tuple[I64, I64]:
        """Start per region, and the moves that it has to hear of."""
        return route_focals(
            moves.focal,
            moves.on,
            moves.x,
            moves.y,
            self._reach[:, 0].copy(),
            self._reach[:, 1].copy(),
            self._reach[:, 2].copy(),
            self._known,
            self._setup.regions,
            self._setup.wraps,
        )

    def dump(self) -> dict[str, NDArray[Any]]:
        """Which slots focals have, how far their ranges reach, and which regions know of which focal."""
        return {
            "focal": np.array(list(self._slot), np.int64),
            "focal_slot": np.array(list(self._slot.values()), np.int64),
            "focal_reach": self._reach,
            "focal_known": self._known,
        }

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """The same again, after `make_room`."""
        focal, slot = arrays["focal"], arrays["focal_slot"]
        self._slot = dict(zip(focal.tolist(), slot.tolist(), strict=True))
        self.of_slot[slot] = focal
        self._reach, self._known = arrays["focal_reach"], arrays["focal_known"]
