"""A proven ball around each kNN query: distributed nearest neighbours without a feedback loop.

In: the events of one bucket (a part of all objects) in time order. Out: for each kNN query at home here
the ball (centre, squared radius) whenever it has to change, in time order.

Any k (filtered, non-focal) objects bound the distance of the k-th nearest of *all* objects from above.
So the ball through the bucket's own w-th nearest, w >= k, holds the true answer, and goes on to hold it
for as long as k of the bucket's objects are inside. The kernel only counts who is inside (with the same
grid lists as range queries) and searches anew when fewer than k are left, when too many have gathered,
or when the centre moved. Fewer than k objects in the bucket prove nothing: then the ball is everything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vedette.compiled import inline, jit
from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.grid import Grid, cell_of, cells_in
from vedette.kernels.plane import (
    WIDE_CELLS,
    Lists,
    Objects,
    Queries,
    link_object,
    list_query,
    query_cover,
    unlink_object,
    unlist_query,
    with_nodes,
)
from vedette.kernels.shapes import DISC, distance2
from vedette.kernels.sweep import QueryMoves
from vedette.space import unit_vector


class Events(NamedTuple):
    """What happened to the bucket's objects, in time order."""

    t: I64
    slot: I32
    gone: B1
    x: F64
    y: F64
    words: U64


class Balls(NamedTuple):
    """By query slot: k, objects of the bucket inside, and whether the query waits to be searched."""

    k: I64
    inside: I64
    waits: B1


class Focals(NamedTuple):
    """Focal number by object slot (-1: none) and, per focal, the kNN queries that follow it."""

    of_slot: I32
    start: I64
    query: I32


@inline
def wanted(k: int) -> int:
    """How many neighbours a fresh ball holds: a few to spare, so that it lasts."""
    return k + k // 2 + 2


@inline
def too_many(k: int) -> int:
    """When a ball is worth shrinking."""
    return 3 * wanted(k)


@inline
def _exists_for(words: U64, s: int, f: int) -> bool:
    """Whether an object exists for a query with filter f."""
    return bool(f < 0 or (words[s, f >> 6] >> np.uint64(f & 63)) & np.uint64(1))


@inline
def _collect(
    grid: Grid, objects: Objects, queries: Queries, lists: Lists, q: int, wraps: bool, spans: I64, found: F64
) -> tuple[int, bool]:
    """Squared distances of all objects inside the ball of q; and whether its cover was the whole grid."""
    m = query_cover(grid, DISC, queries.p[q], wraps, spans)
    o_x, o_y, o_ux, o_uy, o_uz = objects.x, objects.y, objects.ux, objects.uy, objects.uz
    o_gid, o_words, o_next, heads, p = objects.gid, objects.words, objects.next, lists.heads, queries.p
    f, skip, limit = queries.filter[q], queries.skip[q], queries.p[q, 2]
    n = 0
    for row in range(spans[0], spans[1] + 1):
        for i in range(m):
            for column in range(spans[2 * i + 2], spans[2 * i + 3] + 1):
                s = heads[row * grid.columns + column]
                while s >= 0:
                    if o_gid[s] != skip and _exists_for(o_words, s, f):
                        d2 = distance2(p, q, o_x[s], o_y[s], o_ux[s], o_uy[s], o_uz[s], wraps)
                        if d2 <= limit:
                            found[n] = d2
                            n += 1
                    s = o_next[s]
    return n, cells_in(spans, m) == grid.columns * grid.rows


@inline
def _first_guess(grid: Grid, wraps: bool) -> float:
    side = 2.0 / min(grid.per_x, grid.per_y)
    if wraps:
        side = min(side, 90.0) * (math.pi / 180.0)
    return side * side


@inline
def _search(
    grid: Grid,
    objects: Objects,
    queries: Queries,
    lists: Lists,
    q: int,
    k: int,
    keep: bool,
    wraps: bool,
    spans: I64,
    found: F64,
) -> int:
    """Set the ball of q; returns how many of the bucket's objects it holds.

    keep: the old radius will do if k are inside.
    """
    old = queries.p[q, 2]
    if not (old > 0.0 and old < math.inf):
        queries.p[q, 2] = _first_guess(grid, wraps)
        keep = False
    while True:
        n, whole = _collect(grid, objects, queries, lists, q, wraps, spans, found)
        if keep and k <= n <= too_many(k):
            return n
        keep = False
        if n >= wanted(k):
            break
        if queries.p[q, 2] == math.inf:
            break
        queries.p[q, 2] = math.inf if whole else 4.0 * queries.p[q, 2]
    if n < k:
        queries.p[q, 2] = math.inf
        return n
    want = min(n, wanted(k))
    radius2 = np.partition(found[:n], want - 1)[want - 1]
    queries.p[q, 2] = radius2
    inside = 0
    for i in range(n):
        if found[i] <= radius2:
            inside += 1
    return inside


@inline
def _unlist(
    grid: Grid, queries: Queries, lists: Lists, balls: Balls, q: int, wraps: bool, spans: I64, listed: B1
) -> None:
    if listed[q]:
        m = query_cover(grid, DISC, queries.p[q], wraps, spans)
        was_wide = cells_in(spans, m) > WIDE_CELLS
        if not was_wide or lists.wide_at[q] >= 0:
            unlist_query(grid, queries, lists, q, wraps, spans)
        listed[q] = False


@jit
def follow(
    events: Events,
    focals: Focals,
    fresh: I32,
    fresh_t: int,
    grid: Grid,
    objects: Objects,
    queries: Queries,
    lists: Lists,
    balls: Balls,
    wraps: bool,
) -> tuple[Lists, QueryMoves]:
    """Apply the events; tell every change of a ball.

    `fresh` queries are searched after the tick fresh_t, whatever happens in it.
    """
    count = len(queries.kind)
    touched = np.empty(count, np.int32)
    is_touched = np.zeros(count, np.bool_)
    moved = np.zeros(count, np.bool_)
    listed = queries.on.copy()
    spans = np.empty(8, np.int64)
    found = np.empty(len(objects.cell))
    room = 256
    out_t = np.empty(room, np.int64)
    out_q = np.empty(room, np.int32)
    out_on = np.empty(room, np.bool_)
    out_p = np.empty((room, queries.p.shape[1]))
    out_skip = np.empty(room, np.int64)
    n = 0
    i = 0
    fresh_due = len(fresh) > 0
    o_gid, o_cell, o_next, o_prev = objects.gid, objects.cell, objects.next, objects.prev
    o_x, o_y, o_ux, o_uy, o_uz, o_words = objects.x, objects.y, objects.ux, objects.uy, objects.uz, objects.words
    q_p, q_skip, q_filter = queries.p, queries.skip, queries.filter
    k, inside, waits = balls.k, balls.inside, balls.waits
    heads = lists.heads
    while i < len(events.t) or fresh_due:
        t = events.t[i] if i < len(events.t) else fresh_t
        if fresh_due and fresh_t <= t:
            t = fresh_t
        n_touched = 0
        if fresh_due and t == fresh_t:
            fresh_due = False
            for q in fresh:
                is_touched[q] = True
                moved[q] = True
                touched[n_touched] = q
                n_touched += 1
        while i < len(events.t) and events.t[i] == t:
            s = events.slot[i]
            for arriving in range(2):  # out of the balls listed in its old cell, into those of its new one
                if arriving:
                    if events.gone[i]:
                        break
                    x, y = events.x[i], events.y[i]
                    o_x[s], o_y[s] = x, y
                    if wraps:
                        o_ux[s], o_uy[s], o_uz[s] = unit_vector(x, y)
                    for v in range(o_words.shape[1]):
                        o_words[s, v] = events.words[i, v]
                    cell = cell_of(grid, x, y)
                else:
                    if o_cell[s] < 0:
                        continue
                    cell = o_cell[s]
                w = 0
                node = lists.moving_heads[cell]
                while True:
                    if w < lists.counts[0]:
                        q = lists.wide[w]
                    elif node >= 0:
                        q = lists.node_query[node]
                        node = lists.node_next[node]
                    else:
                        break
                    w += 1
                    if waits[q] or q_skip[q] == o_gid[s] or not _exists_for(o_words, s, q_filter[q]):
                        continue
                    if distance2(q_p, q, o_x[s], o_y[s], o_ux[s], o_uy[s], o_uz[s], wraps) > q_p[q, 2]:
                        continue
                    inside[q] += 1 if arriving else -1
                    limit = too_many(k[q]) if q_p[q, 2] < math.inf else wanted(k[q])
                    if k[q] <= inside[q] <= limit:
                        continue
                    if not is_touched[q]:
                        is_touched[q] = True
                        touched[n_touched] = q
                        n_touched += 1
                    if inside[q] > limit:
                        waits[q] = True
                        if lists.wide_at[q] >= 0:  # out of the list at once: a first tick would count everything
                            lists.counts[0] -= 1
                            last = lists.wide[lists.counts[0]]
                            lists.wide[lists.wide_at[q]] = last
                            lists.wide_at[last] = lists.wide_at[q]
                            lists.wide_at[q] = -1
                            w -= 1
                if arriving:
                    link_object(o_cell, o_next, o_prev, heads, s, cell)
                else:
                    unlink_object(o_cell, o_next, o_prev, heads, s)
            f = focals.of_slot[s]
            if f >= 0:
                for j in range(focals.start[f], focals.start[f + 1]):
                    q = focals.query[j]
                    moved[q] = True
                    if not is_touched[q]:
                        is_touched[q] = True
                        touched[n_touched] = q
                        n_touched += 1
            i += 1

        for j in range(n_touched):
            q = touched[j]
            is_touched[q] = False
            waited = waits[q]
            waits[q] = False
            focal = queries.part[q]  # the focal's object slot, -1 for a fixed centre
            if not moved[q] and not waited and (inside[q] >= k[q] or q_p[q, 2] == math.inf):
                continue  # fell below k and recovered within the tick, or holds everything already
            _unlist(grid, queries, lists, balls, q, wraps, spans, listed)
            was_on = queries.on[q]
            if focal >= 0:
                queries.on[q] = objects.cell[focal] >= 0
                if queries.on[q]:
                    queries.p[q, 0] = objects.x[focal]
                    queries.p[q, 1] = objects.y[focal]
            else:
                queries.on[q] = True
            if queries.on[q]:
                if wraps:
                    queries.p[q, 3], queries.p[q, 4], queries.p[q, 5] = unit_vector(queries.p[q, 0], queries.p[q, 1])
                balls.inside[q] = _search(
                    grid, objects, queries, lists, q, balls.k[q], moved[q] and was_on, wraps, spans, found
                )
                m = query_cover(grid, DISC, queries.p[q], wraps, spans)
                lists = with_nodes(lists, cells_in(spans, m))
                list_query(grid, queries, lists, q, wraps, spans)
                listed[q] = True
            moved[q] = False
            if not (was_on or queries.on[q]):
                continue
            if n == room:
                room *= 2
                out_t = np.concatenate((out_t, out_t))
                out_q = np.concatenate((out_q, out_q))
                out_on = np.concatenate((out_on, out_on))
                out_p = np.concatenate((out_p, out_p))
                out_skip = np.concatenate((out_skip, out_skip))
            out_t[n] = t
            out_q[n] = q
            out_on[n] = queries.on[q]
            out_p[n] = queries.p[q]
            out_skip[n] = queries.skip[q]
            n += 1
    moves = QueryMoves(out_t[:n].copy(), out_q[:n].copy(), out_on[:n].copy(), out_p[:n].copy(), out_skip[:n].copy())
    return lists, moves
