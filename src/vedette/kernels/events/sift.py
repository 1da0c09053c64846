"""Which events can stand for which variables, and which regions have to hear of them.

In: words of bits per event, a bit per distinct condition. Out: for each region the events that matter there, and the
conditions that each satisfies. A condition on one column is a table: one row of bits for each stretch of values on
which no condition changes its mind, so that hundreds of conditions cost one lookup per column (CCQ's query index).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import bare, inline, jit
from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.events.store import Whole
from vedette.kernels.regions import Regions, region_of, touch
from vedette.kernels.shapes import Edges, shape_has
from vedette.space import disc_box, unit_vector

SPACE, KEY, ONE = 0, 1, 2


class Routes(NamedTuple):
    """By condition, where its events go: to one `shard`; or (-1) to that of a `key`; or (-1) to all within `reach2`."""

    shard: I32
    key: I32
    reach2: F64


class Sifted(NamedTuple):
    """By region: its events are event[start[r]:start[r + 1]], their conditions bit[first[r]:first[r + 1]].

    By event: how many conditions it satisfies (`many`), and whether it lies in the region.
    """

    start: I64
    first: I64
    event: I64
    many: I32
    is_home: B1
    bit: I32


@jit
def narrow(words: U64, table: U64, stretch: I64) -> None:
    """Keep the bits that the stretch of each value allows."""
    for i in range(len(words)):
        for w in range(words.shape[1]):
            words[i, w] &= table[stretch[i], w]


@jit
def stretches(values: F64, breaks: F64, is_known: B1) -> I64:
    """The stretch of each value: 2 k + 1 at the k-th break, 2 k before it; the last one for null."""
    out = np.empty(len(values), np.int64)
    n = len(breaks)
    for i in range(len(values)):
        if not is_known[i]:
            out[i] = 2 * n + 1
            continue
        v = values[i]
        low, high = 0, n
        while low < high:
            middle = (low + high) // 2
            if breaks[middle] < v:
                low = middle + 1
            else:
                high = middle
        out[i] = 2 * low + (1 if low < n and breaks[low] == v else 0)
    return out


@jit
def clear(words: U64, bits: I64, holds: B1) -> None:
    """Take bits away where something does not hold."""
    for i in range(len(words)):
        if not holds[i]:
            for b in bits:
                words[i, b // 64] &= ~(np.uint64(1) << np.uint64(b % 64))


@jit
def are_inside(kind: int, p: F64, edges: Edges, x: F64, y: F64, u: F64, wraps: bool) -> B1:
    """Which positions a still shape holds."""
    out = np.empty(len(x), np.bool_)
    for i in range(len(x)):
        out[i] = shape_has(kind, p, 0, 0, edges, x[i], y[i], u[i, 0], u[i, 1], u[i, 2], wraps)
    return out


@jit
def units(x: F64, y: F64, wraps: bool) -> F64:
    """Unit vectors of positions; nothing in the plane."""
    out = np.zeros((len(x), 3))
    if wraps:
        for i in range(len(x)):
            out[i, 0], out[i, 1], out[i, 2] = unit_vector(x[i], y[i])
    return out


@bare
def shard_of_key(key: Whole, shards: Whole) -> Whole:
    """The shard that all events with an equality key go to."""
    mixed = np.uint64(key & np.int64(0x7FFFFFFFFFFFFFFF))
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed >> np.uint64(33)) % np.uint64(shards))


@jit
def copies(x: F64, y: F64, reach2: float, regions: Regions, wraps: bool) -> int:
    """To how many regions beyond their own events at these places go, all together."""
    touched = np.zeros(regions.size, np.bool_)
    n = 0
    for i in range(len(x)):
        in_reach(regions, x[i], y[i], reach2, wraps, touched)
        for r in range(regions.size):
            n += touched[r]
    return n - len(x)


@inline
def in_reach(regions: Regions, x: float, y: float, reach2: float, wraps: bool, touched: B1) -> None:
    """Which regions are within reach of a place; its own is, whatever rounding says."""
    touched[:] = reach2 == np.inf
    x1, y1, x2, y2 = disc_box(x, y, reach2, wraps)
    touch(regions, x1, y1, x2, y2, wraps, touched)
    touched[region_of(regions, x, y)] = True


@jit
def spread(words: U64, x: F64, y: F64, keys: I64, routes: Routes, regions: Regions, wraps: bool) -> Sifted:
    """The events of each region, in their order, and the conditions of each, in theirs.

    Conditions with the same reach stand side by side, so that what is in reach is asked once for all of them. Only bits
    that are set are looked at.
    """
    count = regions.size
    n = 0
    room = 64
    region, event, bit = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    touched = np.zeros(count, np.bool_)
    for i in range(len(words)):
        asked = -1.0
        for w in range(words.shape[1]):
            word = words[i, w]
            b = 64 * w - 1
            while word != 0:
                skip = _lowest(word)
                b += skip + 1
                word = word >> np.uint64(skip) >> np.uint64(1)  # a shift by 64 is not defined
                if n + count > room:
                    room = 2 * (n + count)
                    region, event, bit = _longer(region, room), _longer(event, room), _longer(bit, room)
                if routes.shard[b] >= 0 or routes.key[b] >= 0:
                    shard: Whole = np.int64(routes.shard[b])
                    if shard < 0:
                        shard = shard_of_key(keys[i, routes.key[b]], count)
                    region[n], event[n], bit[n] = shard, i, b
                    n += 1
                    continue
                if routes.reach2[b] != asked:
                    asked = routes.reach2[b]
                    in_reach(regions, x[i], y[i], asked, wraps, touched)
                for r in range(count):
                    if touched[r]:
                        region[n], event[n], bit[n] = r, i, b
                        n += 1
    return _by_region(region[:n], event, bit, x, y, regions)


@jit
def _by_region(region: I32, event: I32, bit: I32, x: F64, y: F64, regions: Regions) -> Sifted:
    """Triples in the order of events, sorted by region; each event once."""
    count = regions.size
    first, start = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    latest = np.full(count, -1, np.int64)
    for k in range(len(region)):
        r = region[k]
        first[r + 1] += 1
        if latest[r] != event[k]:
            latest[r] = event[k]
            start[r + 1] += 1
    for r in range(count):
        first[r + 1] += first[r]
        start[r + 1] += start[r]
    to_bit, to_event = first[:count].copy(), start[:count].copy()
    latest[:] = -1
    events, counts = np.empty(start[count], np.int64), np.zeros(start[count], np.int32)
    is_home, bits = np.empty(start[count], np.bool_), np.empty(len(region), np.int32)
    for k in range(len(region)):
        r = region[k]
        if latest[r] != event[k]:
            latest[r] = event[k]
            events[to_event[r]] = event[k]
            is_home[to_event[r]] = region_of(regions, x[event[k]], y[event[k]]) == r
            to_event[r] += 1
        counts[to_event[r] - 1] += 1
        bits[to_bit[r]] = bit[k]
        to_bit[r] += 1
    return Sifted(start, first, events, counts, is_home, bits)


@bare
def _lowest(word: np.uint64) -> int:
    """How many zeros are below the lowest bit."""
    n = 0
    while word & np.uint64(0xFF) == 0:
        word = word >> np.uint64(8)
        n += 8
    while word & np.uint64(1) == 0:
        word = word >> np.uint64(1)
        n += 1
    return n


@jit
def _longer(a: I32, room: int) -> I32:
    out = np.empty(room, np.int32)
    out[: len(a)] = a
    return out


class Cast(NamedTuple):
    """The variables that events can stand for: those of event i are slot[start[i]:start[i + 1]].

    `is_owned`: whether tuples of which the event is the last, at this variable, are told here.
    """

    start: I64
    slot: I32
    is_owned: B1


@jit
def cast(which: I64, first: I64, code: I32, is_home: B1, users: I64, slot: I32, is_whole: B1) -> Cast:
    """The variables of some events; `users` says by code where in `slot` and `is_whole` its variables begin."""
    start = np.zeros(len(which) + 1, np.int64)
    n = 0
    for i in range(len(which)):
        for k in range(first[which[i]], first[which[i] + 1]):
            n += users[code[k] + 1] - users[code[k]]
        start[i + 1] = n
    slots, is_owned = np.empty(n, np.int32), np.empty(n, np.bool_)
    n = 0
    for i in range(len(which)):
        for k in range(first[which[i]], first[which[i] + 1]):
            for u in range(users[code[k]], users[code[k] + 1]):
                slots[n], is_owned[n] = slot[u], is_whole[u] or is_home[which[i]]
                n += 1
    return Cast(start, slots, is_owned)
