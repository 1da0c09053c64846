"""Does an object match a pattern at an instant, and until when can nothing change?

Steps that all have windows are independent of each other (`_windows`): the first that fails says when to look again.
Steps without a window between or behind others are witnessed as late as possible, from the last step to the first
(`_sequence`): that leaves most room for what comes before. Steps without a window at the start of a pattern are
witnessed as early as possible while updates come in (`follow`), so that only the time of the last is needed.

A row of the table of hits that is looked at gets three things: whether it is a member, when it is due again, and
whether the object's next update matters (`wake`). Looking too often does no harm, too late would.
"""

from __future__ import annotations

import math

import numpy as np

from vedette.compiled import bare
from vedette.kernels.motion.agenda import instant, instant_after, push
from vedette.kernels.motion.tables import (
    ABOUT,
    ANY,
    ASK,
    AT_LEAST,
    AT_MOST,
    DONE,
    EXACTLY,
    GONE,
    JOINED,
    LEFT,
    LOWER,
    NEVER,
    NONE,
    RECALL,
    TOLD,
    UNWANTED,
    UPPER,
    WANTED,
    World,
)
from vedette.kernels.motion.visits import bound, first_after, last_hit, measured, touches

NO, YES, UNKNOWN = 0, 1, 2


@bare
def passes(w: World, s: int, o: int) -> bool:
    """Whether the object's latest update satisfies the pattern's condition."""
    bit = w.patterns[s].condition
    return bool(bit < 0 or (w.words[o, bit // 64] >> np.uint64(bit % 64)) & np.uint64(1))


@bare
def lives(w: World, h: int, tau: int) -> bool:
    """Whether the object may still match without a new visit to a place that bears rows."""
    s, o = w.hits[h].pattern, w.hits[h].object
    if w.patterns[s].prefix > 0:
        return True
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.past.areas.steps[q]
        if step.bears and touches(w.past, o, q, max(tau - step.a, w.patterns[s].since)):
            return True
    return False


# ------------------------------------------------------------------------------------- windows alone


@bare
def _windows(w: World, h: int, tau: int) -> tuple[int, int, int, int]:
    """(NO, YES or UNKNOWN, when to look again, wake, steps passed)."""
    past, steps = w.past, w.past.areas.steps
    hit = w.hits[h]
    s, o, was, passed = hit.pattern, hit.object, hit.at, hit.passed
    every, since = w.patterns[s].every, w.patterns[s].since
    begin = w.patterns[s].first + w.patterns[s].prefix
    due, wake, anchor = NEVER, -1, NEVER
    for k in range(w.patterns[s + 1].first - begin):
        q = steps[begin + k].order
        a, b = steps[q].a, steps[q].b
        low, high = max(tau - a, since), tau - b
        is_next = q == begin and hit.stage > 0  # right behind the steps without a window
        head = past.objects[o].head
        if steps[q].always:
            if is_next and hit.stage_t > tau - a:
                return NO, min(anchor, instant(every, hit.stage_t + a)), -1, k
            fresh = max(low, was - b + 1) if passed > k else low  # up to there it was satisfied at the last look
            fault = last_hit(past, o, q, fresh, high, UNWANTED, ABOUT)
            if fault == ASK:
                return UNKNOWN, 0, 0, 0
            if fault != NONE:
                return NO, min(anchor, instant_after(every, fault + a)), -1, k
            seen = last_hit(past, o, ANY, low, high, WANTED, ABOUT)
            if seen == ASK:
                return UNKNOWN, 0, 0, 0
            if seen == NONE:
                following = first_after(past, o, ANY, high, WANTED, every)
                again = NEVER if following == NEVER else instant(every, following + b)
                return NO, min(anchor, again), b, k
            until = instant_after(every, seen + a)
            following = first_after(past, o, q, high, UNWANTED, every)
            if following != NEVER:
                until = min(until, instant(every, following + b))
            wake = b if wake < 0 else min(wake, b)
        else:
            if is_next:
                low = max(low, hit.stage_t)
            fresh = max(low, was - b + 1) if passed == k else low  # up to there it was not satisfied at the last look
            at = last_hit(past, o, q, fresh, high, WANTED, ABOUT)
            if at == ASK:
                return UNKNOWN, 0, 0, 0
            if at == NONE:
                following = first_after(past, o, q, high, WANTED, every)
                again = NEVER if following == NEVER else instant(every, following + b)
                waits = head >= 0 and past.cells.holds[past.visits[head].cell, q] != 0
                return NO, min(anchor, again), b if waits else -1, k
            until = instant_after(every, at + a)
        due = min(due, until)
        if k == 0:
            anchor = until
    return YES, due, wake, w.patterns[s + 1].first - begin


# ------------------------------------------------------------------------------------ sequences, scores


@bare
def sequence(w: World, h: int, tau: int) -> int:
    """Whether the steps have witnesses in their order: YES, NO or UNKNOWN."""
    past, steps = w.past, w.past.areas.steps
    hit = w.hits[h]
    s, o = hit.pattern, hit.object
    since = w.patterns[s].since
    first, stop = w.patterns[s].first, w.patterns[s + 1].first
    begin = first + w.patterns[s].prefix
    latest = NEVER  # the step before must have a witness that is not later
    for q in range(stop - 1, begin - 1, -1):
        step = steps[q]
        before_is_open = q > first and not steps[q - 1].windowed
        test = ANY if step.is_number else q
        if step.windowed:
            low, high = max(tau - step.a, since), tau - step.b
            follows = q + 1 < stop and not steps[q + 1].windowed
            if step.always:
                if follows and latest < tau - step.b:
                    return NO
                if test >= 0:
                    fault = last_hit(past, o, test, low, high, UNWANTED, ABOUT)
                    if fault != NONE:
                        return UNKNOWN if fault == ASK else NO
                at = last_hit(past, o, ANY, low, high, WANTED, ABOUT)
                if at == ASK or at == NONE:
                    return UNKNOWN if at == ASK else NO
                latest = tau - step.a
            else:
                at = last_hit(past, o, test, low, min(high, latest) if follows else high, WANTED, before_is_open)
                if at == ASK or at == NONE:
                    return UNKNOWN if at == ASK else NO
                latest = at
            if not before_is_open:
                latest = NEVER
        else:
            at = last_hit(past, o, test, max(tau - step.floor, since), min(tau, latest), WANTED, EXACTLY)
            if at == ASK or at == NONE:
                return UNKNOWN if at == ASK else NO
            latest = at
    return YES if begin == first or hit.stage_t <= latest else NO


@bare
def score_bound(w: World, h: int, tau: int, upper: bool) -> float:
    """A bound of the score, by cells alone."""
    s, o = w.hits[h].pattern, w.hits[h].object
    total = 0.0
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.past.areas.steps[q]
        if step.is_number:
            total += bound(w.past, o, q, max(tau - step.a, w.patterns[s].since), tau - step.b, upper)
    return total


@bare
def score(w: World, h: int, tau: int) -> float:
    """The score: the sum of the distances in the order of the steps; NaN: unknown."""
    s, o = w.hits[h].pattern, w.hits[h].object
    total = 0.0
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.past.areas.steps[q]
        if step.is_number:
            total += measured(w.past, o, q, max(tau - step.a, w.patterns[s].since), tau - step.b)
    return total


@bare
def next_event(w: World, h: int, tau: int) -> int:
    """An instant, not later than the first after tau at which an update of the object enters or leaves a window."""
    past, steps = w.past, w.past.areas.steps
    hit = w.hits[h]
    s, o = hit.pattern, hit.object
    every, since = w.patterns[s].every, w.patterns[s].since
    first, stop = w.patterns[s].first, w.patterns[s + 1].first
    due = NEVER
    for q in range(first, stop):
        step = steps[q]
        if not step.windowed:
            continue
        low, high = max(tau - step.a, since), tau - step.b
        due = min(due, _shifted(every, first_after(past, o, ANY, high, WANTED, every), step.b))
        due = min(due, _shifted(every, first_after(past, o, ANY, low - 1, WANTED, every), step.a + 1))
        if step.always:
            if q > first and not steps[q - 1].windowed:
                due = min(due, _shifted(every, first_after(past, o, ANY, tau - step.a, WANTED, every), step.a))
                if w.patterns[s].prefix > 0 and hit.stage_t > tau - step.a:
                    due = min(due, instant(every, hit.stage_t + step.a))
            if q + 1 < stop and not steps[q + 1].windowed:
                due = min(due, _shifted(every, first_after(past, o, ANY, high - 1, WANTED, every), step.b + 1))
    return max(due, instant_after(every, tau))


@bare
def _shifted(every: int, t: int, by: int) -> int:
    """The first instant at t + by or later."""
    return NEVER if t == NEVER else instant(every, t + by)


@bare
def _scored(w: World, h: int, tau: int) -> tuple[int, float]:
    """(NO, YES or UNKNOWN, score) of a pattern with sequences or scores; the score of who was a member may be NaN."""
    found = sequence(w, h, tau)
    s = w.hits[h].pattern
    if found != YES or not w.patterns[s].has_score:
        return found, math.nan
    choice, limit, was = w.patterns[s].choice, w.patterns[s].limit, w.hits[h].member
    if choice == AT_MOST:
        if score_bound(w, h, tau, LOWER) > limit:
            return NO, math.nan
        if was and score_bound(w, h, tau, UPPER) <= limit:
            return YES, math.nan
    elif choice == AT_LEAST:
        if score_bound(w, h, tau, UPPER) < limit:
            return NO, math.nan
        if was and score_bound(w, h, tau, LOWER) >= limit:
            return YES, math.nan
    elif was:
        return YES, math.nan
    value = score(w, h, tau)
    if math.isnan(value):
        return UNKNOWN, value
    is_in = (choice != AT_MOST or value <= limit) and (choice != AT_LEAST or value >= limit)
    return (YES if is_in else NO), value


# --------------------------------------------------------------------------------------------- a look


@bare
def look(w: World, h: int, tau: int) -> int:
    """Look at a row: DONE; GONE where nothing can come of it; RECALL if updates have to be read back before."""
    hit = w.hits[h]
    s, o = hit.pattern, hit.object
    every = w.patterns[s].every
    value = math.nan
    wake, passed = -1, -1
    if w.patterns[s].prefix > hit.stage:
        found, due = NO, NEVER
    elif not passes(w, s, o):  # a new row of the object that satisfies it is told at once
        found, due = NO, NEVER
    elif w.patterns[s].is_ordered or w.patterns[s].has_score:
        found, value = _scored(w, h, tau)
        due = NEVER if found == UNKNOWN else next_event(w, h, tau)
        wake = _soonest(w, s)
    else:
        found, due, wake, passed = _windows(w, h, tau)
    if found == UNKNOWN:
        return RECALL
    if (found == YES) != hit.member:
        tell(w, h, tau, JOINED if found == YES else LEFT, value)
        w.hits[h].member = found == YES
    if found == NO and not lives(w, h, tau):
        return GONE
    w.hits[h].at = tau
    w.hits[h].passed = passed
    w.hits[h].wake = wake
    if wake >= 0:
        w.past.objects[o].waits = True
    if due == NEVER:
        due = _expiry(w, h, tau)
    if due != NEVER:
        due = max(due, instant_after(every, tau))
        push(w.agenda, w.past.counts, due, h)
    w.hits[h].due = due
    return DONE


@bare
def _soonest(w: World, s: int) -> int:
    """How long after it happens an update matters at the earliest."""
    soonest = NEVER
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.past.areas.steps[q]
        soonest = min(soonest, step.b if step.windowed else 0)
    return soonest


@bare
def _expiry(w: World, h: int, tau: int) -> int:
    """When to see whether the row still lives."""
    s, o = w.hits[h].pattern, w.hits[h].object
    head = w.past.objects[o].head
    if w.patterns[s].prefix > 0 or head < 0:
        return NEVER
    longest = 0
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        if w.past.areas.steps[q].bears:
            longest = max(longest, w.past.areas.steps[q].a)
    return instant_after(w.patterns[s].every, max(tau, w.past.visits[head].end + longest))


@bare
def tell(w: World, h: int, tau: int, sign: int, value: float) -> None:
    """A change of the answer."""
    n = w.past.counts[TOLD]
    w.past.counts[TOLD] += 1
    o = w.hits[h].object
    w.told[n].t = tau
    w.told[n].pattern = w.hits[h].pattern
    w.told[n].object = o
    w.told[n].sign = sign
    w.told[n].score = value
    w.told[n].x = w.past.objects[o].x
    w.told[n].y = w.past.objects[o].y
