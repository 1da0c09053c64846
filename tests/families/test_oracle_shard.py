"""A shard of alerts against plain evaluation of every formula at every tick; links on and off; saved and restored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import circles
from tests.oracle.sphere import unit_vector
from vedette.kernels.judge import Counts, Happenings
from vedette.model import Inside, Rect
from vedette.model.alert import Diameter, Distance, InsideOf, ReverseNearest
from vedette.model.formula import AllOf, AnyOf, Negation, distinct, holds
from vedette.pipeline import state
from vedette.pipeline.alerts.shard import Shard
from vedette.space import lonlat, planar

IDS = "abcdef"
LATTICE = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0])
PLACES = st.tuples(LATTICE, LATTICE) | st.tuples(st.floats(-3, 8), st.floats(-3, 8))
OBJECTS = st.lists(st.sampled_from(IDS), min_size=1, max_size=6, unique=True).map(lambda ids: tuple(sorted(ids)))
LIMITS = st.sampled_from([0.5, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0])
SIGNS = st.sampled_from(["<", ">"])
TERMS = st.one_of(
    st.builds(Diameter, OBJECTS, SIGNS, LIMITS),
    st.builds(Diameter, OBJECTS, SIGNS, LIMITS),
    st.builds(Distance, LATTICE, LATTICE, OBJECTS, SIGNS, LIMITS),
    st.builds(InsideOf, st.sampled_from(IDS), st.just(Inside(Rect(0.0, 0.0, 2.0, 2.0)))),
    st.builds(ReverseNearest, LATTICE, LATTICE, st.integers(1, 3), st.sampled_from(IDS)),
)
FORMULAS = st.recursive(
    TERMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: AllOf(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
        inner.map(Negation),
    ),
    max_leaves=6,
)
ACTS = st.one_of(
    st.tuples(st.just("move"), st.sampled_from(IDS), PLACES),
    st.tuples(st.just("move"), st.sampled_from(IDS), PLACES),
    st.tuples(st.just("move"), st.sampled_from(IDS), PLACES),
    st.tuples(st.just("vanish"), st.sampled_from(IDS), st.none()),
    st.tuples(st.just("count"), st.integers(0, 99), st.integers(0, 4)),
    st.tuples(st.just("create"), st.integers(0, 5), FORMULAS),
    st.tuples(st.just("drop"), st.integers(0, 5), st.none()),
    st.tuples(st.just("tick"), st.none(), st.none()),
)


@dataclass
class World:
    """Positions, counts and alerts, and nothing remembered of constraints."""

    on_sphere: bool
    places: dict[str, tuple[float, float]] = field(default_factory=dict)
    counts: dict[Any, int] = field(default_factory=dict)
    alerts: dict[str, Any] = field(default_factory=dict)
    told: dict[str, bool] = field(default_factory=dict)

    def point(self, x: float, y: float) -> circles.Point:
        return unit_vector(x, y) if self.on_sphere else (x, y, 0.0)

    def truth(self, term: Any) -> bool:
        ids = term.objects if isinstance(term, Diameter | Distance) else (term.object,)
        if any(oid not in self.places for oid in ids):
            return False
        points = [self.point(*self.places[oid]) for oid in ids]
        if isinstance(term, Diameter):
            measure = circles.measure(points, self.on_sphere)
        elif isinstance(term, Distance):
            measure = max(circles.square(p, self.point(term.x, term.y)) for p in points)
        elif isinstance(term, InsideOf):
            x, y = self.places[term.object]
            return 0.0 <= x <= 2.0 and 0.0 <= y <= 2.0
        else:
            return bool(self.counts.get(term, 0) < term.k)
        limit = circles.limit(term.distance, self.on_sphere)
        return measure < limit if term.op == "<" else measure > limit

    def tick(self, t: int) -> list[tuple[int, str, bool]]:
        news = []
        for name in sorted(self.alerts):
            value = holds(self.alerts[name], self.truth)
            if value != self.told.get(name, False):
                news.append((t, name, value))
            self.told[name] = value
        return news


def scaled(formula: Any, factor: float) -> Any:
    match formula:
        case AllOf(parts):
            return AllOf(tuple(scaled(p, factor) for p in parts))
        case AnyOf(parts):
            return AnyOf(tuple(scaled(p, factor) for p in parts))
        case Negation(part):
            return Negation(scaled(part, factor))
        case Diameter(objects, op, distance):
            return Diameter(objects, op, distance * factor)
        case Distance(x, y, objects, op, distance):
            return Distance(x, y, objects, op, distance * factor)
    return formula


class Driven:
    """A shard fed by hand, tick by tick."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.numbers: dict[Any, int] = {}

    def create(self, name: str, formula: Any, told: bool, world: World) -> None:
        reverse = [t for t in distinct(formula) if isinstance(t, ReverseNearest)]
        for term in reverse:
            self.numbers.setdefault(term, 1000 + len(self.numbers))
        known = set(self.shard.bodies())
        had = set(self.shard.counted())
        self.shard.create(name, formula, {t: self.numbers[t] for t in reverse}, told)
        self.moved = {o for o in self.shard.bodies() if o not in known and o in world.places} | getattr(
            self, "moved", set()
        )
        self.recounted = {q for q in self.shard.counted() if q not in had} | getattr(self, "recounted", set())

    def tick(self, t: int, moved: set[str], recounted: set[Any], world: World) -> list[tuple[int, str, bool]]:
        bodies, counted = self.shard.bodies(), self.shard.counted()
        ids = sorted((moved | getattr(self, "moved", set())) & bodies.keys())
        numbers = {q: term for term, q in self.numbers.items()}
        qids = sorted(
            ({self.numbers[c] for c in recounted if c in self.numbers} | getattr(self, "recounted", set()))
            & counted.keys()
        )
        self.moved, self.recounted = set(), set()
        places = [world.places.get(o, (0.0, 0.0)) for o in ids]
        happenings = Happenings(
            np.full(len(ids), t),
            np.array([bodies[o] for o in ids], np.int32),
            np.array([o in world.places for o in ids], np.bool_),
            np.array([p[0] for p in places], np.float64),
            np.array([p[1] for p in places], np.float64),
        )
        counts = Counts(
            np.full(len(qids), t),
            np.array([counted[q] for q in qids], np.int32),
            np.array([world.counts.get(numbers[q], 0) for q in qids], np.int64),
        )
        return sorted(self.shard.run(happenings, counts, t))


@pytest.mark.parametrize("on_sphere", [False, True])
@given(acts=st.lists(ACTS, max_size=40), first=st.lists(FORMULAS, max_size=4), data=st.data())
def test_oracle_every_formula_at_every_tick(
    on_sphere: bool, acts: list[tuple[str, Any, Any]], first: list[Any], data: st.DataObject
) -> None:
    world = World(on_sphere)
    space, factor = (lonlat(), 111_195.0802) if on_sphere else (planar(), 1.0)
    shards = [Driven(Shard(space)), Driven(Shard(space, infer=False))]
    moved: set[str] = set()
    recounted: set[Any] = set()
    acts = [("create", i, f) for i, f in enumerate(first)] + acts + [("tick", None, None)]
    restored_at = data.draw(st.integers(0, len(acts)))
    for t, (what, who, how) in enumerate(acts):
        terms = sorted(
            {t for f in world.alerts.values() for t in distinct(f) if isinstance(t, ReverseNearest)}, key=repr
        )
        if what == "move":
            world.places[who] = how
            moved.add(who)
        elif what == "vanish" and who in world.places:
            del world.places[who]
            moved.add(who)
        elif what == "count" and terms:
            world.counts[terms[who % len(terms)]] = how
            recounted.add(terms[who % len(terms)])
        elif what in ("create", "drop"):
            name = f"q{who}"
            told = False
            if name in world.alerts:
                told = world.told.get(name, False)
                del world.alerts[name]
                for each in shards:
                    assert each.shard.drop(name) == told
            if what == "create":
                world.alerts[name] = scaled(how, factor)
                for each in shards:
                    each.create(name, world.alerts[name], told, world)
            else:
                world.told.pop(name, None)
        elif what == "tick":
            expected = world.tick(t)
            for each in shards:
                assert each.tick(t, moved, recounted, world) == expected
            moved, recounted = set(), set()
        if t == restored_at:
            saved = state.encode("s", 1, shards[0].shard.standing(), shards[0].shard.columns())
            shards[0].shard = Shard.load(space, *state.decode("s", 1, saved))
