"""A kNN query's ball holds at least k of the bucket's objects at the end of every tick, or everything."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.lands import PLANE, WORLD, Land, Point
from vedette.kernels.balls import Balls, Events, Focals, follow, wanted
from vedette.kernels.plane import build_lists, empty_objects, empty_queries
from vedette.kernels.shapes import DISC

OBJECTS, TICKS = 14, 7
Event = tuple[Point, int] | None  # place and filter bits, or gone


@dataclass(frozen=True)
class Query:
    """k, a filter bit (-1: none), and a centre: a point, or the slot of an object."""

    k: int
    filter: int
    centre: Point
    focal: int


@st.composite
def ticks(draw: st.DrawFn, land: Land) -> list[dict[int, Event]]:
    """Events by tick and slot: crowds come at once, some move, some vanish."""
    arrival = st.tuples(land.points, st.integers(0, 3))
    sizes = st.sampled_from([0, 1, 3, OBJECTS])
    return [
        draw(st.dictionaries(st.integers(0, OBJECTS - 1), st.none() | arrival | arrival, max_size=draw(sizes)))
        for _ in range(TICKS)
    ]


def is_wanted(query: Query, slot: int, bits: int) -> bool:
    return slot != query.focal and (query.filter < 0 or bool(bits >> query.filter & 1))


@pytest.mark.parametrize("land", [PLANE, WORLD], ids=["plane", "world"])
@given(st.data(), st.lists(st.integers(0, TICKS), min_size=2, max_size=2), st.integers(0, 2), st.integers(0, 2))
def test_oracle_ball_holds_k(land: Land, data: st.DataObject, cuts: list[int], grid: int, other_grid: int) -> None:
    story = data.draw(ticks(land))
    queries = data.draw(
        st.lists(
            st.builds(Query, st.integers(1, 4), st.integers(-1, 1), land.points, st.integers(-1, 2)),
            min_size=1,
            max_size=3,
        )
    )
    objects = empty_objects(OBJECTS + 1, 1, 0)
    objects.gid[:] = np.arange(OBJECTS + 1)
    slots = empty_queries(len(queries) + 1)
    room = len(queries) + 1
    balls = Balls(np.array([q.k for q in queries] + [0]), np.zeros(room, np.int64), np.zeros(room, np.bool_))
    for q, query in enumerate(queries):
        slots.kind[q], slots.still[q], slots.filter[q] = DISC, False, query.filter
        slots.part[q] = slots.skip[q] = query.focal
        slots.p[q] = land.disc(query.centre, 0.0)
    of_slot = np.full(OBJECTS + 1, -1, np.int32)
    of_slot[:3] = np.arange(3)
    followers = sorted((query.focal, q) for q, query in enumerate(queries) if query.focal >= 0)
    start = np.searchsorted([focal for focal, _ in followers], np.arange(4)).astype(np.int64)
    focals = Focals(of_slot, start, np.array([q for _, q in followers], np.int32))

    nobody = Focals(of_slot, np.zeros(4, np.int64), np.zeros(0, np.int32))
    shown: dict[int, tuple[bool, list[float]]] = {}
    live: dict[int, tuple[Point, int]] = {}
    first, last = sorted(cuts)
    lists = build_lists(land.grids[grid], objects, slots, land.wraps)
    for part, (low, high) in enumerate(((0, first), (first, last), (last, TICKS))):
        fresh = np.arange(len(queries) if part == 1 else 0, dtype=np.int32)  # the queries come with the second part
        if part == 2:
            grid = other_grid
            lists = build_lists(land.grids[grid], objects, slots, land.wraps)
        lists, moves = follow(
            as_events([(t, slot, event) for t in range(low, high) for slot, event in story[t].items()]),
            focals if part else nobody,
            fresh,
            low,
            land.grids[grid],
            objects,
            slots,
            lists,
            balls,
            land.wraps,
        )
        assert (np.diff(moves.t) >= 0).all()
        for t in range(low, max(high, low + len(fresh[:1]))):
            for slot, event in story[t].items() if t < high else ():
                if event is None:
                    live.pop(slot, None)
                else:
                    live[slot] = event
            for i in np.flatnonzero(moves.t == t).tolist():
                shown[int(moves.query[i])] = (bool(moves.on[i]), moves.p[i].tolist())
                assert moves.skip[i] == queries[moves.query[i]].focal
            for q, query in enumerate(queries if part else []):
                check(land, query, live, shown.get(q))
    for q, query in enumerate(queries):
        if q in shown and shown[q][0]:
            assert balls.inside[q] == count(land, query, live, shown[q][1])


def as_events(rows: list[tuple[int, int, Event]]) -> Events:
    nowhere = ((math.nan, math.nan), 0)
    return Events(
        np.array([t for t, _, _ in rows], np.int64),
        np.array([slot for _, slot, _ in rows], np.int32),
        np.array([event is None for _, _, event in rows], np.bool_),
        np.array([(event or nowhere)[0][0] for _, _, event in rows], np.float64),
        np.array([(event or nowhere)[0][1] for _, _, event in rows], np.float64),
        np.array([(event or nowhere)[1] for _, _, event in rows], np.uint64).reshape(-1, 1),
    )


def count(land: Land, query: Query, live: dict[int, tuple[Point, int]], p: list[float]) -> int:
    return sum(
        is_wanted(query, slot, bits) and land.d2((p[0], p[1]), place) <= p[2] for slot, (place, bits) in live.items()
    )


def check(land: Land, query: Query, live: dict[int, tuple[Point, int]], ball: tuple[bool, list[float]] | None) -> None:
    """At the end of a tick."""
    centre = query.centre if query.focal < 0 else live[query.focal][0] if query.focal in live else None
    if centre is None:
        assert ball is None or not ball[0]
        return
    assert ball is not None
    on, p = ball
    assert on
    assert (p[0], p[1]) == centre
    assert p == land.disc(centre, p[2])
    inside = count(land, query, live, p)
    assert inside >= query.k if p[2] < math.inf else inside <= wanted(query.k)
