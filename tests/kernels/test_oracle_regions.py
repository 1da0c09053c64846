"""Every position has one region, and a box touches the region of every point in it."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from vedette.kernels.regions import Regions, region_of, regions_of, split, touched_by
from vedette.space import box_has

COORDINATES = st.sampled_from([0.0, 1.0, 2.0, -1.0, 0.5, 1e17, -1e9, 1e300]) | st.floats(-10.0, 10.0)
LONGITUDES = st.sampled_from([-180.0, -179.0, 179.0, 0.0, math.nextafter(180.0, 0.0)]) | st.floats(
    -180.0, 180.0, exclude_max=True
)
SAMPLES = st.lists(st.tuples(COORDINATES, COORDINATES), max_size=20)
COUNTS = st.integers(1, 9)


def cut(sample: list[tuple[float, float]], count: int) -> Regions:
    xs, ys = np.array(sample, np.float64).reshape(-1, 2).T
    return split(np.ascontiguousarray(xs), np.ascontiguousarray(ys), count)


def slow_region(regions: Regions, x: float, y: float) -> int:
    node = 0 if len(regions.axis) else -1
    while node >= 0:
        node = int(regions.child[node][int((x, y)[regions.axis[node]] >= regions.cut[node])])
    return -1 - node


@given(SAMPLES, COUNTS, SAMPLES)
def test_oracle_region_of_a_position(
    sample: list[tuple[float, float]], count: int, points: list[tuple[float, float]]
) -> None:
    regions = cut(sample, count)
    assert regions.size == count
    leaves = [-1 - int(child) for child in regions.child.ravel() if child < 0] or [0]
    assert sorted(leaves) == list(range(count))
    found = [region_of(regions, x, y) for x, y in points]
    assert found == [slow_region(regions, x, y) for x, y in points]
    assert all(0 <= region < count for region in found)
    xs, ys = np.array(points, np.float64).reshape(-1, 2).T
    assert regions_of(regions, np.ascontiguousarray(xs), np.ascontiguousarray(ys)).tolist() == found


@given(SAMPLES, COUNTS, *[COORDINATES] * 6)
def test_oracle_box_touches_the_regions_of_its_points(
    sample: list[tuple[float, float]], count: int, xa: float, ya: float, xb: float, yb: float, xc: float, yc: float
) -> None:
    regions = cut(sample, count)
    x1, x, x2 = sorted((xa, xb, xc))
    y1, y, y2 = sorted((ya, yb, yc))
    touched = touched_by(regions, x1, y1, x2, y2, False)
    assert all(touched[region_of(regions, px, py)] for px in (x1, x, x2) for py in (y1, y, y2))
    # And no more than it must: a point box touches one region.
    assert np.count_nonzero(touched_by(regions, x, y, x, y, False)) == 1


@given(
    st.lists(st.tuples(LONGITUDES, st.floats(-90.0, 90.0)), max_size=20),
    COUNTS,
    LONGITUDES,
    st.floats(-180.0, 540.0),
    st.floats(0.0, 400.0) | st.sampled_from([0.0, 360.0]),
)
def test_oracle_wrapping_box_touches_the_regions_of_its_points(
    sample: list[tuple[float, float]], count: int, x: float, x1: float, width: float
) -> None:
    regions = cut(sample, count)
    box = (x1, -1.0, x1 + width, 1.0)
    touched = touched_by(regions, *box, True)
    for px in (x, (x1 + 180.0) % 360.0 - 180.0, (x1 + width + 180.0) % 360.0 - 180.0):
        if -180.0 <= px < 180.0 and box_has(px, 0.0, *box, True):
            assert touched[region_of(regions, px, 0.0)]


@given(SAMPLES, COUNTS)
@example([(-1e300, 0.0), (1e300, 0.0)], 3)
@example([(-1.7e308, 0.0), (1.7e308, 0.0)], 3)  # their difference is no double, and a cut at NaN is no cut
def test_oracle_infinite_box_touches_everything(sample: list[tuple[float, float]], count: int) -> None:
    for wraps in (False, True):
        assert touched_by(cut(sample, count), -math.inf, -math.inf, math.inf, math.inf, wraps).all()


def test_example_regions_share_the_work() -> None:
    rng = np.random.default_rng(1)
    xs, ys = rng.normal(size=10_000), rng.normal(size=10_000)
    for count in (2, 3, 4, 7, 16):
        sizes = np.bincount(regions_of(split(xs, ys, count), xs, ys), minlength=count)
        assert sizes.max() < 1.2 * len(xs) / count
