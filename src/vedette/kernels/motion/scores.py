"""How far an object was from what a step measures to: bounds by boxes alone, and exactly.

SOMETIME measures the least distance over the updates in the window, ALWAYS the greatest.
"""

from __future__ import annotations

import math

from vedette.compiled import folded
from vedette.kernels.motion.distances import distance
from vedette.kernels.motion.tables import ASKED, BASE, NEVER, PAGED_T, PHASE, POINTS, READS, World
from vedette.kernels.shapes import DISC
from vedette.space import EARTH_RADIUS_M, RADIANS_PER_DEGREE, planar_d2

WIDER = 1e-9  # relative; far above rounding
SLACK_M = 1.0  # of distances on the sphere, which have few valid digits near the antipode
NOTHING = -1.0  # the window holds no update


@folded
def _extent(w: World, k: int, q: int) -> tuple[float, float]:
    """The updates of a box are no nearer and no farther than this."""
    boxes, p = w.trail.boxes, w.areas.p
    x0, y0, x1, y1 = boxes[k].x0, boxes[k].y0, boxes[k].x1, boxes[k].y1
    if w.areas.steps[q].kind == DISC and not w.areas.wraps:
        x, y, radius = p[q, 0], p[q, 1], w.areas.steps[q].radius
        near = math.sqrt(planar_d2(x, y, min(max(x, x0), x1), min(max(y, y0), y1)))
        far = math.sqrt(planar_d2(x, y, x0 if x - x0 > x1 - x else x1, y0 if y - y0 > y1 - y else y1))
        slack = WIDER * (far + radius)
        return max(0.0, near - radius - slack), max(0.0, far - radius) + slack
    d = distance(w.areas, q, 0.5 * (x0 + x1), 0.5 * (y0 + y1))
    if w.areas.wraps:
        r = 0.5 * ((x1 - x0) + (y1 - y0)) * RADIANS_PER_DEGREE * EARTH_RADIUS_M + SLACK_M
    else:
        r = 0.5 * math.sqrt(planar_d2(x0, y0, x1, y1))
    size = abs(x0) + abs(x1) + abs(y0) + abs(y1)
    r += WIDER * (d + r + (0.0 if w.areas.wraps else size))
    return max(0.0, d - r), d + r


@folded
def bounds(w: World, q: int, k: int, low: int, high: int) -> tuple[float, float, bool, int]:
    """Bounds of what step q measures over [low, high], and whether there is an update for sure; (inf, ...): none.

    From box k on, which is the first that may have begun by `high`; and the first that had begun by `low`.
    """
    boxes, always = w.trail.boxes, w.areas.steps[q].always
    points = POINTS + w.counts[PHASE]
    sure_low, sure_high, any_low, any_high = math.inf, math.inf, math.inf, -math.inf
    if always:
        sure_low = -math.inf
    is_sure = False
    begun = k
    while k >= 0 and boxes[k].end >= low:
        if boxes[k].begin <= high:
            w.counts[points] += 1
            near, far = _extent(w, k, q)
            any_low, any_high = min(any_low, near), max(any_high, far)
            if boxes[k].begin >= low or boxes[k].end <= high:
                is_sure = True
                sure_low = max(sure_low, near) if always else sure_low
                sure_high = sure_high if always else min(sure_high, far)
        if boxes[k].begin > low:
            begun = int(boxes[k].before)
        k = int(boxes[k].before)
    if any_high < 0.0:
        return math.inf, math.inf, False, begun
    if always:
        return (sure_low if is_sure else any_low), any_high, is_sure, begun
    return any_low, (sure_high if is_sure else any_high), is_sure, begun


@folded
def measured(w: World, o: int, q: int, low: int, high: int) -> float:
    """What step q measures over [low, high], NOTHING; of no worth if count[ASKED] says that boxes are to be read."""
    boxes, always = w.trail.boxes, w.areas.steps[q].always
    best = NOTHING
    k = int(w.objects[o].box)
    while k >= 0 and boxes[k].end >= low:
        if boxes[k].begin <= high:
            w.counts[POINTS + w.counts[PHASE]] += 1
            near, far = _extent(w, k, q)
            if best == NOTHING or (far > best if always else near < best):
                best = _extreme(w, k, q, low, high, best)
        k = int(boxes[k].before)
    return best


@folded
def _extreme(w: World, k: int, q: int, low: int, high: int, best: float) -> float:
    """The better of `best` and what the updates of a box say."""
    updates, always, boxes = w.trail.updates, w.areas.steps[q].always, w.trail.boxes
    base, reads = w.counts[BASE], READS + w.counts[PHASE]
    n, first = boxes[k].last, max(low, boxes[k].begin)
    t = NEVER
    while n >= base:
        t = updates[n - base].t
        if t < first:
            return best
        if t <= high:
            w.counts[reads] += 1
            d = distance(w.areas, q, updates[n - base].x, updates[n - base].y)
            best = d if best == NOTHING else max(best, d) if always else min(best, d)
        if t == boxes[k].begin:
            return best
        n = updates[n - base].before
    if first > w.counts[PAGED_T]:
        return best
    if boxes[k].recalled < 0:
        boxes[k].asked = True
        w.counts[ASKED] += 1
        return best
    recalled = w.trail.recalled
    for i in range(recalled.start[boxes[k].recalled], recalled.start[boxes[k].recalled + 1]):
        if first <= recalled.t[i] <= high and recalled.t[i] < t:
            w.counts[reads] += 1
            d = distance(w.areas, q, recalled.x[i], recalled.y[i])
            best = d if best == NOTHING else max(best, d) if always else min(best, d)
    return best
