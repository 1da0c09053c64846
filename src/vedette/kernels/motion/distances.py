"""Does an update satisfy a predicate, and how far is it from a point or an area?

In: a position and a step. Out: yes or no; a distance in distance units, 0 inside of an area and on its border.
"""

from __future__ import annotations

import math

from vedette.compiled import bare, folded
from vedette.kernels.motion.tables import Areas
from vedette.kernels.shapes import DISC, POLYGON, RECT, shape_has
from vedette.space import box_has, great_circle_m, planar_d2, sphere_d2, unit_vector


@folded
def is_within(areas: Areas, q: int, x: float, y: float) -> bool:
    """Whether a position belongs to the area of step q."""
    # `shape_has` would say the same of a box or a disc; but it counts the arrays that it is handed, and that is dearer.
    p, kind = areas.p, areas.steps[q].kind
    if kind == RECT:
        return bool(box_has(x, y, p[q, 0], p[q, 1], p[q, 2], p[q, 3], areas.wraps))
    if kind == DISC:
        return bool(to_centre2(areas, q, x, y) <= p[q, 2])
    return shape_has(kind, p, q, areas.steps[q].part, areas.edges, x, y, 0.0, 0.0, 0.0, areas.wraps)


@folded
def to_centre2(areas: Areas, q: int, x: float, y: float) -> float:
    """Squared distance to the middle of a disc."""
    p = areas.p
    if areas.wraps:
        ux, uy, uz = unit_vector(x, y)
        return sphere_d2(p[q, 3], p[q, 4], p[q, 5], ux, uy, uz)
    return planar_d2(p[q, 0], p[q, 1], x, y)


@folded
def satisfies(areas: Areas, q: int, x: float, y: float) -> bool:
    """Whether a position satisfies step q; a distance is no condition."""
    return bool(areas.steps[q].is_number or is_within(areas, q, x, y) != areas.steps[q].is_disjoint)


@folded
def distance(areas: Areas, q: int, x: float, y: float) -> float:
    """From a position to the point or area of step q."""
    p, kind = areas.p, areas.steps[q].kind
    if kind == DISC:
        d2 = to_centre2(areas, q, x, y)
        if d2 <= p[q, 2]:
            return 0.0
        straight = great_circle_m(d2) if areas.wraps else math.sqrt(d2)
        beyond: float = max(0.0, straight - areas.steps[q].radius)
        return beyond
    if is_within(areas, q, x, y):
        return 0.0
    if kind == RECT:
        dx = max(p[q, 0] - x, x - p[q, 2], 0.0)
        dy = max(p[q, 1] - y, y - p[q, 3], 0.0)
        return math.sqrt(dx * dx + dy * dy)
    return math.sqrt(_to_edges2(areas, areas.steps[q].part, x, y)) if kind == POLYGON else math.inf


@bare
def _to_edges2(areas: Areas, part: int, x: float, y: float) -> float:
    """Squared distance to the nearest edge."""
    edges = areas.edges
    best = math.inf
    for i in range(edges.start[part], edges.start[part + 1]):
        ax, ay = edges.ax[i], edges.ay[i]
        ex, ey = edges.bx[i] - ax, edges.by[i] - ay
        length2 = ex * ex + ey * ey
        along = 0.0
        if length2 > 0.0:
            along = min(1.0, max(0.0, ((x - ax) * ex + (y - ay) * ey) / length2))
        dx, dy = x - (ax + along * ex), y - (ay + along * ey)
        best = min(best, dx * dx + dy * dy)
    return best
