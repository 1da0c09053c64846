"""The store of useful events: entries in chains, and the array of expiration times.

An *event* is kept once, however many variables it can stand for; an *entry* says that it may stand for one of them. An
entry stands in the list of its variable, and hangs in one chain of a hash table: that of its variable and equality key
or cell, or that of its cell in an index which all triggers share. Lists and chains have the newest entry first, so a
walk ends where time does. What expires when is kept in a heap; an entry that was renewed meanwhile goes back into it
with its new time.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np

from vedette.compiled import inline
from vedette.kernels.arrays import F64, I32, I64, U8

Whole: TypeAlias = "int | np.int64"

FREE_EVENTS, FREE_ENTRIES, NEXT_NUMBER, IN_HEAP, EVENTS, PEAK_EVENTS, ENTRIES, PROBED = range(8)
FARTHEST_CELL = 2.0**30


class Events(NamedTuple):
    """By event slot. `ref` is where its row is kept; `number` counts events in their order; `users`: entries."""

    t: I64
    x: F64
    y: F64
    ux: F64
    uy: F64
    uz: F64
    ref: I64
    number: I64
    users: I32
    keys: I64
    free: I32


class Entries(NamedTuple):
    """By entry slot. `found[v]`: consistent partners seen for variable v; `place`: key or cell; `stamp`: use count."""

    event: I32
    slot: I32
    until: I64
    place: I64
    chain: I64
    next: I32
    prev: I32
    older: I32
    newer: I32
    stamp: I64
    found: U8
    free: I32


class Heap(NamedTuple):
    """Expiration times, least first."""

    until: I64
    entry: I32
    stamp: I64


class Lists(NamedTuple):
    """By variable: its newest entry, and how many there are."""

    newest: I32
    live: I64


class Cells(NamedTuple):
    """Cells in space: their side, and on the sphere how many there are around it (0 in the plane)."""

    side: float
    around: int


@inline
def chain_of(slot: Whole, place: Whole, chains: int) -> Whole:
    """The chain of a variable (-1: the shared index) and a key or cell."""
    h = np.uint64(place & np.int64(0x7FFFFFFFFFFFFFFF)) * np.uint64(0x9E3779B97F4A7C15)
    h += np.uint64(slot + 1) * np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    h ^= h >> np.uint64(32)
    return np.int64(h & np.uint64(chains - 1))


@inline
def cell_at(v: float) -> Whole:
    """A coordinate in cells as a whole number."""
    return np.int64(math.floor(min(max(v, -FARTHEST_CELL), FARTHEST_CELL)))


@inline
def cell_number(column: Whole, row: Whole) -> Whole:
    """One number for a cell."""
    return np.int64(column) * np.int64(4294967296) + np.int64(row) + np.int64(2147483648)


@inline
def cell_of(cells: Cells, x: float, y: float) -> Whole:
    """The cell of a position."""
    if cells.around > 0:
        return cell_number(cell_at((x + 180.0) / cells.side) % cells.around, cell_at((y + 90.0) / cells.side))
    return cell_number(cell_at(x / cells.side), cell_at(y / cells.side))


@inline
def hang(
    entries: Entries, heads: I32, lists: Lists, entry: Whole, whose: Whole, place: Whole, is_chained: bool
) -> None:
    """Put an entry at the head of its variable's list, and of the chain of its place."""
    slot = entries.slot[entry]
    before = lists.newest[slot]
    entries.older[entry] = before
    entries.newer[entry] = -1
    if before >= 0:
        entries.newer[before] = entry
    lists.newest[slot] = entry
    lists.live[slot] += 1
    entries.place[entry] = place
    entries.chain[entry] = -1
    if is_chained:
        c = chain_of(whose, place, len(heads))
        entries.chain[entry] = c
        entries.prev[entry] = -1
        entries.next[entry] = heads[c]
        if heads[c] >= 0:
            entries.prev[heads[c]] = entry
        heads[c] = entry


@inline
def unhang(entries: Entries, heads: I32, lists: Lists, entry: Whole) -> None:
    """Take an entry out of its list and its chain."""
    slot = entries.slot[entry]
    newer, older = entries.newer[entry], entries.older[entry]
    if newer >= 0:
        entries.older[newer] = older
    else:
        lists.newest[slot] = older
    if older >= 0:
        entries.newer[older] = newer
    lists.live[slot] -= 1
    if entries.chain[entry] < 0:
        return
    before, after = entries.prev[entry], entries.next[entry]
    if before >= 0:
        entries.next[before] = after
    else:
        heads[entries.chain[entry]] = after
    if after >= 0:
        entries.prev[after] = before


@inline
def push(heap: Heap, counts: I64, until: Whole, entry: Whole, stamp: Whole) -> None:
    """One more expiration time."""
    i = counts[IN_HEAP]
    counts[IN_HEAP] = i + 1
    while i > 0:
        up = (i - 1) // 2
        if heap.until[up] <= until:
            break
        heap.until[i], heap.entry[i], heap.stamp[i] = heap.until[up], heap.entry[up], heap.stamp[up]
        i = up
    heap.until[i], heap.entry[i], heap.stamp[i] = until, entry, stamp


@inline
def pop(heap: Heap, counts: I64) -> None:
    """Take the least away."""
    n = counts[IN_HEAP] - 1
    counts[IN_HEAP] = n
    until, entry, stamp = heap.until[n], heap.entry[n], heap.stamp[n]
    i = 0
    while True:
        down = 2 * i + 1
        if down >= n:
            break
        if down + 1 < n and heap.until[down + 1] < heap.until[down]:
            down += 1
        if heap.until[down] >= until:
            break
        heap.until[i], heap.entry[i], heap.stamp[i] = heap.until[down], heap.entry[down], heap.stamp[down]
        i = down
    heap.until[i], heap.entry[i], heap.stamp[i] = until, entry, stamp


@inline
def release_event(events: Events, counts: I64, event: int) -> None:
    """Nobody needs the event any more."""
    events.free[counts[FREE_EVENTS]] = event
    counts[FREE_EVENTS] += 1


@inline
def remove(events: Events, entries: Entries, heads: I32, lists: Lists, counts: I64, entry: int) -> None:
    """Forget an entry, and its event with the last one."""
    unhang(entries, heads, lists, entry)
    event = entries.event[entry]
    entries.event[entry] = -1
    entries.stamp[entry] += 1
    entries.free[counts[FREE_ENTRIES]] = entry
    counts[FREE_ENTRIES] += 1
    counts[ENTRIES] -= 1
    events.users[event] -= 1
    if events.users[event] == 0:
        counts[EVENTS] -= 1
        release_event(events, counts, event)


@inline
def expire(events: Events, entries: Entries, heap: Heap, heads: I32, lists: Lists, counts: I64, now: int) -> None:
    """Forget all entries that no event from `now` on can join."""
    while counts[IN_HEAP] > 0 and heap.until[0] < now:
        entry, stamp = heap.entry[0], heap.stamp[0]
        pop(heap, counts)
        if entries.event[entry] < 0 or entries.stamp[entry] != stamp:
            continue
        if entries.until[entry] >= now:
            push(heap, counts, entries.until[entry], entry, stamp)
        else:
            remove(events, entries, heads, lists, counts, entry)
