"""The k nearest out of candidates against sorting them all at every tick."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.ids_by_row import LONGS, STRINGS, as_ids
from vedette.kernels.nearest import Candidates, Ids, id_less, pick

QUERIES, OBJECTS, TICKS = 3, 8, 6
Delta = tuple[int, int, int, int, float]  # query, t, gid, sign, squared distance


@pytest.mark.parametrize("values", [STRINGS, LONGS])
def test_oracle_order_of_ids(values: list[bytes] | list[int]) -> None:
    ids = as_ids(values)
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert id_less(ids, i, j) == (a < b)  # type: ignore[operator]


@st.composite
def netted(draw: st.DrawFn) -> list[Delta]:
    """Deltas in (query, t, gid) order, at most one each, as netting leaves them; some without effect."""
    keys = draw(st.sets(st.tuples(*[st.integers(0, n - 1) for n in (QUERIES, TICKS, OBJECTS)]), max_size=40))
    distances = st.sampled_from([0.0, 1.0, 1.0, 2.0, 5e-324]) | st.floats(0.0, 9.0)
    return [(*key, draw(st.sampled_from([1, 1, -1, 0])), draw(distances)) for key in sorted(keys)]


def slow_pick(
    deltas: list[Delta], k: list[int], keeps_moves: list[bool], order: list[bytes] | list[int]
) -> Iterator[tuple[int, int, int, int, float]]:
    """Changes as (query, t, sign, gid, squared distance or -1 where it has left the ball)."""
    for q, group in groupby(deltas, key=lambda delta: delta[0]):
        inside: dict[int, float] = {}
        answer: set[int] = set()
        for t, tick in groupby(group, key=lambda delta: delta[1]):
            moved = set()
            for _, _, gid, sign, d2 in tick:
                if sign < 0:
                    inside.pop(gid, None)
                elif sign > 0 or gid in inside:
                    inside[gid] = d2
                    moved.add(gid)
            nearest = set(sorted(inside, key=lambda gid: (inside[gid], order[gid]))[: k[q]])
            yield from ((q, t, 1, gid, inside[gid]) for gid in nearest - answer)
            yield from ((q, t, -1, gid, inside.get(gid, -1.0)) for gid in answer - nearest)
            if keeps_moves[q]:
                yield from ((q, t, 0, gid, inside[gid]) for gid in nearest & answer & moved)
            answer = nearest


def fast_pick(deltas: list[Delta], cut: int, k: list[int], keeps_moves: list[bool], ids: Ids) -> list[Delta]:
    """The same by the kernel in two batches; rows tell the delta that they came from, and its gid."""
    rows = np.array([OBJECTS * i + delta[2] for i, delta in enumerate(deltas)], np.int64)
    wide = Ids(  # the kernel looks ids up by row
        ids.is_long,
        np.tile(ids.longs, len(deltas)),
        np.concatenate(
            [ids.offsets[:-1] + ids.offsets[-1] * i for i in range(len(deltas))] + [ids.offsets[-1:] * len(deltas)]
        )
        if deltas
        else ids.offsets,
        np.tile(ids.data, max(1, len(deltas))),
    )
    state = Candidates(
        np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.bool_)
    )
    found = []
    for low, high in ((0, cut), (cut, TICKS)):
        here = [i for i, delta in enumerate(deltas) if low <= delta[1] < high]
        columns = list(zip(*(deltas[i] for i in here), strict=True)) or [()] * 5
        state, picked = pick(
            np.array(columns[0], np.int32),
            np.array(columns[1], np.int64),
            np.array(columns[2], np.int64),
            np.array(columns[3], np.int8),
            np.array(columns[4], np.float64),
            rows[here],
            state,
            np.array(k, np.int64),
            np.array(keeps_moves, np.bool_),
            wide,
            OBJECTS,
        )
        for q, t, sign, row in zip(*(column.tolist() for column in picked), strict=True):
            delta = deltas[row // OBJECTS]
            left = delta[3] < 0
            found.append((q, t, sign, row % OBJECTS, -1.0 if left else delta[4]))
    return found


@given(
    netted(),
    st.integers(0, TICKS),
    st.lists(st.integers(1, 4), min_size=QUERIES, max_size=QUERIES),
    st.lists(st.booleans(), min_size=QUERIES, max_size=QUERIES),
    st.sampled_from([STRINGS, LONGS]),
)
def test_oracle_k_nearest(
    deltas: list[Delta], cut: int, k: list[int], keeps_moves: list[bool], values: list[bytes] | list[int]
) -> None:
    found = fast_pick(deltas, cut, k, keeps_moves, as_ids(values))
    assert sorted(found) == sorted(slow_pick(deltas, k, keeps_moves, values))


def test_example_ties_go_to_the_smallest_id() -> None:
    deltas = [(0, 0, gid, 1, 4.0) for gid in range(OBJECTS)]
    found = fast_pick(deltas, TICKS, [3, 1, 1], [False] * 3, as_ids(LONGS))
    assert sorted(LONGS[gid] for _, _, _, gid, _ in found) == sorted(LONGS)[:3]
