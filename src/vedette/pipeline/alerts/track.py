"""TRACK's part in alerts: tells the shards of what happens to the objects that their alerts are about.

In: alerts that come and go, events of the bucket's objects. Out: one letter for each shard (a query bucket) that has to
hear anything: alerts at home here, ids and numbers of objects, their events, and the first tick of the stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vedette.kernels.arrays import B1, I32
from vedette.model.alert import objects_of
from vedette.model.formula import distinct
from vedette.model.plain import to_plain
from vedette.pipeline import state
from vedette.pipeline.catalogue import Change, Placed
from vedette.pipeline.messages import Letter
from vedette.pipeline.parts import Home, Segment, Sent
from vedette.pipeline.planning import focal_bytes
from vedette.pipeline.setup import bucket_of

VERSION = 1
EVENTS = {"t": np.int64, "gid": np.int64, "on": np.bool_, "x": np.float64, "y": np.float64}


@dataclass
class _Draft:
    """A letter in the making."""

    commands: list[dict[str, Any]] = field(default_factory=list)
    objects: list[list[Any]] = field(default_factory=list)  # [id, gid]
    events: list[tuple[Any, ...]] = field(default_factory=list)


class AlertTrack:
    """The objects of one bucket that alerts are about."""

    def __init__(self, home: Home, sections: dict[str, bytes]) -> None:
        self.metrics: Mapping[str, int] = {}
        self._home = home
        self._users: Counter[tuple[int, int]] = Counter()  # alerts by shard and slot
        self._wanted: dict[int, B1] = {}  # by shard: which slots it wants to hear of
        self._told_first: set[int] = set()
        self._drafts: dict[int, _Draft] = {}
        self._saved: bytes | None = None
        if sections:
            self._saved = sections["columns"]
            meta, a = state.decode("alert track", VERSION, self._saved)
            self._told_first = set(meta["told_first"])
            for shard, slot, users in a["users"].tolist():
                self._users[shard, slot] = users
                self._want(shard, slot)

    # ------------------------------------------------------------------------------------------- tell

    def act(self, c: int, changes: list[tuple[Change, int]]) -> None:
        """Alerts come and go."""
        self._saved = None
        home = self._home
        for change, sequence in changes:
            placed = change.entry
            assert isinstance(placed, Placed)
            slots = self._slots_of(placed)
            if change.comes:
                self._come(c, placed.shard, slots)
            else:
                self._go(placed.shard, [slot for _, slot in slots])
            if bucket_of(placed.query.name.encode(), home.setup.buckets) == home.bucket:
                self._draft(placed.shard).commands.append(_command(placed, c, sequence, change.comes))

    def _slots_of(self, placed: Placed) -> list[tuple[str, int]]:
        """The objects that are at home here."""
        setup, found = self._home.setup, []
        for oid in dict.fromkeys(o for term in distinct(placed.query.formula) for o in objects_of(term)):
            key = focal_bytes(oid, setup.schema)
            if key is not None and bucket_of(key, setup.buckets) == self._home.bucket:
                found.append((oid, self._home.slot_of(key)))
        return found

    def _come(self, c: int, shard: int, slots: list[tuple[str, int]]) -> None:
        draft, tracks = self._draft(shard), self._home.tracks
        for oid, slot in slots:
            self._users[shard, slot] += 1
            self._want(shard, slot)
            draft.objects.append([oid, self._gid(slot)])
        there = np.array([slot for _, slot in slots if tracks.region[slot] >= 0], np.int32)
        t = np.full(len(there), c, np.int64)
        draft.events.append((t, self._gid(there), np.ones(len(there), np.bool_), tracks.x[there], tracks.y[there]))

    def _go(self, shard: int, slots: list[int]) -> None:
        for slot in slots:
            self._users[shard, slot] -= 1
            if not self._users[shard, slot]:
                del self._users[shard, slot]
                self._wanted[shard][slot] = False

    def _want(self, shard: int, slot: int) -> None:
        wanted = self._wanted.get(shard, np.zeros(0, np.bool_))
        if slot >= len(wanted):
            grown = np.zeros(2 * slot + 8, np.bool_)
            grown[: len(wanted)] = wanted
            wanted = grown
        wanted[slot] = True
        self._wanted[shard] = wanted

    def _gid(self, slot: Any) -> Any:
        """The number by which the object in a slot goes everywhere."""
        number = np.asarray(slot, np.int64) * self._home.setup.buckets + self._home.bucket
        return number if number.ndim else int(number)

    def _draft(self, shard: int) -> _Draft:
        return self._drafts.setdefault(shard, _Draft())

    def follow(self, segment: Segment) -> None:
        """What happened to the objects that shards want to hear of."""
        for shard, wanted in self._wanted.items():
            slot = segment.slot
            known = slot < len(wanted)
            which = np.flatnonzero(wanted[np.where(known, slot, 0)] & known)
            if len(which):
                s = segment
                self._draft(shard).events.append(
                    (s.t[which], self._gid(slot[which]), s.row[which] >= 0, s.x[which], s.y[which])
                )

    def close(self, frontier: int) -> Sent:
        """The letters of the step."""
        first = self._home.first
        if first is not None:
            for shard in self._wanted.keys() | self._drafts.keys():
                if shard not in self._told_first:
                    self._draft(shard)
        relays = {}
        for shard, draft in self._drafts.items():
            if first is not None and shard not in self._told_first:
                self._told_first.add(shard)
                self._saved = None
            columns = zip(*draft.events, strict=True) if draft.events else ([] for _ in EVENTS)
            arrays = {
                name: np.concatenate([np.zeros(0, kind), *parts])
                for (name, kind), parts in zip(EVENTS.items(), columns, strict=True)
            }
            relays[shard] = Letter({"commands": draft.commands, "objects": draft.objects, "first": first}, arrays)
        self._drafts = {}
        return Sent(relays=relays)

    def pinned(self) -> I32:
        """The slots that alerts are about."""
        return np.array(sorted({slot for _, slot in self._users}), np.int32)

    def save(self) -> dict[str, bytes]:
        """Who wants to hear of whom."""
        if self._saved is None:
            users = np.array([[*key, n] for key, n in self._users.items()], np.int64).reshape(-1, 3)
            self._saved = state.encode(
                "alert track", VERSION, {"told_first": sorted(self._told_first)}, {"users": users}
            )
        return {"columns": self._saved}


def _command(placed: Placed, c: int, sequence: int, comes: bool) -> dict[str, Any]:
    """What a shard must know of an alert that comes or goes."""
    command: dict[str, Any] = {"c": c, "sequence": sequence, "comes": comes, "name": placed.query.name}
    if comes:
        command["formula"] = to_plain(placed.query.formula)
        command["counted_by"] = [[to_plain(constraint), qid] for constraint, qid in placed.counted_by]
    return command
