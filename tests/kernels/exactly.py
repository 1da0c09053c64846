"""Points and polygons in exact arithmetic: slow, short, and without any rounding."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from vedette.kernels.shapes import Edges

Point: TypeAlias = tuple[float, float]
Edge: TypeAlias = tuple[float, float, float, float]


def side(edge: Edge, x: float, y: float) -> Fraction:
    ax, ay, bx, by = map(Fraction, edge)
    return (ax - Fraction(x)) * (by - Fraction(y)) - (ay - Fraction(y)) * (bx - Fraction(x))


def is_on(edge: Edge, x: float, y: float) -> bool:
    ax, ay, bx, by = edge
    return side(edge, x, y) == 0 and min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by)


def has(edges: list[Edge], x: float, y: float) -> bool:
    """On an edge, or an odd number of edges crosses the ray to the east (half-open in y, so a vertex counts once)."""
    if any(is_on(edge, x, y) for edge in edges):
        return True
    crossings = 0
    for ax, ay, bx, by in edges:
        if (ay <= y) != (by <= y):
            share = (Fraction(y) - Fraction(ay)) / (Fraction(by) - Fraction(ay))
            crossings += Fraction(ax) + share * (Fraction(bx) - Fraction(ax)) > Fraction(x)
    return crossings % 2 == 1


def ring(*points: Point) -> list[Edge]:
    """The edges of a closed ring through these points."""
    closed = [(float(x), float(y)) for x, y in (*points, points[0])]
    return [(*a, *b) for a, b in pairwise(closed) if a != b]


def as_edges(*polygons: list[Edge]) -> Edges:
    """Polygons as the kernels take them."""
    start = np.cumsum([0, *map(len, polygons)]).astype(np.int64)
    columns = np.array([edge for edges in polygons for edge in edges], np.float64).reshape(-1, 4).T
    return Edges(start, *(np.ascontiguousarray(column) for column in columns))
