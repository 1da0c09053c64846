"""Texts as numbers: hashes for what is equal, beginnings for what comes first.

In: UTF-8 bytes end to end, with offsets. Out: an int64 each.
"""

from __future__ import annotations

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import I64, U8
from vedette.kernels.ids import hash_bytes


@jit
def hashes(offsets: I64, data: U8) -> I64:
    """A number for each text; equal texts have equal ones."""
    out = np.empty(len(offsets) - 1, np.int64)
    for i in range(len(out)):
        out[i] = np.int64(hash_bytes(data, offsets[i], offsets[i + 1]) >> np.uint64(1))
    return out


@jit
def beginnings(offsets: I64, data: U8) -> I64:
    """The first seven bytes of each text as a number, in the order of texts."""
    out = np.empty(len(offsets) - 1, np.int64)
    for i in range(len(out)):
        key = np.int64(0)
        for k in range(7):
            at = offsets[i] + k
            key = key * 256 + (np.int64(data[at]) if at < offsets[i + 1] else np.int64(0))
        out[i] = key
    return out
