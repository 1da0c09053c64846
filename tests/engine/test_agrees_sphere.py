"""The engine's sine, cosine and chords: the same bits as the oracle's twin, and close to the C library's."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import sphere as twin
from vedette import space

ANGLES = st.floats(-720.0, 720.0) | st.sampled_from([n * 45.0 for n in range(-16, 17)])


@given(degrees=ANGLES)
def test_sine_and_cosine(degrees: float) -> None:
    sine, cosine = space.sincos_degrees(degrees)
    assert (sine, cosine) == twin.sincos_degrees(degrees)
    assert math.isclose(sine, math.sin(math.radians(degrees)), abs_tol=4e-15)
    assert math.isclose(cosine, math.cos(math.radians(degrees)), abs_tol=4e-15)


@given(lon=st.floats(-180.0, 180.0), lat=st.floats(-90.0, 90.0))
def test_unit_vectors(lon: float, lat: float) -> None:
    vector = space.unit_vector(lon, lat)
    assert vector == twin.unit_vector(lon, lat)
    assert math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-15)


@given(radius_m=st.floats(0.0, 2e7))
def test_chords(radius_m: float) -> None:
    assert space.chord2(radius_m) == twin.chord2(radius_m)
    chord = 2.0 * math.sin(radius_m / (2.0 * twin.EARTH_RADIUS_M))
    assert math.isclose(space.chord2(radius_m), chord * chord, rel_tol=1e-14)
