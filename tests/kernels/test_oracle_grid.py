"""A point inside a box is in a cell of the box's cover, wherever the grid lies."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vedette.kernels.grid import Grid, cell_of, cells_in, column_of, cover, fit, row_of, share_outside
from vedette.space import box_has

COORDINATES = (
    st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e17, -1e9, 5e-324, 1e300]) | st.floats(-10.0, 10.0) | st.floats(-1e6, 1e6)
)
LONGITUDES = st.sampled_from([-180.0, -179.0, 179.0, 0.0, math.nextafter(180.0, 0.0)]) | st.floats(
    -180.0, 180.0, exclude_max=True
)
GRIDS = st.builds(
    Grid,
    st.floats(-200.0, 200.0),
    st.floats(-100.0, 100.0),
    st.sampled_from([1.0, 0.1, 1e-9, 1e9]) | st.floats(1e-3, 1e3),
    st.sampled_from([1.0, 0.1, 1e-9, 1e9]) | st.floats(1e-3, 1e3),
    st.integers(1, 40),
    st.integers(1, 40),
)


def covered(grid: Grid, box: tuple[float, float, float, float], wraps: bool) -> set[int]:
    """The cells of a cover; its column intervals must be disjoint, ordered and inside the grid."""
    spans = np.empty(8, np.int64)
    n = cover(grid, *box, wraps, spans)
    assert 0 <= spans[0] <= spans[1] < grid.rows
    bounds = spans[2 : 2 * n + 2].tolist()
    columns = [c for i in range(n) for c in range(bounds[2 * i], bounds[2 * i + 1] + 1)]
    assert all(0 <= c < grid.columns for c in columns)
    assert columns == sorted(set(columns))
    cells = {r * grid.columns + c for r in range(spans[0], spans[1] + 1) for c in columns}
    assert cells_in(spans, n) == len(cells)
    return cells


@given(GRIDS, COORDINATES, COORDINATES)
def test_oracle_cell_of_a_position(grid: Grid, x: float, y: float) -> None:
    column = min(max(math.floor((x - grid.x0) * grid.per_x), 0), grid.columns - 1)
    row = min(max(math.floor((y - grid.y0) * grid.per_y), 0), grid.rows - 1)
    assert (column_of(grid, x), row_of(grid, y)) == (column, row)
    assert cell_of(grid, x, y) == row * grid.columns + column


@given(GRIDS, COORDINATES, COORDINATES, COORDINATES, COORDINATES, COORDINATES, COORDINATES)
def test_oracle_cover_holds_every_point(
    grid: Grid, xa: float, ya: float, xb: float, yb: float, xc: float, yc: float
) -> None:
    x1, x, x2 = sorted((xa, xb, xc))
    y1, y, y2 = sorted((ya, yb, yc))
    cells = covered(grid, (x1, y1, x2, y2), False)
    assert {cell_of(grid, px, py) for px in (x1, x, x2) for py in (y1, y, y2)} <= cells


@given(GRIDS, LONGITUDES, st.floats(-180.0, 540.0), st.floats(0.0, 400.0) | st.sampled_from([0.0, 360.0, 359.999]))
def test_oracle_wrapping_cover_holds_every_point(grid: Grid, x: float, x1: float, width: float) -> None:
    box = (x1, -1.0, x1 + width, 1.0)
    cells = covered(grid, box, True)
    for px in (x, (x1 + 180.0) % 360.0 - 180.0, (x1 + width + 180.0) % 360.0 - 180.0):
        if -180.0 <= px < 180.0 and box_has(px, 0.0, *box, True):
            assert cell_of(grid, px, 0.0) in cells


def test_example_everything_is_covered() -> None:
    grid = Grid(-180.0, -90.0, 0.1, 0.1, 36, 18)
    everything = (-math.inf, -math.inf, math.inf, math.inf)
    assert covered(grid, everything, True) == covered(grid, everything, False) == set(range(36 * 18))


@given(st.lists(st.tuples(COORDINATES, COORDINATES), max_size=20), st.integers(1, 30))
def test_oracle_fitted_grid(points: list[tuple[float, float]], side: int) -> None:
    """A fitted grid is a proper grid, and holds the bulk of few points: all of them."""
    xs, ys = np.array(points, np.float64).reshape(-1, 2).T
    grid = fit(xs, ys, side)
    assert grid.columns in (1, side)
    assert grid.per_x > 0.0
    assert grid.per_y > 0.0
    assert share_outside(grid, xs, ys) <= 4.0 / max(len(points), 1)
    for x, y in points:
        assert 0 <= cell_of(grid, x, y) < grid.columns * grid.rows
