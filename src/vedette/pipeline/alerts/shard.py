"""A shard of alerts: their constraints, each stored and evaluated once, and the diagram over them.

In: alerts that come and go, and what happens to the objects and counts that they are about. Out: which alert became
true or false, and when. It knows nothing of buckets and messages.

Constraints have slots, given out again; numbers in arrays are made anew when something came or went, and otherwise left
to the kernel, which keeps truth values, bounds and counts in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.families.alerts import Planned, measured, plan_constraint
from vedette.families.diagram import SharedDiagram
from vedette.families.links import Bounded, Links
from vedette.kernels.arrays import B1, F64, I32, I64, enlarged
from vedette.kernels.judge import (
    TALLY,
    Alerts,
    Bodies,
    Constraints,
    Counts,
    Happenings,
    LinkLists,
    Wake,
    judge,
)
from vedette.kernels.shapes import NO_EDGES, PARAMETERS, Edges
from vedette.model.alert import Elementary, objects_of
from vedette.model.formula import distinct
from vedette.model.plain import from_plain, to_plain
from vedette.space import Space, unit_vector

COUNTED = ("touched", "computed", "inferred", "changed", "walked")


@dataclass
class _Numbers:
    """Small numbers for things, given out again."""

    of: dict[Any, int] = field(default_factory=dict)
    free: list[int] = field(default_factory=list)

    def take(self, key: Any) -> int:
        number = self.free.pop() if self.free else len(self.of)
        self.of[key] = number
        return number

    def release(self, key: Any) -> int:
        number = self.of.pop(key)
        self.free.append(number)
        return number

    @property
    def span(self) -> int:
        return len(self.of) + len(self.free)


class Shard:
    """Alerts and what they are about. `infer` off: everything is computed, nothing inferred from anything else."""

    def __init__(self, space: Space, infer: bool = True) -> None:
        self.space = space
        self.tally: I64 = np.zeros(TALLY, np.int64)
        self.links = Links() if infer else None
        self.diagram = SharedDiagram(self._number_of)
        self.formulas: dict[str, Any] = {}
        self.constraints = _Numbers()
        self.qid_of: dict[Elementary, int] = {}  # who counts for a constraint
        self._by_qid: dict[int, int] = {}
        self._users: dict[Elementary, int] = {}
        self._planned: dict[int, Planned] = {}
        self._often: I64 = np.zeros(0, np.int64)
        self._alert_slots = _Numbers()
        self._names: dict[int, str] = {}
        self._body_slots = _Numbers()
        self._body_users: dict[str, int] = {}
        self._new_constraints: list[int] = []
        self._new_alerts: list[int] = []
        self._is_stale = True
        self._bodies = Bodies(_no(bool), _no(float), _no(float), np.zeros((0, 3)), np.zeros(1, np.int64), _no(np.int32))
        self._told: B1 = _no(bool)
        self._value: B1 = _no(bool)
        self._bound: F64 = _no(float)
        self._count: I64 = _no(np.int64)
        self._arrays: tuple[Constraints, Edges, LinkLists, Alerts] | None = None

    def _number_of(self, constraint: Elementary) -> int:
        return self.constraints.of[constraint]

    # ---------------------------------------------------------------------------------------- come and go

    def create(self, name: str, formula: Any, counted_by: Mapping[Elementary, int], told: bool = False) -> None:
        """An alert comes. `counted_by`: who counts for its RKNN constraints; `told`: what its name was last."""
        for constraint in distinct(formula):
            self._use(constraint, counted_by.get(constraint, -1))
        slot = self._alert_slots.take(name)
        self._names[slot] = name
        if slot >= len(self._told):
            self._told = enlarged(self._told, 2 * slot + 8)
        self._told[slot] = told
        self.formulas[name] = formula
        self.diagram.add(name, formula)
        self._new_alerts.append(slot)
        self._is_stale = True

    def drop(self, name: str) -> bool:
        """An alert goes; what was told of it last."""
        formula = self.formulas.pop(name)
        self.diagram.remove(name)
        slot = self._alert_slots.release(name)
        del self._names[slot]
        self._new_alerts = [s for s in self._new_alerts if s != slot]
        for constraint in distinct(formula):
            self._leave(constraint)
        self._is_stale = True
        return bool(self._told[slot])

    def _use(self, constraint: Elementary, qid: int) -> None:
        self._users[constraint] = self._users.get(constraint, 0) + 1
        if self._users[constraint] > 1:
            return
        slot = self.constraints.take(constraint)
        planned = self._planned[slot] = plan_constraint(constraint, self.space)
        if slot >= len(self._value):
            room = 2 * slot + 8
            self._value, self._bound = enlarged(self._value, room), enlarged(self._bound, room)
            self._count, self._often = enlarged(self._count, room), enlarged(self._often, room)
        self._value[slot], self._bound[slot], self._count[slot], self._often[slot] = False, np.nan, 0, 0
        if qid >= 0:
            self.qid_of[constraint] = qid
            self._by_qid[qid] = slot
        for oid in objects_of(constraint):
            self._body_users[oid] = self._body_users.get(oid, 0) + 1
            if self._body_users[oid] == 1:
                self._new_body(oid)
        comparable = measured(constraint)
        if self.links is not None and comparable is not None:
            members = frozenset(self._body_slots.of[o] for o in objects_of(constraint))
            self.links.insert(Bounded(slot, members, *comparable, planned.limit))
        self._new_constraints.append(slot)

    def _leave(self, constraint: Elementary) -> None:
        self._users[constraint] -= 1
        if self._users[constraint]:
            return
        del self._users[constraint]
        slot = self.constraints.release(constraint)
        del self._planned[slot]
        self._new_constraints = [s for s in self._new_constraints if s != slot]
        qid = self.qid_of.pop(constraint, None)
        if qid is not None:
            del self._by_qid[qid]
        if self.links is not None and measured(constraint) is not None:
            self.links.remove(slot)
        for oid in objects_of(constraint):
            self._body_users[oid] -= 1
            if not self._body_users[oid]:
                del self._body_users[oid]
                self._bodies.on[self._body_slots.release(oid)] = False

    def _new_body(self, oid: str) -> None:
        slot = self._body_slots.take(oid)
        if slot >= len(self._bodies.on):
            room = 2 * slot + 8
            b = self._bodies
            self._bodies = b._replace(**{n: enlarged(getattr(b, n), room) for n in ("on", "x", "y", "p")})
        self._bodies.on[slot] = False
        self._bodies.p[slot] = 0.0

    def bodies(self) -> Mapping[str, int]:
        """The objects that constraints are about, by id, with their numbers here."""
        return self._body_slots.of

    def counted(self) -> Mapping[int, int]:
        """The constraints that are counted for, by who counts."""
        return self._by_qid

    # --------------------------------------------------------------------------------------------- run

    def run(self, happenings: Happenings, counts: Counts, wake_at: int | None) -> list[tuple[int, str, bool]]:
        """What became true or false, and when; what is new is judged at the tick `wake_at`, after all else in it.

        Objects and constraints go by their numbers (`bodies`, `counted`). wake_at None: what is new waits on.
        """
        self.prepare()
        assert self._arrays is not None
        constraints, edges, links, alerts = self._arrays
        none = np.zeros(0, np.int32)
        if wake_at is not None and (self._new_constraints or self._new_alerts):
            wake = Wake(
                np.array([wake_at], np.int64),
                np.array(self._new_constraints, np.int32),
                np.array(self._new_alerts, np.int32),
            )
            self._new_constraints, self._new_alerts = [], []
        else:
            wake = Wake(np.zeros(0, np.int64), none, none)
        if not (len(happenings.t) or len(counts.t) or len(wake.t)):
            return []
        t, alert, value = judge(
            happenings,
            counts,
            wake,
            self._bodies,
            constraints,
            edges,
            links,
            self.diagram.table,
            alerts,
            self.space.is_lonlat,
            self.tally,
        )
        return [
            (when, self._names[a], v) for when, a, v in zip(t.tolist(), alert.tolist(), value.tolist(), strict=True)
        ]

    def prepare(self) -> None:
        """Make what kernels need of alerts that came or went."""
        if not self._is_stale:
            return
        self._is_stale = False
        if self.links is not None:
            self.links.refresh()
        self.diagram.settle(self._often)
        listed = sorted((slot, constraint) for constraint, slot in self.constraints.of.items())
        span = self.constraints.span
        bodies = self._body_slots.of
        rows = [[bodies[o] for o in objects_of(c)] for _, c in listed]
        slots = np.array([slot for slot, _ in listed], np.int64)
        length = np.zeros(span, np.int64)
        length[slots] = [len(row) for row in rows]
        item = np.array([b for row in rows for b in row], np.int32)
        owner = np.repeat(slots, length[slots]).astype(np.int32)
        first = np.zeros(span, np.int64)
        first[slots] = np.cumsum(length[slots]) - length[slots]
        start, by_body = _grouped(item, owner, len(self._bodies.on))
        self._bodies = self._bodies._replace(start=start, item=by_body)
        missing = np.zeros(span, np.int32)
        np.add.at(missing, owner, (~self._bodies.on[item]).astype(np.int32))
        constraints, edges = self._numbers(span, slots, listed, first, length, item, missing)
        self._arrays = (constraints, edges, self._link_lists(span), self._alerts())

    def _numbers(
        self,
        span: int,
        slots: I64,
        listed: list[tuple[int, Elementary]],
        first: I64,
        length: I64,
        item: I32,
        missing: I32,
    ) -> tuple[Constraints, Edges]:
        kind, shape = np.full(span, -1, np.int8), np.zeros(span, np.int8)
        limit, p = np.zeros(span), np.zeros((span, PARAMETERS))
        part = np.zeros(span, np.int32)
        polygons: list[Planned] = []
        for slot, _ in listed:
            planned = self._planned[slot]
            kind[slot], shape[slot], limit[slot] = planned.kind, planned.shape, planned.limit
            p[slot, : len(planned.p)] = planned.p
            if planned.edges:
                part[slot] = len(polygons)
                polygons.append(planned)
        used = [(self.constraints.of[c], a) for a, name in self._names.items() for c in distinct(self.formulas[name])]
        pairs = np.array(used, np.int32).reshape(-1, 2)
        use, alert = _grouped(pairs[:, 0], pairs[:, 1], span)
        value, bound = self._value[:span], self._bound[:span]
        count, often = self._count[:span], self._often[:span]
        return (
            Constraints(
                kind, first, length, item, limit, p, shape, part, value, bound, missing, count, often, use, alert
            ),
            _edges_of(polygons),
        )

    def _link_lists(self, span: int) -> LinkLists:
        into = self.links.into if self.links is not None else {}
        listed = [(target, link) for target, links in into.items() for link in links]
        target = np.array([t for t, _ in listed], np.int32)
        start, order = _grouped(target, np.arange(len(listed), dtype=np.int32), span)
        return LinkLists(
            start,
            np.array([link.source for _, link in listed], np.int32)[order],
            np.array([link.need for _, link in listed], np.bool_)[order],
            np.array([link.upper for _, link in listed], np.bool_)[order],
        )

    def _alerts(self) -> Alerts:
        edge = np.zeros(max(self._alert_slots.span, 1), np.int64)
        for slot, name in self._names.items():
            edge[slot] = self.diagram.edges[name]
        return Alerts(edge, self._told)

    # ------------------------------------------------------------------------------------ save and load

    def standing(self) -> dict[str, Any]:
        """The alerts, as plain data."""
        return {
            "alerts": [[name, to_plain(formula)] for name, formula in self.formulas.items()],
            "counted_by": [[to_plain(constraint), qid] for constraint, qid in self.qid_of.items()],
        }

    def columns(self) -> dict[str, Any]:
        """All else, in the order in which alerts, their constraints and their objects stand in `standing`."""
        constraints = np.array([self.constraints.of[c] for c in self._in_order()], np.int64)
        bodies = np.array(list(self._body_slots.of.values()), np.int64)
        alerts = np.array([self._alert_slots.of[name] for name in self.formulas], np.int64)
        on = self._bodies.on[bodies]
        return {
            "told": self._told[alerts],
            "alert_is_new": np.isin(alerts, self._new_alerts),
            "value": self._value[constraints],
            "count": self._count[constraints],
            "often": self._often[constraints],
            "constraint_is_new": np.isin(constraints, self._new_constraints),
            "body": _strings(list(self._body_slots.of)),
            "on": on,
            "x": np.where(on, self._bodies.x[bodies], 0.0),
            "y": np.where(on, self._bodies.y[bodies], 0.0),
        }

    def _in_order(self) -> list[Elementary]:
        return list(dict.fromkeys(c for formula in self.formulas.values() for c in distinct(formula)))

    @classmethod
    def load(cls, space: Space, standing: dict[str, Any], columns: dict[str, Any]) -> Shard:
        """The shard again. Bounds are not kept: what would be inferred from them is computed once."""
        self = cls(space)
        counted_by = {from_plain(constraint): qid for constraint, qid in standing["counted_by"]}
        for (name, formula), told in zip(standing["alerts"], columns["told"].tolist(), strict=True):
            self.create(name, from_plain(formula), counted_by, told)
        slots = np.array([self.constraints.of[c] for c in self._in_order()], np.int64)
        self._value[slots], self._count[slots] = columns["value"], columns["count"]
        self._often[slots] = columns["often"]
        alerts = np.array([self._alert_slots.of[name] for name in self.formulas], np.int64)
        self._new_alerts = alerts[columns["alert_is_new"]].tolist()
        self._new_constraints = slots[columns["constraint_is_new"]].tolist()
        for oid, on, x, y in zip(
            columns["body"].to_pylist(), *(columns[n].tolist() for n in ("on", "x", "y")), strict=True
        ):
            self._place(self._body_slots.of[oid], on, x, y)
        return self

    def _place(self, slot: int, on: bool, x: float, y: float) -> None:
        bodies = self._bodies
        bodies.on[slot], bodies.x[slot], bodies.y[slot] = on, x, y
        bodies.p[slot] = unit_vector(x, y) if self.space.is_lonlat else (x, y, 0.0)


def _no(kind: Any) -> Any:
    return np.zeros(0, kind)


def _strings(texts: Iterable[str]) -> pa.Array:
    return pa.array(texts, pa.string())


def _grouped(key: I32, item: I32, groups: int) -> tuple[I64, I32]:
    """Items by key: where each group starts, and the items in that order."""
    start = np.zeros(groups + 1, np.int64)
    np.cumsum(np.bincount(key, minlength=groups), out=start[1:])
    return start, item[np.argsort(key, kind="stable")]


def _edges_of(polygons: list[Planned]) -> Edges:
    if not polygons:
        return NO_EDGES
    start = np.cumsum([0, *(len(p.edges) for p in polygons)]).astype(np.int64)
    columns = np.array([edge for p in polygons for edge in p.edges], np.float64).T
    return Edges(start, *(np.ascontiguousarray(column) for column in columns))
