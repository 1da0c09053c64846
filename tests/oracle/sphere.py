"""Positions on the unit sphere: the plain twin of the few functions that the engine decides distances with.

In: degrees, metres. Out: sines, unit vectors, squared chords. Made of + - * / only, so that every CPU agrees to the
last bit; the polynomials are the classic ones for |angle| <= 45 degrees. A wrong digit here would be agreed on by both
sides, so the tests also compare with `math.sin`.
"""

from __future__ import annotations

import math

EARTH_RADIUS_M = 6_371_008.8

# sin a = a + a^3 (s1 + z (s2 + z (...))) and cos a = 1 - z/2 + z^2 (c1 + z (c2 + z (...))), where z = a^2
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def horner(coefficients: tuple[float, ...], z: float) -> float:
    """The polynomial's value, from the highest power down."""
    *rest, total = coefficients
    for coefficient in reversed(rest):
        total = coefficient + z * total
    return total


def sincos_degrees(degrees: float) -> tuple[float, float]:
    """Sine and cosine of an angle in degrees, the angle reduced to [-45, 45] in degrees."""
    quarter = math.floor(degrees / 90.0 + 0.5)
    a = (degrees - 90.0 * quarter) * (math.pi / 180.0)
    z = a * a
    sine = a + (z * a) * horner(SINE, z)
    half = 0.5 * z
    rest = 1.0 - half
    cosine = rest + (((1.0 - rest) - half) + z * (z * horner(COSINE, z)))
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[quarter % 4]


def unit_vector(lon: float, lat: float) -> tuple[float, float, float]:
    """The point of the unit sphere at (lon, lat) degrees."""
    sin_lon, cos_lon = sincos_degrees(lon)
    sin_lat, cos_lat = sincos_degrees(lat)
    return cos_lat * cos_lon, cos_lat * sin_lon, sin_lat


def chord2(radius_m: float) -> float:
    """The squared chord that a great-circle distance of less than half the way round subtends."""
    sine, _ = sincos_degrees(radius_m / (2.0 * EARTH_RADIUS_M) * (180.0 / math.pi))
    return 4.0 * sine * sine


# asin x = x + x z P(z) / Q(z) for |x| <= 1/2, where z = x^2; beyond that by the half angle
ARCSINE_P = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
ARCSINE_Q = (
    1.0,
    -2.40339491173441421878e00,
    2.02094576023350569471e00,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)


def arcsine(x: float) -> float:
    """The angle in radians of a sine between 0 and 1."""
    if x <= 0.5:
        z = x * x
        return x + x * (z * horner(ARCSINE_P, z) / horner(ARCSINE_Q, z))
    z = (1.0 - x) * 0.5
    s = math.sqrt(z)
    return math.pi / 2.0 - 2.0 * (s + s * (z * horner(ARCSINE_P, z) / horner(ARCSINE_Q, z)))
