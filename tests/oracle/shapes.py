"""Is a point inside a shape? DESIGN part 2, Space: all regions are closed, the border belongs to them.

In: a row, a shape of vedette.model, the focal object's row for moving shapes. Out: True or False.
Invariant: polygons are decided exactly; boxes and distances in float64 exactly as DESIGN spells them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from tests.oracle.rows import Row
from tests.oracle.sphere import EARTH_RADIUS_M, chord2, unit_vector
from vedette.model import Area, Circle, MovingCircle, MovingRect, Polygon, Rect, Ring, Shape


class Plane:
    """The Euclidean plane."""

    kind = "planar"

    def columns(self, x: float) -> tuple[float, ...]:
        """The x under which a point may belong to a box or polygon."""
        return (x,)

    def distance2(self, row: Row, centre: Row) -> float:
        """What circles and kNN compare."""
        dx, dy = row.x - centre.x, row.y - centre.y
        return dx * dx + dy * dy

    def reach2(self, radius: float) -> float:
        """The greatest `distance2` inside a circle."""
        return radius * radius

    def box(self, rect: Rect) -> tuple[float, float]:
        """West and east border."""
        return rect.x1, rect.x2


class Sphere(Plane):
    """Longitude and latitude in degrees; distances on the mean sphere, compared as squared chords."""

    kind = "lonlat"

    def columns(self, x: float) -> tuple[float, ...]:
        """ "A point belongs to a box or polygon if x, x + 360 or x - 360 does"."""
        return (x, x + 360.0, x - 360.0)

    def distance2(self, row: Row, centre: Row) -> float:
        """The squared chord between the two unit vectors."""
        ax, ay, az = row.vector or _with_vector(row)
        bx, by, bz = centre.vector or _with_vector(centre)
        dx, dy, dz = ax - bx, ay - by, az - bz
        return (dx * dx + dy * dy) + dz * dz

    def reach2(self, radius: float) -> float:
        """The squared chord of a great-circle distance; half the way round and more reaches everything."""
        return math.inf if radius >= math.pi * EARTH_RADIUS_M else chord2(radius)

    def box(self, rect: Rect) -> tuple[float, float]:
        """From x1 east to x2, which may lie beyond the antimeridian."""
        return rect.x1, rect.x2 if rect.x1 <= rect.x2 else rect.x2 + 360.0


def _with_vector(row: Row) -> tuple[float, float, float]:
    row.vector = unit_vector(row.x, row.y)
    return row.vector


def space_of(kind: str) -> Plane:
    """The space by its name."""
    return {"planar": Plane, "lonlat": Sphere}[kind]()


def point(x: float, y: float) -> Row:
    """A place that is no object: the centre of a still circle or kNN query."""
    return Row("", 0, x, y, {})


def contains(space: Plane, shape: Shape, row: Row, focal: Row | None = None) -> bool:
    """Whether the row's position belongs to the shape (around the focal object, which must be there, if it moves)."""
    if isinstance(shape, MovingRect):
        assert focal is not None
        west, east = focal.x - shape.w / 2, focal.x + shape.w / 2
        south, north = focal.y - shape.h / 2, focal.y + shape.h / 2
        return south <= row.y <= north and any(west <= x <= east for x in space.columns(row.x))
    if isinstance(shape, MovingCircle):
        assert focal is not None
        return space.distance2(row, focal) <= space.reach2(shape.radius)
    return area_contains(space, shape, row)


def area_contains(space: Plane, area: Area, row: Row) -> bool:
    """The same for areas that stand still."""
    if isinstance(area, Rect):
        west, east = space.box(area)
        return area.y1 <= row.y <= area.y2 and any(west <= x <= east for x in space.columns(row.x))
    if isinstance(area, Circle):
        return space.distance2(row, point(area.x, area.y)) <= space.reach2(area.radius)
    return any(polygon_contains(area, x, row.y) for x in space.columns(row.x))


def polygon_contains(polygon: Polygon, x: float, y: float) -> bool:
    """Inside one of the parts: not outside its shell, and not strictly inside one of its holes."""
    return any(
        ring_side(shell, x, y) >= 0 and all(ring_side(hole, x, y) <= 0 for hole in holes)
        for shell, *holes in polygon.parts
    )


def ring_side(ring: Ring, x: float, y: float) -> int:
    """1 strictly inside, 0 on the border, -1 outside; exact."""
    inside = False
    for one, other in pairwise(ring):
        (ax, ay), (bx, by) = (one, other) if one[1] <= other[1] else (other, one)  # upwards
        if not ay <= y <= by or x > max(ax, bx):
            continue  # the edge does not meet the ray that runs east from the point
        if ay == by:
            if min(ax, bx) <= x:
                return 0
            continue
        side = turn(ax, ay, bx, by, x, y)
        if side == 0:
            return 0
        if side > 0 and y < by:  # the point lies west of the edge; the edge's upper end does not count
            inside = not inside
    return 1 if inside else -1


def turn(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """Sign of (b - a) x (p - a): on which side of the line from a to b the point lies.

    The float result stands where it is beyond doubt: the two products differ by more than the rounding of four
    differences, two products and one subtraction can account for (3 ulp and a bit of their sum; 1e-300 covers
    underflow, overflow makes the comparison false). Everything else is computed with fractions.
    """
    left, right = (bx - ax) * (y - ay), (by - ay) * (x - ax)
    doubt = 4.5e-16 * (abs(left) + abs(right)) + 1e-300
    if left - right > doubt:
        return 1
    if right - left > doubt:
        return -1
    fax, fay = Fraction(ax), Fraction(ay)
    exact = (Fraction(bx) - fax) * (Fraction(y) - fay) - (Fraction(by) - fay) * (Fraction(x) - fax)
    return (exact > 0) - (exact < 0)
