"""Sets of instants, as lists of spans in order, none of which touches the next.

In: instants by number. NEVER as the last instant of a span means that it has no end.
"""

from __future__ import annotations

from vedette.compiled import bare
from vedette.kernels.motion.tables import FREE_SPAN, NEVER, SPAN_TOP, SPANS, World


@bare
def _new(w: World, low: int, high: int, following: int) -> int:
    count = w.counts
    i: int = count[FREE_SPAN]
    if i >= 0:
        count[FREE_SPAN] = w.spans[i].next
    else:
        i = count[SPAN_TOP]
        count[SPAN_TOP] += 1
    count[SPANS] += 1
    w.spans[i].low = low
    w.spans[i].high = high
    w.spans[i].next = following
    return i


@bare
def _free(w: World, i: int) -> int:
    """Give a span back; the one behind it."""
    following: int = w.spans[i].next
    w.spans[i].next = w.counts[FREE_SPAN]
    w.counts[FREE_SPAN] = i
    w.counts[SPANS] -= 1
    return following


@bare
def add(w: World, e: int, low: int, high: int) -> bool:
    """Instants low .. high join set e; whether any of them is new."""
    if low > high:
        return False
    tail = w.sets[e].tail
    if tail < 0:
        w.sets[e].head = w.sets[e].tail = _new(w, low, high, -1)
        w.sets[e].top = high
        return True
    if low >= w.spans[tail].low:
        if high <= w.spans[tail].high:
            return False
        if low - 1 <= w.spans[tail].high:
            w.spans[tail].high = high
        else:
            new = _new(w, low, high, -1)
            w.spans[tail].next = new
            w.sets[e].tail = new
        w.sets[e].top = high
        return True
    return _add_within(w, e, low, high)


@bare
def _add_within(w: World, e: int, low: int, high: int) -> bool:
    """Instants of which some come before the last span."""
    before, i = -1, w.sets[e].head
    while w.spans[i].high != NEVER and w.spans[i].high + 1 < low:
        before, i = i, w.spans[i].next
    if w.spans[i].low <= low and high <= w.spans[i].high:
        return False
    if high != NEVER and high + 1 < w.spans[i].low:
        new = _new(w, low, high, i)
        if before < 0:
            w.sets[e].head = new
        else:
            w.spans[before].next = new
        return True
    w.spans[i].low = min(low, w.spans[i].low)
    w.spans[i].high = max(high, w.spans[i].high)
    following = w.spans[i].next
    while following >= 0 and (w.spans[i].high == NEVER or w.spans[following].low <= w.spans[i].high + 1):
        w.spans[i].high = max(w.spans[i].high, w.spans[following].high)
        following = _free(w, following)
    w.spans[i].next = following
    if following < 0:
        w.sets[e].tail = i
        w.sets[e].top = w.spans[i].high
    return True


@bare
def cut(w: World, e: int, n: int) -> bool:
    """Instants n and later leave set e; whether there were any."""
    if w.sets[e].tail < 0 or w.sets[e].top < n:
        return False
    before, i = -1, w.sets[e].head
    while w.spans[i].high < n:
        before, i = i, w.spans[i].next
    if w.spans[i].low < n:
        w.spans[i].high = n - 1
        before, following = i, w.spans[i].next
        w.spans[i].next = -1
        i = following
    while i >= 0:
        i = _free(w, i)
    w.sets[e].tail = before
    if before < 0:
        w.sets[e].head = -1
        w.sets[e].top = -NEVER
    else:
        w.spans[before].next = -1
        w.sets[e].top = w.spans[before].high
    return True


@bare
def trim(w: World, e: int, n: int) -> None:
    """Forget the spans that end before instant n."""
    i = w.sets[e].head
    while i >= 0 and w.spans[i].high < n:
        i = _free(w, i)
    w.sets[e].head = i
    if i < 0:
        w.sets[e].tail = -1
        w.sets[e].top = -NEVER


@bare
def clear(w: World, e: int) -> None:
    """All instants leave set e."""
    i = w.sets[e].head
    while i >= 0:
        i = _free(w, i)
    w.sets[e].head = w.sets[e].tail = -1
    w.sets[e].top = -NEVER


@bare
def first_in(w: World, e: int, n: int) -> int:
    """The first instant of set e at n or later, NEVER."""
    if w.sets[e].top < n:
        return NEVER
    i = w.sets[e].head
    while w.spans[i].high < n:
        i = w.spans[i].next
    low: int = w.spans[i].low
    return max(n, low)


@bare
def first_not_in(w: World, e: int, n: int) -> int:
    """The first instant at n or later that does not belong to set e, NEVER."""
    if w.sets[e].top < n:
        return n
    i = w.sets[e].head
    while w.spans[i].high < n:
        i = w.spans[i].next
    if w.spans[i].low > n:
        return n
    high: int = w.spans[i].high
    return NEVER if high == NEVER else high + 1
