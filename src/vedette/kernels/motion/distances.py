"""Does an update satisfy a predicate, and how far is it from a point or an area?

In: a position and a step. Out: yes or no; a distance in distance units, 0 inside of an area and on its border.
"""

from __future__ import annotations

import math

from vedette.compiled import inline
from vedette.kernels.motion.tables import Areas
from vedette.kernels.shapes import DISC, POLYGON, RECT, distance2, shape_has
from vedette.space import great_circle_m, unit_vector


@inline
def is_within(areas: Areas, q: int, x: float, y: float) -> bool:
    """Whether a position belongs to the area of step q."""
    kind = areas.steps[q].kind
    ux = uy = uz = 0.0
    if areas.wraps and kind == DISC:
        ux, uy, uz = unit_vector(x, y)
    return shape_has(kind, areas.p, q, areas.steps[q].part, areas.edges, x, y, ux, uy, uz, areas.wraps)


@inline
def satisfies(areas: Areas, q: int, x: float, y: float) -> bool:
    """Whether a position satisfies step q; a distance is no condition."""
    return bool(areas.steps[q].is_number or is_within(areas, q, x, y) != areas.steps[q].is_disjoint)


@inline
def distance(areas: Areas, q: int, x: float, y: float) -> float:
    """From a position to the point or area of step q."""
    if is_within(areas, q, x, y):
        return 0.0
    p, kind = areas.p, areas.steps[q].kind
    if kind == DISC:
        ux = uy = uz = 0.0
        if areas.wraps:
            ux, uy, uz = unit_vector(x, y)
        d2 = distance2(p, q, x, y, ux, uy, uz, areas.wraps)
        straight = great_circle_m(d2) if areas.wraps else math.sqrt(d2)
        beyond: float = max(0.0, straight - areas.steps[q].radius)
        return beyond
    if kind == RECT:
        dx = max(p[q, 0] - x, x - p[q, 2], 0.0)
        dy = max(p[q, 1] - y, y - p[q, 3], 0.0)
        return math.sqrt(dx * dx + dy * dy)
    return math.sqrt(_to_edges2(areas, areas.steps[q].part, x, y)) if kind == POLYGON else math.inf


@inline
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
