"""DWELL and GRACE against clocks that are looked at in every single tick."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vedette.kernels.dwell import Pairs, Reports, delay

TICKS, QUERIES, OBJECTS = 14, 2, 3
NO_PAIRS = Pairs(
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(0, np.bool_),
    np.zeros(0, np.bool_),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
)


@dataclass(frozen=True)
class Case:
    """Who goes in and out, who reports, in ticks. Rows of both say where: row = 2 * (tick * OBJECTS + object) (+ 1)."""

    signs: dict[tuple[int, int, int], int]  # by (query, object, tick)
    reports: set[tuple[int, int]]  # (object, tick)
    dwell: list[int]
    grace: list[int]
    keeps_moves: list[bool]
    dropped: int | None  # tick at which query 0 is dropped
    cut: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    reports = draw(st.sets(st.tuples(st.integers(0, OBJECTS - 1), st.integers(0, TICKS - 1)), max_size=20))
    signs = {}
    for q in range(QUERIES):
        for code in range(OBJECTS):
            inside = False
            for t in sorted(draw(st.sets(st.integers(0, TICKS - 1), max_size=7))):
                merely_moved = inside and draw(st.booleans())
                signs[q, code, t] = 0 if merely_moved else -1 if inside else 1
                inside = inside if merely_moved else not inside
    numbers = st.lists(st.sampled_from([0, 1, 2, 3, 5]), min_size=QUERIES, max_size=QUERIES)
    flags = st.lists(st.booleans(), min_size=QUERIES, max_size=QUERIES)
    dropped = draw(st.none() | st.integers(0, TICKS - 1))
    return Case(signs, reports, draw(numbers), draw(numbers), draw(flags), dropped, draw(st.integers(0, TICKS)))


def place(case: Case, code: int, t: int) -> tuple[int, int]:
    """Where an object is: at its last report. Before the first one it has not moved at all."""
    return code, max((r for c, r in case.reports if c == code and r <= t), default=-1)


def slow_delay(case: Case) -> Iterator[tuple[int, int, int, int, tuple[int, int]]]:
    """Changes as (query, t, object, sign, place)."""
    for q in range(QUERIES):
        end = case.dropped if q == 0 and case.dropped is not None else TICKS
        for code in range(OBJECTS):
            inside = joined = False
            since = 0
            for t in range(end):
                if case.signs.get((q, code, t), 0) != 0:
                    inside, since = case.signs[q, code, t] > 0, t
                waited = t - since >= (case.dwell[q] if inside else case.grace[q])
                if inside != joined and waited:
                    joined = inside
                    yield q, t, code, 1 if joined else -1, place(case, code, t)
                elif joined and case.keeps_moves[q] and (code, t) in case.reports:
                    yield q, t, code, 0, place(case, code, t)
            if q == 0 and case.dropped is not None and joined:
                yield q, end, code, -1, place(case, code, end)


def fast_delay(case: Case) -> Iterator[tuple[int, int, int, int, tuple[int, int]]]:
    """The same by the kernel, in two batches."""
    pairs = NO_PAIRS
    for low, high in ((0, case.cut), (case.cut, TICKS)):
        drops = case.dropped is not None and low <= case.dropped < high
        is_gone = case.dropped is not None and case.dropped < low
        keys = sorted(k for k in case.signs if low <= k[2] < high and not (is_gone and k[0] == 0))
        told = sorted((code, t) for code, t in case.reports if low <= t < high)
        end = [case.dropped if drops else high, high]
        pairs, out = delay(
            np.array([k[0] for k in keys], np.int32),
            np.array([k[1] for k in keys], np.int32),
            np.array([k[2] for k in keys], np.int64),
            np.array([case.signs[k] for k in keys], np.int8),
            np.array([2 * (k[2] * OBJECTS + k[1]) for k in keys], np.int64),
            pairs,
            Reports(
                np.searchsorted([code for code, _ in told], np.arange(OBJECTS + 1)).astype(np.int64),
                np.array([t for _, t in told], np.int64),
                np.array([2 * (t * OBJECTS + code) + 1 for code, t in told], np.int64),
            ),
            np.array(case.dwell, np.int64),
            np.array(case.grace, np.int64),
            np.array(case.keeps_moves, np.bool_),
            np.array(end, np.int64),
            np.array([drops, False], np.bool_),
        )
        for q, t, code, sign, row in zip(*(column.tolist() for column in out), strict=True):
            assert row // 2 % OBJECTS == code
            yield q, t, code, sign, place(case, code, row // 2 // OBJECTS)
        assert list(zip(pairs.query.tolist(), pairs.code.tolist(), strict=True)) == sorted(
            set(zip(pairs.query.tolist(), pairs.code.tolist(), strict=True))
        )
        assert (pairs.inside | pairs.joined).all()


@given(cases())
def test_oracle_dwell_and_grace(case: Case) -> None:
    assert sorted(fast_delay(case)) == sorted(slow_delay(case))


def test_example_out_at_the_last_moment() -> None:
    """In at 0 with DWELL 3: out at 3 is too early to join, out at 4 is not."""
    for out, joins in ((3, []), (4, [(0, 3, 0, 1), (0, 4, 0, -1)])):
        case = Case({(0, 0, 0): 1, (0, 0, out): -1}, set(), [3, 0], [0, 0], [False] * 2, None, 2)
        assert [change[:4] for change in fast_delay(case)] == joins
