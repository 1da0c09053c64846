"""How large is the smallest circle, or spherical cap, around some objects?

In: points of three coordinates (in the plane the third is 0, on the sphere they are unit vectors). Out: one number that
grows with the diameter of the smallest circle: its square in the plane; on the sphere 4 sin² of the cap's angular
radius, and 8 minus that where the cap is more than half of the sphere (`measure_of` gives the number of a distance).

The smallest circle is the largest of those around any three of the points (Helly), and its diameter is *defined* as
that: up to `FEW` points all triples are looked at, so that the number never falls when a point is added, in the last
digit either. Of more points the triple is searched, which gives the same up to rounding. The circle of a triple is
that of its longest side, or its circumcircle, by the angle opposite to that side: well conditioned in both cases.

Where no half of the sphere holds all points, the centre lies opposite to a face of their hull.
"""

from __future__ import annotations

import math

import numpy as np

from vedette.compiled import inline, jit
from vedette.kernels.arrays import F64, I64
from vedette.space import EARTH_RADIUS_M, chord2, sphere_d2

FEW = 8
WIDE = 2.0  # points that no half of the sphere holds have some three that are farther apart than this
JUNG = 4.0 / 3.0 * (1.0 + 1e-9)  # and more than all rounding
SHORT = 1e-12  # a vector of that length has no direction
EDGE = 1e-12  # a point that much beyond a great circle is still on it


def measure_of(distance: float, wraps: bool) -> float:
    """The measure of a circle or cap of this diameter."""
    if not wraps:
        return distance * distance
    half_round = math.pi * EARTH_RADIUS_M
    if distance < half_round:
        return chord2(distance)
    if distance < 2.0 * half_round:
        return 8.0 - min(4.0, chord2(2.0 * half_round - distance))
    return math.inf


@inline
def _d2(p: F64, i: int, j: int) -> float:
    return sphere_d2(p[i, 0], p[i, 1], p[i, 2], p[j, 0], p[j, 1], p[j, 2])


@inline
def _normal(p: F64, i: int, j: int, k: int) -> tuple[float, float, float]:
    """(i - k) x (j - k)."""
    ax, ay, az = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
    bx, by, bz = p[j, 0] - p[k, 0], p[j, 1] - p[k, 1], p[j, 2] - p[k, 2]
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inline
def _longest_last(p: F64, i: int, j: int, k: int) -> tuple[int, int, int, float, float, float]:
    """The same three points, the longest side being that of the first two; squares of the sides."""
    ij, ik, jk = _d2(p, i, j), _d2(p, i, k), _d2(p, j, k)
    if ij >= ik and ij >= jk:
        return i, j, k, ij, ik, jk
    if ik >= jk:
        return i, k, j, ik, ij, jk
    return j, k, i, jk, ij, ik


@inline
def triple_measure(p: F64, i: int, j: int, k: int) -> float:
    """The measure of the smallest circle around three points."""
    a, b, c, longest, one, other = _longest_last(p, i, j, k)
    if longest >= one + other:
        return longest
    nx, ny, nz = _normal(p, a, b, c)
    around = longest * ((one * other) / ((nx * nx + ny * ny) + nz * nz))
    return max(longest, around)


@inline
def _centre(p: F64, i: int, j: int, k: int) -> tuple[float, float, float]:
    """The centre of the smallest circle around three points, in the plane of them."""
    a, b, c, longest, one, other = _longest_last(p, i, j, k)
    nx, ny, nz = _normal(p, a, b, c)
    n2 = (nx * nx + ny * ny) + nz * nz
    if longest >= one + other or n2 == 0.0:
        return (p[a, 0] + p[b, 0]) / 2.0, (p[a, 1] + p[b, 1]) / 2.0, (p[a, 2] + p[b, 2]) / 2.0
    ux, uy, uz = p[a, 0] - p[c, 0], p[a, 1] - p[c, 1], p[a, 2] - p[c, 2]
    vx, vy, vz = p[b, 0] - p[c, 0], p[b, 1] - p[c, 1], p[b, 2] - p[c, 2]
    wx, wy, wz = one * vx - other * ux, one * vy - other * uy, one * vz - other * uz
    half = 0.5 / n2
    return (
        p[c, 0] + (wy * nz - wz * ny) * half,
        p[c, 1] + (wz * nx - wx * nz) * half,
        p[c, 2] + (wx * ny - wy * nx) * half,
    )


@inline
def _farthest(p: F64, n: int, x: float, y: float, z: float, both_ways: bool) -> float:
    """The cosine of the angle from a direction (or its opposite, if that is better) to the point farthest from it."""
    size2 = (x * x + y * y) + z * z
    if size2 < SHORT * SHORT:
        return -1.0
    low, high = math.inf, -math.inf
    for m in range(n):
        along = (x * p[m, 0] + y * p[m, 1]) + z * p[m, 2]
        low, high = min(low, along), max(high, along)
    return (max(low, -high) if both_ways else low) / math.sqrt(size2)


@inline
def _best_centre(p: F64, n: int) -> float:
    """The greatest such cosine of all centres that come into question: across from a point, between two, amid three."""
    best = -1.0
    for i in range(n):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        if abs(z) > 0.5:  # a direction across, for points that all lie on one axis
            x, y, z = z, 0.0, -x
        else:
            x, y, z = y, -x, 0.0
        best = max(best, _farthest(p, n, x, y, z, True))
        for j in range(i + 1, n):
            x, y, z = p[i, 0] + p[j, 0], p[i, 1] + p[j, 1], p[i, 2] + p[j, 2]
            best = max(best, _farthest(p, n, x, y, z, False))
            for k in range(j + 1, n):
                x, y, z = _normal(p, i, j, k)
                best = max(best, _farthest(p, n, x, y, z, True))
    return best


@inline
def _of_few(p: F64, n: int) -> float:
    """The largest measure of all triples."""
    best = -1.0
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                best = max(best, triple_measure(p, i, j, k))
    return best


@inline
def _of_many(p: F64, n: int) -> float:
    """The same by search: the point farthest from the centre takes part, as long as the circle grows by that."""
    best, a, b, c = triple_measure(p, 0, 1, 2), 0, 1, 2
    while True:
        x, y, z = _centre(p, a, b, c)
        far, d2 = 0, -1.0
        for m in range(n):
            d = sphere_d2(p[m, 0], p[m, 1], p[m, 2], x, y, z)
            if d > d2:
                far, d2 = m, d
        grown, u, v = best, a, b
        with_far = False
        for pair in range(3):
            i, j = (a, b) if pair == 0 else ((a, c) if pair == 1 else (b, c))
            measure = triple_measure(p, i, j, far)
            if measure > grown:
                grown, u, v = measure, i, j
                with_far = True
        if not with_far:
            return best
        best, a, b, c = grown, u, v, far


@inline
def measure(p: F64, n: int, wraps: bool) -> float:
    """The measure of the smallest circle or cap around the first n points."""
    if n == 1:
        return 0.0
    if n == 2:
        return _d2(p, 0, 1)
    if n == 3:
        return triple_measure(p, 0, 1, 2)
    best = _of_few(p, n) if n <= FEW else _of_many(p, n)
    if wraps and best > WIDE:
        cosine = _best_centre(p, n)
        if cosine < -EDGE:
            return 4.0 + 4.0 * cosine * cosine
    return best


@inline
def bounded(p: F64, n: int, limit: float, wraps: bool) -> float:
    """The measure, or a bound of it from that side of the limit on which the measure is.

    The two points farthest apart bound it from below, and from above: it is at most 4/3 of their measure (Jung), so
    that the triples have to be looked at in few cases only.
    """
    widest = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            widest = max(widest, _d2(p, i, j))
    if widest > limit:
        return widest
    most = widest * JUNG
    if most < limit and (not wraps or most < WIDE):
        return most
    return measure(p, n, wraps)


@jit
def measures(p: F64, start: I64, wraps: bool) -> F64:
    """The measures of groups of points: those of group g are rows start[g] .. start[g + 1]."""
    out = np.empty(len(start) - 1)
    for g in range(len(out)):
        out[g] = measure(p[start[g] : start[g + 1]], start[g + 1] - start[g], wraps)
    return out
