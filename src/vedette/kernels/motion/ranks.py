"""Patterns with a score, as a whole: who is in their answers at an instant (CMP's numerical predicates).

Boxes alone give a lower bound of everybody's score (`panes`), and both bounds of a few (CMP's LBT). Only where the
bounds leave a doubt are updates read: is it within a limit; of the lowest, in the order of the bounds, while they do
not exceed the n-th best of the scores that are known (AST). What those who are the lowest so far score now is a bound
from the start. Of the highest all signs are turned.

Candidates are the rows whose steps with a set of instants are satisfied; of a pattern that has no such step those who
have been near one of its steps (`vicinity`), or all objects with a trail. A pattern is asked again at the next instant
at which an update enters or leaves a window.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vedette.compiled import bare, folded, jit
from vedette.kernels.arrays import B1, F64, I64
from vedette.kernels.motion.agenda import instant, schedule_pattern
from vedette.kernels.motion.chains import matches
from vedette.kernels.motion.looks import passes, tell
from vedette.kernels.motion.panes import has_been, lower_bounds, no_sheet, sheet_of
from vedette.kernels.motion.rows import add_row, find
from vedette.kernels.motion.scores import NOTHING, WIDER, bounds, measured
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
    READS,
    RECALL,
    ROOM,
    ROWS,
    SHEET,
    TOLD,
    UPDATES,
    WAITING,
    World,
)
from vedette.kernels.motion.vicinity import latest_step, near
from vedette.kernels.nearest import id_less

AGAIN = -1
GROWTH = 1.25  # of a reach that held too few
MOST_TRIES = 4  # with a reach that is a guess
AHEAD = 4  # so many times those that are wanted are scored before the others are looked at


@jit
def rank_due(w: World, tau: int) -> int:
    """Look at all patterns with a score that are due at tau: DONE, or RECALL or ROOM for what must be seen to first.

    What all of them have to read back is asked for at once.
    """
    sheet, is_laid, is_asked = no_sheet(), False, False
    for s in range(len(w.patterns) - 1):
        pattern = w.patterns[s]
        if pattern.every == 0 or not pattern.has_score or pattern.due != tau:
            continue
        if pattern.started == NEVER:
            pattern.started = tau
        w.counts[PHASE] = 0 if pattern.started == tau else 1
        w.counts[ASKED] = 0
        limit = _limit(w, s, tau)
        state, reach, tries = RECALL if w.counts[ASKED] > 0 else AGAIN, _first_reach(w, s, limit), 1
        while state == AGAIN:
            is_told, who, low = _few(w, s, tau, reach)
            seen = _seen(w)
            if not is_told:
                if not is_laid:
                    sheet, is_laid = sheet_of(w, tau), True
                    if w.counts[SHEET] > len(w.trail.sheet):
                        return ROOM
                seen = _seen(w)
                who, low = lower_bounds(w, sheet, s, tau, reach)
            state = _rank(w, s, tau, reach, limit, who, low)
            if not is_told:
                pattern.dear = _seen(w) - seen
            reach = min(limit, max(GROWTH * reach, w.trail.side)) if tries < MOST_TRIES else limit
            tries += 1
        if state == ROOM:
            return ROOM
        is_asked = is_asked or state == RECALL
    return RECALL if is_asked else DONE


@folded
def _seen(w: World) -> Any:
    """How many boxes and updates have been looked at."""
    return w.counts[POINTS + w.counts[PHASE]] + w.counts[READS + w.counts[PHASE]]


@jit
def _rank(w: World, s: int, tau: int, reach: float, limit: float, who: I64, low: F64) -> int:
    """Look at a pattern; nobody but these scores no more than `reach`, and no less than that.

    AGAIN if too few do, and more could do within the limit.
    """
    choice = w.patterns[s].choice
    if choice == LOWEST:
        chosen, scores = _lowest(w, s, tau, reach, who, low)
        if len(chosen) < w.patterns[s].n and reach < limit and w.counts[ASKED] == 0:
            return AGAIN
        w.patterns[s].worst = scores[-1] if len(chosen) == w.patterns[s].n else math.inf
    else:
        candidates = _candidates(w, s, tau, who, reach)
        chosen, scores = _best(w, s, tau, *candidates) if choice == HIGHEST else _within(w, s, tau, *candidates)
    if w.counts[ASKED] > 0:
        return RECALL
    if not _has_room(w, s, len(chosen)):
        return ROOM
    _tell_changes(w, s, tau, chosen, scores)
    w.patterns[s].due = NEVER
    schedule_pattern(w, s, _next_event(w, s, tau))
    if not w.patterns[s].waits:
        w.patterns[s].waits = True
        w.counts[WAITING] += 1
    return DONE


# ------------------------------------------------------------------------------------------ candidates


@jit
def _limit(w: World, s: int, tau: int) -> float:
    """Nobody who scores more is in the answer."""
    choice = w.patterns[s].choice
    if choice == AT_MOST:
        return float(w.patterns[s].limit)
    return _old_reach(w, s, tau) if choice == LOWEST else math.inf


@folded
def _first_reach(w: World, s: int, limit: float) -> float:
    """How far to look first: of the lowest a little farther than was needed the last time."""
    is_known = w.patterns[s].choice == LOWEST and w.patterns[s].is_free
    return min(limit, GROWTH * float(w.patterns[s].worst)) if is_known else limit


@jit
def _few(w: World, s: int, tau: int, reach: float) -> tuple[bool, I64, F64]:
    """Everybody who may be in the answer, with lower bounds, if that is easily told."""
    if not w.patterns[s].is_free:
        who = _by_rows(w, s, tau)
        return True, who, np.zeros(len(who))
    if reach == math.inf:
        return False, np.empty(0, np.int64), np.empty(0)
    is_narrow, objects, leasts = near(w, s, tau, reach)
    q, found = latest_step(w, s), 0
    for i in range(len(objects)):
        least = 0.0 if w.areas.steps[q].always else leasts[i]
        if least <= reach and has_been(w, s, objects[i], tau):
            objects[found], leasts[found] = objects[i], least
            found += 1
    return is_narrow, objects[:found], leasts[:found]


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
        if has_been(w, s, w.rows[r].object, tau) and matches(w, r, n):
            objects[found] = w.rows[r].object
            found += 1
        r = int(w.rows[r].other)
    return objects[:found]


@jit
def _candidates(w: World, s: int, tau: int, some: I64, reach: float) -> tuple[I64, F64, F64, B1]:
    """Those of some objects that may be in the answer; bounds of their scores, and whether they have one for sure."""
    most = len(some)
    who, low, high, is_sure = np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty(most, np.bool_)
    found: Any = np.int64(0)
    for o in some:
        if passes(w, s, o):
            low[found], high[found], is_sure[found] = _score_bounds(w, s, o, tau, reach)
            if low[found] < math.inf:
                who[found] = o
                found += 1
    return who[:found], low[:found], high[:found], is_sure[:found]


@bare
def _score_bounds(w: World, s: int, o: int, tau: int, reach: float) -> tuple[float, float, bool]:
    """A lower and an upper bound, and whether there is a score for sure; (inf, inf, no): none, or beyond `reach`."""
    low, high, is_sure = 0.0, 0.0, True
    k, begun = int(w.objects[o].box), NEVER
    q, stop = w.patterns[s + 1].first - 1, w.patterns[s].first
    while q >= stop and low <= reach and low < math.inf:  # mostly a later step has a later window, and so a newer box
        step = w.areas.steps[q]
        if step.is_number:
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
def score(w: World, s: int, o: int, tau: int, limit: float) -> float:
    """The score: the sum of the distances in the order of the steps; NOTHING without one, or beyond the limit."""
    total = 0.0
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.areas.steps[q]
        if step.is_number:
            d = measured(w, o, q, max(tau - step.a, w.patterns[s].since), tau - step.b)
            total += d
            if d == NOTHING or total > limit:
                return NOTHING
    return total


# -------------------------------------------------------------------------------------------- the lowest


@jit
def _lowest(w: World, s: int, tau: int, reach: float, who: I64, low: F64) -> tuple[I64, F64]:
    """The n lowest: those with the lowest bounds tell what the others have to beat."""
    wanted = w.patterns[s].n
    if reach == math.inf:
        reach = _sure_reach(w, s, tau, who[np.argsort(low)])
    best, scores = np.empty(min(len(who), wanted), np.int64), np.empty(min(len(who), wanted))
    found: Any = np.int64(0)
    first = AHEAD * wanted
    edge = np.partition(low, first)[first] if len(low) > first else math.inf
    for turn in range(2):
        bound = min(reach, scores[found - 1]) if found == wanted else reach
        some = np.flatnonzero((low <= min(edge, bound)) if turn == 0 else ((low > edge) & (low <= bound)))
        for i in some[np.argsort(low[some])]:
            bound = min(reach, scores[found - 1]) if found == wanted else reach
            if low[i] > bound:
                break
            if passes(w, s, who[i]):
                value = score(w, s, who[i], tau, bound)
                if value != NOTHING and w.counts[ASKED] == 0:
                    found = _insert(w, best, scores, found, who[i], value)
    return best[:found], scores[:found]


@jit
def _old_reach(w: World, s: int, tau: int) -> float:
    """The lowest are none that score more than the old ones do now, if they are as many as are wanted; inf."""
    n = tau // w.patterns[s].every
    found, worst = 0, 0.0
    r = int(w.patterns[s].rows)
    while r >= 0:
        o = int(w.rows[r].object)
        if w.rows[r].member and has_been(w, s, o, tau) and passes(w, s, o) and matches(w, r, n):
            value = score(w, s, o, tau, math.inf)
            if value != NOTHING:
                found += 1
                worst = max(worst, value)
        r = int(w.rows[r].other)
    return worst if found >= w.patterns[s].n else math.inf


@jit
def _sure_reach(w: World, s: int, tau: int, who: I64) -> float:
    """No more than this is the n-th lowest score, by the upper bounds of the first objects that have one; inf."""
    highs = np.empty(w.patterns[s].n)
    found = 0
    for o in who:
        if found == len(highs):
            break
        if passes(w, s, o):
            _, high, is_sure = _score_bounds(w, s, o, tau, math.inf)
            if is_sure:
                highs[found] = high
                found += 1
    return highs.max() if found == len(highs) and found > 0 else math.inf


# --------------------------------------------------------------------------------------- all, within a limit


@jit
def _within(w: World, s: int, tau: int, who: I64, low: F64, high: F64, is_sure: B1) -> tuple[I64, F64]:
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
            value = score(w, s, who[i], tau, math.inf)
            if value == NOTHING or (choice == AT_MOST and value > limit) or (choice == AT_LEAST and value < limit):
                continue
        who[found], scores[found] = who[i], value
        found += 1
    return who[:found], scores[:found]


# ------------------------------------------------------------------------------------------- the highest


@jit
def _best(w: World, s: int, tau: int, who: I64, low: F64, high: F64, is_sure: B1) -> tuple[I64, F64]:
    """The n highest, in order."""
    n = min(len(who), w.patterns[s].n)
    best, scores = np.empty(n, np.int64), np.empty(n)
    reach = _nth_highest(low, is_sure, w.patterns[s].n)
    found: Any = np.int64(0)
    for i in np.argsort(-high):
        if high[i] < reach or (found == w.patterns[s].n and high[i] < -scores[found - 1]):
            break
        value = score(w, s, who[i], tau, math.inf)
        if value != NOTHING and w.counts[ASKED] == 0:
            found = _insert(w, best, scores, found, who[i], -value)
    for i in range(found):
        scores[i] = -scores[i] + 0.0
    return best[:found], scores[:found]


@jit
def _nth_highest(bound: F64, is_sure: B1, n: int) -> float:
    """The n-th highest of the bounds that are sure: nobody below it is among the n highest."""
    some = -bound[is_sure]
    return -np.partition(some, n - 1)[n - 1] if len(some) >= n else -math.inf


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
    times, stop = w.trail.times, w.counts[UPDATES] - w.counts[BASE]
    low, high = 0, stop
    while low < high:
        middle = (low + high) >> 1
        if times[middle] < t:
            low = middle + 1
        else:
            high = middle
    return NEVER if low == stop else times[low]


@bare
def wake_patterns(w: World, t: int) -> None:
    """The first update since they were looked at: patterns with a score are looked at when it matters."""
    for s in range(len(w.patterns) - 1):
        if w.patterns[s].waits:
            w.patterns[s].waits = False
            schedule_pattern(w, s, instant(w.patterns[s].every, t + w.patterns[s].soonest))
    w.counts[WAITING] = 0
