"""What one would write with numpy alone: at each tick each query looks at all objects; then the answers are compared.

In: the positions at a tick. Out: the changes as (query, object, sign) and the seconds that each family of queries took.
It is vectorised over the objects, allocates nothing per query that it can keep, and holds each answer as a Python set:
answers are small here, and numpy's own set differences take several times longer on ten elements. No index: that is
the point.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from _workload import F64, SIDE, Workload
from numpy.typing import NDArray

FAMILIES = ("stationary", "moving", "knn", "knn_moving")


class Naive:
    """The answers of a workload's queries, tick after tick."""

    def __init__(self, load: Workload) -> None:
        self.load = load
        self.seconds = dict.fromkeys(FAMILIES, 0.0)
        self._boxes = load.boxes().tolist()
        self._focals = load.focals().tolist()
        self._points = load.points().tolist()
        self._knn_focals = load.knn_focals().tolist()
        self._answers: list[set[int]] = [set() for _ in range(load.queries)]
        n = load.objects
        self._inside, self._test = np.empty(n, np.bool_), np.empty(n, np.bool_)
        self._d2, self._dy = np.empty(n), np.empty(n)

    def tick(self, x: F64, y: F64) -> list[tuple[int, int, int]]:
        """The changes of one tick as (query, object, sign)."""
        changes: list[tuple[int, int, int]] = []
        first = 0
        for family in FAMILIES:
            begin = time.perf_counter()
            answers = getattr(self, "_" + family)(x, y)
            first = self._compare(first, answers, changes)
            self.seconds[family] += time.perf_counter() - begin
        return changes

    def _compare(self, query: int, answers: Iterable[set[int]], changes: list[tuple[int, int, int]]) -> int:
        for new in answers:
            old = self._answers[query]
            if new != old:
                changes.extend([(query, o, 1) for o in new - old])
                changes.extend([(query, o, -1) for o in old - new])
                self._answers[query] = new
            query += 1
        return query

    # ----------------------------------------------------------------------------------- a family each

    def _stationary(self, x: F64, y: F64) -> Iterable[set[int]]:
        for x1, y1, x2, y2 in self._boxes:
            yield set(self._in_box(x, y, x1, y1, x2, y2).tolist())

    def _moving(self, x: F64, y: F64) -> Iterable[set[int]]:
        half = SIDE / 2
        for focal in self._focals:
            cx, cy = float(x[focal]), float(y[focal])
            answer = set(self._in_box(x, y, cx - half, cy - half, cx + half, cy + half).tolist())
            answer.discard(focal)
            yield answer

    def _knn(self, x: F64, y: F64) -> Iterable[set[int]]:
        for px, py in self._points:
            yield set(self._nearest(x, y, px, py, -1))

    def _knn_moving(self, x: F64, y: F64) -> Iterable[set[int]]:
        for focal in self._knn_focals:
            yield set(self._nearest(x, y, float(x[focal]), float(y[focal]), focal))

    # ------------------------------------------------------------------------------------ all objects

    def _in_box(self, x: F64, y: F64, x1: float, y1: float, x2: float, y2: float) -> NDArray[np.intp]:
        inside, test = self._inside, self._test
        np.greater_equal(x, x1, out=inside)
        np.logical_and(inside, np.less_equal(x, x2, out=test), out=inside)
        np.logical_and(inside, np.greater_equal(y, y1, out=test), out=inside)
        np.logical_and(inside, np.less_equal(y, y2, out=test), out=inside)
        return np.flatnonzero(inside)

    def _nearest(self, x: F64, y: F64, px: float, py: float, but: int) -> list[int]:
        """The k nearest; where the k-th distance is shared, the smaller ids (which are the smaller numbers here)."""
        d2, dy = self._d2, self._dy
        np.subtract(x, px, out=d2)
        np.multiply(d2, d2, out=d2)
        np.subtract(y, py, out=dy)
        np.multiply(dy, dy, out=dy)
        np.add(d2, dy, out=d2)
        if but >= 0:
            d2[but] = np.inf
        k = min(self.load.k, len(d2) - (but >= 0))
        if k == 0:
            return []
        order = self._dy  # free again; partitioning values is a quarter faster than partitioning indices
        order[:] = d2
        order.partition(k - 1)
        nearest = np.flatnonzero(np.less_equal(d2, order[k - 1], out=self._test))
        if len(nearest) > k:
            nearest = nearest[np.lexsort((nearest, d2[nearest]))][:k]
        found: list[int] = nearest.tolist()
        return found
