"""Object ids to small numbers: an exact hash table over bytes.

In: ids as bytes (UTF-8, or the 8 bytes of a long) laid end to end, with offsets. Out: a slot number
for each, dense and reused after `free`. Two ids share a slot if and only if their bytes are equal:
the 64-bit hash only finds the place, the bytes decide. Which slots new ids get depends on the ids alone,
not on the order of the rows that bring them, nor on whether the table was restored in between.

The same fixed hash spreads objects over buckets, so it must never change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vedette.compiled import inline, jit
from vedette.kernels.arrays import I32, I64, U8, U64


@inline
def hash_bytes(data: U8, start: int, stop: int) -> np.uint64:
    """FNV-1a over the bytes, finished with a 64-bit mixer so that low bits are good too."""
    h = np.uint64(14695981039346656037)
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(33)
    return h


@jit
def bucket_of_ids(offsets: I64, data: U8, buckets: int) -> I32:
    """The home bucket of each id."""
    n = len(offsets) - 1
    out = np.empty(n, np.int32)
    for i in range(n):
        out[i] = np.int32(hash_bytes(data, offsets[i], offsets[i + 1]) % np.uint64(buckets))
    return out


@jit
def _same(a: U8, a0: int, a1: int, b: U8, b0: int, b1: int) -> bool:
    if a1 - a0 != b1 - b0:
        return False
    for i in range(a1 - a0):
        if a[a0 + i] != b[b0 + i]:
            return False
    return True


@jit
def _find_or_add(
    offsets: I64,
    data: U8,
    first: int,
    table: I32,
    hashes: U64,
    key_start: I64,
    key_stop: I64,
    keys: U8,
    head: I64,
    free: I32,
    add: bool,
    slots: I32,
) -> int:
    """Fill `slots` from row `first` on; stop early where a table is full.

    head = [slots ever used, key bytes used, free count].
    """
    mask = len(table) - 1
    capacity = len(hashes)
    n = len(offsets) - 1
    for i in range(first, n):
        start, stop = offsets[i], offsets[i + 1]
        h = hash_bytes(data, start, stop)
        p = np.int64(h & np.uint64(mask))
        while True:
            s = table[p]
            if s < 0:
                break
            if hashes[s] == h and _same(keys, key_start[s], key_stop[s], data, start, stop):
                break
            p = (p + 1) & mask
        if s >= 0 or not add:
            slots[i] = s
            continue
        length = stop - start
        if (head[2] == 0 and head[0] >= capacity) or head[1] + length > len(keys):
            return i
        if head[2] > 0:
            head[2] -= 1
            s = free[head[2]]
        else:
            s = np.int32(head[0])
            head[0] += 1
        hashes[s] = h
        key_start[s] = head[1]
        for j in range(length):
            keys[head[1] + j] = data[start + j]
        head[1] += length
        key_stop[s] = head[1]
        table[p] = s
        slots[i] = s
    return n


@jit
def _fill(table: I32, hashes: U64, used: I32) -> None:
    mask = len(table) - 1
    for s in used:
        p = np.int64(hashes[s] & np.uint64(mask))
        while table[p] >= 0:
            p = (p + 1) & mask
        table[p] = s


@jit
def _remove(table: I32, hashes: U64, gone: I32) -> None:
    """Linear probing with backward shift, so that no tombstones pile up."""
    mask = len(table) - 1
    for s in gone:
        p = np.int64(hashes[s] & np.uint64(mask))
        while table[p] != s:
            p = (p + 1) & mask
        hole = p
        q = (p + 1) & mask
        while table[q] >= 0:
            home = np.int64(hashes[table[q]] & np.uint64(mask))
            if ((q - home) & mask) >= ((q - hole) & mask):
                table[hole] = table[q]
                hole = q
            q = (q + 1) & mask
        table[hole] = np.int32(-1)


@inline
def _is_before(a: int, b: int, start: I64, stop: I64, keys: U8, numeric: bool) -> bool:
    """Whether the id in slot a comes before that in slot b: byte by byte, a beginning before what it begins.

    `numeric`: from the last byte on, which is the order of longs that are not negative, so that neighbours in number
    are neighbours in memory (measured: steps of a million rows take a fifth longer where they are scattered).
    """
    length_a, length_b = stop[a] - start[a], stop[b] - start[b]
    for j in range(min(length_a, length_b)):
        at = length_a - 1 - j if numeric else j
        byte_a, byte_b = keys[start[a] + at], keys[start[b] + at]
        if byte_a != byte_b:
            return bool(byte_a < byte_b)
    return bool(length_a < length_b)


@jit
def _in_byte_order(slots: I32, start: I64, stop: I64, keys: U8, numeric: bool) -> I32:
    """The slots by the bytes of their ids: a merge sort that costs one pass where they are in order already."""
    n = len(slots)
    here = slots.copy()
    there = np.empty(n, np.int32)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            if middle == high or not _is_before(here[middle], here[middle - 1], start, stop, keys, numeric):
                there[low:high] = here[low:high]
                continue
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or _is_before(here[i], here[j], start, stop, keys, numeric)):
                    there[k] = here[i]
                    i += 1
                else:
                    there[k] = here[j]
                    j += 1
        here, there = there, here
        width *= 2
    return here


@jit
def _renumber(given: I32, order: I32, table: I32, hashes: U64, start: I64, stop: I64, slots: I32, number: I32) -> None:
    """The ids in slots `order` move to slots `given`, in the table and in `slots`; `number` is scratch room, all -1."""
    mask = len(table) - 1
    n = len(given)
    place = np.empty(n, np.int64)
    new_hashes = np.empty(n, np.uint64)
    new_start = np.empty(n, np.int64)
    new_stop = np.empty(n, np.int64)
    for i in range(n):
        s = order[i]
        number[s] = given[i]
        p = np.int64(hashes[s] & np.uint64(mask))
        while table[p] != s:
            p = (p + 1) & mask
        place[i] = p
        new_hashes[i] = hashes[s]
        new_start[i] = start[s]
        new_stop[i] = stop[s]
    for i in range(n):
        s = given[i]
        table[place[i]] = s
        hashes[s] = new_hashes[i]
        start[s] = new_start[i]
        stop[s] = new_stop[i]
    for i in range(len(slots)):
        if number[slots[i]] >= 0:
            slots[i] = number[slots[i]]


@jit
def _copy_keys(order: I32, key_start: I64, key_stop: I64, keys: U8, new_keys: U8) -> int:
    at = 0
    for s in order:
        start, stop = key_start[s], key_stop[s]
        key_start[s] = at
        for j in range(stop - start):
            new_keys[at + j] = keys[start + j]
        at += stop - start
        key_stop[s] = at
    return at


class IdTable:
    """Ids to dense slots. `add` numbers new ids, `find` gives -1 for them, `free` forgets some."""

    def __init__(self, capacity: int = 64, *, numeric: bool = False) -> None:
        self._numeric = numeric
        self._table: I32 = np.full(4 * capacity, -1, np.int32)
        self._hashes: U64 = np.zeros(capacity, np.uint64)
        self._start: I64 = np.zeros(capacity, np.int64)
        self._stop: I64 = np.zeros(capacity, np.int64)
        self._keys: U8 = np.zeros(16 * capacity, np.uint8)
        self._head: I64 = np.zeros(3, np.int64)
        self._free: I32 = np.zeros(capacity, np.int32)
        self._live: NDArray[np.bool_] = np.zeros(capacity, np.bool_)

    def __len__(self) -> int:
        return int(self._head[0] - self._head[2])

    @property
    def span(self) -> int:
        """One more than the greatest slot ever given out."""
        return int(self._head[0])

    def is_live(self, span: int) -> NDArray[np.bool_]:
        """Which of the first slots are in use."""
        return self._live[:span].copy()

    def find(self, offsets: I64, data: U8) -> I32:
        """The slot of each id, -1 where it is unknown."""
        slots = np.empty(len(offsets) - 1, np.int32)
        self._run(offsets, data, 0, False, slots)
        return slots

    def add(self, offsets: I64, data: U8) -> I32:
        """The slot of each id; new ids get one, in the order of their bytes whatever the order of the rows."""
        span, free = self.span, int(self._head[2])
        slots = self.add_as_they_come(offsets, data)
        reused = self._free[int(self._head[2]) : free][::-1]
        given = np.concatenate((reused, np.arange(span, self.span, dtype=np.int32)))
        if len(given) > 1:
            order = _in_byte_order(given, self._start, self._stop, self._keys, self._numeric)
            if not np.array_equal(order, given):
                number = np.full(self.span, -1, np.int32)
                _renumber(given, order, self._table, self._hashes, self._start, self._stop, slots, number)
        return slots

    def add_as_they_come(self, offsets: I64, data: U8) -> I32:
        """The same, but new ids get their slots in the order of the rows: where the numbers are used but once."""
        slots = np.empty(len(offsets) - 1, np.int32)
        first = 0
        while (first := self._run(offsets, data, first, True, slots)) < len(slots):
            self._grow(int(offsets[first + 1] - offsets[first]))
        self._live[slots] = True
        return slots

    def free(self, slots: I32) -> None:
        """Forget these ids; their slots are given out again by later calls of `add`."""
        if len(slots) == 0:
            return
        _remove(self._table, self._hashes, slots)
        self._live[slots] = False
        at = int(self._head[2])
        self._free[at : at + len(slots)] = slots
        self._head[2] = at + len(slots)

    def free_slots(self) -> I32:
        """The slots that are given out again, the last one first."""
        return self._free[: int(self._head[2])].copy()

    def _run(self, offsets: I64, data: U8, first: int, add: bool, slots: I32) -> int:
        return _find_or_add(
            offsets,
            data,
            first,
            self._table,
            self._hashes,
            self._start,
            self._stop,
            self._keys,
            self._head,
            self._free,
            add,
            slots,
        )

    def _grow(self, key_length: int) -> None:
        # `add` marks liveness only at its end, so the table itself says which slots are in use here.
        used: I32 = self._table[self._table >= 0]
        if self._head[2] == 0 and self._head[0] >= len(self._hashes):
            capacity = 2 * len(self._hashes)
            for name in ("_hashes", "_start", "_stop", "_free", "_live"):
                old = getattr(self, name)
                new = np.zeros(capacity, old.dtype)
                new[: len(old)] = old
                setattr(self, name, new)
            self._table = np.full(4 * capacity, -1, np.int32)
            _fill(self._table, self._hashes, used)
        if self._head[1] + key_length > len(self._keys):
            needed = int((self._stop[used] - self._start[used]).sum()) + key_length
            keys = np.zeros(max(1024, 2 * needed), np.uint8)
            self._head[1] = _copy_keys(used, self._start, self._stop, self._keys, keys)
            self._keys = keys

    def restore(self, slots: I32, offsets: I64, data: U8, free: I32) -> None:
        """Fill an empty table so that these ids have these slots; `free` is what `free_slots` said, all the others."""
        span = len(slots) + len(free)
        self.__init__(max(64, 1 << max(0, span - 1).bit_length()), numeric=self._numeric)  # type: ignore[misc]
        self._keys = data.copy() if len(data) else np.zeros(16, np.uint8)
        self._start[slots] = offsets[:-1]
        self._stop[slots] = offsets[1:]
        self._head[:] = (span, len(self._keys), len(free))
        self._live[slots] = True
        self._hashes[slots] = hashes_of(offsets, data)
        _fill(self._table, self._hashes, slots)
        self._free[: len(free)] = free

    def bytes_of(self, slots: I32) -> tuple[I64, U8]:
        """The ids in these slots, end to end."""
        lengths = self._stop[slots] - self._start[slots]
        offsets = np.zeros(len(slots) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return offsets, gather(slots, self._start, self._stop, self._keys, offsets)


@jit
def hashes_of(offsets: I64, data: U8) -> U64:
    """The hash of each id."""
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        out[i] = hash_bytes(data, offsets[i], offsets[i + 1])
    return out


@jit
def gather(slots: I32, start: I64, stop: I64, keys: U8, offsets: I64) -> U8:
    """Copy the keys of slots end to end."""
    out = np.empty(offsets[-1], np.uint8)
    for i in range(len(slots)):
        s = slots[i]
        for j in range(stop[s] - start[s]):
            out[offsets[i] + j] = keys[start[s] + j]
    return out
