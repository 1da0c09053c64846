"""Netting is a sum by (query, tick, object), with a row that still tells the truth."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vedette.kernels.netting import by_query, net

QUERIES = 3
DELTAS = st.lists(
    st.tuples(
        st.integers(0, 5),  # t
        st.integers(0, QUERIES - 1),
        st.sampled_from([0, 1, 2, 2**40]),  # gid
        st.sampled_from([-1, 0, 1]),
        st.sampled_from([-1.0, 0.0, 2.5]),  # squared distance, -1 where it is known elsewhere
    ),
    max_size=30,
).map(lambda deltas: sorted(deltas, key=lambda delta: delta[0]))


@given(DELTAS, st.lists(st.booleans(), min_size=QUERIES, max_size=QUERIES))
def test_oracle_net(deltas: list[tuple[int, int, int, int, float]], keeps_moves: list[bool]) -> None:
    t, query, gid, sign, d2 = (list(column) for column in zip(*deltas, strict=True)) if deltas else ([],) * 5
    rows, signs = net(
        np.array(query, np.int32),
        np.array(t, np.int64),
        np.array(gid, np.int64),
        np.array(sign, np.int8),
        np.array(d2, np.float64),
        QUERIES,
        np.array(keeps_moves, np.bool_),
    )
    groups: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for i in range(len(deltas)):
        groups[query[i], t[i], gid[i]].append(i)
    expected = []
    for key in sorted(groups):
        total = sum(sign[i] for i in groups[key])
        if total or keeps_moves[key[0]]:
            expected.append((key, total))
    found = [((query[row], t[row], gid[row]), total) for row, total in zip(rows.tolist(), signs.tolist(), strict=True)]
    assert found == expected
    for row, (key, total) in zip(rows.tolist(), expected, strict=True):
        honest = [i for i in groups[key] if (sign[i] < 0 if total < 0 else sign[i] >= 0 and d2[i] >= 0.0)]
        assert row == (honest or groups[key])[-1]


@given(st.lists(st.integers(0, 4), max_size=30))
def test_oracle_stable_order_by_query(query: list[int]) -> None:
    order = by_query(np.array(query, np.int32), 5).tolist()
    assert order == sorted(range(len(query)), key=lambda i: query[i])
