"""A uniform grid over the part of space where the data is.

In: positions and bounding boxes. Out: cell numbers. Positions outside the grid belong to its border
cells; because `column_of` and `row_of` never decrease, a point inside a box is always in a cell of the
box's cover, wherever the grid lies. The grid is an index only: it decides speed, never an answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import inline
from vedette.kernels.arrays import F64, I64


class Grid(NamedTuple):
    """Lower left corner, cells per unit, and cells per side."""

    x0: float
    y0: float
    per_x: float
    per_y: float
    columns: int
    rows: int


@inline
def column_of(grid: Grid, x: float) -> int:
    """Column of a coordinate, clamped to the grid."""
    v = (x - grid.x0) * grid.per_x
    if not v > 0.0:
        return 0
    if v >= grid.columns:
        return grid.columns - 1
    return int(v)


@inline
def row_of(grid: Grid, y: float) -> int:
    """Row of a coordinate, clamped to the grid."""
    v = (y - grid.y0) * grid.per_y
    if not v > 0.0:
        return 0
    if v >= grid.rows:
        return grid.rows - 1
    return int(v)


@inline
def cell_of(grid: Grid, x: float, y: float) -> int:
    """Cell of a position."""
    return row_of(grid, y) * grid.columns + column_of(grid, x)


@inline
def cover(grid: Grid, x1: float, y1: float, x2: float, y2: float, wraps: bool, spans: I64) -> int:
    """Cells that a box can share points with: rows spans[0]..spans[1], and n disjoint column intervals after them.

    A lon/lat box counts at x, x + 360 and x - 360; the three copies that reach into [-180, 180] are merged.
    """
    spans[0] = row_of(grid, y1)
    spans[1] = row_of(grid, y2)
    if not wraps:
        spans[2] = column_of(grid, x1)
        spans[3] = column_of(grid, x2)
        return 1
    n = 0
    for turn in range(-1, 2):
        a = x1 + 360.0 * turn - 1e-9
        b = x2 + 360.0 * turn + 1e-9
        if b < -180.0 or a > 180.0:
            continue
        first = column_of(grid, a)
        last = column_of(grid, b)
        if n > 0 and first <= spans[2 * n + 1]:  # copies come from west to east
            spans[2 * n + 1] = max(last, spans[2 * n + 1])
            continue
        spans[2 * n + 2] = first
        spans[2 * n + 3] = last
        n += 1
    return n


@inline
def cells_in(spans: I64, n: int) -> int:
    """Number of cells of a cover."""
    total = 0
    for i in range(n):
        total += spans[2 * i + 3] - spans[2 * i + 2] + 1
    cells: int = total * (spans[1] - spans[0] + 1)
    return cells


def fit(xs: F64, ys: F64, side: int) -> Grid:
    """A grid of side x side cells over the bulk of the given positions (outliers fall to the border cells)."""
    if len(xs) == 0:
        return Grid(0.0, 0.0, 1.0, 1.0, 1, 1)
    step = max(1, len(xs) // 8192)
    low_x, high_x = np.quantile(xs[::step], (0.002, 0.998), method="nearest").tolist()
    low_y, high_y = np.quantile(ys[::step], (0.002, 0.998), method="nearest").tolist()
    width = max((high_x - low_x) * 1.1, 1e-9 * max(1.0, abs(low_x)))
    height = max((high_y - low_y) * 1.1, 1e-9 * max(1.0, abs(low_y)))
    x0 = (low_x + high_x - width) / 2
    y0 = (low_y + high_y - height) / 2
    return Grid(x0, y0, side / width, side / height, side, side)


def share_outside(grid: Grid, xs: F64, ys: F64) -> float:
    """Share of the positions that the grid can only clamp."""
    if len(xs) == 0:
        return 0.0
    step = max(1, len(xs) // 8192)
    x = (xs[::step] - grid.x0) * grid.per_x
    y = (ys[::step] - grid.y0) * grid.per_y
    return float(np.mean((x < 0) | (y < 0) | (x > grid.columns) | (y > grid.rows)))
