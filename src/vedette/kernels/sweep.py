"""One pass over the updates of a region, tick by tick, for all its queries at once (SOLE's shared execution).

In: moves of objects and of queries, each in time order. Out: deltas (t, query, object, sign, position).

An object's move concerns the queries listed in its old cell (which it may leave) and in its new cell
(which it may join); a query's move concerns the objects in the cells of its old and of its new shape.
Both compare end states, so no answer is ever stored. Within a tick kNN balls change first, then objects
move, then focal ranges follow; the deltas of one (query, object) at one tick need not cancel here, they
are netted later, where the other regions' are known too. The position of each delta is that at the end
of the tick; the last delta of an object in a tick has its valid squared distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vedette.compiled import inline, jit
from vedette.kernels.grid import Grid, cell_of, cells_in
from vedette.kernels.plane import (
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
from vedette.kernels.shapes import DISC, Edges, distance2, shape_has
from vedette.space import unit_vector

UPSERT, LEAVE = 0, 1

F64 = NDArray[np.float64]
I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
B1 = NDArray[np.bool_]


class Moves(NamedTuple):
    """Objects' moves in time order. LEAVE: off to another region, or gone; (x, y) is where it is then."""

    t: I64
    gid: I64
    op: I8
    x: F64
    y: F64
    words: U64
    values: F64
    ref: I64


class QueryMoves(NamedTuple):
    """Queries' moves in time order: new parameters, or off."""

    t: I64
    query: I32
    on: B1
    p: F64
    skip: I64


class Slots(NamedTuple):
    """Which slot a gid has (-1: none), the ref of its id by slot, free slots, and their count in count[0]."""

    of_gid: I32
    ref: I64
    free: I32
    count: I64


class Deltas(NamedTuple):
    """ints: t, query slot, gid, sign, ref. floats: x, y, squared distance, values."""

    ints: I64
    floats: F64


@jit
def units_of(xs: F64, ys: F64) -> F64:
    """Unit vectors of positions, as rows."""
    out = np.empty((len(xs), 3))
    for i in range(len(xs)):
        out[i, 0], out[i, 1], out[i, 2] = unit_vector(xs[i], ys[i])
    return out


@inline
def _has(objects: Objects, s: int, queries: Queries, q: int, edges: Edges, wraps: bool) -> bool:
    """Whether query q, as it is, holds the object in slot s, as it is."""
    if not queries.on[q] or objects.gid[s] == queries.skip[q]:
        return False
    f = queries.filter[q]
    if f >= 0 and not (objects.words[s, f >> 6] >> np.uint64(f & 63)) & np.uint64(1):
        return False
    return shape_has(
        queries.kind[q],
        queries.p[q],
        queries.part[q],
        edges,
        objects.x[s],
        objects.y[s],
        objects.ux[s],
        objects.uy[s],
        objects.uz[s],
        wraps,
    )


@inline
def _room(ints: I64, floats: F64, n: int) -> tuple[I64, F64]:
    if n < len(ints):
        return ints, floats
    more_ints = np.empty((2 * n, ints.shape[1]), np.int64)
    more_floats = np.empty((2 * n, floats.shape[1]))
    more_ints[:n] = ints
    more_floats[:n] = floats
    return more_ints, more_floats


@inline
def _put(
    ints: I64,
    floats: F64,
    n: int,
    t: int,
    q: int,
    sign: int,
    s: int,
    objects: Objects,
    queries: Queries,
    slots: Slots,
    wraps: bool,
) -> None:
    ints[n, 0] = t
    ints[n, 1] = q
    ints[n, 2] = objects.gid[s]
    ints[n, 3] = sign
    ints[n, 4] = slots.ref[s]
    ints[n, 5] = s
    x, y = objects.x[s], objects.y[s]
    floats[n, 0] = x
    floats[n, 1] = y
    if queries.kind[q] == DISC:
        floats[n, 2] = distance2(queries.p[q], x, y, objects.ux[s], objects.uy[s], objects.uz[s], wraps)
    else:
        floats[n, 2] = 0.0
    for j in range(objects.values.shape[1]):
        floats[n, 3 + j] = objects.values[s, j]


@inline
def _take(objects: Objects, s: int, x: float, y: float, words: U64, values: F64, wraps: bool) -> None:
    """Write an object's row."""
    objects.x[s] = x
    objects.y[s] = y
    if wraps:
        objects.ux[s], objects.uy[s], objects.uz[s] = unit_vector(x, y)
    for j in range(objects.words.shape[1]):
        objects.words[s, j] = words[j]
    for j in range(objects.values.shape[1]):
        objects.values[s, j] = values[j]


@inline
def _copy(objects: Objects, s: int, spare: int) -> None:
    """Keep the old row of slot s in the spare slot, to be asked about its old state."""
    objects.gid[spare] = objects.gid[s]
    objects.x[spare] = objects.x[s]
    objects.y[spare] = objects.y[s]
    objects.ux[spare] = objects.ux[s]
    objects.uy[spare] = objects.uy[s]
    objects.uz[spare] = objects.uz[s]
    for j in range(objects.words.shape[1]):
        objects.words[spare, j] = objects.words[s, j]


@inline
def _member_loop(
    cell: int,
    leaving: bool,
    same_cell: bool,
    other_state: bool,
    t: int,
    s: int,
    spare: int,
    objects: Objects,
    queries: Queries,
    lists: Lists,
    slots: Slots,
    edges: Edges,
    wraps: bool,
    ints: I64,
    floats: F64,
    n: int,
) -> tuple[I64, F64, int]:
    """Deltas of one object from the queries listed in one cell.

    leaving: the cell is the old one and a member that is none any more gets -1. Otherwise the cell is the
    new one: +1 for a new member, 0 for one that stays where the query wants to know. If both cells are the
    same, one loop does both.
    """
    here = spare if leaving else s
    there = s if leaving else spare
    still = lists.still_start[cell + 1] - lists.still_start[cell]
    node = lists.moving_heads[cell]
    i = 0
    total = still + lists.counts[0]
    while True:
        if i < still:
            q = lists.still_query[lists.still_start[cell] + i]
            i += 1
        elif i < total:
            q = lists.wide[i - still]
            i += 1
        elif node >= 0:
            q = lists.node_query[node]
            node = lists.node_next[node]
        else:
            break
        in_here = _has(objects, here, queries, q, edges, wraps)
        if not in_here and not same_cell:
            continue
        in_there = other_state and _has(objects, there, queries, q, edges, wraps)
        if in_here == in_there:
            if not in_here or leaving or not queries.moves[q]:
                continue
            sign = 0
        elif in_here:
            sign = -1 if leaving else 1
        else:
            sign = -1  # only where same_cell: was there, is not here
        ints, floats = _room(ints, floats, n)
        _put(ints, floats, n, t, q, sign, s, objects, queries, slots, wraps)
        n += 1
    return ints, floats, n


@inline
def _move_query(
    j: int,
    moves: QueryMoves,
    grid: Grid,
    objects: Objects,
    queries: Queries,
    lists: Lists,
    slots: Slots,
    edges: Edges,
    wraps: bool,
    spare: int,
    spans: I64,
    ints: I64,
    floats: F64,
    n: int,
) -> tuple[Lists, I64, F64, int]:
    """One query changes its shape, or is switched on or off; `spare` is a query slot that keeps its old state."""
    q = moves.query[j]
    queries.kind[spare] = queries.kind[q]
    queries.part[spare] = queries.part[q]
    queries.filter[spare] = queries.filter[q]
    queries.skip[spare] = queries.skip[q]
    queries.on[spare] = queries.on[q]
    same_centre = queries.on[q] and moves.on[j]
    for i in range(queries.p.shape[1]):
        queries.p[spare, i] = queries.p[q, i]
        if i != 2 and queries.p[q, i] != moves.p[j, i]:
            same_centre = False
    if queries.on[q] and not queries.still[q]:
        unlist_query(grid, queries, lists, q, wraps, spans)
    queries.on[q] = moves.on[j]
    queries.skip[q] = moves.skip[j]
    for i in range(queries.p.shape[1]):
        queries.p[q, i] = moves.p[j, i]
    for new in range(2):
        here = q if new else spare
        there = spare if new else q
        if not queries.on[here]:
            continue
        m = query_cover(grid, queries.kind[here], queries.p[here], wraps, spans)
        for row in range(spans[0], spans[1] + 1):
            for i in range(m):
                for column in range(spans[2 * i + 2], spans[2 * i + 3] + 1):
                    s = lists.heads[row * grid.columns + column]
                    while s >= 0:
                        if _has(objects, s, queries, here, edges, wraps):
                            other = _has(objects, s, queries, there, edges, wraps)
                            if not other or (new and queries.moves[q] and not same_centre):
                                sign = 0 if other else (1 if new else -1)
                                ints, floats = _room(ints, floats, n)
                                _put(ints, floats, n, moves.t[j], q, sign, s, objects, queries, slots, wraps)
                                n += 1
                        s = objects.next[s]
    if queries.on[q] and not queries.still[q]:
        m = query_cover(grid, queries.kind[q], queries.p[q], wraps, spans)
        lists = with_nodes(lists, cells_in(spans, m))
        list_query(grid, queries, lists, q, wraps, spans)
    return lists, ints, floats, n


@jit
def sweep(
    moves: Moves,
    balls: QueryMoves,
    focals: QueryMoves,
    grid: Grid,
    objects: Objects,
    queries: Queries,
    lists: Lists,
    slots: Slots,
    edges: Edges,
    wraps: bool,
) -> tuple[Lists, Deltas]:
    """Apply everything in time order. The last slot of `objects` and of `queries` is scratch room."""
    n = 0
    ints = np.empty((1024, 6), np.int64)
    floats = np.empty((1024, 3 + objects.values.shape[1]))
    spans = np.empty(8, np.int64)
    spare = len(objects.cell) - 1
    spare_query = len(queries.kind) - 1
    limbo = np.empty(len(slots.free), np.int32)
    i = b = f = 0
    end = np.iinfo(np.int64).max
    while True:
        t = end
        if i < len(moves.t):
            t = min(t, moves.t[i])
        if b < len(balls.t):
            t = min(t, balls.t[b])
        if f < len(focals.t):
            t = min(t, focals.t[f])
        if t == end:
            break

        first = n
        while b < len(balls.t) and balls.t[b] == t:
            lists, ints, floats, n = _move_query(
                b, balls, grid, objects, queries, lists, slots, edges, wraps, spare_query, spans, ints, floats, n
            )
            b += 1
        before_moves = n

        in_limbo = 0
        while i < len(moves.t) and moves.t[i] == t:
            gid = moves.gid[i]
            s = slots.of_gid[gid]
            stays = moves.op[i] == UPSERT
            had = s >= 0
            if not had:
                if not stays:
                    i += 1
                    continue
                slots.count[0] -= 1
                s = slots.free[slots.count[0]]
                slots.of_gid[gid] = s
                slots.ref[s] = moves.ref[i]
                objects.gid[s] = gid
            old_cell = objects.cell[s]
            if had:
                _copy(objects, s, spare)
                unlink_object(objects, lists.heads, s)
            _take(objects, s, moves.x[i], moves.y[i], moves.words[i], moves.values[i], wraps)
            cell = cell_of(grid, moves.x[i], moves.y[i])
            if had and not (stays and cell == old_cell):
                ints, floats, n = _member_loop(
                    old_cell, True, False, stays, t, s, spare, objects, queries, lists, slots, edges, wraps, ints, floats, n
                )
            if stays:
                ints, floats, n = _member_loop(
                    cell, False, had and cell == old_cell, had, t, s, spare, objects, queries, lists, slots, edges, wraps,
                    ints, floats, n,
                )  # fmt: skip
                link_object(objects, lists.heads, s, cell)
            else:
                slots.of_gid[gid] = -1
                limbo[in_limbo] = s
                in_limbo += 1
            i += 1

        for k in range(first, before_moves):
            s = ints[k, 5]
            floats[k, 0] = objects.x[s]
            floats[k, 1] = objects.y[s]

        while f < len(focals.t) and focals.t[f] == t:
            lists, ints, floats, n = _move_query(
                f, focals, grid, objects, queries, lists, slots, edges, wraps, spare_query, spans, ints, floats, n
            )
            f += 1
        for k in range(in_limbo):
            slots.free[slots.count[0]] = limbo[k]
            slots.count[0] += 1
    return lists, Deltas(ints[:n, :5].copy(), floats[:n].copy())
