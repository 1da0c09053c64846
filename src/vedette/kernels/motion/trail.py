"""Where objects were, for what is measured: raw updates, and boxes around a few of them (CMP's index points).

A box says for sure that its object had an update at `begin` and at `end`, and none outside of it in between. Where that
does not settle how far the object was, the updates behind the box are read, from the newest to the oldest.
"""

from __future__ import annotations

import numpy as np

from vedette.compiled import folded, jit
from vedette.kernels.motion.tables import BASE, BOXES, NEVER, UPDATES, Table, World
from vedette.kernels.motion.vicinity import enter

FAR_LON = 180.0  # a step over the antimeridian begins a box


@folded
def note(w: World, o: int, t: int, x: float, y: float) -> None:
    """An update of object o."""
    boxes, updates, objects, count = w.trail.boxes, w.trail.updates, w.objects, w.counts
    n = count[UPDATES]
    count[UPDATES] += 1
    u = n - count[BASE]
    updates[u].t = t
    updates[u].x = x
    updates[u].y = y
    updates[u].object = o
    enter(w, u)
    k = int(objects[o].box)
    updates[u].before = boxes[k].last if k >= 0 else -1
    if k >= 0 and t // w.trail.pane == boxes[k].begin // w.trail.pane:
        wide = max(x, boxes[k].x1) - min(x, boxes[k].x0)
        if not (w.areas.wraps and wide > FAR_LON):
            boxes[k].end = t
            boxes[k].last = n
            boxes[k].x0 = min(x, boxes[k].x0)
            boxes[k].y0 = min(y, boxes[k].y0)
            boxes[k].x1 = max(x, boxes[k].x1)
            boxes[k].y1 = max(y, boxes[k].y1)
            return
    new = count[BOXES]
    count[BOXES] += 1
    boxes[new].object = o
    boxes[new].begin = boxes[new].end = t
    boxes[new].x0 = boxes[new].x1 = x
    boxes[new].y0 = boxes[new].y1 = y
    boxes[new].last = n
    boxes[new].before = k
    boxes[new].recalled = -1
    boxes[new].asked = False
    objects[o].box = new
    if k < 0:
        objects[o].begin = t


@jit
def forget_boxes(w: World, horizon: int, old: Table) -> None:
    """Boxes that ended before the horizon go; those that stay stand by object, from the oldest to the newest.

    `old` is a copy of all: boxes of an object are looked at one after the other, and neighbours are read faster.
    """
    boxes, objects = w.trail.boxes, w.objects
    n = w.counts[BOXES]
    place = np.zeros(len(objects) + 1, np.int64)
    for k in range(n):
        if old[k].end >= horizon:
            place[old[k].object + 1] += 1
    place = np.cumsum(place)
    w.counts[BOXES] = place[-1]
    for o in range(len(objects)):
        objects[o].begin = NEVER
        objects[o].box = place[o + 1] - 1 if place[o + 1] > place[o] else -1
    for k in range(n):  # in this order an object's boxes are in the order of time, as they came or stood
        if old[k].end < horizon:
            continue
        o = old[k].object
        kept = place[o]
        place[o] += 1
        boxes[kept] = old[k]
        is_first = objects[o].begin == NEVER
        boxes[kept].before = -1 if is_first else kept - 1
        if is_first:
            objects[o].begin = old[k].begin
