"""Parcels as Spark's rows, and key values that Spark spreads evenly.

Spark sends a row to partition hash(key) mod n. Few keys with values 0, 1, 2... can all fall into one partition. So
station i gets a value whose hash is i modulo a number with many divisors: whatever the number of partitions is (as long
as it divides that number), station i is in partition i mod n. The values depend on nothing else, so they are the same
after every restart.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

PARCELS = "key int, kind string, payload binary"  # a parcel on its way, as Spark's columns
MANY_DIVISORS = 2**6 * 3**2 * 5 * 7  # 1 to 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, 32, 36, 40, 42, 48, 64...


@lru_cache(maxsize=1)
def key_values() -> tuple[int, ...]:
    """The key value of each station, by its number."""
    found = np.full(MANY_DIVISORS, -1, np.int64)
    start, step = 0, 1 << 17
    while (found < 0).any():
        values = np.arange(start, start + step, dtype=np.int64)
        residue = spark_hash(values).astype(np.int64) % MANY_DIVISORS
        residues, first = np.unique(residue, return_index=True)
        new = found[residues] < 0
        found[residues[new]] = values[first[new]]
        start += step
    return tuple(found.tolist())


def spark_hash(values: NDArray[np.int64]) -> NDArray[np.int32]:
    """Spark's hash of an int: 32-bit Murmur3 with seed 42."""
    with np.errstate(over="ignore"):
        k = values.astype(np.uint32) * np.uint32(0xCC9E2D51)
        k = _rotated(k, 15) * np.uint32(0x1B873593)
        h = _rotated(np.uint32(42) ^ k, 13) * np.uint32(5) + np.uint32(0xE6546B64)
        h ^= np.uint32(4)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        h ^= h >> np.uint32(16)
    return h.view(np.int32)


def _rotated(x: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits))
