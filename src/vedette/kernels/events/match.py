"""Matching: each event as the last of its tuple, against the useful ones before it (CCQ, algorithms 1 and 2).

In: a batch of events in the order of (time, id), each with the variables that it can stand for. Out: the tuples of
which it is the last, as refs to rows by slot.

An event at variable i is useful if for every variable whose events must all be earlier there is a consistent one. It
lives until t + min over the *missing* variables (those without a consistent event yet) of their upper bounds, or until
t + max over all of them when none is missing; when a useful event comes that fits to it, fewer are missing, and its
time is set anew. (The paper takes the minimum over all future variables; where an interval spans 0 the partner may be
there already, and alerts would be lost.) A set of n events is missing as long as fewer than n have been found.

Tuples are found by forward checking: every choice strikes out what does not fit to it in the domains to come.
"""

from __future__ import annotations

import numpy as np

from vedette.compiled import bare, inline, jit
from vedette.kernels.arrays import B1, F64, I32, I64, U8
from vedette.kernels.events.graph import LOOSE, Graph, fits, is_chained, keys_fit, list_of, pair_of, place_of
from vedette.kernels.events.store import (
    ENTRIES,
    EVENTS,
    FREE_ENTRIES,
    FREE_EVENTS,
    IN_HEAP,
    NEXT_NUMBER,
    PEAK_EVENTS,
    PROBED,
    Entries,
    Events,
    Heap,
    Lists,
    Whole,
    cell_at,
    cell_number,
    chain_of,
    expire,
    hang,
    push,
    release_event,
)
from vedette.space import disc_box, planar_d2, sphere_d2

MOST_SLOTS = 12
SHORT = 64  # entries of a variable that are looked through faster than nine cells are looked up


@bare
def _scan(
    graph: Graph,
    events: Events,
    entries: Entries,
    counts: I64,
    following: I32,
    entry: Whole,
    slot: Whole,
    place: Whole,
    is_chain: bool,
    q: Whole,
    i: Whole,
    event: Whole,
    wraps: bool,
    found: I32,
    n: Whole,
) -> Whole:
    """Collect from a list or a chain the entries of a variable that fit to the event at base i.

    What `graph.fits` says, with all that is the same for every entry looked up once (measured: a tenth less time than
    with a call for each).
    """
    p, back = pair_of(graph, q, i, slot), pair_of(graph, q, slot, i)
    latest, oldest = events.t[event] + graph.high[p], events.t[event] - graph.high[back]
    near2, far2 = min(graph.near2[p], graph.reach2[p]), graph.far2[p]
    near_strict, far_strict = graph.near_strict[p], graph.far_strict[p]
    first, last = graph.compare[p], graph.compare[p + 1]
    x, y = events.x[event], events.y[event]
    ux, uy, uz = events.ux[event], events.uy[event], events.uz[event]
    while entry >= 0:
        other = entries.event[entry]
        t = events.t[other]
        if t < oldest:
            break
        if is_chain and (entries.slot[entry] != slot or entries.place[entry] != place):
            entry = following[entry]
            continue
        counts[PROBED] += 1
        if wraps:
            d2 = sphere_d2(ux, uy, uz, events.ux[other], events.uy[other], events.uz[other])
        else:
            d2 = planar_d2(x, y, events.x[other], events.y[other])
        good = t <= latest and other != event and far2 <= d2 <= near2
        good = good and not (d2 == near2 and near_strict) and not (d2 == far2 and far_strict)
        for c in range(first, last):
            if good:
                good = keys_fit(graph.op[c], events.keys[event, graph.a[c]], events.keys[other, graph.b[c]])
        if good:
            found[n] = entry
            n += 1
        entry = following[entry]
    return n


@bare
def _partners(
    graph: Graph,
    events: Events,
    entries: Entries,
    heads: I32,
    lists: Lists,
    counts: I64,
    q: Whole,
    i: Whole,
    event: Whole,
    slot: Whole,
    wraps: bool,
    found: I32,
    n: Whole,
) -> Whole:
    """The domain of the variable `slot` once the event stands at base i."""
    p = pair_of(graph, q, i, slot)
    if graph.high[pair_of(graph, q, slot, i)] < 0 or lists.live[slot] == 0:
        return n  # all of them come later, or there are none
    whose, side, newest = list_of(graph, slot), graph.side[slot], lists.newest[slot]
    if side == 0.0 and graph.key[slot] >= 0:
        place = events.keys[event, graph.key[i]]
        head = heads[chain_of(whose, place, len(heads))]
        return _scan(
            graph, events, entries, counts, entries.next, head, slot, place, True, q, i, event, wraps, found, n
        )
    if side == 0.0 or (whose >= 0 and lists.live[slot] <= SHORT):
        return _scan(
            graph, events, entries, counts, entries.older, newest, slot, 0, False, q, i, event, wraps, found, n
        )
    around = graph.around[slot]
    x1, y1, x2, y2 = disc_box(events.x[event], events.y[event], graph.reach2[p], wraps)
    if around > 0:
        left, right = cell_at((x1 + 180.0) / side), cell_at((x2 + 180.0) / side)
        low, high = cell_at((y1 + 90.0) / side), cell_at((y2 + 90.0) / side)
        if right - left >= around:
            left, right = 0, around - 1
    else:
        left, right = cell_at(x1 / side), cell_at(x2 / side)
        low, high = cell_at(y1 / side), cell_at(y2 / side)
    if float(right - left + 1) * float(high - low + 1) > lists.live[slot]:
        return _scan(
            graph, events, entries, counts, entries.older, newest, slot, 0, False, q, i, event, wraps, found, n
        )
    for column in range(left, right + 1):
        wrapped = column % around if around > 0 else column
        for row in range(low, high + 1):
            place = cell_number(wrapped, row)
            head = heads[chain_of(whose, place, len(heads))]
            n = _scan(
                graph, events, entries, counts, entries.next, head, slot, place, True, q, i, event, wraps, found, n
            )
    return n


@bare
def _needed(graph: Graph, i: Whole, slot: Whole) -> Whole:
    """How many events of a variable it takes beside the one at base i."""
    needed: Whole = graph.size[slot] - (1 if i == slot else 0)
    return needed


@bare
def _until(graph: Graph, q: Whole, i: Whole, t: Whole, seen: U8, entry: Whole) -> Whole:
    """How long an event at base i is useful, by what has been seen of each variable; before t if not at all."""
    first = graph.first[q]
    longest = np.int64(-1)
    is_missing = False
    shortest = np.int64(0)
    slot = first
    while slot < graph.first[q + 1]:
        needed = _needed(graph, i, slot)
        if needed > 0:
            high = graph.high[pair_of(graph, q, i, slot)]
            longest = max(longest, high)
            if seen[entry, slot - first] < needed:
                shortest = high if not is_missing else min(shortest, high)
                is_missing = True
        slot += graph.size[slot]
    if is_missing and (graph.strategy[q] != LOOSE or shortest < 0):
        return t + shortest
    return t + longest


@bare
def _by_number(events: Events, entries: Entries, found: I32, start: Whole, stop: Whole) -> None:
    """Put a domain in the order of events."""
    for k in range(start + 1, stop):
        entry = found[k]
        number = events.number[entries.event[entry]]
        m = k
        while m > start and events.number[entries.event[found[m - 1]]] > number:
            found[m] = found[m - 1]
            m -= 1
        found[m] = entry


@inline
def _solve(
    graph: Graph,
    events: Events,
    entries: Entries,
    q: Whole,
    i: Whole,
    event: Whole,
    found: I32,
    start: I64,
    struck: U8,
    wraps: bool,
    out: I64,
    n: Whole,
) -> tuple[I64, Whole]:
    """All tuples of which the event, at base i, is the last; found[start[k]:start[k + 1]] is the domain of slot k."""
    first, m = graph.first[q], graph.first[q + 1] - graph.first[q]
    order = np.empty(MOST_SLOTS, np.int64)  # the base behind each level, least domain first
    levels = 0
    taken = np.zeros(MOST_SLOTS, np.bool_)
    while True:
        best: Whole = np.int64(-1)
        for k in range(m):
            slot = first + k
            if graph.base[slot] == slot and not taken[k] and _needed(graph, i, slot) > 0:
                if best < 0 or start[k + 1] - start[k] < start[best + 1] - start[best]:
                    best = k
        if best < 0:
            break
        taken[best] = True
        needed = _needed(graph, i, first + best)
        if needed > 1:
            _by_number(events, entries, found, start[best], start[best + 1])
        for _ in range(needed):
            order[levels] = best
            levels += 1
    struck[start[0] : start[m]] = 0
    choice = np.zeros(MOST_SLOTS + 1, np.int64)
    level = 0
    at = start[order[0]] if levels > 0 else np.int64(0)
    while level >= 0:
        if level == levels:
            if n == len(out):
                more = np.full((2 * n + 16, out.shape[1]), -1, np.int64)
                more[:n] = out
                out = more
            out[n, 0] = q
            filled = np.zeros(MOST_SLOTS, np.int64)
            for k in range(levels):
                base = order[k]
                out[n, 1 + base + filled[base]] = events.ref[entries.event[found[choice[k]]]]
                filled[base] += 1
            base = i - first
            out[n, 1 + base + filled[base]] = events.ref[event]
            n += 1
            level -= 1
            if level >= 0:
                at = choice[level] + 1
            continue
        k = order[level]
        while at < start[k + 1] and struck[at] != 0:
            at += 1
        if at >= start[k + 1]:  # nothing left here: take the last choice back
            level -= 1
            if level >= 0:
                _unstrike(struck, start[0], start[m], level + 1)
                at = choice[level] + 1
            continue
        choice[level] = at
        if not _strike(graph, events, entries, q, found, start, struck, order, level, levels, at, wraps):
            _unstrike(struck, start[0], start[m], level + 1)
            at += 1
            continue
        level += 1
        if level < levels:
            at = at + 1 if order[level] == k else start[order[level]]
    return out, n


@bare
def _unstrike(struck: U8, start: Whole, stop: Whole, mark: Whole) -> None:
    for k in range(start, stop):
        if struck[k] == mark:
            struck[k] = 0


@bare
def _strike(
    graph: Graph,
    events: Events,
    entries: Entries,
    q: Whole,
    found: I32,
    start: I64,
    struck: U8,
    order: I64,
    level: Whole,
    levels: Whole,
    at: Whole,
    wraps: bool,
) -> bool:
    """Strike out what does not fit to a choice; False where a domain to come has too few left."""
    first = graph.first[q]
    k = order[level]
    chosen = entries.event[found[at]]
    later = level + 1
    while later < levels:
        other = order[later]
        wanted = 0
        while later < levels and order[later] == other:
            wanted += 1
            later += 1
        p = pair_of(graph, q, first + k, first + other)
        back = pair_of(graph, q, first + other, first + k)
        left = 0
        for v in range(at + 1 if other == k else start[other], start[other + 1]):
            if struck[v] != 0:
                continue
            if fits(graph, events, p, back, chosen, entries.event[found[v]], wraps):
                left += 1
            else:
                struck[v] = level + 1
        if left < wanted:
            return False
    return True


@jit
def match(
    t: I64,
    x: F64,
    y: F64,
    u: F64,
    keys: I64,
    ref: I64,
    start_of_row: I64,
    slot_of: I32,
    is_owned: B1,
    graph: Graph,
    events: Events,
    entries: Entries,
    heap: Heap,
    heads: I32,
    lists: Lists,
    counts: I64,
    frontier: int,
    wraps: bool,
) -> I64:
    """Take in a batch; returns rows of (trigger, refs by slot), -1 beyond the trigger's slots.

    There is room for all events and entries of the batch. `is_owned`: whether tuples that end with this event are told
    here; elsewhere it is only a partner of others.
    """
    out = np.full((64, 1 + MOST_SLOTS), -1, np.int64)
    n: Whole = 0
    found = np.empty(len(entries.event) + 1, np.int32)
    struck = np.zeros(len(entries.event) + 1, np.uint8)
    start = np.zeros(MOST_SLOTS + 1, np.int64)
    seen = np.zeros((1, MOST_SLOTS), np.uint8)
    for row in range(len(t)):
        if row == 0 or t[row] != t[row - 1]:
            expire(events, entries, heap, heads, lists, counts, t[row])
        counts[FREE_EVENTS] -= 1
        event = events.free[counts[FREE_EVENTS]]
        events.t[event], events.x[event], events.y[event] = t[row], x[row], y[row]
        events.ux[event], events.uy[event], events.uz[event] = u[row, 0], u[row, 1], u[row, 2]
        events.ref[event], events.number[event], events.users[event] = ref[row], counts[NEXT_NUMBER], 0
        counts[NEXT_NUMBER] += 1
        for k in range(keys.shape[1]):
            events.keys[event, k] = keys[row, k]
        for k in range(start_of_row[row], start_of_row[row + 1]):
            i = slot_of[k]
            q = graph.trigger[i]
            first, last = graph.first[q], graph.first[q + 1]
            size: Whole = 0
            is_complete, is_useful = True, True
            for slot in range(first, last):
                start[slot - first] = size
                seen[0, slot - first] = 0
                if graph.base[slot] != slot or not is_useful:
                    continue
                needed = graph.size[slot] - (1 if i == slot else 0)
                if needed == 0:
                    continue
                size = _partners(graph, events, entries, heads, lists, counts, q, i, event, slot, wraps, found, size)
                have = size - start[slot - first]
                seen[0, slot - first] = min(have, needed)
                if have < needed:
                    is_complete = False
                    is_useful = graph.high[pair_of(graph, q, i, slot)] >= 0
            start[last - first] = size
            if not is_useful:
                continue
            if is_complete and is_owned[k]:
                out, n = _solve(graph, events, entries, q, i, event, found, start, struck, wraps, out, n)
            until = _until(graph, q, i, t[row], seen, 0)
            if until < t[row]:
                continue
            for f in range(size):  # partners have one missing less
                entry = found[f]
                partner = entries.slot[entry]
                if entries.found[entry, i - first] < graph.size[i] - (1 if partner == i else 0):
                    entries.found[entry, i - first] += 1
                    if graph.strategy[q] != LOOSE:
                        other = entries.event[entry]
                        entries.until[entry] = _until(graph, q, partner, events.t[other], entries.found, entry)
            counts[FREE_ENTRIES] -= 1
            entry = entries.free[counts[FREE_ENTRIES]]
            entries.event[entry], entries.slot[entry], entries.until[entry] = event, i, until
            entries.found[entry, :] = seen[0, :]
            place = place_of(graph, events, i, event)
            hang(entries, heads, lists, entry, list_of(graph, i), place, is_chained(graph, i))
            push(heap, counts, until, entry, entries.stamp[entry])
            counts[ENTRIES] += 1
            events.users[event] += 1
            if events.users[event] == 1:
                counts[EVENTS] += 1
                counts[PEAK_EVENTS] = max(counts[PEAK_EVENTS], counts[EVENTS])
        if events.users[event] == 0:
            release_event(events, counts, event)
    expire(events, entries, heap, heads, lists, counts, frontier)
    return out[:n].copy()


@jit
def rehang(
    graph: Graph, events: Events, entries: Entries, heap: Heap, heads: I32, lists: Lists, counts: I64, order: I32
) -> None:
    """Make lists, chains and heap anew of the entries in `order`, oldest first."""
    heads[:] = -1
    lists.newest[:] = -1
    lists.live[:] = 0
    counts[IN_HEAP] = 0
    for k in range(len(order)):
        entry = order[k]
        slot = entries.slot[entry]
        place = place_of(graph, events, slot, entries.event[entry])
        hang(entries, heads, lists, entry, list_of(graph, slot), place, is_chained(graph, slot))
        push(heap, counts, entries.until[entry], entry, entries.stamp[entry])
