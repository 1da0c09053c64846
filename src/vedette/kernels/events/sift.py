"""Which events can stand for which variables, and which regions have to hear of them.

In: a word of bits per event, a bit per distinct condition. Out: pairs (event, use) grouped by region; a *use* is a
variable of a trigger. A condition on one column is a table: one row of bits for each stretch of values on which no
condition changes its mind, so that hundreds of conditions cost one lookup per column (CCQ's query index).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import B1, F64, I8, I32, I64, U64
from vedette.kernels.regions import Regions, region_of, touch
from vedette.kernels.shapes import Edges, shape_has
from vedette.space import disc_box, unit_vector

SPACE, KEY, ONE = 0, 1, 2


class Uses(NamedTuple):
    """Grouped by condition: `start` per condition; how each is sharded: reach2 in space, key column, or one shard."""

    start: I64
    mode: I8
    reach2: F64
    key: I32
    shard: I32


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


@jit
def some_bit(words: U64) -> B1:
    """Rows with any bit."""
    out = np.zeros(len(words), np.bool_)
    for i in range(len(words)):
        for w in range(words.shape[1]):
            if words[i, w] != 0:
                out[i] = True
    return out


@jit
def spread(
    words: U64, x: F64, y: F64, keys: I64, uses: Uses, regions: Regions, wraps: bool
) -> tuple[I64, I64, I32, B1]:
    """Start per region; the event, the use, and whether the region owns the event as the last of a tuple."""
    count = regions.size
    room = 64
    region, event = np.empty(room, np.int32), np.empty(room, np.int64)
    use, owned = np.empty(room, np.int32), np.empty(room, np.bool_)
    touched = np.zeros(count, np.bool_)
    n = 0
    for i in range(len(words)):
        home = region_of(regions, x[i], y[i])
        for w in range(words.shape[1]):
            if words[i, w] == 0:
                continue
            for b in range(min(64, len(uses.start) - 1 - 64 * w)):
                if (words[i, w] >> np.uint64(b)) & np.uint64(1) == 0:
                    continue
                for k in range(uses.start[64 * w + b], uses.start[64 * w + b + 1]):
                    if n + count > room:
                        room = 2 * (n + count)
                        region, event = _longer32(region, room), _longer64(event, room)
                        use, owned = _longer32(use, room), _longer1(owned, room)
                    if uses.mode[k] == SPACE and count > 1:
                        x1, y1, x2, y2 = disc_box(x[i], y[i], uses.reach2[k], wraps)
                        touched[:] = uses.reach2[k] == np.inf
                        touch(regions, x1, y1, x2, y2, wraps, touched)
                        touched[home] = True
                    else:
                        touched[:] = False
                        shard = np.int64(uses.shard[k])
                        if uses.mode[k] == SPACE:
                            shard = np.int64(0)
                        elif uses.mode[k] == KEY:
                            mixed = np.uint64(keys[i, uses.key[k]] & np.int64(0x7FFFFFFFFFFFFFFF))
                            mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
                            shard = np.int64((mixed >> np.uint64(33)) % np.uint64(count))
                        touched[shard] = True
                    for r in range(count):
                        if touched[r]:
                            region[n], event[n], use[n] = r, i, k
                            owned[n] = uses.mode[k] != SPACE or r == home
                            n += 1
    start = np.zeros(count + 1, np.int64)
    for k in range(n):
        start[region[k] + 1] += 1
    for r in range(count):
        start[r + 1] += start[r]
    at = start[:count].copy()
    events_out, use_out, owned_out = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.bool_)
    for k in range(n):
        to = at[region[k]]
        at[region[k]] += 1
        events_out[to], use_out[to], owned_out[to] = event[k], use[k], owned[k]
    return start, events_out, use_out, owned_out


@jit
def _longer32(a: I32, room: int) -> I32:
    out = np.empty(room, np.int32)
    out[: len(a)] = a
    return out


@jit
def _longer64(a: I64, room: int) -> I64:
    out = np.empty(room, np.int64)
    out[: len(a)] = a
    return out


@jit
def _longer1(a: B1, room: int) -> B1:
    out = np.empty(room, np.bool_)
    out[: len(a)] = a
    return out
