"""Combinations of answers: who is in an answer that is made of others by AND, OR and NOT?

In: who joined, left and moved in the answers that are the terms, and who was in them before. Out: the same of the
combinations. A formula is false where all its terms are, so whoever is in no term is in no combination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import B1, I8, I32, I64
from vedette.kernels.diagram import Diagram, walk


class Joined(NamedTuple):
    """Members of terms: query, object, and the row that tells where it is."""

    query: I32
    gid: I64
    row: I64


class Combinations(NamedTuple):
    """Queries that are combinations, their terms term[start[j] : start[j + 1]] and the edge of their formula.

    c: the tick at which it comes, in this batch if `fresh`. end: the tick at which it goes, if `dropped`.
    keeps: whether it is told that members merely moved.
    """

    query: I32
    start: I64
    term: I32
    edge: I64
    c: I64
    end: I64
    fresh: B1
    dropped: B1
    keeps: B1


@jit
def combine(
    query: I32,
    t: I64,
    gid: I64,
    sign: I8,
    row: I64,
    joined: Joined,
    combinations: Combinations,
    diagram: Diagram,
    count: int,
) -> tuple[I32, I64, I8, I64]:
    """Steps of the combinations. Steps of the terms come in (query, t) order; `count` is that of all queries."""
    step_start = np.zeros(count + 1, np.int64)
    for q in query:
        step_start[q + 1] += 1
    member_start = np.zeros(count + 1, np.int64)
    for q in joined.query:
        member_start[q + 1] += 1
    for q in range(count):
        step_start[q + 1] += step_start[q]
        member_start[q + 1] += member_start[q]
    value = np.zeros(max(count, 1), np.bool_)
    room = 256
    out_query = np.empty(room, np.int32)
    out_t = np.empty(room, np.int64)
    out_sign = np.empty(room, np.int8)
    out_row = np.empty(room, np.int64)
    n = 0
    for j in range(len(combinations.query)):
        first, last = combinations.start[j], combinations.start[j + 1]
        steps = members = 0
        for e in range(first, last):
            q = combinations.term[e]
            steps += step_start[q + 1] - step_start[q]
            members += member_start[q + 1] - member_start[q]
        fresh, dropped = combinations.fresh[j], combinations.dropped[j]
        if steps == 0 and not fresh and not dropped:
            continue
        c, end, keeps = combinations.c[j], combinations.end[j], combinations.keeps[j]
        # All that concerns the combination, object by object, members of before first, then in time order.
        what_gid = np.empty(steps + members, np.int64)
        what_t = np.empty(steps + members, np.int64)
        what = np.empty(steps + members, np.int64)  # a member before the batch is -1 - its number, a step its number
        k = 0
        for e in range(first, last):
            q = combinations.term[e]
            for m in range(member_start[q], member_start[q + 1]):
                what_gid[k], what_t[k], what[k] = joined.gid[m], np.iinfo(np.int64).min, -1 - m
                k += 1
        for e in range(first, last):
            q = combinations.term[e]
            for s in range(step_start[q], step_start[q + 1]):
                what_gid[k], what_t[k], what[k] = gid[s], t[s], s
                k += 1
        order = np.argsort(what_t, kind="mergesort")
        order = order[np.argsort(what_gid[order], kind="mergesort")]
        i = 0
        while i < len(order):
            g = what_gid[order[i]]
            at = -1
            while i < len(order) and what_gid[order[i]] == g and what[order[i]] < 0:
                m = -1 - what[order[i]]
                value[joined.query[m]] = True
                at = joined.row[m]
                i += 1
            is_in = not fresh and walk(diagram, combinations.edge[j], value)
            due = fresh and not (dropped and end <= c)  # it is judged at its first tick, whatever happens in it
            while True:
                more = i < len(order) and what_gid[order[i]] == g
                now = what_t[order[i]] if more else end
                if dropped and now > end:
                    now, more = end, False
                if due and (now > c or not more):
                    due = False
                    if walk(diagram, combinations.edge[j], value):
                        now, more, judged = c, True, True
                    else:
                        continue
                else:
                    judged = False
                    if not more:
                        break
                    while i < len(order) and what_gid[order[i]] == g and what_t[order[i]] == now:
                        s = what[order[i]]
                        if sign[s] != 0:
                            value[query[s]] = sign[s] > 0
                        at = row[s]
                        i += 1
                    if now < c or (dropped and now >= end):
                        continue
                    due = False
                is_now = judged or walk(diagram, combinations.edge[j], value)
                if is_now == is_in and not (keeps and is_now):
                    continue
                if n == room:
                    room *= 2
                    out_query = np.concatenate((out_query, out_query))
                    out_t = np.concatenate((out_t, out_t))
                    out_sign = np.concatenate((out_sign, out_sign))
                    out_row = np.concatenate((out_row, out_row))
                out_query[n], out_t[n], out_row[n] = combinations.query[j], now, at
                out_sign[n] = 0 if is_now == is_in else (1 if is_now else -1)
                is_in = is_now
                n += 1
            if dropped and is_in:
                if n == room:
                    room *= 2
                    out_query = np.concatenate((out_query, out_query))
                    out_t = np.concatenate((out_t, out_t))
                    out_sign = np.concatenate((out_sign, out_sign))
                    out_row = np.concatenate((out_row, out_row))
                out_query[n], out_t[n], out_sign[n], out_row[n] = combinations.query[j], end, -1, at
                n += 1
            while i < len(order) and what_gid[order[i]] == g:  # what happened after the end
                i += 1
            for e in range(first, last):
                value[combinations.term[e]] = False
    return out_query[:n].copy(), out_t[:n].copy(), out_sign[:n].copy(), out_row[:n].copy()
