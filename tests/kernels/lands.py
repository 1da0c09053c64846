"""Two small worlds for the kernels that know grid, objects and queries: a plane, and the sphere around ±180."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tests.kernels.exactly import Edge, ring
from vedette.kernels.grid import Grid
from vedette.space import chord2, planar_d2, sphere_d2, unit_vector

Point = tuple[float, float]


@dataclass(frozen=True)
class Land:
    """Positions that meet each other and the borders often, squared distances between them, grids over them."""

    wraps: bool
    xs: st.SearchStrategy[float]
    ys: st.SearchStrategy[float]
    d2s: tuple[float, ...]
    grids: tuple[Grid, ...]
    polygon: list[Edge]

    @property
    def points(self) -> st.SearchStrategy[Point]:
        """Any position."""
        return st.tuples(self.xs, self.ys)

    def disc(self, centre: Point, d2: float) -> list[float]:
        """The parameters of a disc."""
        return [*centre, d2, *(unit_vector(*centre) if self.wraps else (0.0, 0.0, 0.0))]

    def d2(self, a: Point, b: Point) -> float:
        """The squared distance, or chord, of two positions."""
        return sphere_d2(*unit_vector(*a), *unit_vector(*b)) if self.wraps else planar_d2(*a, *b)


PLANE = Land(
    False,
    st.integers(-1, 6).map(float) | st.floats(-1.0, 6.0) | st.sampled_from([1e17, 5e-324]),
    st.integers(-1, 6).map(float) | st.floats(-1.0, 6.0),
    (0.0, 1.0, 2.0, 4.0, 6.25, 100.0, 400.0),
    (Grid(0.0, 0.0, 1.0, 1.0, 5, 5), Grid(0.0, 0.0, 1.0, 1.0, 1, 1), Grid(-1.0, -1.0, 8.0, 8.0, 60, 60)),
    ring((0, 0), (5, 0), (5, 4), (2, 2), (0, 5)) + ring((1, 1), (2, 1), (1, 2)),
)
WORLD = Land(
    True,
    st.sampled_from([178.0, 179.0, -180.0, -179.0, -178.0, 0.0, 90.0]) | st.floats(-180.0, 180.0, exclude_max=True),
    st.sampled_from([-1.0, 0.0, 1.0, 89.0, -90.0]) | st.floats(-2.0, 2.0) | st.floats(-90.0, 90.0),
    (0.0, chord2(111_195.0802), chord2(200e3), chord2(2.5e6), chord2(1.2e7), chord2(1.9e7), float(np.inf)),
    (Grid(-180.0, -90.0, 0.1, 0.1, 36, 18), Grid(170.0, -5.0, 1.0, 1.0, 10, 10), Grid(-180.0, -90.0, 0.2, 0.2, 72, 36)),
    ring((178, -1), (182, -1), (182, 2), (178, 2)) + ring((179, 0), (181, 0), (181, 1), (179, 1)),
)
