"""Sine, cosine, chords and bounding boxes against slow high precision and plain containment."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from vedette.errors import ConfigError
from vedette.space import (
    EARTH_RADIUS_M,
    box_has,
    chord2,
    disc_box,
    lonlat,
    planar,
    planar_d2,
    sincos_degrees,
    sphere_d2,
    unit_vector,
)

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
ANGLES = st.floats(-720.0, 720.0) | st.floats(-1e-9, 1e-9) | st.integers(-24, 24).map(lambda n: 30.0 * n)
LONGITUDES = st.floats(-180.0, 180.0, exclude_max=True) | st.sampled_from([-180.0, 0.0, 90.0, 179.99999999, -179.9])
LATITUDES = st.floats(-90.0, 90.0) | st.sampled_from([-90.0, 90.0, 0.0, 89.999999, -89.999999]) | st.floats(89.9, 90.0)


def slow_sin(degrees: float, quarters: int) -> float:
    """Sine of an angle (turned by quarters) by its power series with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        a = (Decimal(degrees) + 90 * quarters) % 360 * PI / 180
        term = total = a
        n = 1
        while abs(term) > Decimal("1e-45"):
            term = -term * a * a / ((n + 1) * (n + 2))
            total += term
            n += 2
        return float(total)


@given(ANGLES)
def test_oracle_sine_and_cosine(degrees: float) -> None:
    sine, cosine = sincos_degrees(degrees)
    assert abs(sine - slow_sin(degrees, 0)) <= 2.3e-16
    assert abs(cosine - slow_sin(degrees, 1)) <= 2.3e-16


@pytest.mark.parametrize("quarter", range(-8, 9))
def test_example_multiples_of_90_degrees_are_exact(quarter: int) -> None:
    exact = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][quarter % 4]
    assert sincos_degrees(90.0 * quarter) == exact


@given(st.floats(0.0, 44.999))
def test_agrees_sine_is_odd_and_cosine_even(degrees: float) -> None:
    sine, cosine = sincos_degrees(degrees)
    assert sincos_degrees(-degrees) == (-sine, cosine)


@given(LONGITUDES, LATITUDES)
def test_oracle_unit_vector_has_length_one(lon: float, lat: float) -> None:
    assert abs(math.hypot(*unit_vector(lon, lat)) - 1.0) < 1e-15


@given(st.floats(0.0, 4e7))
def test_oracle_chord(radius_m: float) -> None:
    expected = math.inf
    if radius_m < math.pi * EARTH_RADIUS_M:
        expected = (2.0 * math.sin(radius_m / EARTH_RADIUS_M / 2.0)) ** 2
    assert math.isclose(chord2(radius_m), expected, rel_tol=1e-14)


@given(LONGITUDES, LATITUDES, LONGITUDES, LATITUDES)
def test_oracle_distance_on_the_sphere(lon1: float, lat1: float, lon2: float, lat2: float) -> None:
    """Against the haversine formula, with the library's sines."""
    dlat, dlon = math.radians(lat2 - lat1), math.radians(lon2 - lon1)
    half = math.sin(dlat / 2) ** 2 + math.cos(math.radians(lat1)) * math.cos(math.radians(lat2)) * (
        math.sin(dlon / 2) ** 2
    )
    assert math.isclose(sphere_d2(*unit_vector(lon1, lat1), *unit_vector(lon2, lat2)), 4.0 * half, abs_tol=4e-15)


# ---------------------------------------------------------------------------------------------- boxes

COORDINATES = (
    st.sampled_from([0.0, 1.0, 0.1, 1e17, -1e9, 1e-9, 5e-324, 1e-170, -1e-200, 3e-162])
    | st.floats(-1e100, 1e100)
    | st.floats(-8.0, 8.0)
)


@given(COORDINATES, COORDINATES, COORDINATES, COORDINATES, st.sampled_from([1.0, 0.0, 1.5]))
@example(0.0, 0.0, 1e-200, 0.0, 0.0)  # the square of 1e-200 is 0: such a point is inside the disc of radius 0
@example(0.0, 0.0, 2.7e-162, 0.0, 1.0)  # the root of a square of few digits has few digits
def test_oracle_planar_box_holds_the_disc(cx: float, cy: float, x: float, y: float, scale: float) -> None:
    """Whoever is inside a disc (of the point's own distance, of 0, of more) is inside its box."""
    d2 = scale * planar_d2(cx, cy, x, y)
    assume(planar_d2(cx, cy, x, y) <= d2)
    assert box_has(x, y, *disc_box(cx, cy, d2, False), False)


@given(LONGITUDES, LATITUDES, LONGITUDES, LATITUDES, LONGITUDES, LATITUDES)
@example(0.0, 0.0, 89.999999, 0.0, 0.0, 0.0)  # a quarter of the way round: the arcsine has few digits there
@example(0.0, 90.0, 0.0, -89.999999, 0.0, 0.0)  # nearly everything
@example(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
def test_oracle_box_on_the_sphere_holds_the_disc(
    cx: float, cy: float, x: float, y: float, other_x: float, other_y: float
) -> None:
    """Two points: the nearer one is inside the disc that reaches to the farther one, so both are inside its box."""
    centre = unit_vector(cx, cy)
    d2 = max(sphere_d2(*centre, *unit_vector(x, y)), sphere_d2(*centre, *unit_vector(other_x, other_y)))
    box = disc_box(cx, cy, d2, True)
    assert box_has(x, y, *box, True)
    assert box_has(other_x, other_y, *box, True)


@given(LONGITUDES, LATITUDES, st.floats(0.0, 360.0), st.floats(1e-3, 1e7))
def test_oracle_box_on_the_sphere_holds_the_rim(cx: float, cy: float, bearing: float, radius_m: float) -> None:
    """Points on the rim in every direction, found by spherical trigonometry."""
    a, b, lat = radius_m / EARTH_RADIUS_M, math.radians(bearing), math.radians(cy)
    rim_lat = math.asin(max(-1.0, min(1.0, math.sin(lat) * math.cos(a) + math.cos(lat) * math.sin(a) * math.cos(b))))
    turn = math.atan2(math.sin(b) * math.sin(a) * math.cos(lat), math.cos(a) - math.sin(lat) * math.sin(rim_lat))
    x = (cx + math.degrees(turn) + 180.0) % 360.0 - 180.0
    y = math.degrees(rim_lat)
    d2 = chord2(radius_m)
    assume(sphere_d2(*unit_vector(cx, cy), *unit_vector(x, y)) <= d2)
    assert box_has(x, y, *disc_box(cx, cy, d2, True), True)


def test_oracle_box_on_the_sphere_holds_the_disc_where_roots_have_few_digits() -> None:
    """Discs that nearly reach a quarter or half of the way round, from centres where that matters."""
    missed = [
        (cy, d2, x, y)
        for quarter in (90.0, 180.0)
        for exponent in range(30, 160)
        for cy, x, y in [
            (0.0, quarter - 10.0 ** (-exponent / 10), 0.0),
            (90.0, 0.0, 90.0 - quarter + 10.0 ** (-exponent / 10)),
            (-90.0, 0.0, quarter - 90.0 - 10.0 ** (-exponent / 10)),
            (1e-7, quarter - 10.0 ** (-exponent / 10), 0.0),
        ]
        for d2 in [sphere_d2(*unit_vector(0.0, cy), *unit_vector(x, y))]
        if not box_has(x, y, *disc_box(0.0, cy, d2, True), True)
    ]
    assert missed == []


def test_example_box_of_everything() -> None:
    assert disc_box(1.0, 2.0, math.inf, True) == (-math.inf, -math.inf, math.inf, math.inf)
    assert box_has(-180.0, 90.0, *disc_box(1.0, 2.0, math.inf, False), False)


@pytest.mark.parametrize("bounds", [(0, 0, 0, 1), (0, 1, 1, 1), (0, 0, math.inf, 1), (0, 0, 1), (2, 0, 1, 1)])
def test_example_bounds_that_cannot_be(bounds: tuple[float, float, float, float]) -> None:
    for space in (planar, lonlat):
        with pytest.raises(ConfigError, match="bounds"):
            space(bounds)
