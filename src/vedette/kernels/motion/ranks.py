"""The n lowest or highest scores, with vicinities that grow as far as they must (CMP's numerical predicates).

Scores count upwards here: of the highest, all signs are turned. Rows are born where a step measures no more than its
`reach`, so an object without a row scores more than the sum of the reaches. Rows are taken in the order of their lower
bounds, which cells alone give (CMP's LBT); only those that may be among the best are measured (AST). If fewer than n
are found, or the n-th best scores more than the sum of the reaches, the reaches grow, and rows are born for visits that
are now in reach.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vedette.compiled import bare, jit
from vedette.kernels.arrays import F64, I64
from vedette.kernels.motion.agenda import push
from vedette.kernels.motion.examine import (
    UNKNOWN,
    YES,
    lives,
    next_event,
    passes,
    score,
    score_bound,
    sequence,
    tell,
)
from vedette.kernels.motion.hits import add_row, drop_row, room_for_all
from vedette.kernels.motion.tables import DONE, HIGHEST, JOINED, LEFT, NEVER, RECALL, ROOM, VISITS, World
from vedette.kernels.motion.visits import is_near
from vedette.kernels.nearest import id_less

GROWTH = 4.0  # of the reach, while there are fewer than n
SLACK = 1.0 + 1e-9  # of sums of reaches, far above rounding


@jit
def rank(w: World, s: int, tau: int) -> int:
    """Look at a pattern as a whole: DONE, or RECALL or ROOM where that has to be seen to first."""
    sign = -1.0 if w.patterns[s].choice == HIGHEST else 1.0
    while True:
        state, rows, scores, found = _best(w, s, tau, sign)
        if state != DONE:
            return state
        worst = scores[found - 1] if found == w.patterns[s].n else math.inf
        if not w.patterns[s].grows or _reach(w, s) >= worst:
            break
        if not room_for_all(w):
            return ROOM
        _grow(w, s, worst, sign)
        discover(w, s, tau)
    _tell_changes(w, s, tau, rows, scores, found, sign)
    if w.patterns[s].grows and found == w.patterns[s].n:
        _shrink(w, s, worst)
    due = NEVER
    h = w.patterns[s].rows
    while h >= 0:
        following = w.hits[h].other
        if not w.hits[h].member and not lives(w, h, tau):
            drop_row(w, h)
        else:
            due = min(due, next_event(w, h, tau))
            w.hits[h].wake = 0
            w.past.objects[w.hits[h].object].waits = True
        h = following
    w.patterns[s].due = due
    if due != NEVER:
        push(w.agenda, w.past.counts, due, -1 - s)
    return DONE


@jit
def _best(w: World, s: int, tau: int, sign: float) -> tuple[int, I64, F64, int]:
    """The rows of the n best, their scores, and how many there are."""
    n = 0
    h = w.patterns[s].rows
    while h >= 0:
        n += 1
        h = w.hits[h].other
    all_rows = np.empty(n, np.int64)
    bounds = np.empty(n)
    n = 0
    h = w.patterns[s].rows
    while h >= 0:
        all_rows[n] = h
        bounds[n] = sign * score_bound(w, h, tau, sign < 0.0)
        n += 1
        h = w.hits[h].other
    room = min(n, w.patterns[s].n)
    rows = np.empty(room, np.int64)
    scores = np.empty(room)
    found: Any = np.int64(0)
    for i in np.argsort(bounds):
        h = all_rows[i]
        if found == w.patterns[s].n and bounds[i] > scores[found - 1]:
            break
        if w.hits[h].stage < w.patterns[s].prefix or not passes(w, s, w.hits[h].object):
            continue
        matches = sequence(w, h, tau)
        if matches == UNKNOWN:
            return RECALL, rows, scores, 0
        if matches != YES:
            continue
        value = score(w, h, tau)
        if math.isnan(value):
            return RECALL, rows, scores, 0
        found = _insert(w, rows, scores, found, h, sign * value)
    return DONE, rows, scores, found


@bare
def _insert(w: World, rows: I64, scores: F64, found: int, h: int, value: float) -> int:
    """Put a row where it belongs by (score, id); the last one may fall out."""
    o = w.hits[h].object
    i = found
    while i > 0:
        other = w.hits[rows[i - 1]].object
        if scores[i - 1] < value or (scores[i - 1] == value and id_less(w.ids, other, o)):
            break
        i -= 1
    if i == len(rows):
        return found
    stop = min(found, len(rows) - 1)
    for j in range(stop, i, -1):
        rows[j] = rows[j - 1]
        scores[j] = scores[j - 1]
    rows[i] = h
    scores[i] = value
    return stop + 1


@bare
def _tell_changes(w: World, s: int, tau: int, rows: I64, scores: F64, found: int, sign: float) -> None:
    """Who is no longer among them; who is, where the score or the place is news."""
    for i in range(found):
        w.hits[rows[i]].passed = -2  # a mark: among the best
    h = w.patterns[s].rows
    while h >= 0:
        if w.hits[h].member and w.hits[h].passed != -2:
            tell(w, h, tau, LEFT, math.nan)
            w.hits[h].member = False
        h = w.hits[h].other
    for i in range(found):
        h = rows[i]
        o = w.hits[h].object
        value, x, y = sign * scores[i] + 0.0, w.past.objects[o].x, w.past.objects[o].y
        if not w.hits[h].member or w.hits[h].score != value or w.hits[h].x != x or w.hits[h].y != y:
            tell(w, h, tau, JOINED, value)
            w.hits[h].score = value
            w.hits[h].x = x
            w.hits[h].y = y
        w.hits[h].member = True
        w.hits[h].passed = -1


# ------------------------------------------------------------------------------------------ vicinities


@bare
def _reach(w: World, s: int) -> float:
    """An object without a row scores more than this."""
    total = 0.0
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        if w.past.areas.steps[q].bears:
            total += w.past.areas.steps[q].reach
    return total


@bare
def _share(w: World, s: int, total: float) -> float:
    """What each step has to reach, so that together they reach `total`."""
    bearers = 0
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        bearers += w.past.areas.steps[q].bears
    return total / bearers + abs(total / bearers) * (SLACK - 1.0)


@bare
def _grow(w: World, s: int, worst: float, sign: float) -> None:
    """As far as the n-th best asks for; by leaps while there are fewer."""
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.past.areas.steps[q]
        if not step.bears:
            continue
        if worst < math.inf:
            step.reach = max(step.reach, _share(w, s, worst))
        else:
            step.reach = _leap(w, q, sign)


@bare
def _leap(w: World, q: int, sign: float) -> float:
    """The next reach of a step that has found too little: the lowest double and double, the highest soon take all."""
    reach, side = w.past.areas.steps[q].reach, w.past.cells.side
    if sign < 0.0 or reach > side * w.past.cells.grid.columns:
        return math.inf
    farther: float = max(side, reach * GROWTH)
    return farther


@bare
def _shrink(w: World, s: int, worst: float) -> None:
    """Vicinities that have become far too wide; rows outside of them go when they are looked at."""
    share = _share(w, s, worst)
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.past.areas.steps[q]
        side = w.past.cells.side
        if step.bears and step.reach > share + 0.5 * abs(share) + 4.0 * side:
            step.reach = share + 0.1 * abs(share) + 2.0 * side


@bare
def discover(w: World, s: int, tau: int) -> None:
    """Rows for the objects of all visits that are in reach now; a visit too old for that ends here."""
    past = w.past
    for v in range(past.counts[VISITS]):
        o = past.visits[v].object
        for q in range(w.patterns[s].first, w.patterns[s + 1].first):
            step = past.areas.steps[q]
            if step.bears and is_near(past, past.visits[v].cell, q):
                if past.visits[v].end < max(tau - step.a, w.patterns[s].since):
                    past.objects[o].is_open = False
                    continue
                h = past.objects[o].row
                while h >= 0 and w.hits[h].pattern != s:
                    h = w.hits[h].next
                if h < 0:
                    add_row(w, s, o)
                break
