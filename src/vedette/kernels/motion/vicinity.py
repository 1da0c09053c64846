"""Updates by place: who has been near what a step measures to, where that is not everybody (CMP's vicinity).

Each update in memory hangs in the bucket of its cell, the newest first. Where few have been near, that is faster than
to look at everybody's boxes; where it turns out that many have, it is given up, and not tried again for a while.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vedette.compiled import folded, jit
from vedette.kernels.arrays import F64, I64
from vedette.kernels.motion.distances import distance
from vedette.kernels.motion.scores import SLACK_M, WIDER
from vedette.kernels.motion.tables import BASE, PAGED_T, PHASE, POINTS, UPDATES, World
from vedette.kernels.shapes import DISC
from vedette.space import EARTH_RADIUS_M, RADIANS_PER_DEGREE

FARTHEST_CELL = 1e9
MOST_CELLS = 4096  # of a vicinity; beyond that it is as dear to look at everybody
FEWEST_POINTS = 2048  # that are looked at in a vicinity before that is given up, or what everybody took the last time
RELIEF = 1.02  # so much wider a vicinity may be again each time that it is passed over as crowded
MOST_LAT = 89.9  # nearer to a pole a vicinity takes all longitudes
NARROW = 1e-6  # degrees, a tenth of a metre


@folded
def cell_at(w: World, v: float) -> int:
    """Along one side, the number of the cell of a coordinate."""
    return math.floor(min(max(v / w.trail.side, -FARTHEST_CELL), FARTHEST_CELL))


@folded
def bucket_of(w: World, column: int, row: int) -> int:
    """The bucket of a cell; it has others, too."""
    return (column * 73856093 + row * 19349663) & (len(w.trail.heads) - 1)


@folded
def enter(w: World, u: int) -> None:
    """Hang update u of those in memory into its bucket."""
    update = w.trail.updates[u]
    bucket = bucket_of(w, cell_at(w, update.x), cell_at(w, update.y))
    update.near = w.trail.heads[bucket]
    w.trail.heads[bucket] = w.counts[BASE] + u


@jit
def enter_all(w: World) -> None:
    """Hang all updates in memory into their buckets."""
    w.trail.heads[:] = -1
    for u in range(w.counts[UPDATES] - w.counts[BASE]):
        enter(w, u)


@folded
def latest_step(w: World, s: int) -> int:
    """The step that looks back the least."""
    best = int(w.patterns[s].first)
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        if w.areas.steps[q].a < w.areas.steps[best].a:
            best = q
    return best


@jit
def near(w: World, s: int, tau: int, reach: float) -> tuple[bool, I64, F64]:
    """Objects that have been within reach of the latest step, and the least distance of each; or that they are many."""
    q = latest_step(w, s)
    low, high = max(tau - w.areas.steps[q].a, w.patterns[s].since), tau - w.areas.steps[q].b
    x0, y0, x1, y1 = vicinity(w, q, reach)
    columns, rows = cell_at(w, x1) - cell_at(w, x0) + 1, cell_at(w, y1) - cell_at(w, y0) + 1
    if low <= w.counts[PAGED_T] or columns * rows > MOST_CELLS or not _is_worth_a_try(w, s, reach):
        return False, np.empty(0, np.int64), np.empty(0)
    updates, base, least = w.trail.updates, w.counts[BASE], w.trail.least
    most: Any = max(np.int64(FEWEST_POINTS), w.patterns[s].dear)
    left = most
    objects = np.empty(min(left, len(least)), np.int64)
    found: Any = np.int64(0)
    oldest = low - w.trail.disorder
    for column in range(cell_at(w, x0), cell_at(w, x1) + 1):
        for row in range(cell_at(w, y0), cell_at(w, y1) + 1):
            n = w.trail.heads[bucket_of(w, column, row)]
            while n >= base and updates[n - base].t >= oldest and left > 0:
                u = updates[n - base]
                left -= 1
                w.counts[POINTS + w.counts[PHASE]] += 1
                n = u.near
                if low <= u.t <= high and x0 <= u.x <= x1 and y0 <= u.y <= y1:
                    if least[u.object] == math.inf:
                        objects[found] = u.object
                        found += 1
                    least[u.object] = min(least[u.object], distance(w.areas, q, u.x, u.y))
    objects = objects[:found]
    leasts = least[objects]
    least[objects] = math.inf
    if left == 0:
        w.patterns[s].crowded = reach
        w.patterns[s].tried = most
    return left > 0, objects, leasts


@folded
def _is_worth_a_try(w: World, s: int, reach: float) -> bool:
    """Whether a vicinity has not been crowded lately, or everybody was dearer."""
    pattern = w.patterns[s]
    if pattern.crowded > 0.0 and reach >= pattern.crowded and pattern.dear < 2 * pattern.tried:
        pattern.crowded *= RELIEF
        return False
    return True


@folded
def vicinity(w: World, q: int, reach: float) -> tuple[float, float, float, float]:
    """A box around all positions from which step q measures no more than `reach`."""
    p, step = w.areas.p, w.areas.steps[q]
    x0, y0, x1, y1 = p[q, 0], p[q, 1], p[q, 2], p[q, 3]
    if step.kind == DISC:
        reach += step.radius
        x0, y0, x1, y1 = p[q, 0], p[q, 1], p[q, 0], p[q, 1]
    if not w.areas.wraps:
        reach += WIDER * (reach + abs(x0) + abs(y0) + abs(x1) + abs(y1))
        return x0 - reach, y0 - reach, x1 + reach, y1 + reach
    angle = (reach + SLACK_M) * (1.0 + WIDER) / EARTH_RADIUS_M
    tall = angle / RADIANS_PER_DEGREE
    y0, y1 = y0 - tall, y1 + tall
    if y0 <= -MOST_LAT or y1 >= MOST_LAT:
        return -math.inf, y0, math.inf, y1
    wide = math.asin(min(1.0, math.sin(angle) / math.cos(p[q, 1] * RADIANS_PER_DEGREE))) / RADIANS_PER_DEGREE
    wide += NARROW
    if x0 - wide < -180.0 or x1 + wide >= 180.0:
        return -math.inf, y0, math.inf, y1
    return x0 - wide, y0, x1 + wide, y1
