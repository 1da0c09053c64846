"""A pattern with a score, as a whole: who is in its answer at an instant (CMP's numerical predicates).

Boxes alone give a lower and an upper bound of every candidate's score (CMP's LBT). Only where the bounds leave a doubt
are updates read: is it within a limit; of the lowest, in the order of the bounds, while they do not exceed the n-th
best best of the scores that are known (AST). Of the highest all signs are turned.

Candidates are the rows whose steps with a set of instants are satisfied; of a pattern that has no such step all objects
with a trail. A pattern is asked again at the next instant at which an update enters or leaves a window.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vedette.compiled import bare, jit
from vedette.kernels.arrays import B1, F64, I64
from vedette.kernels.motion.agenda import instant, schedule_pattern
from vedette.kernels.motion.chains import matches
from vedette.kernels.motion.distances import distance
from vedette.kernels.motion.looks import passes, tell
from vedette.kernels.motion.rows import add_row, find
from vedette.kernels.motion.scores import NOTHING, WIDER, bounds, measured, vicinity
from vedette.kernels.motion.tables import (
    ALL,
    ASKED,
    AT_LEAST,
    AT_MOST,
    BASE,
    DONE,
    HIGHEST,
    JOINED,
    LEFT,
    LOWEST,
    NEVER,
    PAGED_T,
    PHASE,
    POINTS,
    RECALL,
    ROOM,
    ROWS,
    TOLD,
    UPDATES,
    WAITING,
    World,
)
from vedette.kernels.motion.trail import bucket_of, cell_at
from vedette.kernels.nearest import id_less

GROWTH = 1.5  # of a reach that holds too few
MOST_CELLS = 4096  # of a vicinity; beyond that it is as dear to look at everybody
FEWEST_POINTS = 1024  # that are looked at in a vicinity before that is too dear; and one for two objects
RELIEF = 1.02  # so much wider a vicinity may be again each time that it is passed over as crowded


@jit
def rank(w: World, s: int, tau: int) -> int:
    """Look at a pattern: DONE, or RECALL or ROOM where that has to be seen to first."""
    w.counts[ASKED] = 0
    choice = w.patterns[s].choice
    if choice == LOWEST:
        chosen, scores = _lowest(w, s, tau)
    elif choice == HIGHEST:
        chosen, scores = _best(w, s, tau, *_candidates(w, s, tau, math.inf))
    else:
        reach = w.patterns[s].limit if choice == AT_MOST else math.inf
        chosen, scores = _within(w, s, tau, *_candidates(w, s, tau, reach))
    if w.counts[ASKED] > 0:
        return RECALL
    if not _has_room(w, s, len(chosen)):
        return ROOM
    _tell_changes(w, s, tau, chosen, scores)
    w.patterns[s].worst = scores[-1] if len(chosen) == w.patterns[s].n else math.inf
    w.patterns[s].due = NEVER
    schedule_pattern(w, s, _next_event(w, s, tau))
    if not w.patterns[s].waits:
        w.patterns[s].waits = True
        w.counts[WAITING] += 1
    return DONE


@jit
def _lowest(w: World, s: int, tau: int) -> tuple[I64, F64]:
    """The n lowest: within a reach that grows until it holds as many, or all that can be among them."""
    reach = GROWTH * w.patterns[s].worst if w.patterns[s].is_free else math.inf
    while _is_narrow(w, s, reach):
        chosen, scores = _best(w, s, tau, *_candidates(w, s, tau, reach))
        if w.counts[ASKED] > 0 or (len(chosen) == w.patterns[s].n and scores[-1] <= reach):
            return chosen, scores
        reach = max(GROWTH * reach, w.trail.side)
    return _best(w, s, tau, *_candidates(w, s, tau, _old_reach(w, s, tau)))


# ------------------------------------------------------------------------------------------ candidates


@jit
def _candidates(w: World, s: int, tau: int, reach: float) -> tuple[I64, F64, F64, B1, F64]:
    """Objects that may be in the answer and score no more than `reach`.

    With them bounds of their scores, whether they have one for sure, and what the step that looks back the least
    measures, where that is known (NOTHING).
    """
    if w.patterns[s].is_free:
        everybody, leasts = _near(w, s, tau, reach)
    else:
        everybody = _by_rows(w, s, tau)
        leasts = np.full(len(everybody), NOTHING)
    most = len(everybody)
    who, low, high, is_sure = np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty(most, np.bool_)
    found: Any = np.int64(0)
    for i in range(most):
        o = everybody[i]
        if w.objects[o].box < 0 or not _has_been(w, s, o, tau) or not passes(w, s, o):
            continue
        low[found], high[found], is_sure[found] = _score_bounds(w, s, o, tau, reach, leasts[i])
        if low[found] < math.inf:
            who[found] = o
            leasts[found] = leasts[i]
            found += 1
    return who[:found], low[:found], high[:found], is_sure[:found], leasts[:found]


@jit
def _by_rows(w: World, s: int, tau: int) -> I64:
    """Objects whose steps with a set of instants are satisfied."""
    n = tau // w.patterns[s].every
    found: Any = np.int64(0)
    r = int(w.patterns[s].rows)
    while r >= 0:
        found += 1
        r = int(w.rows[r].other)
    objects = np.empty(found, np.int64)
    found = np.int64(0)
    r = int(w.patterns[s].rows)
    while r >= 0:
        if matches(w, r, n):
            objects[found] = w.rows[r].object
            found += 1
        r = int(w.rows[r].other)
    return objects[:found]


@jit
def _old_reach(w: World, s: int, tau: int) -> float:
    """The lowest are none that score more than the old ones do now, if they are as many as are wanted."""
    if w.patterns[s].n > w.counts[ROWS]:
        return math.inf
    n = tau // w.patterns[s].every
    found, worst = 0, 0.0
    r = int(w.patterns[s].rows)
    while r >= 0:
        o = int(w.rows[r].object)
        if w.rows[r].member and w.objects[o].box >= 0 and passes(w, s, o) and matches(w, r, n):
            value = score(w, s, o, tau, NOTHING)
            if value != NOTHING:
                found += 1
                worst = max(worst, value)
        r = int(w.rows[r].other)
    return worst * (1.0 + WIDER) if found >= w.patterns[s].n and w.counts[ASKED] == 0 else math.inf


@jit
def _everybody(w: World, s: int, tau: int) -> I64:
    """Objects whose trails may reach through all windows; patterns with the same ones share the list."""
    pool, pattern = w.trail.pool, w.patterns[s]
    if pool[1] != tau or pool[2] != pattern.nearest or pool[3] != pattern.farthest:
        found = 4
        for o in range(len(w.objects)):
            if w.objects[o].box >= 0 and _has_been(w, s, o, tau):
                pool[found] = o
                found += 1
        pool[0], pool[1], pool[2], pool[3] = found, tau, pattern.nearest, pattern.farthest
    return pool[4 : pool[0]]


@bare
def _latest(w: World, s: int) -> int:
    """The step that looks back the least."""
    best = int(w.patterns[s].first)
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        if w.areas.steps[q].a < w.areas.steps[best].a:
            best = q
    return best


@bare
def _is_narrow(w: World, s: int, reach: float) -> bool:
    """Whether a vicinity has few cells, and no more updates than can be looked through, as far as is known."""
    if w.patterns[s].crowded > 0.0 and reach >= w.patterns[s].crowded:
        w.patterns[s].crowded *= RELIEF
        return False
    x0, y0, x1, y1 = vicinity(w, _latest(w, s), reach)
    columns, rows = cell_at(w, x1) - cell_at(w, x0) + 1, cell_at(w, y1) - cell_at(w, y0) + 1
    return bool(columns * rows <= MOST_CELLS)


@jit
def _near(w: World, s: int, tau: int, reach: float) -> tuple[I64, F64]:
    """Objects with an update in the vicinity of a step (CMP), and the least distance of each from there.

    Everybody where that is too wide to look through.
    """
    q = _latest(w, s)
    low, high = max(tau - w.areas.steps[q].a, w.patterns[s].since), tau - w.areas.steps[q].b
    if low <= w.counts[PAGED_T] or not _is_narrow(w, s, reach):
        everybody = _everybody(w, s, tau)
        return everybody, np.full(len(everybody), NOTHING)
    x0, y0, x1, y1 = vicinity(w, q, reach)
    updates, base, least = w.trail.updates, w.counts[BASE], w.trail.least
    objects = np.empty(len(w.objects), np.int64)
    found: Any = np.int64(0)
    left = FEWEST_POINTS + 4 * len(w.objects)
    for column in range(cell_at(w, x0), cell_at(w, x1) + 1):
        for row in range(cell_at(w, y0), cell_at(w, y1) + 1):
            n = w.trail.heads[bucket_of(w, column, row)]
            while n >= base and updates[n - base].t >= low and left > 0:
                u = updates[n - base]
                left -= 1
                w.counts[POINTS + w.counts[PHASE]] += 1
                n = u.near
                if u.t <= high and x0 <= u.x <= x1 and y0 <= u.y <= y1:
                    if least[u.object] == math.inf:
                        objects[found] = u.object
                        found += 1
                    least[u.object] = min(least[u.object], distance(w.areas, q, u.x, u.y))
    leasts = least[objects[:found]]
    least[objects[:found]] = math.inf
    if left == 0:
        w.patterns[s].crowded = reach
        everybody = _everybody(w, s, tau)
        return everybody, np.full(len(everybody), NOTHING)
    if w.areas.steps[q].always:
        leasts[:] = NOTHING
    return objects[:found], leasts


@bare
def _has_been(w: World, s: int, o: int, tau: int) -> bool:
    """Whether the ends of an object's trail leave it possible that all windows hold updates."""
    return bool(w.objects[o].begin <= tau - w.patterns[s].farthest and w.objects[o].last >= tau - w.patterns[s].nearest)


@bare
def _score_bounds(w: World, s: int, o: int, tau: int, reach: float, least: float) -> tuple[float, float, bool]:
    """A lower and an upper bound, and whether there is a score for sure; (inf, inf, no): none, or beyond `reach`."""
    low, high, is_sure = 0.0, 0.0, True
    known = -1 if least == NOTHING else _latest(w, s)
    if known >= 0:
        low = high = least
    k, begun = int(w.objects[o].box), NEVER
    q, stop = w.patterns[s + 1].first - 1, w.patterns[s].first
    while q >= stop and low <= reach and low < math.inf:  # mostly a later step has a later window, and so a newer box
        step = w.areas.steps[q]
        if q != known and step.is_number:
            first, last = max(tau - step.a, w.patterns[s].since), tau - step.b
            if last > begun:
                k = int(w.objects[o].box)
            near, far, is_there, k = bounds(w, q, k, first, last)
            begun = first
            low += near
            high += far
            is_sure = is_sure and is_there
        q -= 1
    if low > reach or low == math.inf:
        return math.inf, math.inf, False
    return low * (1.0 - WIDER), high * (1.0 + WIDER), is_sure


@bare
def score(w: World, s: int, o: int, tau: int, least: float) -> float:
    """The score: the sum of the distances in the order of the steps; NOTHING without one.

    `least` is what the step that looks back the least measures, where that is known (NOTHING).
    """
    total = 0.0
    known = -1 if least == NOTHING else _latest(w, s)
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.areas.steps[q]
        if q == known:
            total += least
        elif step.is_number:
            d = measured(w, o, q, max(tau - step.a, w.patterns[s].since), tau - step.b)
            if d == NOTHING:
                return NOTHING
            total += d
    return total


# --------------------------------------------------------------------------------------- all, within a limit


@jit
def _within(w: World, s: int, tau: int, who: I64, low: F64, high: F64, is_sure: B1, leasts: F64) -> tuple[I64, F64]:
    """Objects in the answer, and the scores of those that are new to it."""
    choice, limit = w.patterns[s].choice, w.patterns[s].limit
    scores = np.empty(len(who))
    found = 0
    for i in range(len(who)):
        if (choice == AT_MOST and low[i] > limit) or (choice == AT_LEAST and high[i] < limit):
            continue
        r = find(w, who[i], s)
        value = math.nan
        is_known = is_sure[i] and (
            choice == ALL or (choice == AT_MOST and high[i] <= limit) or (choice == AT_LEAST and low[i] >= limit)
        )
        if not (is_known and r >= 0 and w.rows[r].member):
            value = score(w, s, who[i], tau, leasts[i])
            if value == NOTHING or (choice == AT_MOST and value > limit) or (choice == AT_LEAST and value < limit):
                continue
        who[found], scores[found] = who[i], value
        found += 1
    return who[:found], scores[:found]


# ------------------------------------------------------------------------------------- lowest and highest


@jit
def _best(w: World, s: int, tau: int, who: I64, low: F64, high: F64, is_sure: B1, leasts: F64) -> tuple[I64, F64]:
    """The n lowest (of the highest: with their signs turned), in order."""
    sign = -1.0 if w.patterns[s].choice == HIGHEST else 1.0
    bound = low if sign > 0.0 else -high
    n = min(len(who), w.patterns[s].n)
    best, scores = np.empty(n, np.int64), np.empty(n)
    order = np.argsort(bound)
    reach = _nth(high if sign > 0.0 else -low, is_sure, w.patterns[s].n)
    found: Any = np.int64(0)
    for i in order:
        if bound[i] > reach or (found == w.patterns[s].n and bound[i] > scores[found - 1]):
            break
        value = score(w, s, who[i], tau, leasts[i])
        if value != NOTHING and w.counts[ASKED] == 0:
            found = _insert(w, best, scores, found, who[i], sign * value)
    for i in range(found):
        scores[i] = sign * scores[i] + 0.0
    return best[:found], scores[:found]


@jit
def _nth(bound: F64, is_sure: B1, n: int) -> float:
    """The n-th lowest of the bounds that are sure: nobody beyond it is among the n lowest."""
    some = bound[is_sure]
    return np.partition(some, n - 1)[n - 1] if len(some) >= n else math.inf


@bare
def _insert(w: World, best: I64, scores: F64, found: int, o: int, value: float) -> int:
    """Put an object where it belongs by (score, id); the last one may fall out."""
    i = found
    while i > 0:
        if scores[i - 1] < value or (scores[i - 1] == value and id_less(w.ids, best[i - 1], o)):
            break
        i -= 1
    if i == len(best):
        return found
    stop = min(found, len(best) - 1)
    for j in range(stop, i, -1):
        best[j] = best[j - 1]
        scores[j] = scores[j - 1]
    best[i] = o
    scores[i] = value
    return stop + 1


# ---------------------------------------------------------------------------------------------- changes


@bare
def _has_room(w: World, s: int, chosen: int) -> bool:
    """Whether rows and changes for so many find room."""
    count = w.counts
    return bool(
        (not w.patterns[s].is_free or count[ROWS] + chosen <= len(w.rows))
        and count[TOLD] + count[ROWS] + 2 * chosen <= len(w.told)
    )


@bare
def _tell_changes(w: World, s: int, tau: int, chosen: I64, scores: F64) -> None:
    """Who is no longer in the answer; who is; among the lowest and highest also another score or place."""
    is_told_again = w.patterns[s].choice >= LOWEST
    for i in range(len(chosen)):
        r = find(w, chosen[i], s)
        if r < 0:
            r = add_row(w, s, chosen[i])
        w.rows[r].best = True
    r = int(w.patterns[s].rows)
    while r >= 0:
        if w.rows[r].member and not w.rows[r].best:
            tell(w, r, tau, LEFT, math.nan)
            w.rows[r].member = False
        r = int(w.rows[r].other)
    for i in range(len(chosen)):
        r = find(w, chosen[i], s)
        row, x, y = w.rows[r], w.objects[chosen[i]].x, w.objects[chosen[i]].y
        is_news = row.score != scores[i] or row.x != x or row.y != y
        if not row.member or (is_told_again and is_news):
            tell(w, r, tau, JOINED, scores[i])
            w.rows[r].score = scores[i]
            w.rows[r].x = x
            w.rows[r].y = y
        w.rows[r].member = True
        w.rows[r].best = False


# ------------------------------------------------------------------------------------------- what is next


@bare
def _next_event(w: World, s: int, tau: int) -> Any:
    """An instant, not later than the first after tau at which an update enters or leaves a window; NEVER."""
    every = w.patterns[s].every
    first = tau // every + 1
    found: int = NEVER
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.areas.steps[q]
        for shift in (step.a, step.b):
            if tau - shift <= w.counts[PAGED_T]:
                return first
            t = _first_update(w, tau - shift)
            if t != NEVER:
                found = min(found, max(first, instant(every, t + shift)))
    return found


@bare
def _first_update(w: World, t: int) -> int:
    """The time of the first update at t or later, NEVER."""
    low, high = 0, w.counts[UPDATES] - w.counts[BASE]
    while low < high:
        middle = (low + high) >> 1
        if w.trail.updates[middle].t < t:
            low = middle + 1
        else:
            high = middle
    if low == w.counts[UPDATES] - w.counts[BASE]:
        return NEVER
    at: int = w.trail.updates[low].t
    return at


@bare
def wake_patterns(w: World, t: int) -> None:
    """The first update since they were looked at: patterns with a score are looked at when it matters."""
    for s in range(len(w.patterns) - 1):
        if w.patterns[s].waits:
            w.patterns[s].waits = False
            schedule_pattern(w, s, instant(w.patterns[s].every, t + w.patterns[s].soonest))
    w.counts[WAITING] = 0
