"""Motion patterns from scratch at every instant, over the columns of each step's window: compiled, and in plain numpy.

What the evaluation ahead is compared with. Updates are in time order, so that a window is a slice; the compiled pass
tests a step only for objects that satisfied those before it.
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


def matches_in_numpy(
    t: I64, o: I64, x: F64, y: F64, tau: int, windows: I64, always: I64, boxes: F64, objects: int
) -> I64:
    """The same as `matches`, by masks."""
    passed = np.ones(objects, np.bool_)
    for (a, b), is_always, (x0, y0, x1, y1) in zip(windows, always, boxes, strict=True):
        part = slice(np.searchsorted(t, tau - a), np.searchsorted(t, tau - b, side="right"))
        inside = (x0 <= x[part]) & (x[part] <= x1) & (y0 <= y[part]) & (y[part] <= y1)
        found = np.zeros(objects, np.bool_)
        found[o[part][inside]] = True
        if is_always:
            found[o[part][~inside]] = False
        passed &= found
    return np.flatnonzero(passed)


def lowest_in_numpy(t: I64, o: I64, x: F64, y: F64, tau: int, windows: I64, points: F64, objects: int, n: int) -> F64:
    """The same as `lowest`, by one scattered minimum a step."""
    total = np.zeros(objects)
    for (a, b), (px, py) in zip(windows, points, strict=True):
        part = slice(np.searchsorted(t, tau - a), np.searchsorted(t, tau - b, side="right"))
        best = np.full(objects, np.inf)
        np.minimum.at(best, o[part], (x[part] - px) ** 2 + (y[part] - py) ** 2)
        total += np.sqrt(best)
    return np.sort(total)[:n]
