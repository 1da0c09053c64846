"""What all stages of one run agree on, fixed when the first updates tell where things are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from vedette.kernels.arrays import F64
from vedette.kernels.ids import bucket_of_ids
from vedette.kernels.regions import Regions, split
from vedette.model import Schema
from vedette.space import Space


@dataclass(frozen=True)
class Setup:
    """Times are in ticks of the stream. `timeout`, `max_ahead` None: never. `landmarks`: some places of the stream.

    `resident_updates`: how many updates a bucket keeps in memory for what patterns measure, before they go to pages. It
    decides memory and speed, never an answer, and may be another one when a run goes on.
    """

    space: Space
    schema: Schema
    lateness: int
    timeout: int | None
    max_ahead: int | None
    late: Literal["apply", "drop"]
    buckets: int
    regions: Regions
    resident_updates: int
    landmarks: F64 = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def wraps(self) -> bool:
        """Whether longitudes go round."""
        return self.space.is_lonlat


MOST_LANDMARKS = 512


def bucket_of(key: bytes, buckets: int) -> int:
    """The bucket of an id, or of a query's name."""
    return int(bucket_of_ids(np.array([0, len(key)], np.int64), np.frombuffer(key or b"\0", np.uint8), buckets)[0])


def cut(x: F64, y: F64, space: Space, regions: int) -> Regions:
    """Space cut by a sample of positions; by its bounds where too few of them are within."""
    if space.bounds is not None:
        x0, y0, x1, y1 = space.bounds
        inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
        x, y = x[inside], y[inside]
        if len(x) < regions:
            grid_x, grid_y = np.meshgrid(np.linspace(x0, x1, 65), np.linspace(y0, y1, 65))
            x, y = grid_x.ravel(), grid_y.ravel()
    return split(x, y, regions)


def landmarks_of(x: F64, y: F64) -> F64:
    """A few of the positions that space was cut by: what a cut costs is estimated with them."""
    every = max(1, -(-len(x) // MOST_LANDMARKS))
    return np.column_stack((x[::every], y[::every]))
