"""Smallest circles and caps: the kernel against its plain twin to the last bit, and against all possible centres."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle import circles
from tests.oracle.sphere import unit_vector
from vedette.compiled import jit
from vedette.kernels.arrays import F64
from vedette.kernels.enclosing import FEW, bounded, measure_of, measures
from vedette.space import EARTH_RADIUS_M

LATTICE = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.5, -1.0])
PLACES = st.tuples(LATTICE | st.floats(-5, 5), LATTICE | st.floats(-5, 5))
GLOBE = st.tuples(
    st.sampled_from([-180.0, -90.0, 0.0, 45.0, 90.0, 179.5]) | st.floats(-180, 180),
    st.sampled_from([-90.0, -45.0, 0.0, 1.0, 45.0, 90.0]) | st.floats(-90, 90),
)
Points = list[circles.Point]


def in_plane(places: list[tuple[float, float]]) -> Points:
    return [(x, y, 0.0) for x, y in places]


def on_globe(places: list[tuple[float, float]]) -> Points:
    return [unit_vector(lon, lat) for lon, lat in places]


def kernel(points: Points, wraps: bool) -> float:
    return float(measures(np.array(points).reshape(-1, 3), np.array([0, len(points)]), wraps)[0])


def angle_of(measure: float) -> float:
    """Twice the angular radius of the cap of a measure."""
    half = math.asin(min(1.0, math.sqrt(min(measure, 8.0 - measure)) / 2))
    return 2 * (half if measure <= 4 else math.pi - half)


@given(st.lists(PLACES, min_size=1, max_size=FEW))
@example([(0.0, 0.0), (4.0, 0.0), (1.0, 3.0)])
@example([(0.0, 0.0), (0.0, 5e-324), (1.0, 1e-170)])
@example([(1e17, 0.0), (0.0, 1e200), (0.0, 0.0), (-1e17, 3.0)])
def test_agrees_with_the_plain_twin_in_the_plane(places: list[tuple[float, float]]) -> None:
    assert kernel(in_plane(places), False) == circles.measure(in_plane(places), False)


@given(st.lists(GLOBE, min_size=1, max_size=FEW))
@example([(0.0, 90.0), (0.0, -19.5), (120.0, -19.5), (-120.0, -19.5)])  # no half of the sphere holds them
def test_agrees_with_the_plain_twin_on_the_sphere(places: list[tuple[float, float]]) -> None:
    points = on_globe(places)
    assert kernel(points, True) == pytest.approx(circles.measure(points, True), rel=1e-12, abs=1e-15)


@given(st.lists(PLACES, min_size=1, max_size=14))
def test_oracle_every_centre_in_the_plane(places: list[tuple[float, float]]) -> None:
    points = in_plane(places)
    assert math.sqrt(kernel(points, False)) == pytest.approx(circles.smallest(points, False), rel=1e-9, abs=1e-9)


@given(st.lists(GLOBE, min_size=1, max_size=11))
def test_oracle_every_centre_on_the_sphere(places: list[tuple[float, float]]) -> None:
    points = on_globe(places)
    assert angle_of(kernel(points, True)) == pytest.approx(circles.smallest(points, True), abs=1e-6)


@given(st.lists(PLACES, min_size=2, max_size=FEW), st.data())
def test_a_point_less_is_never_a_larger_circle(places: list[tuple[float, float]], data: st.DataObject) -> None:
    left_out = data.draw(st.integers(0, len(places) - 1))
    points = in_plane(places)
    assert kernel(points[:left_out] + points[left_out + 1 :], False) <= kernel(points, False)


@jit
def bound(p: F64, limit: float, wraps: bool) -> float:
    return bounded(p, len(p), limit, wraps)


@pytest.mark.parametrize("wraps", [False, True])
@given(places=st.lists(GLOBE, min_size=1, max_size=6), share=st.sampled_from([0.5, 0.74, 0.76, 0.9, 1.0, 1.1, 1.34]))
def test_a_bound_is_on_the_side_of_the_measure(places: list[tuple[float, float]], share: float, wraps: bool) -> None:
    points = on_globe(places) if wraps else in_plane(places)
    whole = kernel(points, wraps)
    limit = whole * share
    found = bound(np.array(points), limit, wraps)
    assert (found < limit, found > limit) == (whole < limit, whole > limit)
    assert found <= whole if found > limit else found >= whole


@pytest.mark.parametrize("wraps", [False, True])
def test_the_measure_grows_with_the_diameter(wraps: bool) -> None:
    round_half = math.pi * EARTH_RADIUS_M
    diameters = [0.0, 1e-3, 1.0, 1e6, 0.999 * round_half, round_half, 1.5 * round_half, 1.999 * round_half]
    found = [measure_of(d, wraps) for d in diameters]
    assert found == sorted(set(found))
    assert found == [circles.limit(d, wraps) for d in diameters]
    assert not wraps or measure_of(2 * round_half, True) == math.inf


def test_example_a_triangle_a_pair_and_a_globe() -> None:
    assert kernel([(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (1.0, 3.0, 0.0)], False) == pytest.approx(20.0)
    assert kernel([(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (1.0, 1.0, 0.0)], False) == 16.0
    four = on_globe([(0.0, 90.0), (0.0, -19.4712206), (120.0, -19.4712206), (-120.0, -19.4712206)])
    assert math.degrees(angle_of(kernel(four, True))) / 2 == pytest.approx(109.4712206)
