"""Aggregates kept up to date against aggregates computed anew at every tick."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.ids_by_row import LONGS, STRINGS, as_ids
from vedette.kernels.exact import LIMBS
from vedette.kernels.nearest import Ids
from vedette.kernels.totals import AVG, COUNT, MAX, MIN, SUM, Members, Totals, tally

OBJECTS, TICKS = 6, 6
NEVER = int(np.iinfo(np.int64).min)
VALUES = st.sampled_from([math.nan, 0.0, 1.0, 1.0, 2.0, 0.1, 0.2, 0.3, -0.6, 1e16, -1e16, 1e-20, math.inf, -math.inf])
News = tuple[int, int, float, int]  # query, t, value (NaN: none), object (-1: none)


@dataclass(frozen=True)
class Case:
    """Deltas (query, t, object, sign, value) in that order; query 1 may replace query 0 at a tick."""

    functions: list[int]
    deltas: list[tuple[int, int, int, int, float]]
    replaced: int | None
    cut: int
    ids: list[bytes] | list[int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    functions = draw(st.lists(st.sampled_from([COUNT, SUM, AVG, MIN, MAX]), min_size=3, max_size=3))
    replaced = draw(st.none() | st.integers(1, TICKS - 1))
    deltas = []
    for q in range(3):
        members: set[int] = set()
        first, last = 0, TICKS
        if replaced is not None and q < 2:
            first, last = (0, replaced) if q == 0 else (replaced, TICKS)
        for t in range(first, last):
            for code in sorted(draw(st.sets(st.integers(0, OBJECTS - 1), max_size=3))):
                sign = draw(st.sampled_from([-1] if functions[q] == COUNT else [-1, 0])) if code in members else 1
                members = members - {code} if sign < 0 else members | {code}
                deltas.append((q, t, code, sign, draw(VALUES)))
    return Case(functions, deltas, replaced, draw(st.integers(0, TICKS)), STRINGS if draw(st.booleans()) else LONGS)


def summary(function: int, members: dict[int, float], ids: list[bytes] | list[int]) -> tuple[float, int]:
    """Value and object of an aggregate; (NaN, -1) where it is undefined."""
    if function == COUNT:
        return float(len(members)), -1
    known = {code: value for code, value in members.items() if not math.isnan(value)}
    if not known:
        return math.nan, -1
    if function in (MIN, MAX):
        sign = 1.0 if function == MIN else -1.0
        code = min(known, key=lambda code: (sign * known[code], ids[code]))
        return known[code], code
    infinite = {value for value in known.values() if math.isinf(value)}
    total = math.nan if len(infinite) == 2 else infinite.pop() if infinite else math.fsum(known.values())
    return (total / len(known) if function == AVG else total), -1


def slow_tally(case: Case) -> Iterator[News]:
    told: dict[int, tuple[float, int]] = {}
    for q, function in enumerate(case.functions):
        told[q] = (0.0 if function == COUNT else math.nan, -1)
        if q == 1 and case.replaced is not None:
            told[q] = told[0]
        members: dict[int, float] = {}
        for t in range(TICKS):
            now = [delta for delta in case.deltas if delta[:2] == (q, t)]
            for _, _, code, sign, value in now:
                members[code] = value
                if sign < 0:
                    del members[code]
            if not now and not (q == 1 and t == case.replaced):
                continue
            new = summary(function, members, case.ids)
            if str(new) != str(told[q]) and new != told[q]:
                told[q] = new
                yield q, t, *new


def ids_of_rows(case: Case) -> Ids:
    """Row i is the i-th delta's object."""
    return as_ids([case.ids[delta[2]] for delta in case.deltas] or case.ids)  # type: ignore[arg-type]


def fast_tally(case: Case) -> Iterator[News]:
    n = len(case.functions)
    members = Members(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))
    totals = Totals(
        np.zeros(n, np.int64),
        np.zeros((n, LIMBS), np.int64),
        np.zeros((n, 2), np.int64),
        np.array([0.0 if function == COUNT else math.nan for function in case.functions]),
        np.full(n, -1, np.int32),
    )
    for low, high in ((0, case.cut), (case.cut, TICKS)):
        here = [i for i, delta in enumerate(case.deltas) if low <= delta[1] < high]
        columns = list(zip(*(case.deltas[i] for i in here), strict=True)) or [()] * 5
        look, heir = np.full(n, NEVER, np.int64), np.full(n, -1, np.int32)
        if case.replaced is not None and low <= case.replaced < high:
            look[1], heir[1] = case.replaced, 0
        members, news = tally(
            np.array(columns[0], np.int32),
            np.array(columns[1], np.int64),
            np.array(columns[2], np.int32),
            np.array(columns[3], np.int8),
            np.array(here, np.int64),
            np.array(columns[4], np.float64),
            np.array(case.functions, np.int8),
            members,
            totals,
            look,
            heir,
            OBJECTS,
            ids_of_rows(case),
        )
        assert members.query.tolist() == sorted(members.query.tolist())
        for q, t, value, row in zip(*(column.tolist() for column in news), strict=True):
            yield q, t, value, -1 if row < 0 else case.deltas[row][2]


@given(cases())
def test_oracle_aggregates(case: Case) -> None:
    def readable(news: Iterator[News]) -> list[tuple[int, int, str, int]]:
        return sorted((q, t, str(value + 0.0), code) for q, t, value, code in news)

    assert readable(fast_tally(case)) == readable(slow_tally(case))


def test_example_a_sum_forgets_what_left() -> None:
    """1e16 comes and goes, and takes nothing of the small ones with it."""
    deltas = [(0, 0, 0, 1, 0.1), (0, 1, 1, 1, 1e16), (0, 2, 1, -1, math.nan)]
    case = Case([SUM, MIN, MAX], deltas, None, 2, [*STRINGS])
    assert list(fast_tally(case)) == [(0, 0, 0.1, -1), (0, 1, 1e16, -1), (0, 2, 0.1, -1)]
