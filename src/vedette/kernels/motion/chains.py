"""What an update says to the steps of a row: the instants at which they are satisfied, told ahead.

An update at t lies in the window [tau - a, tau - b] of the instants from t + b to t + a: all of them are still to come,
or now. So a step keeps the set of instants that its updates reach (CMP's index points, shifted by the window), a
pattern matches where the sets of its steps meet, and no update has to be looked at again.

Tied steps (one of two neighbours has no window) stand in a chain: a step's set holds the instants for which all steps
of the chain up to it have witnesses in their order. An update adds to it what the step before has by now: instants are
added once, as witnesses are as early as they can be. A step of ALWAYS has a set of its own: instants of which the
window holds an update, and none that does not satisfy the step; its predecessor counts where it was witnessed before
the window began, its successor from the end of the window on.
"""

from __future__ import annotations

from vedette.compiled import bare
from vedette.kernels.motion.agenda import instant
from vedette.kernels.motion.spans import add, cut, first_in, first_not_in
from vedette.kernels.motion.tables import LONG_AGO, NEVER, World


@bare
def hit(w: World, r: int, q: int, t: int, before: int) -> bool:
    """An update satisfies step q; the object's one before was at `before`. Whether the row has news."""
    step = w.areas.steps[q]
    s = step.pattern
    every = w.patterns[s].every
    e = w.rows[r].entry + step.entry
    low = instant(every, t + step.b)
    high = (t + step.a) // every if step.windowed else NEVER
    if step.guard >= 0 and first_in(w, w.rows[r].entry + step.guard, low) > high:
        return False
    if step.always:
        if not w.sets[e].is_running:
            w.sets[e].is_running = True
            w.sets[e].fault = before if before >= w.patterns[s].since else LONG_AGO
            w.objects[w.rows[r].object].running += 1
        if w.sets[e].fault != LONG_AGO:
            low = max(low, (w.sets[e].fault + step.a) // every + 1)
        return add(w, e, low, high)
    if step.leads and w.areas.steps[q + 1].always:
        low = max(low, instant(every, t + w.areas.steps[q + 1].a))
    if not step.follows:
        return add(w, e, low, high)
    if w.areas.steps[q - 1].always:
        high = min(high, (t + w.areas.steps[q - 1].b) // every)
        return _add_common(w, e, e - 1, e - 2 if w.areas.steps[q - 1].follows else e - 1, low, high)
    return _add_common(w, e, e - 1, e - 1, low, high)


@bare
def _add_common(w: World, e: int, one: int, other: int, low: int, high: int) -> bool:
    """What two sets have in common within low .. high joins set e; whether any of it is new."""
    is_new = False
    n = low
    while n <= high:
        n = first_in(w, one, n)
        if n > high:
            break
        second = first_in(w, other, n)
        if second == n:
            stop = min(first_not_in(w, one, n), first_not_in(w, other, n))
            is_new |= add(w, e, n, high if stop == NEVER else min(high, stop - 1))
            if stop == NEVER:
                break
            n = stop
        else:
            n = second
    return is_new


@bare
def fault(w: World, r: int, q: int, t: int) -> bool:
    """An update does not satisfy step q, which wants it ALWAYS; whether the row has news."""
    step = w.areas.steps[q]
    e = w.rows[r].entry + step.entry
    w.sets[e].is_running = False
    w.objects[w.rows[r].object].running -= 1
    return cut(w, e, instant(w.patterns[step.pattern].every, t + step.b))


@bare
def matches(w: World, r: int, n: int) -> bool:
    """Whether all steps with a set of instants are satisfied at instant n."""
    s, e = w.rows[r].pattern, w.rows[r].entry
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.areas.steps[q]
        if step.decides and first_in(w, e + step.entry, n) != n:
            return False
    return True


@bare
def next_match(w: World, r: int, n: int) -> int:
    """The first instant at n or later at which they all are, as far as is known; NEVER."""
    s, e = w.rows[r].pattern, w.rows[r].entry
    q, stop = w.patterns[s + 1].first - 1, w.patterns[s].first
    found = n
    while q >= stop:  # the last step is the one that is known last: mostly it has nothing yet
        step = w.areas.steps[q]
        q -= 1
        if step.decides:
            at = first_in(w, e + step.entry, found)
            if at == NEVER:
                return NEVER
            if at > found:
                found, q = at, w.patterns[s + 1].first - 1
    return found


@bare
def next_miss(w: World, r: int, n: int) -> int:
    """The first instant at n or later at which one of them is not, as far as is known; NEVER."""
    s, e = w.rows[r].pattern, w.rows[r].entry
    found = NEVER
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.areas.steps[q]
        if step.decides:
            found = min(found, first_not_in(w, e + step.entry, n))
    return found
