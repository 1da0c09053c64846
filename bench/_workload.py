"""What is measured: objects that wander in the unit square, and queries that watch them. The seed decides everything.

Objects start anywhere and move at every tick by a normal step of sigma 0.001 of the side in x and in y, mirrored at the
border. Rectangles have 1% of the side. The first n queries of a bigger workload are the n queries of a smaller one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

SIDE = 0.01
STEP = 0.001


@dataclass(frozen=True)
class Workload:
    """How many of each; `ids` is "long" or "string"; a batch holds one tick unless `batch_rows` says how many rows."""

    objects: int
    stationary: int = 0
    moving: int = 0
    knn: int = 0
    knn_moving: int = 0
    k: int = 10
    ids: str = "long"
    batch_rows: int | None = None
    seed: int = 1

    @property
    def queries(self) -> int:
        """All queries together; they are numbered in this order: stationary, moving, knn, knn_moving."""
        return self.stationary + self.moving + self.knn + self.knn_moving

    def boxes(self) -> F64:
        """The stationary rectangles: a row (x1, y1, x2, y2) for each."""
        corner = self._random(0).random((self.stationary, 2)) * (1 - SIDE)
        return np.hstack([corner, corner + SIDE])

    def focals(self) -> I64:
        """The objects (by number) that the moving rectangles are centred on: all different while there are enough."""
        return self._random(1).permutation(self.objects)[np.arange(self.moving) % self.objects]

    def points(self) -> F64:
        """The points whose nearest objects are asked for."""
        return self._random(2).random((self.knn, 2))

    def knn_focals(self) -> I64:
        """The objects (by number) whose nearest neighbours are asked for."""
        return self._random(3).permutation(self.objects)[np.arange(self.knn_moving) % self.objects]

    def sql(self) -> str:
        """The queries, named q0, q1, ... in the order of their numbers."""
        head, n = "AS SELECT oid FROM objects", self.stationary
        name = (lambda i: f"'{text_id(i)}'") if self.ids == "string" else str
        lines = [
            f"CREATE QUERY q{i} {head} INSIDE ({a!r}, {b!r}, {c!r}, {d!r});"
            for i, (a, b, c, d) in enumerate(self.boxes().tolist())
        ]
        lines += [
            f"CREATE QUERY q{n + i} {head} INSIDE ('M', {name(o)}, {SIDE}, {SIDE});"
            for i, o in enumerate(self.focals().tolist())
        ]
        n += self.moving
        lines += [
            f"CREATE QUERY q{n + i} {head} KNN ({self.k}, {a!r}, {b!r});"
            for i, (a, b) in enumerate(self.points().tolist())
        ]
        n += self.knn
        lines += [
            f"CREATE QUERY q{n + i} {head} KNN ('M', {self.k}, {name(o)});"
            for i, o in enumerate(self.knn_focals().tolist())
        ]
        return "\n".join(lines) + "\n"

    def ticks(self) -> Iterator[tuple[F64, F64]]:
        """Where all objects are at t = 0, 1, ... without end."""
        random = self._random(4)
        x, y = random.random(self.objects), random.random(self.objects)
        while True:
            yield x, y
            x, y = (
                _mirrored(x + random.normal(0, STEP, self.objects)),
                _mirrored(y + random.normal(0, STEP, self.objects)),
            )

    def oids(self) -> pa.Array:
        """The ids of the objects in the order of their numbers."""
        if self.ids == "string":
            return pa.array([text_id(i) for i in range(self.objects)], pa.string())
        return pa.array(np.arange(self.objects))

    def batches(self) -> Iterator[pa.Table]:
        """The stream without end, cut into batches; each is made when it is asked for, so only one is in memory."""
        oid = self.oids()
        rows = self.batch_rows or self.objects
        waiting: list[pa.Table] = []
        for t, (x, y) in enumerate(self.ticks()):
            waiting.append(pa.table({"oid": oid, "t": np.full(self.objects, t), "x": x, "y": y}))
            while sum(w.num_rows for w in waiting) >= rows:
                table = pa.concat_tables(waiting)
                yield table.slice(0, rows).combine_chunks()
                rest = table.slice(rows)
                waiting = [rest] if rest.num_rows else []

    def _random(self, part: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, part])


def text_id(number: int) -> str:
    """The id of an object where ids are strings."""
    return f"object-{number:07d}"


def _mirrored(a: F64) -> F64:
    once: F64 = np.abs(a)
    return np.subtract(1, np.abs(1 - once))
