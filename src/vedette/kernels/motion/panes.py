"""The boxes of everybody at an instant side by side: lower bounds of scores, many objects at once (CMP's LBT).

Time falls into *panes*, as long as a box lasts at most, and each object has one box in each of them. Objects that are
near each other now are put into the same *block*, so that a block as a whole can be too far away; the lanes of a block
are looked at together, several with one instruction. On the sphere a box is a ball around its middle, and the straight
line through the globe, which is shorter than the way over it, is the bound.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from vedette.compiled import bare, folded, jit
from vedette.kernels.arrays import F64, I64
from vedette.kernels.grid import Grid, cell_of
from vedette.kernels.motion.scores import SLACK_M, WIDER
from vedette.kernels.motion.tables import LONG_AGO, NEVER, PHASE, POINTS, SHEET, World
from vedette.kernels.shapes import DISC
from vedette.space import EARTH_RADIUS_M, RADIANS_PER_DEGREE, sphere_d2, unit_vector

LANES = 32  # objects of a block
NO_PANE: Any = np.int64(0)
CELLS_ACROSS = 64  # that objects are put together by


class Sheet(NamedTuple):
    """Objects block by block, -1 behind the last, and their boxes[block, pane, side, lane].

    Sides are x0, y0, x1, y1; an empty box is infinitely far from everything. On the sphere: a unit vector, and how far
    from there updates are in metres.
    `whole[block, pane]`: a box around all boxes of the block, in the plane. `first`: the number of the first pane.
    """

    object: I64
    boxes: F64
    whole: F64
    first: int


@bare
def has_been(w: World, s: int, o: int, tau: int) -> bool:
    """Whether the ends of an object's trail leave it possible that all windows hold updates."""
    return bool(
        w.objects[o].box >= 0
        and w.objects[o].begin <= tau - w.patterns[s].farthest
        and w.objects[o].last >= tau - w.patterns[s].nearest
    )


@jit
def no_sheet() -> Sheet:
    """Nobody."""
    return Sheet(np.zeros(0, np.int64), np.zeros((0, 0, 4, LANES)), np.zeros((0, 0, 4)), NO_PANE)


@jit
def sheet_of(w: World, tau: int) -> Sheet:
    """The sheet for all patterns that are asked at tau and for which everybody may be an answer.

    If there is no room for it, count[SHEET] says how much is needed, and the sheet is empty.
    """
    nearest, farthest, longest, latest = LONG_AGO, NEVER, LONG_AGO, NEVER
    for s in range(len(w.patterns) - 1):
        pattern = w.patterns[s]
        if pattern.every > 0 and pattern.has_score and pattern.due == tau and pattern.is_free:
            nearest, farthest = max(nearest, pattern.nearest), min(farthest, pattern.farthest)
            for q in range(pattern.first, w.patterns[s + 1].first):
                longest, latest = max(longest, w.areas.steps[q].a), min(latest, w.areas.steps[q].b)
    if nearest == LONG_AGO:
        return no_sheet()
    objects = _in_order(w, tau - farthest, tau - nearest)
    first = (tau - longest) // w.trail.pane
    panes = (tau - latest) // w.trail.pane - first + 1
    blocks = len(objects) // LANES
    size = blocks * panes * 4 * LANES
    w.counts[SHEET] = max(w.counts[SHEET], size)
    if size > len(w.trail.sheet):
        return no_sheet()
    boxes = w.trail.sheet[:size].reshape((blocks, panes, 4, LANES))
    for side in range(4):
        boxes[:, :, side] = math.inf if side < 2 else -math.inf
    for i in range(len(objects)):
        if objects[i] >= 0:
            _put_boxes(w, objects[i], first, boxes[i // LANES], i % LANES)
    return Sheet(objects, boxes, _wholes(boxes, w.areas.wraps), first)


@jit
def _in_order(w: World, begun: int, still: int) -> I64:
    """Objects whose trails began by a time and went on until another, those of a cell together, in full blocks."""
    found: Any = np.int64(0)
    x0, y0, x1, y1 = math.inf, math.inf, -math.inf, -math.inf
    which = np.empty(len(w.objects), np.int64)
    for o in range(len(w.objects)):
        if w.objects[o].box >= 0 and w.objects[o].begin <= begun and w.objects[o].last >= still:
            which[found] = o
            found += 1
            x0, y0 = min(x0, w.objects[o].x), min(y0, w.objects[o].y)
            x1, y1 = max(x1, w.objects[o].x), max(y1, w.objects[o].y)
    per_x, per_y = CELLS_ACROSS / max(x1 - x0, 1e-300), CELLS_ACROSS / max(y1 - y0, 1e-300)
    grid = Grid(x0, y0, per_x, per_y, CELLS_ACROSS, CELLS_ACROSS)
    cell, place = np.empty(found, np.int64), np.zeros(CELLS_ACROSS * CELLS_ACROSS + 1, np.int64)
    for i in range(found):
        cell[i] = cell_of(grid, w.objects[which[i]].x, w.objects[which[i]].y)
        place[cell[i] + 1] += 1
    for c in range(CELLS_ACROSS * CELLS_ACROSS):
        place[c + 1] += place[c]
    objects = np.full(-(-found // LANES) * LANES, -1, np.int64)
    for i in range(found):
        objects[place[cell[i]]] = which[i]
        place[cell[i]] += 1
    return objects


@folded
def _put_boxes(w: World, o: int, first: int, boxes: F64, lane: int) -> None:
    """The boxes of an object from pane `first` on."""
    k = int(w.objects[o].box)
    while k >= 0:
        box = w.trail.boxes[k]
        stop = min(box.end // w.trail.pane - first + 1, len(boxes))
        if stop <= 0:
            break
        w.counts[POINTS + w.counts[PHASE]] += 1
        for pane in range(max(0, box.begin // w.trail.pane - first), stop):  # of another length when the box began
            if w.areas.wraps:
                _join_ball(boxes[pane], lane, box.x0, box.y0, box.x1, box.y1)
            else:
                boxes[pane, 0, lane] = min(boxes[pane, 0, lane], box.x0)
                boxes[pane, 1, lane] = min(boxes[pane, 1, lane], box.y0)
                boxes[pane, 2, lane] = max(boxes[pane, 2, lane], box.x1)
                boxes[pane, 3, lane] = max(boxes[pane, 3, lane], box.y1)
        k = int(box.before)


@folded
def _join_ball(pane: F64, lane: int, x0: float, y0: float, x1: float, y1: float) -> None:
    """Make the ball of a lane hold a box, too."""
    x, y, z = unit_vector(0.5 * (x0 + x1), 0.5 * (y0 + y1))
    wide = 0.5 * ((x1 - x0) + (y1 - y0)) * RADIANS_PER_DEGREE * EARTH_RADIUS_M + SLACK_M
    if pane[3, lane] == -math.inf:
        pane[0, lane] = x
        pane[1, lane] = y
        pane[2, lane] = z
        pane[3, lane] = wide
        return
    d2 = sphere_d2(x, y, z, pane[0, lane], pane[1, lane], pane[2, lane])
    pane[3, lane] = max(pane[3, lane], math.sqrt(d2) * EARTH_RADIUS_M + wide)


@jit
def _wholes(boxes: F64, wraps: bool) -> F64:
    """A box around each block."""
    whole = np.zeros((boxes.shape[0], boxes.shape[1], 4))
    if wraps:
        return whole
    for block in range(len(boxes)):
        for pane in range(boxes.shape[1]):
            for side in range(4):
                sign = 1.0 if side < 2 else -1.0
                best = math.inf
                for lane in range(LANES):
                    best = min(best, sign * boxes[block, pane, side, lane])
                whole[block, pane, side] = sign * best
    return whole


# ------------------------------------------------------------------------------------------ lower bounds


@jit
def lower_bounds(w: World, sheet: Sheet, s: int, tau: int, reach: float) -> tuple[I64, F64]:
    """Objects that may score no more than `reach`, and a lower bound of the score of each."""
    most = len(sheet.object)
    who, low = np.empty(most, np.int64), np.empty(most)
    near, total = np.empty(LANES), np.empty(LANES)
    found: Any = np.int64(0)
    for block in range(len(sheet.boxes)):
        if not _may_be_near(w, sheet, s, tau, block, reach, near, total):
            continue
        for lane in range(LANES):
            o = sheet.object[block * LANES + lane]
            if total[lane] <= reach and total[lane] < math.inf and has_been(w, s, o, tau):
                who[found], low[found] = o, total[lane] * (1.0 - WIDER)
                found += 1
    return who[:found], low[:found]


@folded
def _may_be_near(w: World, sheet: Sheet, s: int, tau: int, block: int, reach: float, near: F64, total: F64) -> bool:
    """Sum up for each lane of a block; whether any of them may be within reach.

    The latest step comes first: objects of a block are near each other now.
    """
    total[:] = 0.0
    for k in range(w.patterns[s + 1].first - w.patterns[s].first):
        q = w.patterns[s + 1].first - 1 - k
        step, last = w.areas.steps[q], sheet.boxes.shape[1] - 1
        first = max(0, max(tau - step.a, w.patterns[s].since) // w.trail.pane - sheet.first)
        stop = min(last, (tau - step.b) // w.trail.pane - sheet.first) + 1
        w.counts[POINTS + w.counts[PHASE]] += 1
        if w.areas.wraps:
            _nearest_on_sphere(w.areas.p[q], sheet.boxes[block], first, stop, near)
        else:
            if k == 0 and _nearest_of_block(w, q, sheet.whole[block], first, stop) > reach:
                return False
            _nearest_in_plane(w, q, sheet.boxes[block], first, stop, near)
        slack = SLACK_M if w.areas.wraps else _slack(w, q)
        for lane in range(LANES):
            d = near[lane] * (1.0 - WIDER) - slack - step.radius
            total[lane] += max(0.0, d)
        lowest = math.inf
        for lane in range(LANES):
            lowest = min(lowest, total[lane])
        if lowest > reach or lowest == math.inf:
            return False
    return True


@folded
def _slack(w: World, q: int) -> float:
    """What the rounding of coordinates can be, and far more."""
    size: float = abs(_side(w, q, 0)) + abs(_side(w, q, 1)) + abs(_side(w, q, 2)) + abs(_side(w, q, 3))
    return WIDER * (size + float(w.areas.steps[q].radius))


@folded
def _side(w: World, q: int, side: int) -> float:
    """A side of the box around what step q measures to; a disc is its middle."""
    value: float = w.areas.p[q, side % 2 if w.areas.steps[q].kind == DISC else side]
    return value


@folded
def _nearest_of_block(w: World, q: int, whole: F64, first: int, stop: int) -> float:
    """No box of the block in these panes is nearer to what step q measures to."""
    x0, y0, x1, y1 = _side(w, q, 0), _side(w, q, 1), _side(w, q, 2), _side(w, q, 3)
    best = math.inf
    for pane in range(first, stop):
        dx = max(whole[pane, 0] - x1, x0 - whole[pane, 2], 0.0)
        dy = max(whole[pane, 1] - y1, y0 - whole[pane, 3], 0.0)
        best = min(best, dx * dx + dy * dy)
    bound: float = math.sqrt(best) * (1.0 - WIDER) - _slack(w, q) - w.areas.steps[q].radius
    return bound


@folded
def _nearest_in_plane(w: World, q: int, boxes: F64, first: int, stop: int, near: F64) -> None:
    """By lane: how near its boxes in these panes are to what step q measures to."""
    x0, y0, x1, y1 = _side(w, q, 0), _side(w, q, 1), _side(w, q, 2), _side(w, q, 3)
    near[:] = math.inf
    for pane in range(first, stop):
        for lane in range(LANES):
            left, right = boxes[pane, 0, lane] - x1, x0 - boxes[pane, 2, lane]
            below, above = boxes[pane, 1, lane] - y1, y0 - boxes[pane, 3, lane]
            dx = max(right, left)
            dx = max(0.0, dx)
            dy = max(above, below)
            dy = max(0.0, dy)
            d2 = dx * dx + dy * dy
            near[lane] = min(near[lane], d2)
    for lane in range(LANES):
        near[lane] = math.sqrt(near[lane])


@folded
def _nearest_on_sphere(p: F64, boxes: F64, first: int, stop: int, near: F64) -> None:
    """By lane: how near its boxes in these panes are to the middle of a disc, in metres straight through the globe."""
    near[:] = math.inf
    for pane in range(first, stop):
        for lane in range(LANES):
            dx = boxes[pane, 0, lane] - p[3]
            dy = boxes[pane, 1, lane] - p[4]
            dz = boxes[pane, 2, lane] - p[5]
            d = math.sqrt(dx * dx + dy * dy + dz * dz) * EARTH_RADIUS_M - boxes[pane, 3, lane]
            near[lane] = min(near[lane], d)
