"""Is a position inside? Against exact fractions: on edges, on vertices, one ulp beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kernels import exactly
from tests.kernels.exactly import Edge, Point, as_edges, ring
from vedette.kernels.shapes import DISC, NO_EDGES, PARAMETERS, POLYGON, RECT, polygon_has, shape_has, side_of
from vedette.space import box_has, sphere_d2, unit_vector

# Products of coordinates must neither overflow nor lose digits below the smallest double: 0, or 1e-70 to 1e70.
MODERATE = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.1, 0.3, 1 / 3, 1e17, 1e-9, 12.0, 24.0]) | st.floats(-1e70, 1e70).map(
    lambda v: v if abs(v) > 1e-70 else 0.0
)
SMALL = st.floats(-10.0, 10.0).map(lambda v: v if abs(v) > 1e-70 else 0.0)


@st.composite
def near_a_line(draw: st.DrawFn) -> tuple[Edge, Point]:
    """An edge, and a point on its line as well as doubles can say it, perhaps a few ulps off."""
    edge = draw(st.tuples(*[SMALL | MODERATE] * 4))
    share = draw(st.sampled_from([0.0, 1.0, 0.5, 0.25, 2.0, -1.0]) | st.floats(-1.0, 2.0))
    x = edge[0] + share * (edge[2] - edge[0])
    y = edge[1] + share * (edge[3] - edge[1])
    for _ in range(draw(st.integers(0, 2))):
        x = math.nextafter(x, draw(st.sampled_from([math.inf, -math.inf])))
    for _ in range(draw(st.integers(0, 2))):
        y = math.nextafter(y, draw(st.sampled_from([math.inf, -math.inf])))
    return edge, (x if abs(x) > 1e-70 else 0.0, y if abs(y) > 1e-70 else 0.0)


@given(near_a_line() | st.tuples(st.tuples(*[MODERATE] * 4), st.tuples(MODERATE, MODERATE)))
@example(((12.0, 12.0, 24.0, 24.0), (0.5, math.nextafter(0.5, 1.0))))
@example(((0.1, 0.1, 0.3, 0.3), (0.2, 0.2)))
@example(((0.1, 0.2, 3.3, 1.1), (0.1, 0.2)))
def test_oracle_side_of_a_line(case: tuple[Edge, Point]) -> None:
    edge, (x, y) = case
    found, exact = side_of(*edge, x, y), exactly.side(edge, x, y)
    assert (found > 0.0, found < 0.0) == (exact > 0, exact < 0)


LATTICE = st.integers(-1, 4).map(float)
CORNERS = st.tuples(LATTICE, LATTICE) | st.tuples(st.floats(-1.0, 4.0), st.floats(-1.0, 4.0))
RINGS = st.lists(CORNERS, min_size=3, max_size=7).map(lambda points: ring(*points))

SQUARE_WITH_HOLE = ring((0, 0), (4, 0), (4, 4), (0, 4)) + ring((1, 1), (3, 1), (3, 3), (1, 3))
BOW = ring((0, 0), (6, 0), (6, 5), (3, 2), (0, 5))
SLIVER = ring((0.1, 0.2), (3.3, 1.1), (5.7, 4.9))
ISLAND = [*SQUARE_WITH_HOLE, *ring((1.5, 1.5), (2.5, 1.5), (2, 2.5)), *ring((5, 5), (7, 5), (6, 7))]


@st.composite
def polygons_and_points(draw: st.DrawFn) -> tuple[list[Edge], Point]:
    """Edges of any rings (even-odd needs no valid ones), and a point that likes their corners and edges."""
    rings = [*draw(st.lists(RINGS, min_size=1, max_size=3)), draw(st.sampled_from([[], SQUARE_WITH_HOLE, BOW, SLIVER]))]
    edges = [edge for one in rings for edge in one]
    if not edges:
        return SLIVER, (0.1, 0.2)
    ax, ay, bx, by = draw(st.sampled_from(edges))
    share = draw(st.sampled_from([0.0, 0.5, 0.25, 1.0]) | st.floats(0.0, 1.0))
    on_edge = (ax + share * (bx - ax), ay + share * (by - ay))
    beside = (math.nextafter(on_edge[0], draw(st.sampled_from([-9.0, 9.0]))), on_edge[1])
    x, y = draw(st.sampled_from([on_edge, beside, (ax, on_edge[1]), (on_edge[0], by)]) | CORNERS)
    return edges, (x if abs(x) > 1e-70 else 0.0, y if abs(y) > 1e-70 else 0.0)


def tidy(edges: list[Edge]) -> list[Edge]:
    return [edge for edge in edges if all(v == 0.0 or abs(v) > 1e-70 for v in edge)]


@given(polygons_and_points())
def test_oracle_point_in_polygon(case: tuple[list[Edge], Point]) -> None:
    edges, (x, y) = case
    if tidy(edges) != edges:
        return
    assert polygon_has(as_edges(SLIVER, edges, BOW), 1, x, y) == exactly.has(edges, x, y)


@pytest.mark.parametrize("edges", [SQUARE_WITH_HOLE, BOW, SLIVER, ISLAND])
def test_oracle_every_point_of_a_lattice(edges: list[Edge]) -> None:
    for x in np.arange(-1.0, 8.0, 0.25).tolist():
        for y in np.arange(-1.0, 8.0, 0.25).tolist():
            assert polygon_has(as_edges(edges), 0, x, y) == exactly.has(edges, x, y), (x, y)


def test_example_hole_and_borders() -> None:
    edges = as_edges(SQUARE_WITH_HOLE)
    inside = {(0.5, 0.5), (0.0, 0.0), (4.0, 2.0), (2.0, 4.0), (1.0, 1.0), (3.0, 2.0), (2.0, 1.0)}
    outside = {(2.0, 2.0), (-0.5, 0.0), (4.5, 4.0), (2.0, math.nextafter(4.0, 5.0)), (math.nextafter(1.0, 2.0), 1.5)}
    assert {point for point in inside | outside if polygon_has(edges, 0, *point)} == inside


def shape(kind: int, numbers: tuple[float, ...], x: float, y: float, wraps: bool) -> bool:
    p = np.zeros((2, PARAMETERS))
    p[1, : len(numbers)] = numbers
    edges = as_edges(SLIVER, AROUND_180) if kind == POLYGON else NO_EDGES
    unit = unit_vector(x, y) if wraps else (0.0, 0.0, 0.0)
    return shape_has(kind, p, 1, 1, edges, x, y, *unit, wraps)


AROUND_180 = ring((178, -1), (182, -1), (182, 2), (178, 2)) + ring((179, 0), (181, 0), (181, 1), (179, 1))
LONGITUDES = st.sampled_from([-180.0, -179.5, -179.0, -178.0, 178.0, 179.0, 179.5, 0.0]) | st.floats(
    -180.0, 180.0, exclude_max=True
)
LATITUDES = st.sampled_from([-90.0, -1.0, 0.0, 0.5, 1.0, 2.0, 90.0]) | st.floats(-90.0, 90.0)


@given(LONGITUDES, LATITUDES)
def test_oracle_polygon_across_the_antimeridian(x: float, y: float) -> None:
    turns = [x, x + 360.0, x - 360.0]
    expected = any(exactly.has(AROUND_180, turn, y) for turn in turns)
    if y == 0.0 or abs(y) > 1e-70:
        assert shape(POLYGON, (178.0, -1.0, 182.0, 2.0), x, y, True) == expected


@given(LATTICE, LATTICE, LATTICE, LATTICE, LATTICE | st.floats(-1.0, 4.0), LATTICE)
def test_oracle_rectangle(x1: float, y1: float, x2: float, y2: float, x: float, y: float) -> None:
    assert shape(RECT, (x1, y1, x2, y2), x, y, False) == (x1 <= x <= x2 and y1 <= y <= y2)


@given(LONGITUDES, st.floats(0.0, 360.0) | st.sampled_from([0.0, 1.0, 2.0, 180.0, 359.0, 360.0]), LONGITUDES)
def test_oracle_rectangle_that_goes_round(x1: float, width: float, x: float) -> None:
    x2 = x1 + width
    expected = any(x1 <= x + turn <= x2 for turn in (-360.0, 0.0, 360.0))
    assert box_has(x, 0.0, x1, -1.0, x2, 1.0, True) == expected
    assert shape(RECT, (x1, -1.0, x2, 1.0), x, 1.0, True) == expected
    assert not shape(RECT, (x1, -1.0, x2, 1.0), x, math.nextafter(1.0, 2.0), True)


@given(*[LATTICE | st.floats(-5.0, 5.0)] * 4, st.sampled_from([0.0, 1.0, 2.0, 4.0, 5.0, 25.0, math.inf]))
def test_oracle_disc(cx: float, cy: float, x: float, y: float, d2: float) -> None:
    assert shape(DISC, (cx, cy, d2), x, y, False) == ((cx - x) * (cx - x) + (cy - y) * (cy - y) <= d2)


@given(LONGITUDES, LATITUDES, LONGITUDES, LATITUDES, st.integers(-1, 1))
def test_oracle_disc_on_the_sphere(cx: float, cy: float, x: float, y: float, ulps: int) -> None:
    """The border is where the squared chord says, to the ulp."""
    d2 = sphere_d2(*unit_vector(cx, cy), *unit_vector(x, y))
    limit = d2 if ulps == 0 else max(0.0, math.nextafter(d2, math.inf * ulps))
    assert shape(DISC, (cx, cy, limit, *unit_vector(cx, cy)), x, y, True) == (d2 <= limit)
