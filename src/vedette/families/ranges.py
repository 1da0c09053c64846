"""Ranges: rectangles, discs and polygons, still or around a focal object (SOLE's range queries)."""

from __future__ import annotations

from itertools import pairwise

from vedette.families.shape import DISC, POLYGON, RECT, Figure
from vedette.model import Circle, MovingCircle, MovingRect, Polygon, Rect, Shape
from vedette.space import Space, chord2, unit_vector


def plan_inside(shape: Shape, space: Space) -> Figure:
    """The figure of a range."""
    if isinstance(shape, Rect):
        east = shape.x2 + 360.0 if space.is_lonlat and shape.x2 < shape.x1 else shape.x2
        return Figure(RECT, (shape.x1, shape.y1, east, shape.y2))
    if isinstance(shape, Circle):
        return Figure(DISC, disc(shape.x, shape.y, shape.radius, space))
    if isinstance(shape, Polygon):
        return _polygon(shape)
    if isinstance(shape, MovingRect):
        return Figure(RECT, (shape.w / 2, shape.h / 2), focal=shape.focal)
    assert isinstance(shape, MovingCircle)
    return Figure(DISC, (squared(shape.radius, space),), focal=shape.focal)


def squared(radius: float, space: Space) -> float:
    """A radius as it is compared: squared, or as a squared chord."""
    return chord2(radius) if space.is_lonlat else radius * radius


def disc(x: float, y: float, radius: float, space: Space) -> tuple[float, ...]:
    """The parameters of a disc."""
    vector = unit_vector(x, y) if space.is_lonlat else (0.0, 0.0, 0.0)
    return (x, y, squared(radius, space), *vector)


def _polygon(shape: Polygon) -> Figure:
    edges = tuple(
        (ax, ay, bx, by)
        for part in shape.parts
        for ring in part
        for (ax, ay), (bx, by) in pairwise(ring)
        if (ax, ay) != (bx, by)
    )
    xs = [e[0] for e in edges]
    ys = [e[1] for e in edges]
    return Figure(POLYGON, (min(xs), min(ys), max(xs), max(ys)), edges)
