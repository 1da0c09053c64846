"""Is a position inside a shape? Exact for all of them, borders included.

In: the parameters of a query, a position (and its unit vector on the sphere). Out: yes or no.

Parameters P[q]: RECT x1 y1 x2 y2; DISC x y d2 ux uy uz; POLYGON x1 y1 x2 y2 (its box) and `part[q]`, its
number in the edge lists. A moving rectangle is a RECT and a moving disc or kNN ball a DISC whose
parameters are replaced when the focal object moves.

Point in polygon counts crossings of a ray to the east over the edges of all rings (even-odd, which is
right for valid polygons with holes). The side of an edge on which a point lies is found with Shewchuk's
filtered orientation test: in floating point where the error bound allows, else in exact expansions. (As long as
products of coordinates neither overflow nor vanish: coordinates between 1e-70 and 1e70 in size, or 0.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vedette.compiled import inline
from vedette.kernels.arrays import F64, I64
from vedette.space import box_has, planar_d2, sphere_d2

RECT, DISC, POLYGON = 0, 1, 2
PARAMETERS = 6


class Edges(NamedTuple):
    """All polygons' edges, end to end: polygon p owns rows start[p] .. start[p + 1]."""

    start: I64
    ax: F64
    ay: F64
    bx: F64
    by: F64


NO_EDGES = Edges(np.zeros(1, np.int64), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0))


@inline
def _two_product(a: float, b: float) -> tuple[float, float]:
    """A * b as a rounded value and its exact error (Dekker's splitting)."""
    p = a * b
    c = 134217729.0 * a
    ah = c - (c - a)
    al = a - ah
    d = 134217729.0 * b
    bh = d - (d - b)
    bl = b - bh
    return p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)


@inline
def _grow(expansion: F64, n: int, value: float) -> int:
    """Add a number to an exact expansion of n parts; returns its new length."""
    q = value
    for i in range(n):
        e = expansion[i]
        s = q + e
        v = s - q
        expansion[i] = (q - (s - v)) + (e - v)
        q = s
    expansion[n] = q
    return n + 1


@inline
def _exact_side(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> float:
    """Sign of (ax - x)(by - y) - (ay - y)(bx - x) = ax·by - ax·y - x·by - ay·bx + ay·x + y·bx, without any rounding."""
    expansion = np.zeros(12)
    n = 0
    for left, right in ((ax, by), (-ax, y), (-x, by), (-ay, bx), (ay, x), (y, bx)):
        p, e = _two_product(left, right)
        n = _grow(expansion, n, e)
        n = _grow(expansion, n, p)
    for i in range(n - 1, -1, -1):
        leading: float = expansion[i]
        if leading != 0.0:
            return leading
    return 0.0


@inline
def side_of(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> float:
    """Positive if (x, y) lies left of the line from a to b, zero if on it, negative if right."""
    left = (ax - x) * (by - y)
    right = (ay - y) * (bx - x)
    det = left - right
    if abs(det) > 3.3306690738754716e-16 * (abs(left) + abs(right)):
        return det
    if left == 0.0 and right == 0.0 and (ax == x or by == y) and (ay == y or bx == x):
        return 0.0
    return _exact_side(ax, ay, bx, by, x, y)


@inline
def polygon_has(edges: Edges, p: int, x: float, y: float) -> bool:
    """Closed polygon: border points are inside."""
    inside = False
    for i in range(edges.start[p], edges.start[p + 1]):
        ay, by = edges.ay[i], edges.by[i]
        if (ay > y and by > y) or (ay < y and by < y):
            continue
        ax, bx = edges.ax[i], edges.bx[i]
        if ay == y and by == y:
            if min(ax, bx) <= x <= max(ax, bx):
                return True
            continue
        if ax < x and bx < x:
            continue
        side = side_of(ax, ay, bx, by, x, y)
        if side == 0.0:
            return True
        if (ay > y) != (by > y) and (side > 0.0) == (by > ay):
            inside = not inside
    return inside


@inline
def shape_has(
    kind: int,
    p: F64,
    q: int,
    part: int,
    edges: Edges,
    x: float,
    y: float,
    ux: float,
    uy: float,
    uz: float,
    wraps: bool,
) -> bool:
    """Whether the shape of query q holds a position."""
    if kind == RECT:
        return box_has(x, y, p[q, 0], p[q, 1], p[q, 2], p[q, 3], wraps)
    if kind == DISC:
        return bool(distance2(p, q, x, y, ux, uy, uz, wraps) <= p[q, 2])
    if not box_has(x, y, p[q, 0], p[q, 1], p[q, 2], p[q, 3], wraps):
        return False
    if polygon_has(edges, part, x, y):
        return True
    if wraps:
        return polygon_has(edges, part, x + 360.0, y) or polygon_has(edges, part, x - 360.0, y)
    return False


@inline
def distance2(p: F64, q: int, x: float, y: float, ux: float, uy: float, uz: float, wraps: bool) -> float:
    """Squared distance of a position from the centre of the disc of query q."""
    if wraps:
        return sphere_d2(p[q, 3], p[q, 4], p[q, 5], ux, uy, uz)
    return planar_d2(p[q, 0], p[q, 1], x, y)


@inline
def is_everything(kind: int, p: F64) -> bool:
    """A disc without a border."""
    return kind == DISC and p[2] == math.inf
