"""The attributes of every object's last row, by slot.

Rows are appended as they come and referred to; what is referred to no more is swept out when it outweighs the rest.
Needed when a filter or a measure appears mid-stream and must be known of all objects at once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import I64
from vedette.pipeline.rows import join


class LastRows:
    """Attribute columns by slot."""

    def __init__(self, empty: dict[str, pa.Array]) -> None:
        self._chunks: dict[str, list[pa.Array]] = {name: [column] for name, column in empty.items()}
        self._ref: I64 = np.full(0, -1, np.int64)
        self._length = 0

    def put(self, slots: I64, columns: dict[str, pa.Array]) -> None:
        """These are now the last rows of the slots (no slot twice)."""
        if not self._chunks or len(slots) == 0:
            return
        top = int(slots.max()) + 1
        if top > len(self._ref):
            ref = np.full(max(top, 2 * len(self._ref)), -1, np.int64)
            ref[: len(self._ref)] = self._ref
            self._ref = ref
        self._ref[slots] = self._length + np.arange(len(slots))
        self._length += len(slots)
        for name, chunks in self._chunks.items():
            chunks.append(columns[name])
        live = int(np.count_nonzero(self._ref >= 0))
        if self._length > 4 * live + 4096:
            self._sweep()

    def drop(self, slots: I64) -> None:
        """Forget these slots."""
        if self._chunks:
            self._ref[slots[slots < len(self._ref)]] = -1

    def get(self, slots: I64) -> dict[str, pa.Array]:
        """The attributes of these slots; null where there is no row."""
        if not self._chunks:
            return {}
        ref = np.full(len(slots), -1, np.int64)
        known = slots < len(self._ref)
        ref[known] = self._ref[slots[known]]
        where = pa.array(ref, mask=ref < 0)
        columns = {}
        for name, chunks in self._chunks.items():
            if len(chunks) > 1:
                chunks[:] = [join(chunks)]
            columns[name] = chunks[0].take(where)
        return columns

    def _sweep(self) -> None:
        slots = np.flatnonzero(self._ref >= 0)
        columns = self.get(slots)
        self._ref[slots] = np.arange(len(slots))
        self._length = len(slots)
        self._chunks = {name: [column] for name, column in columns.items()}
