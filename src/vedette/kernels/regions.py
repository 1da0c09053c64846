"""How space is cut into regions: a k-d tree that follows a first sample of the data.

In: a sample of positions, a number of regions. Out: the region of any position, and the regions that a
box can touch. Every position of the plane belongs to exactly one region: the outer ones reach to infinity.
The cut decides who does the work, never an answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vedette.compiled import inline, jit
from vedette.kernels.arrays import F64, I32


class Regions(NamedTuple):
    """Inner node i sends x < cut (axis 0) or y < cut (axis 1) to child[i, 0], the rest to child[i, 1].

    A child c < 0 is region -1 - c; `size` is the number of regions.
    """

    size: int
    axis: I32
    cut: F64
    child: NDArray[np.int32]


def split(xs: F64, ys: F64, count: int) -> Regions:
    """Cut space into `count` regions with about equally many of the sample's positions each."""
    axes: list[int] = []
    cuts: list[float] = []
    children: list[list[int]] = []
    next_region = 0

    def build(x: F64, y: F64, n: int, depth: int) -> int:
        nonlocal next_region
        if n == 1:
            next_region += 1
            return -next_region
        spread = (np.ptp(x / 2), np.ptp(y / 2)) if len(x) else (0.0, 0.0)  # halves: a difference may overflow
        axis = depth % 2 if spread[0] == spread[1] else int(spread[1] > spread[0])
        values = y if axis else x
        left = n // 2
        cut = float(np.quantile(values, left / n, method="lower")) if len(values) else float(depth)
        node = len(axes)
        axes.append(axis)
        cuts.append(cut)
        children.append([0, 0])
        low = values < cut
        children[node][0] = build(x[low], y[low], left, depth + 1)
        children[node][1] = build(x[~low], y[~low], n - left, depth + 1)
        return node

    build(xs, ys, count, 0)
    return Regions(
        count,
        np.array(axes, np.int32),
        np.array(cuts, np.float64),
        np.array(children, np.int32).reshape(-1, 2),
    )


@inline
def region_of(regions: Regions, x: float, y: float) -> int:
    """The region that owns a position."""
    node = 0 if regions.size > 1 else -1
    while node >= 0:
        v = x if regions.axis[node] == 0 else y
        node = regions.child[node, 0 if v < regions.cut[node] else 1]
    return -1 - node


@inline
def touch(
    regions: Regions, x1: float, y1: float, x2: float, y2: float, wraps: bool, touched: NDArray[np.bool_]
) -> None:
    """Set touched[r] for each region that a (closed, outward rounded) box shares points with."""
    if regions.size == 1:
        touched[0] = True
        return
    stack = np.empty(len(regions.axis) + 1, np.int32)
    for turn in range(-1, 2):
        if not wraps and turn != 0:
            continue
        a = x1 + 360.0 * turn
        b = x2 + 360.0 * turn
        if wraps:
            a -= 1e-9
            b += 1e-9
            if b < -180.0 or a > 180.0:
                continue
        n = 1
        stack[0] = 0
        while n > 0:
            n -= 1
            node = stack[n]
            if node < 0:
                touched[-1 - node] = True
                continue
            low = a if regions.axis[node] == 0 else y1
            high = b if regions.axis[node] == 0 else y2
            if low < regions.cut[node]:
                stack[n] = regions.child[node, 0]
                n += 1
            if high >= regions.cut[node]:
                stack[n] = regions.child[node, 1]
                n += 1


@jit
def regions_of(regions: Regions, xs: F64, ys: F64) -> I32:
    """The region of each position."""
    out = np.empty(len(xs), np.int32)
    for i in range(len(xs)):
        out[i] = region_of(regions, xs[i], ys[i])
    return out


@jit
def touched_by(regions: Regions, x1: float, y1: float, x2: float, y2: float, wraps: bool) -> NDArray[np.bool_]:
    """The regions that a box can touch, as a mask."""
    touched = np.zeros(regions.size, np.bool_)
    touch(regions, x1, y1, x2, y2, wraps, touched)
    return touched
