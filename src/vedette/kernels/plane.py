"""Objects and queries over one shared grid: the data structure behind ranges and nearest neighbours (SOLE).

Objects hang in doubly linked lists, one per cell. Queries that stand still are listed per cell in one
flat array; queries that move (focal ranges, kNN balls) hang in linked lists that are mended as they
move; a moving query that covers very many cells is *wide* and is simply tested each time.

In: slots (small numbers) of objects and queries. Out: the same arrays, changed in place.
Invariant: an object is listed in the cell of its position; a switched-on query is listed in every cell
that its shape can share points with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vedette.compiled import inline, jit
from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.grid import Grid, cell_of, cells_in, cover
from vedette.kernels.shapes import DISC, PARAMETERS, is_everything
from vedette.space import disc_box

WIDE_CELLS = 2048  # a moving query over more cells than this is cheaper to test always than to re-list


class Objects(NamedTuple):
    """By slot. `cell` is -1 where the slot is empty; `words` holds the filter bits."""

    gid: I64
    x: F64
    y: F64
    ux: F64
    uy: F64
    uz: F64
    words: U64
    values: F64
    cell: I32
    next: I32
    prev: I32


class Queries(NamedTuple):
    """By slot. `skip` is the gid that never belongs (the focal); `moves`: also tell when a member merely moved.

    `box` holds the shape's bounding box, rounded outwards (a rectangle's is the rectangle itself).
    """

    kind: NDArray[np.int8]
    p: F64
    part: I32
    filter: I32
    skip: I64
    on: B1
    moves: B1
    still: B1
    box: F64


class Lists(NamedTuple):
    """Who is where. counts = [wide queries, free nodes]; `wide_at` is a wide query's place in `wide`, else -1."""

    heads: I32
    still_start: I64
    still_query: I32
    still_box: F64
    moving_heads: I32
    node_query: I32
    node_next: I32
    node_free: I32
    wide: I32
    wide_at: I32
    counts: I64


def empty_objects(capacity: int, words: int, values: int) -> Objects:
    """Room for `capacity` objects."""
    return Objects(
        np.zeros(capacity, np.int64),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros(capacity),
        np.zeros((capacity, words), np.uint64),
        np.full((capacity, values), np.nan),
        np.full(capacity, -1, np.int32),
        np.full(capacity, -1, np.int32),
        np.full(capacity, -1, np.int32),
    )


def empty_queries(capacity: int) -> Queries:
    """Room for `capacity` queries, all switched off."""
    return Queries(
        np.zeros(capacity, np.int8),
        np.zeros((capacity, PARAMETERS)),
        np.zeros(capacity, np.int32),
        np.full(capacity, -1, np.int32),
        np.full(capacity, -1, np.int64),
        np.zeros(capacity, np.bool_),
        np.zeros(capacity, np.bool_),
        np.ones(capacity, np.bool_),
        np.zeros((capacity, 4)),
    )


# ------------------------------------------------------------------------------------------- listing


@inline
def shape_box(kind: int, p: F64, wraps: bool) -> tuple[float, float, float, float]:
    """The bounding box of a query's shape."""
    if kind == DISC:
        return disc_box(p[0], p[1], p[2], wraps)
    return p[0], p[1], p[2], p[3]


@inline
def query_cover(grid: Grid, kind: int, p: F64, wraps: bool, spans: I64) -> int:
    """The cells of a query; see `grid.cover`."""
    if is_everything(kind, p):
        spans[0] = 0
        spans[1] = grid.rows - 1
        spans[2] = 0
        spans[3] = grid.columns - 1
        return 1
    x1, y1, x2, y2 = shape_box(kind, p, wraps)
    return cover(grid, x1, y1, x2, y2, wraps, spans)


@inline
def link_object(cells: I32, after: I32, before: I32, heads: I32, s: int, cell: int) -> None:
    """Hang an object into a cell."""
    first = heads[cell]
    cells[s] = cell
    after[s] = first
    before[s] = -1
    if first >= 0:
        before[first] = s
    heads[cell] = s


@inline
def unlink_object(cells: I32, after: I32, before: I32, heads: I32, s: int) -> None:
    """Take an object out of its cell."""
    following = after[s]
    preceding = before[s]
    if preceding >= 0:
        after[preceding] = following
    else:
        heads[cells[s]] = following
    if following >= 0:
        before[following] = preceding
    cells[s] = -1


@inline
def list_query(grid: Grid, queries: Queries, lists: Lists, q: int, wraps: bool, spans: I64) -> None:
    """Hang a moving query into the cells of its shape. There must be free nodes enough."""
    n = query_cover(grid, queries.kind[q], queries.p[q], wraps, spans)
    if cells_in(spans, n) > WIDE_CELLS:
        lists.wide_at[q] = lists.counts[0]
        lists.wide[lists.counts[0]] = q
        lists.counts[0] += 1
        return
    for row in range(spans[0], spans[1] + 1):
        for i in range(n):
            for column in range(spans[2 * i + 2], spans[2 * i + 3] + 1):
                cell = row * grid.columns + column
                lists.counts[1] -= 1
                node = lists.node_free[lists.counts[1]]
                lists.node_query[node] = q
                lists.node_next[node] = lists.moving_heads[cell]
                lists.moving_heads[cell] = node


@inline
def unlist_query(grid: Grid, queries: Queries, lists: Lists, q: int, wraps: bool, spans: I64) -> None:
    """Take a moving query out of the cells of its (old) shape."""
    if lists.wide_at[q] >= 0:
        lists.counts[0] -= 1
        last = lists.wide[lists.counts[0]]
        lists.wide[lists.wide_at[q]] = last
        lists.wide_at[last] = lists.wide_at[q]
        lists.wide_at[q] = -1
        return
    n = query_cover(grid, queries.kind[q], queries.p[q], wraps, spans)
    for row in range(spans[0], spans[1] + 1):
        for i in range(n):
            for column in range(spans[2 * i + 2], spans[2 * i + 3] + 1):
                cell = row * grid.columns + column
                before = -1
                node = lists.moving_heads[cell]
                while lists.node_query[node] != q:
                    before = node
                    node = lists.node_next[node]
                if before >= 0:
                    lists.node_next[before] = lists.node_next[node]
                else:
                    lists.moving_heads[cell] = lists.node_next[node]
                lists.node_free[lists.counts[1]] = node
                lists.counts[1] += 1


@jit
def with_nodes(lists: Lists, more: int) -> Lists:
    """The lists with at least `more` free nodes."""
    free = lists.counts[1]
    if free >= more:
        return lists
    old = len(lists.node_query)
    new = max(2 * old, old + more - free)
    node_query = np.empty(new, np.int32)
    node_next = np.empty(new, np.int32)
    node_free = np.empty(new, np.int32)
    node_query[:old] = lists.node_query
    node_next[:old] = lists.node_next
    node_free[:free] = lists.node_free[:free]
    for i in range(new - old):
        node_free[free + i] = new - 1 - i
    lists.counts[1] = free + new - old
    return Lists(
        lists.heads,
        lists.still_start,
        lists.still_query,
        lists.still_box,
        lists.moving_heads,
        node_query,
        node_next,
        node_free,
        lists.wide,
        lists.wide_at,
        lists.counts,
    )


@jit
def still_lists(grid: Grid, queries: Queries, wraps: bool) -> tuple[I64, I32, F64]:
    """For each cell the switched-on stationary queries that can hold points of it, each with its box beside it."""
    cells = grid.columns * grid.rows
    spans = np.empty(8, np.int64)
    start = np.zeros(cells + 1, np.int64)
    for fill in range(2):
        if fill:
            for c in range(cells):
                start[c + 1] += start[c]
            entries = np.empty(start[cells], np.int32)
            boxes = np.empty((start[cells], 4))
            at = start[:cells].copy()
        for q in range(len(queries.kind)):
            if not (queries.on[q] and queries.still[q]):
                continue
            n = query_cover(grid, queries.kind[q], queries.p[q], wraps, spans)
            for row in range(spans[0], spans[1] + 1):
                for i in range(n):
                    for column in range(spans[2 * i + 2], spans[2 * i + 3] + 1):
                        cell = row * grid.columns + column
                        if fill:
                            entries[at[cell]] = q
                            boxes[at[cell]] = queries.box[q]
                            at[cell] += 1
                        else:
                            start[cell + 1] += 1
    return start, entries, boxes


@jit
def cover_sizes(grid: Grid, queries: Queries, wraps: bool) -> int:
    """List entries that the switched-on stationary queries would take."""
    spans = np.empty(8, np.int64)
    total = 0
    for q in range(len(queries.kind)):
        if queries.on[q] and queries.still[q]:
            total += cells_in(spans, query_cover(grid, queries.kind[q], queries.p[q], wraps, spans))
    return total


@jit
def build_lists(grid: Grid, objects: Objects, queries: Queries, wraps: bool) -> Lists:
    """All lists anew, for a new grid or after the queries changed."""
    cells = grid.columns * grid.rows
    start, entries, boxes = still_lists(grid, queries, wraps)
    count = len(queries.kind)
    lists = Lists(
        np.full(cells, -1, np.int32),
        start,
        entries,
        boxes,
        np.full(cells, -1, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(count, np.int32),
        np.full(count, -1, np.int32),
        np.zeros(2, np.int64),
    )
    for s in range(len(objects.cell)):
        if objects.cell[s] >= 0:
            cell = cell_of(grid, objects.x[s], objects.y[s])
            link_object(objects.cell, objects.next, objects.prev, lists.heads, s, cell)
    spans = np.empty(8, np.int64)
    for q in range(count):
        if queries.on[q] and not queries.still[q]:
            n = query_cover(grid, queries.kind[q], queries.p[q], wraps, spans)
            lists = with_nodes(lists, cells_in(spans, n))
            list_query(grid, queries, lists, q, wraps, spans)
    return lists
