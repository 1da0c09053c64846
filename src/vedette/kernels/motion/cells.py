"""Which cells a step covers, and which it touches.

In: the steps and a grid. Out: a column of NOWHERE, GREY, COVERED for each step. All of it errs on the side of GREY: a
cell is a little larger here than it is, the cells at the border of the grid hold all that is beyond.
"""

from __future__ import annotations

import math

from vedette.compiled import inline, jit
from vedette.kernels.arrays import U8
from vedette.kernels.grid import Grid, column_of, row_of
from vedette.kernels.motion.distances import is_within
from vedette.kernels.motion.tables import COVERED, GREY, NOWHERE, Areas
from vedette.kernels.shapes import DISC, RECT, distance2
from vedette.space import EARTH_RADIUS_M, RADIANS_PER_DEGREE, great_circle_m, planar_d2, unit_vector

WIDER = 1e-9  # relative to the cell and to where it lies; far above rounding
SLACK_M = 1.0  # of distances on the sphere, which have few valid digits near the antipode


@jit
def classify(areas: Areas, grid: Grid, q: int, holds: U8) -> None:
    """Fill a column of `holds`: what of each cell satisfies step q."""
    steps = areas.steps
    if steps[q].is_number:
        holds[:] = COVERED
        return
    kind = steps[q].kind
    for cell in range(grid.columns * grid.rows):
        x0, y0, x1, y1 = cell_box(grid, cell, areas.wraps)
        if kind == RECT:
            holds[cell] = _rect(areas, q, x0, y0, x1, y1)
        elif kind == DISC:
            holds[cell] = _disc(areas, q, x0, y0, x1, y1)
        else:
            x, y = _middle(x0, x1), _middle(y0, y1)
            holds[cell] = COVERED if is_within(areas, q, x, y) else NOWHERE
    if kind != RECT and kind != DISC:
        _edges(areas, grid, q, holds)
    if steps[q].is_disjoint:
        for cell in range(grid.columns * grid.rows):
            holds[cell] = COVERED - holds[cell]


@inline
def cell_box(grid: Grid, cell: int, wraps: bool) -> tuple[float, float, float, float]:
    """A box that holds all positions of a cell; at the border of the grid only the globe limits it."""
    column, row = cell % grid.columns, cell // grid.columns
    x0, x1 = _sides(grid.x0, grid.per_x, column, grid.columns)
    y0, y1 = _sides(grid.y0, grid.per_y, row, grid.rows)
    if wraps:
        return max(x0, -180.0), max(y0, -90.0), min(x1, 180.0), min(y1, 90.0)
    return x0, y0, x1, y1


@inline
def _sides(origin: float, per: float, i: int, n: int) -> tuple[float, float]:
    side = 1.0 / per
    slack = WIDER * (side + abs(origin) + n * side)
    low = -math.inf if i == 0 else origin + i * side - slack
    high = math.inf if i == n - 1 else origin + (i + 1) * side + slack
    return low, high


@inline
def _middle(low: float, high: float) -> float:
    if math.isinf(low) and math.isinf(high):
        return 0.0
    if math.isinf(low):
        return high
    return low if math.isinf(high) else 0.5 * (low + high)


@inline
def _radius(x0: float, y0: float, x1: float, y1: float, wraps: bool) -> float:
    """No position of the box is farther from its middle."""
    if wraps:
        return 0.5 * ((x1 - x0) + (y1 - y0)) * RADIANS_PER_DEGREE * EARTH_RADIUS_M + SLACK_M
    return 0.5 * math.sqrt(planar_d2(x0, y0, x1, y1)) * (1.0 + WIDER)


@inline
def _rect(areas: Areas, q: int, x0: float, y0: float, x1: float, y1: float) -> int:
    p = areas.p
    found = NOWHERE
    for turn in range(-1, 2):
        if turn != 0 and not areas.wraps:
            continue
        a, b = p[q, 0] + 360.0 * turn, p[q, 2] + 360.0 * turn
        slack = WIDER * (abs(a) + abs(b)) if turn != 0 else 0.0
        if a + slack <= x0 and x1 <= b - slack and p[q, 1] <= y0 and y1 <= p[q, 3]:
            return COVERED
        if x0 <= b + slack and a - slack <= x1 and y0 <= p[q, 3] and p[q, 1] <= y1:
            found = GREY
    return found


@inline
def _disc(areas: Areas, q: int, x0: float, y0: float, x1: float, y1: float) -> int:
    x, y, r = areas.p[q, 0], areas.p[q, 1], areas.steps[q].radius
    if areas.wraps:
        # From the middle of the cell to the disc: the distance that the step would measure, and back inside.
        half = _radius(x0, y0, x1, y1, areas.wraps)
        d = distance_to_centre(areas, q, 0.5 * (x0 + x1), 0.5 * (y0 + y1))
        if d - half > r * (1.0 + WIDER) + SLACK_M:
            return NOWHERE
        return COVERED if d + half < r * (1.0 - WIDER) - SLACK_M else GREY
    near = planar_d2(x, y, min(max(x, x0), x1), min(max(y, y0), y1))
    if near > r * r * (1.0 + WIDER) and near > 1e-290:
        return NOWHERE
    far_x = x0 if abs(x - x0) > abs(x - x1) else x1
    far_y = y0 if abs(y - y0) > abs(y - y1) else y1
    return COVERED if planar_d2(x, y, far_x, far_y) < r * r * (1.0 - WIDER) and r > 1e-140 else GREY


@inline
def distance_to_centre(areas: Areas, q: int, x: float, y: float) -> float:
    """From a position on the globe to the middle of a disc, whether inside or not."""
    ux, uy, uz = unit_vector(x, y)
    return great_circle_m(distance2(areas.p, q, x, y, ux, uy, uz, True))


@inline
def _edges(areas: Areas, grid: Grid, q: int, holds: U8) -> None:
    """The cells that an edge of the polygon touches are grey."""
    edges, part = areas.edges, areas.steps[q].part
    for i in range(edges.start[part], edges.start[part + 1]):
        for turn in range(-1, 2):
            if turn != 0 and not areas.wraps:
                continue
            ax, bx = edges.ax[i] + 360.0 * turn, edges.bx[i] + 360.0 * turn
            ay, by = edges.ay[i], edges.by[i]
            slack_x = WIDER * (abs(ax) + abs(bx)) + 2.0 * WIDER * grid.columns / grid.per_x
            slack_y = WIDER * (abs(ay) + abs(by)) + 2.0 * WIDER * grid.rows / grid.per_y
            column_0, column_1 = column_of(grid, min(ax, bx) - slack_x), column_of(grid, max(ax, bx) + slack_x)
            row_0, row_1 = row_of(grid, min(ay, by) - slack_y), row_of(grid, max(ay, by) + slack_y)
            for row in range(row_0, row_1 + 1):
                for column in range(column_0, column_1 + 1):
                    cell = row * grid.columns + column
                    x0, y0, x1, y1 = cell_box(grid, cell, areas.wraps)
                    if _segment_touches(ax, ay, bx, by, x0 - slack_x, y0 - slack_y, x1 + slack_x, y1 + slack_y):
                        holds[cell] = GREY


@inline
def _segment_touches(ax: float, ay: float, bx: float, by: float, x0: float, y0: float, x1: float, y1: float) -> bool:
    """Whether a segment may touch a box; the two overlap in x and in y already, so that its line decides."""
    if math.isinf(x0) or math.isinf(x1) or math.isinf(y0) or math.isinf(y1):
        return True
    nx, ny = by - ay, ax - bx
    away = nx * (0.5 * (x0 + x1) - ax) + ny * (0.5 * (y0 + y1) - ay)
    reach = abs(nx) * 0.5 * (x1 - x0) + abs(ny) * 0.5 * (y1 - y0)
    return bool(abs(away) <= reach * (1.0 + WIDER) + WIDER * (abs(nx) + abs(ny)) * (abs(ax) + abs(ay)))
