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
from numpy.typing import NDArray

from vedette.compiled import inline, jit
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

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
B1 = NDArray[np.bool_]


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
def counts_for(objects: Objects, s: int, queries: Queries, q: int) -> bool:
    """Whether an object exists for a query: filtered in, and not its focal."""
    f = queries.filter[q]
    if f >= 0 and not (objects.words[s, f >> 6] >> np.uint64(f & 63)) & np.uint64(1):
        return False
    return bool(objects.gid[s] != queries.skip[q])


@inline
def _within(objects: Objects, s: int, queries: Queries, q: int, wraps: bool) -> bool:
    if not counts_for(objects, s, queries, q):
        return False
    d2 = distance2(queries.p[q], objects.x[s], objects.y[s], objects.ux[s], objects.uy[s], objects.uz[s], wraps)
    return bool(d2 <= queries.p[q, 2])


@inline
def _collect(
    grid: Grid, objects: Objects, queries: Queries, lists: Lists, q: int, wraps: bool, spans: I64, found: F64
) -> tuple[int, bool]:
    """Squared distances of all objects inside the ball of q; and whether its cover was the whole grid."""
    m = query_cover(grid, DISC, queries.p[q], wraps, spans)
    n = 0
    for row in range(spans[0], spans[1] + 1):
        for i in range(m):
            for column in range(spans[2 * i + 2], spans[2 * i + 3] + 1):
                s = lists.heads[row * grid.columns + column]
                while s >= 0:
                    if counts_for(objects, s, queries, q):
                        d2 = distance2(
                            queries.p[q], objects.x[s], objects.y[s], objects.ux[s], objects.uy[s], objects.uz[s], wraps
                        )
                        if d2 <= queries.p[q, 2]:
                            found[n] = d2
                            n += 1
                    s = objects.next[s]
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
    """Set the ball of q; returns how many of the bucket's objects it holds. keep: the old radius will do if k are inside."""
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
def _count(
    cell: int,
    change: int,
    s: int,
    objects: Objects,
    queries: Queries,
    lists: Lists,
    balls: Balls,
    touched: I32,
    n_touched: int,
    is_touched: B1,
    wraps: bool,
) -> int:
    """An object enters (+1) or leaves (-1) the balls listed in its cell."""
    i = 0
    node = lists.moving_heads[cell]
    while True:
        if i < lists.counts[0]:
            q = lists.wide[i]
        elif node >= 0:
            q = lists.node_query[node]
            node = lists.node_next[node]
        else:
            break
        i += 1
        if balls.waits[q] or not _within(objects, s, queries, q, wraps):
            continue
        balls.inside[q] += change
        inside = balls.inside[q]
        limit = too_many(balls.k[q]) if queries.p[q, 2] < math.inf else wanted(balls.k[q])
        if inside < balls.k[q] or inside > limit:
            if not is_touched[q]:
                is_touched[q] = True
                touched[n_touched] = q
                n_touched += 1
            if inside > limit:
                balls.waits[q] = True
                if lists.wide_at[q] >= 0:  # out of the list at once: in a first tick everything would be counted
                    lists.counts[0] -= 1
                    last = lists.wide[lists.counts[0]]
                    lists.wide[lists.wide_at[q]] = last
                    lists.wide_at[last] = lists.wide_at[q]
                    lists.wide_at[q] = -1
                    i -= 1
    return n_touched


@inline
def _unlist(grid: Grid, queries: Queries, lists: Lists, balls: Balls, q: int, wraps: bool, spans: I64, listed: B1) -> None:
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
    """Apply the events; tell every change of a ball. `fresh` queries are searched after the tick fresh_t, whatever happens in it."""
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
            if objects.cell[s] >= 0:
                n_touched = _count(
                    objects.cell[s], -1, s, objects, queries, lists, balls, touched, n_touched, is_touched, wraps
                )
                unlink_object(objects, lists.heads, s)
            if not events.gone[i]:
                objects.x[s] = events.x[i]
                objects.y[s] = events.y[i]
                if wraps:
                    objects.ux[s], objects.uy[s], objects.uz[s] = unit_vector(events.x[i], events.y[i])
                for j in range(objects.words.shape[1]):
                    objects.words[s, j] = events.words[i, j]
                cell = cell_of(grid, events.x[i], events.y[i])
                n_touched = _count(cell, 1, s, objects, queries, lists, balls, touched, n_touched, is_touched, wraps)
                link_object(objects, lists.heads, s, cell)
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
            waits = balls.waits[q]
            balls.waits[q] = False
            focal = queries.part[q]  # the focal's object slot, -1 for a fixed centre
            if not moved[q] and not waits and (balls.inside[q] >= balls.k[q] or queries.p[q, 2] == math.inf):
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
