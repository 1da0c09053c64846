"""Who has to hear of it: events, focal moves and balls to the regions concerned (PLACE*'s handoff and forwarding).

In: events in time order. Out: (item, region) pairs grouped by region, still in time order.
"""

from __future__ import annotations

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import B1, F64, I8, I32, I64
from vedette.kernels.regions import Regions, touch
from vedette.kernels.sweep import LEAVE, UPSERT
from vedette.space import disc_box


@jit
def route_events(old: I32, new: I32, count: int) -> tuple[I64, I64, I8]:
    """An update goes to its region; if it came from another one, that one hears that it left.

    Returns the start per region, and the events with their ops in that order.
    """
    start = np.zeros(count + 1, np.int64)
    for i in range(len(new)):
        if new[i] >= 0:
            start[new[i] + 1] += 1
        if old[i] >= 0 and old[i] != new[i]:
            start[old[i] + 1] += 1
    for r in range(count):
        start[r + 1] += start[r]
    at = start[:count].copy()
    item = np.empty(start[count], np.int64)
    op = np.empty(start[count], np.int8)
    for i in range(len(new)):
        if new[i] >= 0:
            r = new[i]
            item[at[r]] = i
            op[at[r]] = UPSERT
            at[r] += 1
        if old[i] >= 0 and old[i] != new[i]:
            r = old[i]
            item[at[r]] = i
            op[at[r]] = LEAVE
            at[r] += 1
    return start, item, op


@jit
def outcome(slot: I32, old: I32, scratch: I64) -> tuple[I64, I32]:
    """The last event of each object, in the order of events, and the region that the object came from before its first.

    `scratch` is by slot, all -1 before and after.
    """
    came_from = np.empty(len(slot), np.int32)
    for i in range(len(slot)):
        before = scratch[slot[i]]
        came_from[i] = old[i] if before < 0 else came_from[before]
        scratch[slot[i]] = i
    last = np.empty(len(slot), np.int64)
    n = 0
    for i in range(len(slot)):
        if scratch[slot[i]] == i:
            last[n] = i
            n += 1
    for i in last[:n]:
        scratch[slot[i]] = -1
    return last[:n].copy(), came_from[last[:n]]


@jit
def _by_region(pairs: I64, n: int, count: int) -> tuple[I64, I64]:
    start = np.zeros(count + 1, np.int64)
    for k in range(n):
        start[pairs[k, 1] + 1] += 1
    for r in range(count):
        start[r + 1] += start[r]
    at = start[:count].copy()
    item = np.empty(n, np.int64)
    for k in range(n):
        r = pairs[k, 1]
        item[at[r]] = pairs[k, 0]
        at[r] += 1
    return start, item


@jit
def route_focals(
    focal: I32, on: B1, x: F64, y: F64, half_w: F64, half_h: F64, d2: F64, known: B1, regions: Regions, wraps: bool
) -> tuple[I64, I64]:
    """A focal's move goes once to each region that any of its ranges touches or just left.

    half_w, half_h, d2: the widest rectangle and disc that follow each focal (negative: none).
    known[focal, region]: which regions it touched last; updated.
    """
    count = regions.size
    pairs = np.empty((max(1, len(focal) * count), 2), np.int64)
    touched = np.empty(count, np.bool_)
    n = 0
    for i in range(len(focal)):
        f = focal[i]
        touched[:] = False
        if on[i]:
            if half_w[f] >= 0.0:
                w = half_w[f] + 1e-9 * (half_w[f] + abs(x[i]))
                h = half_h[f] + 1e-9 * (half_h[f] + abs(y[i]))
                touch(regions, x[i] - w, y[i] - h, x[i] + w, y[i] + h, wraps, touched)
            if d2[f] >= 0.0:
                x1, y1, x2, y2 = disc_box(x[i], y[i], d2[f], wraps)
                touch(regions, x1, y1, x2, y2, wraps, touched)
        for r in range(count):
            if touched[r] or known[f, r]:
                pairs[n, 0] = i
                pairs[n, 1] = r
                n += 1
            known[f, r] = touched[r]
    return _by_region(pairs, n, count)


@jit
def route_balls(query: I32, on: B1, p: F64, known: B1, regions: Regions, wraps: bool) -> tuple[I64, I64]:
    """A ball goes to each region that it touches or just left. known[query, region] as for focals."""
    count = regions.size
    pairs = np.empty((max(1, len(query) * count), 2), np.int64)
    touched = np.empty(count, np.bool_)
    n = 0
    for i in range(len(query)):
        q = query[i]
        touched[:] = False
        if on[i]:
            x1, y1, x2, y2 = disc_box(p[i, 0], p[i, 1], p[i, 2], wraps)
            if p[i, 2] == np.inf:
                touched[:] = True
            else:
                touch(regions, x1, y1, x2, y2, wraps, touched)
        for r in range(count):
            if touched[r] or known[q, r]:
                pairs[n, 0] = i
                pairs[n, 1] = r
                n += 1
            known[q, r] = touched[r]
    return _by_region(pairs, n, count)
