"""Triggers in TRACK: which events can stand for which variables, and who has to hear of them.

In: statements that act, and what happened to the bucket's objects. Out: letters to shards: events with the variables
that they can stand for, and triggers that come and go. An event goes to the one shard of a trigger that is whole
(`shards`); else to the shard of its key, where equalities connect all variables, or to all regions from which a partner
can be in reach. Events are sifted some ten thousand at a time, so that whatever that takes stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.conditions import compute
from vedette.families.triggers import Side, TriggerPlan, plan_trigger, to_wire
from vedette.kernels.arrays import B1, I32, I64
from vedette.kernels.events.sift import KEY, Routes, spread
from vedette.lang import print_expr
from vedette.model import Trigger
from vedette.pipeline import state
from vedette.pipeline.catalogue import Change, Numbers, Registered
from vedette.pipeline.messages import Letter
from vedette.pipeline.parts import Home, Segment, Sent
from vedette.pipeline.rows import join
from vedette.pipeline.setup import bucket_of
from vedette.pipeline.triggers.freight import Part, coded, joined, numbered, smallest
from vedette.pipeline.triggers.keys import keys_of, known
from vedette.pipeline.triggers.shards import SPREAD, Shards
from vedette.pipeline.triggers.unary import Conjuncts, UnaryIndex

VERSION = 2
AT_ONCE = 1 << 16  # events that are sifted together


class TriggerTrack:
    """Triggers in one bucket of objects. All but the numbers of sides and the shards follows from the catalogue."""

    def __init__(self, home: Home, sections: dict[str, bytes]) -> None:
        self.metrics: Mapping[str, int] = {}
        self._home = home
        self._plans: dict[int, tuple[str, TriggerPlan]] = {}  # by qid
        self._sides: Numbers[Side] = Numbers()
        self._saved: bytes | None = None
        self._index: UnaryIndex | None = None
        self._routes: Routes
        self._users: tuple[I64, I32, I32, B1]
        self._keyed: list[int] = []  # sides by which events are spread
        self._asked: list[list[int]] = []  # by region, the sides whose values it needs
        self._shards = Shards(home.setup.regions, home.setup.landmarks, home.setup.wraps)
        self._commands: dict[int, list[dict[str, Any]]] = {}
        self._parts: dict[int, list[Part]] = {}
        if sections:
            self._load(sections["numbers"])

    # --------------------------------------------------------------------------------------- statements

    def act(self, c: int, changes: list[tuple[Change, int]]) -> None:
        """Triggers come and go; the shards concerned are told by the bucket that a trigger's name belongs to."""
        self._index, self._saved = None, None
        for change, sequence in changes:
            entry = change.entry
            if change.comes:
                self._add(entry)
            shard = self._shards.places[entry.qid]
            if not change.comes:
                self._drop(entry)
            name = entry.query.name
            bucket = bucket_of(name.encode(), self._home.setup.buckets)
            if bucket != self._home.bucket:
                continue
            command: dict[str, Any] = {"qid": entry.qid, "c": c, "sequence": sequence}
            if change.comes:
                plan = self._plans[entry.qid][1]
                numbers = {text: number for text, (number, _) in self._sides.items.items()}
                command |= {"op": "create", "name": name, "bucket": bucket, **to_wire(plan, numbers)}
            else:
                command |= {"op": "drop"}
            for region in range(self._home.setup.regions.size) if shard == SPREAD else (shard,):
                self._commands.setdefault(region, []).append(command)

    def _add(self, entry: Registered) -> None:
        assert isinstance(entry.query, Trigger)
        setup = self._home.setup
        plan = plan_trigger(entry.query, setup.space, setup.schema)
        self._plans[entry.qid] = (entry.query.name, plan)
        self._shards.place(entry.qid, plan)
        for side in _all_sides(plan):
            self._sides.take(side.text, side)

    def _drop(self, entry: Registered) -> None:
        _, plan = self._plans.pop(entry.qid)
        self._shards.drop(entry.qid)
        for side in _all_sides(plan):
            self._sides.release(side.text)

    def _make_index(self) -> UnaryIndex:
        """Conditions as bits, those that go the same way side by side, and for each the variables that have it."""
        setup = self._home.setup
        users: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        conditions: dict[tuple[Any, ...], tuple[Conjuncts, tuple[int, ...]]] = {}
        keyed = sorted({self._number(side) for _, plan in self._plans.values() for side in plan.keys})
        for qid, (_, plan) in sorted(self._plans.items()):
            shard = self._shards.places[qid]
            for base in sorted(set(plan.bases)):
                conjuncts = plan.conjuncts[base]
                needs = tuple(sorted(self._number(side) for side in plan.sides_of(base) if not side.is_oid))
                is_keyed = shard == SPREAD and plan.mode == KEY
                key = keyed.index(self._number(plan.keys[base])) if is_keyed else -1
                reach2 = max(plan.reach2[base]) if shard == SPREAD and not is_keyed else 0.0
                identity = (shard, key, reach2, tuple(sorted(map(print_expr, conjuncts))), needs)
                conditions[identity] = (conjuncts, needs)
                users.setdefault(identity, []).append((qid, base))
        order = sorted(conditions)
        self._routes = Routes(
            np.array([identity[0] for identity in order], np.int32),
            np.array([identity[1] for identity in order], np.int32),
            np.array([identity[2] for identity in order], np.float64),
        )
        counts = [len(users[identity]) for identity in order]
        flat = np.array([use for identity in order for use in users[identity]], np.int32).reshape(-1, 2)
        is_whole = np.repeat((self._routes.shard >= 0) | (self._routes.key >= 0), counts)
        self._users = (np.concatenate(([0], np.cumsum(counts))), flat[:, 0], flat[:, 1], is_whole)
        self._keyed = keyed
        self._asked = [
            sorted({n for identity in order if identity[0] in (SPREAD, region) for n in identity[4]})
            for region in range(setup.regions.size)
        ]
        self._index = UnaryIndex([conditions[identity] for identity in order], setup.space, setup.schema)
        return self._index

    def _number(self, side: Side) -> int:
        return self._sides.items[side.text][0]

    # ------------------------------------------------------------------------------------------- events

    def follow(self, segment: Segment) -> None:
        """Sift the events of a segment; late rows are none."""
        which = np.flatnonzero((segment.row >= 0) & ~segment.is_late)
        if not self._plans or len(which) == 0:
            return
        index = self._index or self._make_index()
        found: dict[int, list[tuple[Part, I32]]] = {}
        for start in range(0, len(which), AT_ONCE):
            for region, part, bits in self._sifted(index, segment, which[start : start + AT_ONCE]):
                found.setdefault(region, []).append((part, bits))
        for region, parts in found.items():
            names = parts[0][0].keys()
            columns = {name: [part[name] for part, _ in parts] for name in names}
            whole = {n: join(c) if isinstance(c[0], pa.Array) else np.concatenate(c) for n, c in columns.items()}
            bits = np.concatenate([b for _, b in parts])
            self._parts.setdefault(region, []).append(coded(whole, bits, *self._users))

    def _sifted(self, index: UnaryIndex, segment: Segment, which: I64) -> Iterator[tuple[int, Part, I32]]:
        """Some events of a segment by region, with the bits of their conditions."""
        rows = segment.rows.run(segment.row[which])
        columns = rows.columns(self._home.setup.schema.time)
        asked = {n for numbers in self._asked for n in numbers} | set(self._keyed)
        sides = {n: (side.use, compute(side.expr, columns, len(rows))) for n, side in self._numbered() if n in asked}
        words = index.bits(rows, lambda n: known(sides[n][1]))
        keys = np.zeros((len(rows), len(self._keyed)), np.int64)
        for k, n in enumerate(self._keyed):
            keys[:, k] = keys_of(sides[n][1], sides[n][0])
        setup = self._home.setup
        sifted = spread(words, rows.x, rows.y, keys, self._routes, setup.regions, setup.wraps)
        for region in range(setup.regions.size):
            some = slice(sifted.start[region], sifted.start[region + 1])
            if some.start == some.stop:
                continue
            event = sifted.event[some]
            part = {"id": segment.slot[which[event]], "t": rows.t[event], "x": rows.x[event], "y": rows.y[event]}
            part |= {"is_home": sifted.is_home[some], "count": sifted.many[some]}
            part |= {f"side.{n}": sides[n][1].take(pa.array(event)) for n in self._asked[region]}
            yield region, part, sifted.bit[sifted.first[region] : sifted.first[region + 1]]

    def _numbered(self) -> list[tuple[int, Side]]:
        return sorted((number, side) for number, side in self._sides.items.values())

    def close(self, frontier: int) -> Sent:
        """The letters of the step."""
        sent = Sent()
        for region in sorted(self._commands.keys() | self._parts.keys()):
            arrays = self._letter(self._parts[region]) if region in self._parts else {}
            sent.letters[region] = Letter({"commands": self._commands.get(region, [])}, arrays)
        self._commands, self._parts = {}, {}
        if self._sides.forget_unused():
            self._index, self._saved = None, None
        return sent

    def _letter(self, parts: list[Part]) -> Part:
        """The events of all segments; each object's id once."""
        part = joined(parts)
        slots, codes = numbered(part["id"])
        return {**part, "id": smallest(codes), "count": smallest(part["count"]), "ids": self._home.ids_of(slots)}

    def pinned(self) -> I32:
        """No object is kept for the sake of a trigger."""
        return np.zeros(0, np.int32)

    # ------------------------------------------------------------------------------------- save and load

    def save(self) -> dict[str, bytes]:
        """Which sides have which numbers, and where triggers are done; the triggers themselves are in the catalogue."""
        if self._saved is None:
            numbers = [[text, number] for text, (number, _) in self._sides.items.items()]
            places = sorted(self._shards.places.items())
            meta = {"numbers": numbers, "free": self._sides.free_numbers(), "places": places}
            self._saved = state.encode("triggers", VERSION, meta, {})
        return {"numbers": self._saved}

    def _load(self, saved: bytes) -> None:
        meta, _ = state.decode("triggers", VERSION, saved)
        setup, numbers = self._home.setup, dict(meta["numbers"])
        self._saved = saved
        entries = {entry.qid: entry for entry in self._home.catalogue.others.values()}
        for qid, shard in meta["places"]:
            self._shards.adopt(qid, shard)
            query = entries[qid].query
            assert isinstance(query, Trigger)
            plan = plan_trigger(query, setup.space, setup.schema)
            self._plans[qid] = (query.name, plan)
            for side in _all_sides(plan):
                self._sides.adopt(side.text, numbers[side.text], side)
        self._sides.adopted(meta["free"])


def _all_sides(plan: TriggerPlan) -> list[Side]:
    return [side for base in sorted(set(plan.bases)) for side in plan.sides_of(base)]
