"""What the benchmark of alerts is made of: formulas, rounds of updates, and rivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vedette.families.diagram import SharedDiagram
from vedette.kernels.arrays import F64, I64
from vedette.kernels.judge import Counts, Happenings
from vedette.model import Circle, Inside
from vedette.model.alert import Diameter, InsideOf, ReverseNearest
from vedette.model.formula import AllOf, AnyOf, Negation
from vedette.pipeline.alerts.shard import Shard

TERMS, BODIES, SIDE = 5, 4, 10_000.0


@dataclass(frozen=True)
class Case:
    """Formulas of five constraints, a share of which is repeated, and a share of the others depends on one of them."""

    formulas: int
    objects: int
    repetition: float
    dependent: float
    seed: int
    kind: str = "diameter"
    side: float = SIDE


@dataclass(frozen=True)
class Alone(Diameter):
    """A constraint that belongs to one formula, and is never the same as another's."""

    owner: int = 0

    @classmethod
    def copy_of(cls, formula: Any, owner: int) -> Any:
        """The formula with constraints of its own."""
        match formula:
            case AllOf(parts) | AnyOf(parts):
                return type(formula)(tuple(cls.copy_of(p, owner) for p in parts))
            case Negation(part):
                return Negation(cls.copy_of(part, owner))
        return cls(formula.objects, formula.op, formula.distance, owner)


class Unordered(SharedDiagram):
    """Variables in the order in which they came."""

    def _order(self, often: I64) -> list[int]:
        return sorted(super()._order(often))


def formulas_of(case: Case) -> list[Any]:
    """The formulas of a case."""
    rng = np.random.default_rng(case.seed)
    places = case.formulas * TERMS
    pool = _pool(case, max(1, round(places * (1.0 - case.repetition))), rng)
    drawn = np.concatenate((np.arange(len(pool)), rng.integers(0, len(pool), places - len(pool))))
    rng.shuffle(drawn)
    made = []
    for a, b, c, d, e in drawn.reshape(-1, TERMS):
        both = AllOf((pool[a], AnyOf((pool[b], Negation(pool[c])))))
        made.append(AnyOf((both, AllOf((pool[d], pool[e])))))
    return made


def _pool(case: Case, size: int, rng: np.random.Generator) -> list[Any]:
    ids = [f"o{i:05d}" for i in range(case.objects)]
    if case.kind == "inside":
        x, y, r, o = *rng.uniform(0, SIDE, (2, size)), rng.uniform(500, 3000, size), rng.integers(0, len(ids), size)
        return [InsideOf(ids[o[i]], Inside(Circle(float(x[i]), float(y[i]), float(r[i])))) for i in range(size)]
    if case.kind == "rknn":
        x, y, o = *rng.uniform(0, SIDE, (2, size)), rng.integers(0, len(ids), size)
        return [ReverseNearest(float(x[i]), float(y[i]), 3, ids[o[i]]) for i in range(size)]
    independent = size - round(size * case.dependent)
    pool: list[Any] = []
    for i in range(size):
        if i < independent:
            objects = tuple(ids[n] for n in sorted(rng.choice(case.objects, BODIES, replace=False)))
            pool.append(Diameter(objects, "<" if rng.random() < 0.5 else ">", float(rng.uniform(3_000, 9_000))))
        else:  # fewer of the same objects and a larger circle, or more and a smaller one: rules a to h all occur
            source = pool[int(rng.integers(0, independent))]
            objects = tuple(o for n, o in enumerate(source.objects) if n != i % BODIES)
            distance = source.distance * float(rng.uniform(1.0, 1.2))
            pool.append(Diameter(objects, "<" if rng.random() < 0.5 else ">", distance))
    return pool


def one_round(shard: Shard, x: F64, y: F64, t: int) -> tuple[Happenings, Counts]:
    """Every object moves once, each at a tick of its own; the counts around it change with it."""
    bodies = shard.bodies()
    known = [(number, int(oid[1:])) for oid, number in bodies.items()]
    body = np.array([number for number, _ in known], np.int32)
    which = np.array([place for _, place in known], np.int64)
    times = t + np.arange(len(body))
    happenings = Happenings(times, body, np.ones(len(body), np.bool_), x[which], y[which])
    return happenings, nobody()[1]


def nobody() -> tuple[Happenings, Counts]:
    """Nothing happens."""
    none, small = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return Happenings(none, small, np.zeros(0, np.bool_), np.zeros(0), np.zeros(0)), Counts(none, small, none)


def memory_of(shard: Shard) -> int:
    """Bytes of the arrays that a shard is evaluated with."""
    assert shard._arrays is not None
    constraints, _, links, alerts = shard._arrays
    kept = [*constraints, *links, *alerts, *shard._bodies, *shard.diagram.table]
    return sum(array.nbytes for array in kept)


def sets_of(count: int, seed: int) -> list[frozenset[int]]:
    """Object sets, a quarter of them within another one."""
    rng = np.random.default_rng(seed)
    sets: list[frozenset[int]] = []
    for i in range(count):
        if i % 4 == 3:
            sets.append(frozenset(sorted(sets[int(rng.integers(0, len(sets)))])[:3]))
        else:
            sets.append(frozenset(rng.choice(5_000, BODIES, replace=False).tolist()))
    return sets


def combination_orders(count: int, repetition: float, seed: int) -> str:
    """Combinations of three terms, written out."""
    rng = np.random.default_rng(seed)
    size = max(3, round(3 * count * (1.0 - repetition)))
    x, y = rng.uniform(0, SIDE, (2, size))
    pool = [
        f"KNN (3, {x[i]:.0f}, {y[i]:.0f})" if i % 3 == 0 else f"INSIDE CIRCLE ({x[i]:.0f}, {y[i]:.0f}, 400)"
        for i in range(size)
    ]
    drawn = np.concatenate((np.arange(size), rng.integers(0, size, 3 * count - size)))
    rng.shuffle(drawn)
    return "\n".join(
        f"CREATE QUERY c{n} AS SELECT oid FROM objects WHERE ({pool[a]} OR {pool[b]}) AND NOT {pool[c]};"
        for n, (a, b, c) in enumerate(drawn.reshape(-1, 3))
        if len({a, b, c}) == 3
    )
