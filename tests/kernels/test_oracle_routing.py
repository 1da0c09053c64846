"""Who has to hear of it: everybody whose region is touched now, or was touched until now."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vedette.kernels.regions import region_of, split, touched_by
from vedette.kernels.routing import outcome, route_balls, route_events, route_focals
from vedette.kernels.shapes import PARAMETERS
from vedette.kernels.sweep import LEAVE, UPSERT
from vedette.space import disc_box, planar_d2

RNG = np.random.default_rng(5)
REGIONS = split(RNG.uniform(0.0, 10.0, 50), RNG.uniform(0.0, 10.0, 50), 5)
PLACES = st.floats(0.0, 10.0) | st.integers(0, 10).map(float)
SIZES = st.sampled_from([-1.0, 0.0, 1.0, 2.5, 9.0])
FOCALS = 3


def grouped(start: NDArray[np.int64], *columns: NDArray[np.generic]) -> list[list[tuple[int, ...]]]:
    """What each region hears, in order."""
    return [list(zip(*(column[a:b].tolist() for column in columns), strict=True)) for a, b in pairwise(start.tolist())]


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=20))
def test_oracle_events(moves: list[tuple[int, int]]) -> None:
    old, new = np.array(moves, np.int32).reshape(-1, 2).T
    start, item, op = route_events(np.ascontiguousarray(old), np.ascontiguousarray(new), 4)
    expected: list[list[tuple[int, int]]] = [[] for _ in range(4)]
    for i, (before, after) in enumerate(moves):
        if after >= 0:
            expected[after].append((i, UPSERT))
        if before >= 0 and before != after:
            expected[before].append((i, LEAVE))
    assert grouped(start, item, op) == expected


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3)), max_size=20))
def test_oracle_outcome(moves: list[tuple[int, int]]) -> None:
    slot, old = np.array(moves, np.int32).reshape(-1, 2).T
    scratch = np.full(5, -1, np.int64)
    last, came_from = outcome(np.ascontiguousarray(slot), np.ascontiguousarray(old), scratch)
    firsts = dict(reversed(moves))
    lasts = {s: i for i, (s, _) in enumerate(moves)}
    assert last.tolist() == sorted(lasts.values())
    assert came_from.tolist() == [firsts[moves[i][0]] for i in last.tolist()]
    assert (scratch == -1).all()


@given(
    st.lists(st.tuples(st.integers(0, FOCALS - 1), st.booleans(), PLACES, PLACES), max_size=12),
    st.lists(st.tuples(SIZES, SIZES), min_size=FOCALS, max_size=FOCALS),
    st.tuples(PLACES, PLACES),
)
def test_oracle_focals(
    moves: list[tuple[int, bool, float, float]], sizes: list[tuple[float, float]], point: tuple[float, float]
) -> None:
    known = np.zeros((FOCALS, 5), np.bool_)
    half = np.array([size[0] for size in sizes])
    d2 = np.array([size[1] for size in sizes])
    start, item = route_focals(
        np.array([m[0] for m in moves], np.int32),
        np.array([m[1] for m in moves], np.bool_),
        np.array([m[2] for m in moves], np.float64),
        np.array([m[3] for m in moves], np.float64),
        half,
        half * 2.0,
        d2,
        known,
        REGIONS,
        False,
    )
    heard = [[i for (i,) in items] for items in grouped(start, item)]
    before = {f: np.zeros(5, np.bool_) for f in range(FOCALS)}
    for i, (f, on, x, y) in enumerate(moves):
        now = np.zeros(5, np.bool_)
        if on and half[f] >= 0.0:
            w, h = half[f] * (1 + 1e-9) + 1e-9 * x, 2 * half[f] * (1 + 1e-9) + 1e-9 * y
            now |= touched_by(REGIONS, x - w, y - h, x + w, y + h, False)
        if on and d2[f] >= 0.0:
            now |= touched_by(REGIONS, *disc_box(x, y, d2[f], False), False)
        told = {r for r in range(5) if i in heard[r]}
        assert told == set(np.flatnonzero(now | before[f]).tolist())
        if on and (
            planar_d2(x, y, *point) <= d2[f] or (abs(point[0] - x) <= half[f] and abs(point[1] - y) <= 2 * half[f])
        ):
            assert region_of(REGIONS, *point) in told  # the point of it all
        before[f] = now
    assert all(items == sorted(items) for items in heard)
    assert all(known[f].tolist() == before[f].tolist() for f in range(FOCALS))


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.booleans(), PLACES, PLACES, st.sampled_from([0.0, 1.0, 30.0, math.inf])),
        max_size=12,
    ),
    st.tuples(PLACES, PLACES),
)
def test_oracle_balls(moves: list[tuple[int, bool, float, float, float]], point: tuple[float, float]) -> None:
    known = np.zeros((3, 5), np.bool_)
    p = np.zeros((len(moves), PARAMETERS))
    p[:, :3] = np.array([m[2:] for m in moves], np.float64).reshape(-1, 3)
    start, item = route_balls(
        np.array([m[0] for m in moves], np.int32), np.array([m[1] for m in moves], np.bool_), p, known, REGIONS, False
    )
    heard = [[i for (i,) in items] for items in grouped(start, item)]
    before = {q: np.zeros(5, np.bool_) for q in range(3)}
    for i, (q, on, x, y, d2) in enumerate(moves):
        now = touched_by(REGIONS, *disc_box(x, y, d2, False), False) if on else np.zeros(5, np.bool_)
        told = {r for r in range(5) if i in heard[r]}
        assert told == set(np.flatnonzero(now | before[q]).tolist())
        if on and planar_d2(x, y, *point) <= d2:
            assert region_of(REGIONS, *point) in told
        before[q] = now
