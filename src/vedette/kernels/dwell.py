"""Delayed membership: DWELL before joining, GRACE before leaving.

In: who went in and out of the undelayed answer, per (query, object) pair in time order; reports of where the
objects are; the pairs known so far. Out: who joined and left the delayed answer, with the report that says where the
object was at that moment, and the pairs known now. Each pair is a small clock of its own:

    outside ──in──► inside since t ──t + dwell, never out──► joined
    joined ──out──► outside since t ──t + grace, never in──► outside

Both stays are closed intervals: being out again exactly at t + dwell prevents the join.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import B1, I8, I32, I64


class Pairs(NamedTuple):
    """In (query, code) order: inside or joined (or both), since when, and the row that says where."""

    query: I32
    code: I32
    inside: B1
    joined: B1
    since: I64
    row: I64


class Reports(NamedTuple):
    """Where objects are: grouped by code (start), in time order."""

    start: I64
    t: I64
    row: I64


class Delayed(NamedTuple):
    """Changes of the delayed answers, unordered; sign 0: a member moved."""

    query: I32
    t: I64
    code: I32
    sign: I8
    row: I64


@jit
def delay(
    query: I32,
    code: I32,
    t: I64,
    sign: I8,
    row: I64,
    pairs: Pairs,
    reports: Reports,
    dwell: I64,
    grace: I64,
    keeps_moves: B1,
    end: I64,
    dropped: B1,
) -> tuple[Pairs, Delayed]:
    """Rows come in (query, code, t) order. end[q]: the first tick that q may not act in; dropped[q]: it ends there."""
    room = len(query) + len(pairs.query)
    k_query = np.empty(room, np.int32)
    k_code = np.empty(room, np.int32)
    k_inside = np.empty(room, np.bool_)
    k_joined = np.empty(room, np.bool_)
    k_since = np.empty(room, np.int64)
    k_row = np.empty(room, np.int64)
    kept = 0
    out_room = 64
    o_query = np.empty(out_room, np.int32)
    o_t = np.empty(out_room, np.int64)
    o_code = np.empty(out_room, np.int32)
    o_sign = np.empty(out_room, np.int8)
    o_row = np.empty(out_room, np.int64)
    n = 0
    i = 0
    p = 0
    while i < len(query) or p < len(pairs.query):
        known = p < len(pairs.query) and (
            i == len(query) or pairs.query[p] < query[i] or (pairs.query[p] == query[i] and pairs.code[p] <= code[i])
        )
        if known:
            q, c = pairs.query[p], pairs.code[p]
            inside, joined, since, where = pairs.inside[p], pairs.joined[p], pairs.since[p], pairs.row[p]
            p += 1
        else:
            q, c = query[i], code[i]
            inside, joined, since, where = False, False, np.int64(0), row[i]
        r = reports.start[c]
        r_end = reports.start[c + 1]
        while True:
            more = i < len(query) and query[i] == q and code[i] == c
            until = end[q]
            if more and t[i] < until:
                until = t[i]
            due = np.iinfo(np.int64).max
            if inside and not joined:
                due = since + dwell[q]
            elif joined and not inside:
                due = since + grace[q]
            act = min(due, until)
            closing = not more and dropped[q] and act == until
            # Reports up to the moment that acts next; a member's moves are told.
            while r < r_end and (reports.t[r] < act or (reports.t[r] == act and (act < until or closing))):
                where = reports.row[r]
                if joined and keeps_moves[q] and reports.t[r] < act:
                    if n == out_room:
                        o_query, o_t, o_code, o_sign, o_row = _more(o_query, o_t, o_code, o_sign, o_row)
                        out_room *= 2
                    o_query[n], o_t[n], o_code[n], o_sign[n], o_row[n] = q, reports.t[r], c, 0, where
                    n += 1
                r += 1
            if due < until:
                joined = inside
                if n == out_room:
                    o_query, o_t, o_code, o_sign, o_row = _more(o_query, o_t, o_code, o_sign, o_row)
                    out_room *= 2
                o_query[n], o_t[n], o_code[n], o_sign[n], o_row[n] = q, due, c, (1 if joined else -1), where
                n += 1
                continue
            if not more:
                break
            if t[i] >= end[q]:
                i += 1
                continue
            if sign[i] > 0:
                inside, since = True, t[i]
            elif sign[i] < 0:
                inside, since = False, t[i]
            where = row[i]
            i += 1
        if dropped[q]:
            if joined:
                if n == out_room:
                    o_query, o_t, o_code, o_sign, o_row = _more(o_query, o_t, o_code, o_sign, o_row)
                    out_room *= 2
                o_query[n], o_t[n], o_code[n], o_sign[n], o_row[n] = q, end[q], c, -1, where
                n += 1
        elif inside or joined:
            k_query[kept], k_code[kept], k_inside[kept] = q, c, inside
            k_joined[kept], k_since[kept], k_row[kept] = joined, since, where
            kept += 1
    return (
        Pairs(
            k_query[:kept].copy(),
            k_code[:kept].copy(),
            k_inside[:kept].copy(),
            k_joined[:kept].copy(),
            k_since[:kept].copy(),
            k_row[:kept].copy(),
        ),
        Delayed(o_query[:n].copy(), o_t[:n].copy(), o_code[:n].copy(), o_sign[:n].copy(), o_row[:n].copy()),
    )


@jit
def _more(query: I32, t: I64, code: I32, sign: I8, row: I64) -> tuple[I32, I64, I32, I8, I64]:
    return (
        np.concatenate((query, query)),
        np.concatenate((t, t)),
        np.concatenate((code, code)),
        np.concatenate((sign, sign)),
        np.concatenate((row, row)),
    )
