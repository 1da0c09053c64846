"""Deltas of all regions to changes of an answer: one per (query, tick, object).

In: deltas in time order. Out: netted deltas in (query, t, object) order, each with the input row that
tells where the object is then. What an object left in one region and joined in another at the same tick, or
joined by its own move and left by the query's, cancels out here.
"""

from __future__ import annotations

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import B1, F64, I8, I32, I64


@jit
def by_query(query: I32, count: int) -> I64:
    """A stable order by query number."""
    at = np.zeros(count + 1, np.int64)
    for q in query:
        at[q + 1] += 1
    for q in range(count):
        at[q + 1] += at[q]
    order = np.empty(len(query), np.int64)
    for i in range(len(query)):
        order[at[query[i]]] = i
        at[query[i]] += 1
    return order


@jit
def net(query: I32, t: I64, gid: I64, sign: I8, d2: F64, count: int, keeps_moves: B1) -> tuple[I64, I8]:
    """Rows that stand for the netted deltas, and their signs.

    Sign 0 (merely moved) stays only where a query keeps moves.
    """
    order = by_query(query, count)
    rows = np.empty(len(order), np.int64)
    signs = np.empty(len(order), np.int8)
    n = 0
    i = 0
    while i < len(order):
        q = query[order[i]]
        now = t[order[i]]
        j = i + 1
        while j < len(order) and query[order[j]] == q and t[order[j]] == now:
            j += 1
        if j - i > 1:
            group = order[i:j]
            order[i:j] = group[np.argsort(gid[group], kind="mergesort")]
        a = i
        while a < j:
            b = a + 1
            while b < j and gid[order[b]] == gid[order[a]]:
                b += 1
            total = 0
            for c in range(a, b):
                total += sign[order[c]]
            chosen = order[b - 1]
            for c in range(b - 1, a - 1, -1):
                if (total < 0) == (sign[order[c]] < 0) and (total < 0 or d2[order[c]] >= 0.0):
                    chosen = order[c]
                    break
            if total != 0 or keeps_moves[q]:
                rows[n] = chosen
                signs[n] = total
                n += 1
            a = b
        i = j
    return rows[:n].copy(), signs[:n].copy()
