"""Ids by row, as kernels take them, and the Python values that are ordered alike."""

from __future__ import annotations

import numpy as np

from vedette.kernels.nearest import Ids

STRINGS = [b"9", b"10", b"", b"a", b"ab", "é".encode(), "\uffee".encode(), "\U0001f600".encode()]
LONGS = [9, 10, -3, 0, -20, 42, 2**40, -(2**63)]


def as_ids(values: list[bytes] | list[int]) -> Ids:
    """Row i has the i-th id."""
    longs, keys = [v for v in values if isinstance(v, int)], [v for v in values if isinstance(v, bytes)]
    offsets = np.cumsum([0, *map(len, keys)]).astype(np.int64)
    return Ids(bool(longs), np.array(longs, np.int64), offsets, np.frombuffer(b"".join(keys) or b"\0", np.uint8))
