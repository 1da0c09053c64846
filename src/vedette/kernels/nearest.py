"""The k nearest out of the candidates inside the balls.

In: netted candidate deltas in (query, t) order and the candidates known so far, grouped by query. Out: who
joined and who left the k nearest, and the candidates known now. Order is by (squared distance, id).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import inline, jit
from vedette.kernels.arrays import B1, F64, I8, I32, I64, U8


class Ids(NamedTuple):
    """Ids by row: longs, or bytes with offsets."""

    is_long: bool
    longs: I64
    offsets: I64
    data: U8


class Candidates(NamedTuple):
    """Grouped by query: who is inside the ball, how far, the row that says where, and whether it is among the k."""

    query: I32
    gid: I64
    d2: F64
    row: I64
    chosen: B1


class Picked(NamedTuple):
    """Changes of the answer, in (query, t) order."""

    query: I32
    t: I64
    sign: I8
    row: I64


@inline
def id_less(ids: Ids, a: int, b: int) -> bool:
    """Order of ids: longs as numbers, strings as bytes."""
    if ids.is_long:
        return bool(ids.longs[a] < ids.longs[b])
    i, i_end = ids.offsets[a], ids.offsets[a + 1]
    j, j_end = ids.offsets[b], ids.offsets[b + 1]
    while i < i_end and j < j_end:
        if ids.data[i] != ids.data[j]:
            return bool(ids.data[i] < ids.data[j])
        i += 1
        j += 1
    return bool(i == i_end and j < j_end)


@inline
def _choose(d2: F64, row: I64, m: int, k: int, ids: Ids, wins: B1) -> None:
    """Mark the k least of m by (distance, id)."""
    if m <= k:
        wins[:m] = True
        return
    limit = np.partition(d2[:m], k - 1)[k - 1]
    left = k
    for i in range(m):
        wins[i] = d2[i] < limit
        if wins[i]:
            left -= 1
    while left > 0:  # ties at the border: the smallest ids
        best = -1
        for i in range(m):
            if d2[i] == limit and not wins[i] and (best < 0 or id_less(ids, row[i], row[best])):
                best = i
        wins[best] = True
        left -= 1


@jit
def pick(
    query: I32,
    t: I64,
    gid: I64,
    sign: I8,
    d2: F64,
    row: I64,
    state: Candidates,
    k: I64,
    keeps_moves: B1,
    ids: Ids,
    gids: int,
) -> tuple[Candidates, Picked]:
    """Apply candidate deltas and tell how the k nearest change. `gids` bounds the gids."""
    room = len(query) + len(state.gid)
    new = Candidates(
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.bool_),
    )
    kept = 0
    out_room = 2 * len(query) + 16
    out_q = np.empty(out_room, np.int32)
    out_t = np.empty(out_room, np.int64)
    out_s = np.empty(out_room, np.int8)
    out_r = np.empty(out_room, np.int64)
    n = 0
    place = np.full(gids, -1, np.int32)
    c_gid = np.empty(room, np.int64)
    c_d2 = np.empty(room)
    c_row = np.empty(room, np.int64)
    c_in = np.empty(room, np.bool_)
    moved = np.empty(room, np.bool_)
    wins = np.empty(room, np.bool_)
    i = 0
    s = 0
    while i < len(query) or s < len(state.query):
        if i == len(query) or (s < len(state.query) and state.query[s] < query[i]):
            new.query[kept] = state.query[s]
            new.gid[kept] = state.gid[s]
            new.d2[kept] = state.d2[s]
            new.row[kept] = state.row[s]
            new.chosen[kept] = state.chosen[s]
            kept += 1
            s += 1
            continue
        q = query[i]
        m = 0
        while s < len(state.query) and state.query[s] == q:
            c_gid[m] = state.gid[s]
            c_d2[m] = state.d2[s]
            c_row[m] = state.row[s]
            c_in[m] = state.chosen[s]
            moved[m] = False
            place[state.gid[s]] = m
            m += 1
            s += 1
        while i < len(query) and query[i] == q:
            now = t[i]
            if n + 3 * (m + len(query) - i) > out_room:
                out_room = 2 * out_room + 3 * (m + len(query) - i)
                more_q = np.empty(out_room, np.int32)
                more_t = np.empty(out_room, np.int64)
                more_s = np.empty(out_room, np.int8)
                more_r = np.empty(out_room, np.int64)
                more_q[:n] = out_q[:n]
                more_t[:n] = out_t[:n]
                more_s[:n] = out_s[:n]
                more_r[:n] = out_r[:n]
                out_q, out_t, out_s, out_r = more_q, more_t, more_s, more_r
            while i < len(query) and query[i] == q and t[i] == now:
                p = place[gid[i]]
                if sign[i] > 0 and p < 0:
                    p = m
                    place[gid[i]] = m
                    c_gid[m] = gid[i]
                    c_in[m] = False
                    m += 1
                if p >= 0:
                    if sign[i] < 0:
                        if c_in[p]:
                            out_q[n], out_t[n], out_s[n], out_r[n] = q, now, -1, row[i]
                            n += 1
                        m -= 1
                        place[c_gid[p]] = -1
                        if p < m:
                            c_gid[p], c_d2[p], c_row[p], c_in[p], moved[p] = (
                                c_gid[m],
                                c_d2[m],
                                c_row[m],
                                c_in[m],
                                moved[m],
                            )
                            place[c_gid[p]] = p
                    else:
                        c_d2[p] = d2[i]
                        c_row[p] = row[i]
                        moved[p] = True
                i += 1
            _choose(c_d2, c_row, m, k[q], ids, wins)
            for p in range(m):
                if wins[p] != c_in[p]:
                    out_q[n], out_t[n], out_s[n], out_r[n] = q, now, (1 if wins[p] else -1), c_row[p]
                    n += 1
                elif wins[p] and moved[p] and keeps_moves[q]:
                    out_q[n], out_t[n], out_s[n], out_r[n] = q, now, 0, c_row[p]
                    n += 1
                c_in[p] = wins[p]
                moved[p] = False
        for p in range(m):
            place[c_gid[p]] = -1
            new.query[kept] = q
            new.gid[kept] = c_gid[p]
            new.d2[kept] = c_d2[p]
            new.row[kept] = c_row[p]
            new.chosen[kept] = c_in[p]
            kept += 1
    candidates = Candidates(
        new.query[:kept].copy(),
        new.gid[:kept].copy(),
        new.d2[:kept].copy(),
        new.row[:kept].copy(),
        new.chosen[:kept].copy(),
    )
    return candidates, Picked(out_q[:n].copy(), out_t[:n].copy(), out_s[:n].copy(), out_r[:n].copy())
