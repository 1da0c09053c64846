"""Aggregates over changing answers: COUNT, SUM, AVG, MIN, MAX, kept up to date.

In: changes of membership (and moves of members) in (query, t) order; members and totals known so far. Out: a new
value for each tick at which (object, value) changed, and the members and totals now. Null is NaN here; members
without a value count for COUNT only. Sums are exact (see `exact`), extremes name the object with the smallest id
among equals.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vedette.compiled import inline, jit
from vedette.kernels.arrays import F64, I8, I32, I64
from vedette.kernels.exact import accumulate, rounded, settle
from vedette.kernels.nearest import Ids, id_less

COUNT, SUM, AVG, MIN, MAX = 0, 1, 2, 3, 4


class Members(NamedTuple):
    """Grouped by query; COUNT keeps none."""

    query: I32
    code: I32
    value: F64
    row: I64


class Totals(NamedTuple):
    """By query: members that have a value, exact sum, infinities (+, -), what was told last (code -1: no object)."""

    counted: I64
    limbs: I64
    infinite: I64
    told: F64
    told_code: I32


class News(NamedTuple):
    """New values in (query, t) order; row -1 where no object is named."""

    query: I32
    t: I64
    value: F64
    row: I64


@inline
def _weigh(totals: Totals, q: int, value: float, times: int) -> None:
    if math.isnan(value):
        return
    totals.counted[q] += times
    if math.isinf(value):
        totals.infinite[q, 0 if value > 0.0 else 1] += times
    else:
        accumulate(totals.limbs[q], value, times)


@inline
def _sum(totals: Totals, q: int) -> float:
    if totals.infinite[q, 0] > 0:
        return math.nan if totals.infinite[q, 1] > 0 else math.inf
    if totals.infinite[q, 1] > 0:
        return -math.inf
    return rounded(totals.limbs[q])


@inline
def _extreme(function: int, value: F64, row: I64, m: int, ids: Ids) -> int:
    best = -1
    for p in range(m):
        if math.isnan(value[p]):
            continue
        if best >= 0:
            if value[p] == value[best]:
                if not id_less(ids, row[p], row[best]):
                    continue
            elif (value[p] < value[best]) != (function == MIN):
                continue
        best = p
    return best


@jit
def tally(
    query: I32,
    t: I64,
    code: I32,
    sign: I8,
    row: I64,
    value: F64,
    function: I8,
    members: Members,
    totals: Totals,
    look: I64,
    heir: I32,
    codes: int,
    ids: Ids,
) -> tuple[Members, News]:
    """Apply changes.

    A query that replaces another, heir[q] (else -1), goes on from what that one told last, and is looked at in its
    first tick look[q] even if nothing changed then (never where look[q] is the least long: dropped in that very tick).
    """
    room = len(query) + len(members.query)
    k_query = np.empty(room, np.int32)
    k_code = np.empty(room, np.int32)
    k_value = np.empty(room)
    k_row = np.empty(room, np.int64)
    kept = 0
    out_room = len(query) + len(function)
    o_query = np.empty(out_room, np.int32)
    o_t = np.empty(out_room, np.int64)
    o_value = np.empty(out_room)
    o_row = np.empty(out_room, np.int64)
    n = 0
    place = np.full(codes, -1, np.int32)
    m_code = np.empty(room, np.int32)
    m_value = np.empty(room)
    m_row = np.empty(room, np.int64)
    i = 0
    s = 0
    for q in range(len(function)):
        if (i == len(query) or query[i] != q) and heir[q] < 0:
            while s < len(members.query) and members.query[s] == q:
                k_query[kept], k_code[kept] = q, members.code[s]
                k_value[kept], k_row[kept] = members.value[s], members.row[s]
                kept += 1
                s += 1
            continue
        m = 0
        while s < len(members.query) and members.query[s] == q:
            m_code[m], m_value[m], m_row[m] = members.code[s], members.value[s], members.row[s]
            place[members.code[s]] = m
            m += 1
            s += 1
        f = function[q]
        looks = heir[q] >= 0 and look[q] != np.iinfo(np.int64).min
        if heir[q] >= 0:
            totals.told[q] = totals.told[heir[q]]
            totals.told_code[q] = totals.told_code[heir[q]]
        while True:
            more = i < len(query) and query[i] == q
            if looks and (not more or look[q] <= t[i]):
                now = look[q]
                looks = False
            elif more:
                now = t[i]
            else:
                break
            while i < len(query) and query[i] == q and t[i] == now:
                if f == COUNT:
                    totals.counted[q] += sign[i]
                    i += 1
                    continue
                p = place[code[i]]
                if p >= 0:
                    _weigh(totals, q, m_value[p], -1)
                    if sign[i] < 0:
                        m -= 1
                        place[code[i]] = -1
                        if p < m:
                            m_code[p], m_value[p], m_row[p] = m_code[m], m_value[m], m_row[m]
                            place[m_code[p]] = p
                    else:
                        m_value[p], m_row[p] = value[i], row[i]
                        _weigh(totals, q, value[i], 1)
                elif sign[i] > 0:
                    m_code[m], m_value[m], m_row[m] = code[i], value[i], row[i]
                    place[code[i]] = m
                    m += 1
                    _weigh(totals, q, value[i], 1)
                i += 1
            told = math.nan
            told_code = -1
            told_row = -1
            if f == COUNT:
                told = float(totals.counted[q])
            elif f == MIN or f == MAX:
                best = _extreme(f, m_value, m_row, m, ids)
                if best >= 0:
                    told, told_code, told_row = m_value[best], m_code[best], m_row[best]
            elif totals.counted[q] > 0:
                told = _sum(totals, q)
                if f == AVG:
                    told /= totals.counted[q]
            same = told == totals.told[q] or (math.isnan(told) and math.isnan(totals.told[q]))
            if not same or told_code != totals.told_code[q]:
                o_query[n], o_t[n], o_value[n], o_row[n] = q, now, told, told_row
                n += 1
                totals.told[q] = told
                totals.told_code[q] = told_code
        settle(totals.limbs[q])
        for p in range(m):
            place[m_code[p]] = -1
            k_query[kept], k_code[kept], k_value[kept], k_row[kept] = q, m_code[p], m_value[p], m_row[p]
            kept += 1
    return (
        Members(k_query[:kept].copy(), k_code[:kept].copy(), k_value[:kept].copy(), k_row[:kept].copy()),
        News(o_query[:n].copy(), o_t[:n].copy(), o_value[:n].copy(), o_row[:n].copy()),
    )
