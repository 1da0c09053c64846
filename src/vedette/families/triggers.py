"""Triggers: from a checked statement to numbers: slots, closed bounds, keys, and how the work is spread.

In: a `model.Trigger`. Out: a `TriggerPlan`. A slot is one event of a tuple; a set `FOR 3 E AS v` has three.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from vedette.families.plan import ticks
from vedette.families.ranges import squared
from vedette.kernels.events.graph import CELLS, DOMAINS, LOOSE, TIGHT
from vedette.kernels.events.sift import KEY, ONE, SPACE
from vedette.lang import print_expr
from vedette.lang.closure import Closure, close
from vedette.lang.triggers import conjuncts_in
from vedette.lang.types import Types, columns_in, kind_in
from vedette.model import Apart, Column, Compare, Expr, Schema, Trigger
from vedette.space import Space

STRATEGIES = {"LOOSE": LOOSE, "TIGHT": TIGHT, "DOMAINS": DOMAINS, "CELLS": CELLS, None: CELLS}
EQUAL, ORDER = "=", "<"  # how a side is compared
_REVERSED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Side:
    """One side of a comparison: an expression over one event, and how its values become coarse keys."""

    expr: Expr
    use: str

    @property
    def text(self) -> str:
        """Its identity."""
        return f"{self.use} {print_expr(self.expr)}"

    @property
    def is_oid(self) -> bool:
        """Whether it is the id itself, which every event has and nobody needs to send along."""
        return isinstance(self.expr, Column) and self.expr.name == "oid"


@dataclass(frozen=True)
class Comparison:
    """`left of a event at base a, op, right of one at base b`; keys of both sides agree if `is_keyed`."""

    a: int
    b: int
    op: str
    left: Side
    right: Side
    is_keyed: bool


@dataclass(frozen=True)
class TriggerPlan:
    """By slot: `names`, `bases`, `conjuncts` (all must hold), `reach` (how far a partner can be), `keys` (or none).

    By pair: `near`, `far` as the user wrote them and as they are compared, with strictness; `reach2`, which follows
    from them, rounded outwards.
    """

    closure: Closure
    names: tuple[str, ...]
    bases: tuple[int, ...]
    conjuncts: tuple[tuple[Expr, ...], ...]
    high: list[list[int]]
    near: list[list[tuple[float, bool]]]
    far: list[list[tuple[float, bool]]]
    reach2: list[list[float]]
    reach: tuple[float, ...]
    comparisons: tuple[Comparison, ...]
    keys: tuple[Side, ...]  # equal in every tuple
    mode: int
    strategy: int

    def sides_of(self, base: int) -> list[Side]:
        """The sides that an event at a base must have a value for."""
        found = [c.left for c in self.comparisons if c.a == base] + [c.right for c in self.comparisons if c.b == base]
        return list({side.text: side for side in found}.values())


def plan_trigger(trigger: Trigger, space: Space, schema: Schema) -> TriggerPlan:
    """The plan of a trigger over a stream."""
    closure = close(trigger, lambda length: ticks(length, schema))
    m = len(closure.slots)
    bases = tuple(closure.slots.index(v) for v in closure.slots)
    base_of = {variable.name: closure.slots.index(v) for v, variable in enumerate(trigger.variables)}
    near, far = _written(trigger, closure, base_of, space)
    comparisons = tuple(_comparison(c, base_of, schema) for c in trigger.constraints if isinstance(c, Compare))
    keys = _keys(comparisons, bases)
    reach = tuple(max((closure.near[i][j] for j in range(m) if j != i), default=0.0) for i in range(m))
    mode = KEY if keys else SPACE if all(math.isfinite(r) for r in reach) else ONE
    conditions = [trigger.variables[v].condition for v in closure.slots]
    return TriggerPlan(
        closure,
        tuple(trigger.variables[v].name for v in closure.slots),
        bases,
        tuple(tuple(conjuncts_in(c)) if c is not None else () for c in conditions),
        [[h or 0 for h in row] for row in closure.high],  # none is unbounded: the language has seen to it
        near,
        far,
        [[outwards(d, space) for d in row] for row in closure.near],
        reach,
        comparisons,
        keys,
        mode,
        STRATEGIES[trigger.strategy],
    )


def outwards(distance: float, space: Space) -> float:
    """A derived distance as it is compared, surely not too small."""
    return math.inf if math.isinf(distance) else squared(distance * (1 + 1e-9), space) + 1e-290


def _written(
    trigger: Trigger, closure: Closure, base_of: dict[str, int], space: Space
) -> tuple[list[list[tuple[float, bool]]], list[list[tuple[float, bool]]]]:
    """The distances that the user wrote: the least upper and the greatest lower one of each pair."""
    m = len(closure.slots)
    near = [[(math.inf, False)] * m for _ in range(m)]
    far = [[(-1.0, False)] * m for _ in range(m)]
    for c in trigger.constraints:
        if not isinstance(c, Apart):
            continue
        bound, is_strict = squared(c.distance, space), c.op in ("<", ">")
        ours = {base_of[c.a], base_of[c.b]}
        for i in range(m):
            for j in range(m):
                if i == j or {closure.slots.index(closure.slots[i]), closure.slots.index(closure.slots[j])} != ours:
                    continue
                if c.op in ("<", "<="):
                    near[i][j] = min(near[i][j], (bound, is_strict), key=lambda n: (n[0], not n[1]))
                else:
                    far[i][j] = max(far[i][j], (bound, is_strict))
    return near, far


def _comparison(c: Compare, base_of: dict[str, int], schema: Schema) -> Comparison:
    types = Types(lambda column: kind_in(schema, column.name), columns_in(schema), schema.oid)
    kinds = types.kind(c.left), types.kind(c.right)
    is_keyed = kinds[0] == kinds[1] and kinds[0] in ("number", "string", "id", "timestamp", "true or false")
    use = EQUAL if c.op in ("=", "<>") else ORDER
    return Comparison(base_of[c.a], base_of[c.b], c.op, Side(c.left, use), Side(c.right, use), is_keyed)


def _keys(comparisons: tuple[Comparison, ...], bases: tuple[int, ...]) -> tuple[Side, ...]:
    """A side for every slot, all of which are equal in every tuple; nothing if equalities do not connect all slots."""
    parent: dict[tuple[int, str], tuple[int, str]] = {}
    sides: dict[tuple[int, str], Side] = {}

    def root(node: tuple[int, str]) -> tuple[int, str]:
        while parent.setdefault(node, node) != node:
            node = parent[node]
        return node

    whole_sets = set()
    for c in comparisons:
        if c.op != "=" or not c.is_keyed:
            continue
        one, other = (c.a, c.left.text), (c.b, c.right.text)
        sides[one], sides[other] = c.left, c.right
        parent[root(one)] = root(other)
        if c.a == c.b:
            whole_sets.add(one)
    needed = set(bases)
    for found in sorted({root(node) for node in sides}):
        members = [node for node in sides if root(node) == found]
        covered = {base for base, _ in members}
        is_joined = len(covered) > 1 or any(node in whole_sets for node in members)
        if covered == needed and is_joined:
            by_base = {base: sides[base, text] for base, text in sorted(members, reverse=True)}
            return tuple(by_base[base] for base in bases)
    return ()


def to_wire(plan: TriggerPlan, number_of: dict[str, int]) -> dict[str, Any]:
    """What a shard must know, as plain data; sides by their numbers."""
    comparisons = []
    for c in plan.comparisons:
        left, right = number_of[c.left.text], number_of[c.right.text]
        comparisons.append([c.a, c.b, c.op, left, right, c.is_keyed])
        if c.a != c.b:
            comparisons.append([c.b, c.a, _REVERSED[c.op], right, left, c.is_keyed])
    return {
        "names": list(plan.names),
        "bases": list(plan.bases),
        "high": plan.high,
        "near": plan.near,
        "far": plan.far,
        "reach2": plan.reach2,
        "comparisons": comparisons,
        "keys": [number_of[side.text] for side in plan.keys],
        "strategy": plan.strategy,
        "sides": {str(number_of[side.text]): [side.use, side.is_oid] for side in _sides(plan)},
    }


def _sides(plan: TriggerPlan) -> list[Side]:
    return [side for c in plan.comparisons for side in (c.left, c.right)]
