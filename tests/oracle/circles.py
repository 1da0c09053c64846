"""Smallest circles and caps around a few points, decided as DESIGN part 2 wants comparisons of distances decided.

In: points of three coordinates (plane: the third is 0; sphere: unit vectors). Out: the square of the diameter; on the
sphere 4 sin² of the cap's angular radius, and 8 minus that beyond half of the sphere. `smallest` finds the same number
in another way, by trying every centre that can be the right one, and says how far off the rounding may be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from tests.oracle.sphere import EARTH_RADIUS_M, chord2

Point = tuple[float, float, float]


def square(a: Point, b: Point) -> float:
    """Squared distance."""
    dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return (dx * dx + dy * dy) + dz * dz


def minus(a: Point, b: Point) -> Point:
    """A difference."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a: Point, b: Point) -> Point:
    """The vector product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length2(a: Point) -> float:
    """Squared length."""
    return (a[0] * a[0] + a[1] * a[1]) + a[2] * a[2]


def around_three(a: Point, b: Point, c: Point) -> float:
    """Longest side, or circumcircle where the angle opposite to it is acute."""
    sides = [(square(a, b), c), (square(a, c), b), (square(b, c), a)]
    longest, apex = max(sides, key=lambda side: side[0])
    one, other = (side for side, _ in sides if side is not longest) if len({s for s, _ in sides}) == 3 else _rest(sides)
    if longest >= one + other:
        return longest
    u, v = (minus(p, apex) for p in (a, b, c) if p is not apex)
    n2 = length2(cross(u, v))
    return max(longest, longest * ((one * other) / n2)) if n2 else longest


def _rest(sides: list[tuple[float, Point]]) -> tuple[float, float]:
    """The other two sides, where some are equal."""
    first = max(range(3), key=lambda i: sides[i][0])
    one, other = (sides[i][0] for i in range(3) if i != first)
    return one, other


def measure(points: Sequence[Point], on_sphere: bool) -> float:
    """The largest circle of any three is the smallest of all, unless no half of the sphere holds the points."""
    if len(points) < 3:
        return square(points[0], points[-1])
    cosine = max(nearness(points, centre) for centre in centres(points, True)) if on_sphere else 1.0
    if cosine < -1e-12:
        return 4.0 + 4.0 * cosine * cosine
    return max(around_three(*three) for three in combinations(points, 3))


def limit(diameter: float, on_sphere: bool) -> float:
    """The measure of a diameter."""
    if not on_sphere:
        return diameter * diameter
    half = math.pi * EARTH_RADIUS_M
    if diameter < half:
        return chord2(diameter)
    return 8.0 - min(4.0, chord2(2.0 * half - diameter)) if diameter < 2.0 * half else math.inf


# ------------------------------------------------------------------------------------------- another way


def centres(points: Sequence[Point], on_sphere: bool) -> Iterator[Point]:
    """Every place that can be the centre of the smallest circle: of one point, of two, of three."""
    yield from points
    for x, y, z in points if on_sphere else ():
        across = (z, 0.0, -x) if abs(z) > 0.5 else (y, -x, 0.0)  # for points that all lie on one axis
        yield across
        yield minus((0.0, 0.0, 0.0), across)
    for a, b in combinations(points, 2):
        yield ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2)
    for a, b, c in combinations(points, 3):
        u, v = minus(a, c), minus(b, c)
        n = cross(u, v)
        n2 = length2(n)
        if n2 == 0.0:
            continue
        if on_sphere:
            yield n
            yield (-n[0], -n[1], -n[2])
        else:
            uu, vv = length2(u), length2(v)
            w = (uu * v[0] - vv * u[0], uu * v[1] - vv * u[1], uu * v[2] - vv * u[2])
            m = cross(w, n)
            yield (c[0] + m[0] / (2 * n2), c[1] + m[1] / (2 * n2), c[2] + m[2] / (2 * n2))


def nearness(points: Sequence[Point], centre: Point) -> float:
    """On the sphere: the cosine of the angle from a centre to the farthest point."""
    size = math.sqrt(length2(centre))
    if size < 1e-12:
        return -1.0
    return min(sum(x * y for x, y in zip(centre, p, strict=True)) for p in points) / size


def smallest(points: Sequence[Point], on_sphere: bool) -> float:
    """The diameter of the smallest circle, or twice the angular radius of the smallest cap, by trying all centres."""
    if on_sphere:
        return 2 * math.acos(max(-1.0, min(1.0, max(nearness(points, c) for c in centres(points, True)))))
    return 2 * min(max(math.dist(c, p) for p in points) for c in centres(points, False))
