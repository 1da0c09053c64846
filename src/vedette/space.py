"""What "near" and "inside" mean: the one place that decides borders.

In: coordinates as float64. Out: squared distances, unit vectors, bounding boxes rounded outwards.

*planar*: Euclidean, distances in coordinate units; two distances are compared by their squares.
*lonlat*: degrees on the mean sphere; a position becomes a unit vector once, and two distances are
compared by the squared chords between unit vectors. Sine and cosine are our own (the argument is
reduced in degrees, which is exact; then the classic polynomials on [-45°, 45°]), made of + - * / only:
the C library and the vector units of different CPUs disagree in the last digit, this does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from vedette.compiled import inline
from vedette.errors import ConfigError
from vedette.model.terms import EARTH_RADIUS_M

__all__ = [
    "DEGREES_PER_RADIAN",
    "EARTH_RADIUS_M",
    "OUTWARDS",
    "RADIANS_PER_DEGREE",
    "Space",
    "box_has",
    "chord2",
    "disc_box",
    "lonlat",
    "planar",
    "planar_d2",
    "sincos_degrees",
    "sphere_d2",
    "unit_vector",
]

RADIANS_PER_DEGREE = math.pi / 180.0
DEGREES_PER_RADIAN = 180.0 / math.pi
OUTWARDS = 1e-9  # relative and absolute slack of bounding boxes; far above rounding, far below a cell


@dataclass(frozen=True)
class Space:
    """A space: its kind, and optionally the bounds in which most positions are expected."""

    kind: Literal["planar", "lonlat"]
    bounds: tuple[float, float, float, float] | None = None

    @property
    def is_lonlat(self) -> bool:
        """True on the sphere."""
        return self.kind == "lonlat"


def planar(bounds: tuple[float, float, float, float] | None = None) -> Space:
    """A flat space; `bounds` = (x0, y0, x1, y1) only helps to cut it well, nothing is lost outside."""
    return Space("planar", _checked(bounds))


def lonlat(bounds: tuple[float, float, float, float] | None = None) -> Space:
    """Longitude and latitude in degrees, distances in metres."""
    return Space("lonlat", _checked(bounds))


def _checked(bounds: tuple[float, float, float, float] | None) -> tuple[float, float, float, float] | None:
    if bounds is None:
        return None
    if len(bounds) != 4 or not all(math.isfinite(v) for v in bounds):
        raise ConfigError(f"bounds are four finite numbers x0, y0, x1, y1; found {bounds!r}")
    x0, y0, x1, y1 = (float(v) for v in bounds)
    if x1 <= x0 or y1 <= y0:
        raise ConfigError(f"bounds need x0 < x1 and y0 < y1; found {bounds!r}")
    return (x0, y0, x1, y1)


# ---------------------------------------------------------------------------------- sine and cosine


@inline
def sincos_degrees(degrees: float) -> tuple[float, float]:
    """Sine and cosine of an angle in degrees; exact at multiples of 90."""
    quarter = math.floor(degrees / 90.0 + 0.5)
    a = (degrees - 90.0 * quarter) * RADIANS_PER_DEGREE
    z = a * a
    s = a + (z * a) * (
        -1.66666666666666324348e-01
        + z
        * (
            8.33333333332248946124e-03
            + z
            * (
                -1.98412698298579493134e-04
                + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
            )
        )
    )
    r = z * (
        4.16666666666666019037e-02
        + z
        * (
            -1.38888888888741095749e-03
            + z
            * (
                2.48015872894767294178e-05
                + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))
            )
        )
    )
    h = 0.5 * z
    w = 1.0 - h
    c = w + (((1.0 - w) - h) + z * r)
    turn = int(quarter) % 4
    if turn == 0:
        return s, c
    if turn == 1:
        return c, -s
    if turn == 2:
        return -s, -c
    return -c, s


@inline
def unit_vector(lon: float, lat: float) -> tuple[float, float, float]:
    """The point of the unit sphere at (lon, lat) degrees."""
    sin_lon, cos_lon = sincos_degrees(lon)
    sin_lat, cos_lat = sincos_degrees(lat)
    return cos_lat * cos_lon, cos_lat * sin_lon, sin_lat


@inline
def chord2(radius_m: float) -> float:
    """Squared chord that a great-circle distance subtends; infinite where it goes round the whole sphere."""
    if radius_m >= math.pi * EARTH_RADIUS_M:
        return math.inf
    s = sincos_degrees(radius_m / (2.0 * EARTH_RADIUS_M) * DEGREES_PER_RADIAN)[0]
    return 4.0 * s * s


# ----------------------------------------------------------------------------------------- distances


@inline
def planar_d2(x1: float, y1: float, x2: float, y2: float) -> float:
    """Squared Euclidean distance."""
    dx = x1 - x2
    dy = y1 - y2
    return dx * dx + dy * dy


@inline
def sphere_d2(ux: float, uy: float, uz: float, vx: float, vy: float, vz: float) -> float:
    """Squared chord between two unit vectors."""
    dx = ux - vx
    dy = uy - vy
    dz = uz - vz
    return (dx * dx + dy * dy) + dz * dz


@inline
def box_has(x: float, y: float, x1: float, y1: float, x2: float, y2: float, wraps: bool) -> bool:
    """Closed box; on the sphere a full turn either way also counts."""
    if y < y1 or y > y2:
        return False
    if x1 <= x <= x2:
        return True
    if wraps:
        return (x1 <= x + 360.0 <= x2) or (x1 <= x - 360.0 <= x2)
    return False


# ------------------------------------------------------------------------- bounding boxes, outwards


@inline
def disc_box(x: float, y: float, d2: float, wraps: bool) -> tuple[float, float, float, float]:
    """A box that holds the disc of squared distance (or chord) d2 around (x, y), rounded outwards.

    On the sphere it may reach beyond ±180 (the part there is the part a turn away), and spans the
    whole circle of longitudes where the disc holds a pole.
    """
    if d2 == math.inf:
        return -math.inf, -math.inf, math.inf, math.inf
    if not wraps:
        radius = math.sqrt(d2) * (1.0 + OUTWARDS)
        slack = radius + OUTWARDS * (abs(x) + abs(y)) + 1e-150  # squares of less than that vanish
        return x - slack, y - slack, x + slack, y + slack
    if d2 > 3.99:  # all but the surroundings of the antipode, where an arcsine has few valid digits
        return -180.0, -90.0, 180.0, 90.0
    half = math.sqrt(d2) * 0.5
    angle = 2.0 * math.asin(half) + OUTWARDS  # radians
    dlat = angle * DEGREES_PER_RADIAN * (1.0 + OUTWARDS)
    low, high = y - dlat, y + dlat
    if low <= -90.0 or high >= 90.0:
        return -180.0, max(low, -90.0), 180.0, min(high, 90.0)
    ratio = math.sin(angle) / math.cos(y * RADIANS_PER_DEGREE)
    if ratio >= 1.0:
        return -180.0, low, 180.0, high
    dlon = (math.asin(ratio) * DEGREES_PER_RADIAN) * (1.0 + OUTWARDS) + OUTWARDS
    return x - dlon, low, x + dlon, high
