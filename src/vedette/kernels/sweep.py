"""One pass over the updates of a region, tick by tick, for all its queries at once (SOLE's shared execution).

In: moves of objects and of queries, each in time order. Out: deltas (t, query, object, sign, position).

An object's move concerns the queries listed in its old cell (which it may leave) and in its new cell
(which it may join); a query's move concerns the objects in the cells of its old and of its new shape.
Both compare end states, so no answer is ever stored. Within a tick kNN balls change first, then objects
move, then focal ranges follow; the deltas of one (query, object) at one tick need not cancel here, they
are netted later, where the other regions' are known too. The position of each delta is that at the end
of the tick; the last delta of an object in a tick has its valid squared distance (-1: known elsewhere).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import inline, jit
from vedette.kernels.arrays import B1, F64, I8, I32, I64, U64
from vedette.kernels.grid import Grid, cell_of, cells_in
from vedette.kernels.plane import (
    Lists,
    Objects,
    Queries,
    link_object,
    list_query,
    query_cover,
    shape_box,
    unlink_object,
    unlist_query,
    with_nodes,
)
from vedette.kernels.shapes import DISC, RECT, Edges, distance2, shape_has
from vedette.space import box_has, unit_vector

UPSERT, LEAVE, REFRESH = 0, 1, 2  # REFRESH: the same row once more, with new filter bits or values


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
    """Which slot a gid has (-1: none), the ref of its id by slot, free slots, and their count in free_count[0]."""

    of_gid: I32
    ref: I64
    free: I32
    free_count: I64


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
def _passes(words: U64, s: int, f: int) -> bool:
    """Whether the object in slot s satisfies filter f."""
    return bool(f < 0 or (words[s, f >> 6] >> np.uint64(f & 63)) & np.uint64(1))


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
    ints: I64, floats: F64, n: int, t: int, q: int, gid: int, sign: int, ref: int, s: int, x: float, y: float, d2: float
) -> None:
    ints[n, 0] = t
    ints[n, 1] = q
    ints[n, 2] = gid
    ints[n, 3] = sign
    ints[n, 4] = ref
    ints[n, 5] = s
    floats[n, 0] = x
    floats[n, 1] = y
    floats[n, 2] = d2


@inline
def _move_query(
    j: int,
    moves: QueryMoves,
    grid: Grid,
    objects: Objects,
    queries: Queries,
    lists: Lists,
    ref: I64,
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
    t = moves.t[j]
    q_p, q_on, q_skip, q_box = queries.p, queries.on, queries.skip, queries.box
    kind = queries.kind[q]
    part = queries.part[q]
    f = queries.filter[q]
    tells_moves = queries.moves[q]
    o_x, o_y, o_ux, o_uy, o_uz = objects.x, objects.y, objects.ux, objects.uy, objects.uz
    o_gid, o_words, o_values, o_next, heads = objects.gid, objects.words, objects.values, objects.next, lists.heads
    same_centre = q_on[q] and moves.on[j]
    q_on[spare] = q_on[q]
    q_skip[spare] = q_skip[q]
    for i in range(q_p.shape[1]):
        q_p[spare, i] = q_p[q, i]
        if i != 2 and q_p[q, i] != moves.p[j, i]:
            same_centre = False
    if q_on[q] and not queries.still[q]:
        unlist_query(grid, queries, lists, q, wraps, spans)
    q_on[q] = moves.on[j]
    q_skip[q] = moves.skip[j]
    for i in range(q_p.shape[1]):
        q_p[q, i] = moves.p[j, i]
    q_box[q, 0], q_box[q, 1], q_box[q, 2], q_box[q, 3] = shape_box(kind, q_p[q], wraps)
    for new in range(2):
        here = q if new else spare
        there = spare if new else q
        if not q_on[here]:
            continue
        m = query_cover(grid, kind, q_p[here], wraps, spans)
        for row in range(spans[0], spans[1] + 1):
            for i in range(m):
                for column in range(spans[2 * i + 2], spans[2 * i + 3] + 1):
                    s = heads[row * grid.columns + column]
                    while s >= 0:
                        x, y, ux, uy, uz = o_x[s], o_y[s], o_ux[s], o_uy[s], o_uz[s]
                        if (
                            _passes(o_words, s, f)
                            and o_gid[s] != q_skip[here]
                            and shape_has(kind, q_p, here, part, edges, x, y, ux, uy, uz, wraps)
                        ):
                            other = (
                                q_on[there]
                                and o_gid[s] != q_skip[there]
                                and shape_has(kind, q_p, there, part, edges, x, y, ux, uy, uz, wraps)
                            )
                            if not other or (new and tells_moves and not same_centre):
                                sign = 0 if other else (1 if new else -1)
                                d2 = distance2(q_p, q, x, y, ux, uy, uz, wraps) if kind == DISC else 0.0
                                ints, floats = _room(ints, floats, n)
                                _put(ints, floats, n, t, q, o_gid[s], sign, ref[s], s, x, y, d2)
                                for v in range(o_values.shape[1]):
                                    floats[n, 3 + v] = o_values[s, v]
                                n += 1
                        s = o_next[s]
    q_on[spare] = False
    if q_on[q] and not queries.still[q]:
        m = query_cover(grid, kind, q_p[q], wraps, spans)
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
    o_gid, o_cell, o_next, o_prev = objects.gid, objects.cell, objects.next, objects.prev
    o_x, o_y, o_ux, o_uy, o_uz = objects.x, objects.y, objects.ux, objects.uy, objects.uz
    o_words, o_values = objects.words, objects.values
    q_kind, q_p, q_part, q_filter = queries.kind, queries.p, queries.part, queries.filter
    q_skip, q_moves, q_box = queries.skip, queries.moves, queries.box
    m_gid, m_op, m_x, m_y, m_words, m_values = moves.gid, moves.op, moves.x, moves.y, moves.words, moves.values
    of_gid, ref = slots.of_gid, slots.ref
    heads, moving_heads, wide = lists.heads, lists.moving_heads, lists.wide
    still_start, still_query, still_box = lists.still_start, lists.still_query, lists.still_box
    i = b = focal = 0
    end = np.iinfo(np.int64).max
    while True:
        t = end
        if i < len(moves.t):
            t = min(t, moves.t[i])
        if b < len(balls.t):
            t = min(t, balls.t[b])
        if focal < len(focals.t):
            t = min(t, focals.t[focal])
        if t == end:
            break

        first = n
        while b < len(balls.t) and balls.t[b] == t:
            lists, ints, floats, n = _move_query(
                b, balls, grid, objects, queries, lists, ref, edges, wraps, spare_query, spans, ints, floats, n
            )
            b += 1

        in_limbo = 0
        node_next, node_query = lists.node_next, lists.node_query
        while i < len(moves.t) and moves.t[i] == t:
            gid = m_gid[i]
            s = of_gid[gid]
            stays = m_op[i] != LEAVE
            had = s >= 0
            if not had:
                if not stays:
                    i += 1
                    continue
                slots.free_count[0] -= 1
                s = slots.free[slots.free_count[0]]
                of_gid[gid] = s
                ref[s] = moves.ref[i]
                o_gid[s] = gid
            old_cell = o_cell[s]
            old_x, old_y, old_ux, old_uy, old_uz = o_x[s], o_y[s], o_ux[s], o_uy[s], o_uz[s]
            x, y = m_x[i], m_y[i]
            ux = uy = uz = 0.0
            if wraps:
                ux, uy, uz = unit_vector(x, y)
            for v in range(m_words.shape[1]):
                o_words[spare, v] = o_words[s, v]
                o_words[s, v] = m_words[i, v]
            for v in range(m_values.shape[1]):
                o_values[s, v] = m_values[i, v]
            cell = cell_of(grid, x, y)
            same = had and stays and cell == old_cell
            if had and not same:
                unlink_object(o_cell, o_next, o_prev, heads, s)
            o_x[s], o_y[s], o_ux[s], o_uy[s], o_uz[s] = x, y, ux, uy, uz

            # First the queries of the old cell, which it may leave; then those of the new one, which it may join.
            # If both cells are one, the second loop does both.
            for arriving in range(2):
                if arriving:
                    if not stays:
                        break
                    scanned = cell
                else:
                    if not had or same:
                        continue
                    scanned = old_cell
                e = still_start[scanned]
                e_end = still_start[scanned + 1]
                w = 0
                w_end = lists.counts[0]
                node = moving_heads[scanned]
                while True:
                    if e < e_end:
                        now = stays and box_has(
                            x, y, still_box[e, 0], still_box[e, 1], still_box[e, 2], still_box[e, 3], wraps
                        )
                        was = had and box_has(
                            old_x, old_y, still_box[e, 0], still_box[e, 1], still_box[e, 2], still_box[e, 3], wraps
                        )
                        q = still_query[e]
                        e += 1
                    else:
                        if w < w_end:
                            q = wide[w]
                            w += 1
                        elif node >= 0:
                            q = node_query[node]
                            node = node_next[node]
                        else:
                            break
                        now = stays and box_has(x, y, q_box[q, 0], q_box[q, 1], q_box[q, 2], q_box[q, 3], wraps)
                        was = had and box_has(old_x, old_y, q_box[q, 0], q_box[q, 1], q_box[q, 2], q_box[q, 3], wraps)
                    if not (now if arriving and not same else (was if not arriving else now or was)):
                        continue
                    f = q_filter[q]
                    kind = q_kind[q]
                    if q_skip[q] == gid:
                        continue
                    if now:
                        now = _passes(o_words, s, f) and (
                            kind == RECT or shape_has(kind, q_p, q, q_part[q], edges, x, y, ux, uy, uz, wraps)
                        )
                    if was:
                        was = _passes(o_words, spare, f) and (
                            kind == RECT
                            or shape_has(kind, q_p, q, q_part[q], edges, old_x, old_y, old_ux, old_uy, old_uz, wraps)
                        )
                    if now == was:
                        if not now or not arriving or not q_moves[q]:
                            continue
                        sign = 0
                    elif now:
                        if not arriving:
                            continue
                        sign = 1
                    else:
                        if arriving and not same:
                            continue
                        sign = -1
                    d2 = distance2(q_p, q, x, y, ux, uy, uz, wraps) if kind == DISC else 0.0
                    ints, floats = _room(ints, floats, n)
                    _put(ints, floats, n, t, q, gid, sign, ref[s], s, x, y, d2)
                    for v in range(o_values.shape[1]):
                        floats[n, 3 + v] = o_values[s, v]
                    n += 1
            if stays:
                if not same:
                    link_object(o_cell, o_next, o_prev, heads, s, cell)
            else:
                of_gid[gid] = -1
                limbo[in_limbo] = s
                in_limbo += 1
            i += 1

        while focal < len(focals.t) and focals.t[focal] == t:
            lists, ints, floats, n = _move_query(
                focal, focals, grid, objects, queries, lists, ref, edges, wraps, spare_query, spans, ints, floats, n
            )
            focal += 1
        for k in range(first, n):  # what was told early in the tick may be of an object that moved after that
            s = ints[k, 5]
            floats[k, 0] = o_x[s]
            floats[k, 1] = o_y[s]
            if o_cell[s] < 0:
                floats[k, 2] = -1.0  # left the region: where it went, its distance is known
        for k in range(in_limbo):
            slots.free[slots.free_count[0]] = limbo[k]
            slots.free_count[0] += 1
    return lists, Deltas(ints[:n, :5].copy(), floats[:n].copy())
