"""Motion patterns from scratch at every instant: one compiled pass over the columns of each step's window.

What the incremental evaluation is compared with. Updates are in time order, so that a window is a slice; a step is only
tested for objects that satisfied those before it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vedette.compiled import jit

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@jit
def matches(t: I64, o: I64, x: F64, y: F64, tau: int, windows: I64, always: I64, boxes: F64, objects: int) -> I64:
    """Objects that satisfy all steps; step k asks for the box boxes[k] in [tau - a, tau - b]."""
    passed = np.zeros(objects, np.int64)
    for k in range(len(windows)):
        first = np.searchsorted(t, tau - windows[k, 0])
        stop = np.searchsorted(t, tau - windows[k, 1], side="right")
        x0, y0, x1, y1 = boxes[k]
        if always[k]:
            fails = np.zeros(objects, np.bool_)
            for i in range(first, stop):
                if passed[o[i]] >= k and not (x0 <= x[i] <= x1 and y0 <= y[i] <= y1):
                    fails[o[i]] = True
            for i in range(first, stop):
                if passed[o[i]] == k and not fails[o[i]]:
                    passed[o[i]] = k + 1
        else:
            for i in range(first, stop):
                if passed[o[i]] == k and x0 <= x[i] <= x1 and y0 <= y[i] <= y1:
                    passed[o[i]] = k + 1
    return np.flatnonzero(passed == len(windows))


@jit
def lowest(t: I64, o: I64, x: F64, y: F64, tau: int, windows: I64, points: F64, objects: int, n: int) -> F64:
    """The n lowest sums of least distances."""
    total = np.zeros(objects)
    for k in range(len(windows)):
        first = np.searchsorted(t, tau - windows[k, 0])
        stop = np.searchsorted(t, tau - windows[k, 1], side="right")
        best = np.full(objects, math.inf)
        for i in range(first, stop):
            dx, dy = x[i] - points[k, 0], y[i] - points[k, 1]
            best[o[i]] = min(best[o[i]], dx * dx + dy * dy)
        total += np.sqrt(best)
    return np.sort(total)[:n]
