"""Updates become visits of cells, and visits answer what an object did in a stretch of time (CMP's index points).

A visit says for sure that its object had an update at `begin` and at `end`, and that it was never silent there for
longer than `gap`. Where that does not settle a question, or the cell belongs to an area only in part, the updates
behind the visit are read, from the newest to the oldest.

Every answer about updates may be ASK: what is needed has left the memory; `count[ASKED]` says the visit and
`count[ASKED_LOW]` from when on.
"""

from __future__ import annotations

import math

from vedette.compiled import bare
from vedette.kernels.motion.distances import distance, satisfies
from vedette.kernels.motion.tables import (
    ANY,
    ASK,
    ASKED,
    ASKED_LOW,
    BASE,
    COVERED,
    GREY,
    NEVER,
    NONE,
    PAGED_T,
    PHASE,
    POINTS,
    READS,
    UPDATES,
    VISITS,
    WANTED,
    Past,
)


@bare
def note(past: Past, o: int, t: int, x: float, y: float, cell: int) -> bool:
    """An update of object o; whether it begins a visit."""
    visits, updates, objects, count = past.visits, past.updates, past.objects, past.counts
    n = count[UPDATES]
    count[UPDATES] += 1
    u = n - count[BASE]
    updates[u].t = t
    updates[u].x = x
    updates[u].y = y
    updates[u].object = o
    updates[u].cell = cell
    v = objects[o].head
    if objects[o].is_open and visits[v].cell == cell:
        updates[u].before = visits[v].last
        visits[v].gap = max(visits[v].gap, t - visits[v].end)
        visits[v].end = t
        visits[v].last = n
        return False
    updates[u].before = -1
    new = count[VISITS]
    count[VISITS] += 1
    visits[new].object = o
    visits[new].cell = cell
    visits[new].begin = t
    visits[new].end = t
    visits[new].gap = 0
    visits[new].last = n
    visits[new].before = v
    visits[new].recalled = -1
    objects[o].head = new
    objects[o].is_open = True
    return True


@bare
def _latest(past: Past, v: int, q: int, low: int, high: int, wanted: bool) -> int:
    """The latest update of visit v in [low, high] that satisfies step q (or does not, as `wanted`; any where q < 0)."""
    updates, count = past.updates, past.counts
    base, reads = count[BASE], READS + count[PHASE]
    n = past.visits[v].last
    while n >= base:
        u = n - base
        t: int = updates[u].t
        if t < low:
            return NONE
        count[reads] += 1
        if t <= high and (q < 0 or satisfies(past.areas, q, updates[u].x, updates[u].y) == wanted):
            return t
        n = updates[u].before
    if n < 0 or low > count[PAGED_T]:
        return NONE
    i, stop = _recalled(past, v, low)
    if i < 0:
        return ASK
    while stop > i:
        stop -= 1
        t = past.recalled.t[stop]
        if t < low:
            return NONE
        count[reads] += 1
        if t <= high and (q < 0 or satisfies(past.areas, q, past.recalled.x[stop], past.recalled.y[stop]) == wanted):
            return t
    return NONE


@bare
def _recalled(past: Past, v: int, low: int) -> tuple[int, int]:
    """Where the paged updates of a visit stand; (-1, -1) and a note of the question where they do not."""
    recalled = past.recalled
    k = past.visits[v].recalled
    if k >= 0 and recalled.low[k] <= low:
        return recalled.start[k], recalled.start[k + 1]
    past.counts[ASKED] = v
    past.counts[ASKED_LOW] = low
    return -1, -1


@bare
def last_hit(past: Past, o: int, q: int, low: int, high: int, wanted: bool, exactly: bool) -> int:
    """The latest update of object o in [low, high] that satisfies step q (or not, as `wanted`; any where q < 0).

    Without `exactly` a time not after it, at which or after which there is one in [low, high] for sure.
    """
    visits, count = past.visits, past.counts
    points = POINTS + count[PHASE]
    v = past.objects[o].head if low <= high else -1
    while v >= 0 and visits[v].end >= low:
        count[points] += 1
        if visits[v].begin <= high:
            held = COVERED
            if q >= 0:
                held = past.cells.holds[visits[v].cell, q]
                if not wanted:
                    held = COVERED - held
            if held == COVERED:
                at: int = visits[v].end
                if at <= high:
                    return at
                at = max(visits[v].begin, high - visits[v].gap)
                if at >= low and not exactly:
                    return at
                at = _latest(past, v, ANY, low, high, WANTED)
                if at != NONE:
                    return at
            elif held == GREY:
                at = _latest(past, v, q, max(low, visits[v].begin), high, wanted)
                if at != NONE:
                    return at
        v = visits[v].before
    return NONE


@bare
def first_after(past: Past, o: int, q: int, after: int, wanted: bool, every: int) -> int:
    """A time not later than the object's first update after `after` in a cell where it may satisfy step q; NEVER: none.

    What a visit is silent about is read only where its updates lie farther apart than instants do.
    """
    visits, count, updates = past.visits, past.counts, past.updates
    points = POINTS + count[PHASE]
    best = NEVER
    v = past.objects[o].head
    while v >= 0 and visits[v].end > after:
        count[points] += 1
        held = COVERED
        if q >= 0:
            held = past.cells.holds[visits[v].cell, q]
            if not wanted:
                held = COVERED - held
        if held != 0:
            best = visits[v].begin
            if best <= after:
                best = after + 1
                if visits[v].gap > every:
                    n = visits[v].last
                    while n >= count[BASE]:
                        t = updates[n - count[BASE]].t
                        if t <= after:
                            break
                        count[READS + count[PHASE]] += 1
                        best = t
                        n = updates[n - count[BASE]].before
                    if 0 <= n < count[BASE] and after < count[PAGED_T]:
                        best = after + 1
        v = visits[v].before
    return best


@bare
def touches(past: Past, o: int, q: int, low: int) -> bool:
    """Whether the object was in the search area of step q at `low` or later."""
    visits = past.visits
    v = past.objects[o].head
    while v >= 0 and visits[v].end >= low:
        if is_near(past, visits[v].cell, q):
            return True
        v = visits[v].before
    return False


@bare
def is_near(past: Past, cell: int, q: int) -> bool:
    """Whether a cell belongs to the search area of step q."""
    step = past.areas.steps[q]
    if step.is_number:
        near = -past.cells.high[cell, step.number] if step.is_reversed else past.cells.low[cell, step.number]
        return bool(near <= step.reach)
    return bool(past.cells.holds[cell, q] != 0)


@bare
def bound(past: Past, o: int, q: int, low: int, high: int, upper: bool) -> float:
    """A bound of the distance that step q measures over [low, high], by cells alone."""
    visits, cells, step = past.visits, past.cells, past.areas.steps[q]
    number = step.number
    sure, perhaps = (math.inf, math.inf) if not step.always else (-math.inf, -math.inf)
    if upper and not step.always:
        perhaps = -math.inf
    elif step.always and not upper:
        perhaps = math.inf
    v = past.objects[o].head
    while v >= 0 and visits[v].end >= low:
        past.counts[POINTS + past.counts[PHASE]] += 1
        if visits[v].begin <= high:
            d = cells.high[visits[v].cell, number] if upper else cells.low[visits[v].cell, number]
            known = visits[v].begin >= low or visits[v].end <= high or visits[v].gap <= high - low
            if step.always:
                if known or upper:
                    sure = max(sure, d)
                perhaps = max(perhaps, d) if upper else min(perhaps, d)
            else:
                if known or not upper:
                    sure = min(sure, d)
                perhaps = max(perhaps, d) if upper else min(perhaps, d)
        v = visits[v].before
    return perhaps if math.isinf(sure) else sure


@bare
def measured(past: Past, o: int, q: int, low: int, high: int) -> float:
    """The least (ALWAYS: greatest) distance over the updates in [low, high]; NaN: ASK. There is one, as was seen."""
    visits, cells, step = past.visits, past.cells, past.areas.steps[q]
    number = step.number
    best = -math.inf if step.always else math.inf
    v = past.objects[o].head
    while v >= 0 and visits[v].end >= low:
        past.counts[POINTS + past.counts[PHASE]] += 1
        cell = visits[v].cell
        if step.always:
            matters = cells.high[cell, number] > best
        else:
            matters = cells.low[cell, number] < best
        if matters and visits[v].begin <= high:
            best = _extreme(past, v, q, low, high, best)
            if math.isnan(best):
                return best
        v = visits[v].before
    return best


@bare
def _extreme(past: Past, v: int, q: int, low: int, high: int, best: float) -> float:
    """The better of `best` and what the updates of a visit say."""
    updates, count, always = past.updates, past.counts, past.areas.steps[q].always
    base, reads = count[BASE], READS + count[PHASE]
    n = past.visits[v].last
    while n >= base:
        u = n - base
        if updates[u].t < low:
            return best
        count[reads] += 1
        if updates[u].t <= high:
            d = distance(past.areas, q, updates[u].x, updates[u].y)
            best = max(best, d) if always else min(best, d)
        n = updates[u].before
    if n < 0 or low > count[PAGED_T]:
        return best
    i, stop = _recalled(past, v, low)
    if i < 0:
        return math.nan
    while stop > i:
        stop -= 1
        if past.recalled.t[stop] < low:
            return best
        count[reads] += 1
        if past.recalled.t[stop] <= high:
            d = distance(past.areas, q, past.recalled.x[stop], past.recalled.y[stop])
            best = max(best, d) if always else min(best, d)
    return best
