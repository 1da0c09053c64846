"""Triggers in TRACK: which events can stand for which variables, and who has to hear of them.

In: statements that act, and what happened to the bucket's objects. Out: letters to shards: events with the variables
that they can stand for, and triggers that come and go. An event goes to all regions from which a partner can be in
reach; or to the shard of its key, where equalities connect all variables; or to one shard that the trigger has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.conditions import compute
from vedette.families.triggers import Side, TriggerPlan, plan_trigger, to_wire
from vedette.kernels.arrays import I32
from vedette.kernels.events.sift import KEY, Uses, some_bit, spread
from vedette.lang import print_expr
from vedette.model import Trigger
from vedette.pipeline import state
from vedette.pipeline.catalogue import Change, Numbers, Registered
from vedette.pipeline.messages import Letter
from vedette.pipeline.parts import Home, Segment, Sent
from vedette.pipeline.rows import Rows, concat
from vedette.pipeline.setup import bucket_of
from vedette.pipeline.triggers.keys import keys_of, known
from vedette.pipeline.triggers.unary import Conjuncts, UnaryIndex

VERSION = 1


class TriggerTrack:
    """Triggers in one bucket of objects. Everything but the numbers of sides follows from the catalogue."""

    def __init__(self, home: Home, sections: dict[str, bytes]) -> None:
        self.metrics: Mapping[str, int] = {}
        self._home = home
        self._plans: dict[int, tuple[str, TriggerPlan]] = {}  # by qid
        self._sides: Numbers[Side] = Numbers()
        self._saved: bytes | None = None
        self._index: UnaryIndex | None = None
        self._uses: Uses
        self._of_use: I32 = np.zeros((0, 2), np.int32)
        self._commands: list[dict[str, Any]] = []
        self._parts: dict[int, list[dict[str, Any]]] = {}
        if sections:
            self._load(sections["numbers"])

    # --------------------------------------------------------------------------------------- statements

    def act(self, c: int, changes: list[tuple[Change, int]]) -> None:
        """Triggers come and go; every region is told by the bucket that a trigger's name belongs to."""
        self._index, self._saved = None, None
        for change, sequence in changes:
            entry = change.entry
            if change.comes:
                self._add(entry)
            else:
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
            self._commands.append(command)

    def _add(self, entry: Registered) -> None:
        assert isinstance(entry.query, Trigger)
        setup = self._home.setup
        plan = plan_trigger(entry.query, setup.space, setup.schema)
        self._plans[entry.qid] = (entry.query.name, plan)
        for side in _all_sides(plan):
            self._sides.take(side.text, side)

    def _drop(self, entry: Registered) -> None:
        _, plan = self._plans.pop(entry.qid)
        for side in _all_sides(plan):
            self._sides.release(side.text)

    def _make_index(self) -> UnaryIndex:
        """Conditions as bits, and for each the variables that have it."""
        setup = self._home.setup
        bits: dict[tuple[tuple[str, ...], tuple[int, ...]], list[tuple[int, int]]] = {}
        conditions: list[tuple[Conjuncts, tuple[int, ...]]] = []
        for qid, (_, plan) in sorted(self._plans.items()):
            for base in sorted(set(plan.bases)):
                conjuncts = plan.conjuncts[base]
                needs = tuple(sorted(self._sides.items[side.text][0] for side in plan.sides_of(base)))
                identity = (tuple(sorted(map(print_expr, conjuncts))), needs)
                if identity not in bits:
                    bits[identity] = []
                    conditions.append((conjuncts, needs))
                bits[identity].append((qid, base))
        users = list(bits.values())
        flat = [use for group in users for use in group]
        start = np.zeros(len(users) + 1, np.int64)
        np.cumsum([len(group) for group in users], out=start[1:])
        plans = [self._plans[qid] for qid, _ in flat]
        squares = [plan.reach2[base] for (_, plan), (_, base) in zip(plans, flat, strict=True)]
        self._uses = Uses(
            start,
            np.array([plan.mode for _, plan in plans], np.int8),
            np.array([max(row) for row in squares], np.float64),
            np.array(
                [
                    self._sides.items[plan.keys[base].text][0] if plan.mode == KEY else -1
                    for (_, plan), (_, base) in zip(plans, flat, strict=True)
                ],
                np.int32,
            ),
            np.array([bucket_of(name.encode(), setup.regions.size) for name, _ in plans], np.int32),
        )
        self._of_use = np.array(flat, np.int32).reshape(-1, 2)
        self._index = UnaryIndex(conditions, setup.space, setup.schema)
        return self._index

    # ------------------------------------------------------------------------------------------- events

    def follow(self, segment: Segment) -> None:
        """Sift the events of a segment; late rows are none."""
        which = segment.row[(segment.row >= 0) & ~segment.is_late]
        if not self._plans or len(which) == 0:
            return
        index = self._index or self._make_index()
        rows = segment.rows.take(which)
        columns = rows.columns(self._home.setup.schema.time)
        sides = {n: (side, compute(side.expr, columns, len(rows))) for n, side in self._numbered()}
        words = index.bits(rows, lambda n: known(sides[n][1]))
        hits = np.flatnonzero(some_bit(words))
        if len(hits) == 0:
            return
        rows, words, taken = rows.take(hits), words[hits], pa.array(hits)
        keys = np.zeros((len(hits), self._sides.span), np.int64)
        values = {}
        for n, (side, column) in sides.items():
            values[n] = column.take(taken)
            keys[:, n] = keys_of(values[n], side.use)
        setup = self._home.setup
        start, event, use, owned = spread(words, rows.x, rows.y, keys, self._uses, setup.regions, setup.wraps)
        for region in range(setup.regions.size):
            some = slice(start[region], start[region + 1])
            if start[region] < start[region + 1]:
                part = _part(rows, keys, values, event[some], self._of_use[use[some]], owned[some])
                self._parts.setdefault(region, []).append(part)

    def _numbered(self) -> list[tuple[int, Side]]:
        return sorted((number, side) for number, side in self._sides.items.values())

    def close(self, frontier: int) -> Sent:
        """The letters of the step."""
        sent = Sent()
        for region in range(self._home.setup.regions.size) if self._commands or self._parts else ():
            parts = self._parts.get(region, [])
            if parts or self._commands:
                sent.letters[region] = Letter({"commands": self._commands}, _joined(parts))
        self._commands, self._parts = [], {}
        if self._sides.forget_unused():
            self._index, self._saved = None, None
        return sent

    def pinned(self) -> I32:
        """No object is kept for the sake of a trigger."""
        return np.zeros(0, np.int32)

    # ------------------------------------------------------------------------------------- save and load

    def save(self) -> dict[str, bytes]:
        """Which sides have which numbers; the triggers themselves are in the catalogue."""
        if self._saved is None:
            numbers = [[text, number] for text, (number, _) in self._sides.items.items()]
            meta = {"numbers": numbers, "free": self._sides.free_numbers(), "qids": sorted(self._plans)}
            self._saved = state.encode("triggers", VERSION, meta, {})
        return {"numbers": self._saved}

    def _load(self, saved: bytes) -> None:
        meta, _ = state.decode("triggers", VERSION, saved)
        setup, numbers = self._home.setup, dict(meta["numbers"])
        self._saved = saved
        entries = {entry.qid: entry for entry in self._home.catalogue.others.values()}
        for qid in meta["qids"]:
            query = entries[qid].query
            assert isinstance(query, Trigger)
            plan = plan_trigger(query, setup.space, setup.schema)
            self._plans[qid] = (query.name, plan)
            for side in _all_sides(plan):
                self._sides.adopt(side.text, numbers[side.text], side)
        self._sides.adopted(meta["free"])


def _all_sides(plan: TriggerPlan) -> list[Side]:
    return [side for base in sorted(set(plan.bases)) for side in plan.sides_of(base)]


def _part(rows: Rows, keys: Any, values: dict[int, pa.Array], event: Any, use: I32, owned: Any) -> dict[str, Any]:
    """The events of some pairs, each once, and the pairs; pairs are in the order of events."""
    first = np.ones(len(event), np.bool_)
    first[1:] = event[1:] != event[:-1]
    which = event[first]
    some = rows.take(which)
    taken = pa.array(which)
    return {
        "rows": Rows(some.oid, some.t, some.x, some.y),
        "keys": keys[which],
        "values": {n: column.take(taken) for n, column in values.items()},
        "count": np.diff(np.append(np.flatnonzero(first), len(event))),
        "qid": use[:, 0],
        "base": use[:, 1],
        "owned": owned,
    }


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The parts of all segments as columns; a side that came or went between them is null where it was not there."""
    if not parts:
        return {}
    rows = concat([part["rows"] for part in parts])
    width = max(part["keys"].shape[1] for part in parts)
    keys = np.zeros((len(rows), width), np.int64)
    at = 0
    for part in parts:
        keys[at : at + len(part["keys"]), : part["keys"].shape[1]] = part["keys"]
        at += len(part["keys"])
    columns: dict[str, Any] = {"oid": rows.oid, "t": rows.t, "x": rows.x, "y": rows.y, "keys": keys}
    numbers = sorted({n for part in parts for n in part["values"]})
    for n in numbers:
        kind = next(part["values"][n].type for part in parts if n in part["values"])
        columns[f"side.{n}"] = pa.concat_arrays(
            [part["values"].get(n, pa.nulls(len(part["rows"]), kind)) for part in parts]
        )
    for name in ("count", "qid", "base", "owned"):
        columns[name] = np.concatenate([part[name] for part in parts])
    return columns
