"""Ids of the objects in a region, by slot: appended when an object arrives, swept when most have left."""

from __future__ import annotations

import pyarrow as pa

from vedette.kernels.arrays import I64
from vedette.pipeline.rows import join


class Names:
    """An append-only column of ids that refs point into."""

    def __init__(self, kind: pa.DataType) -> None:
        self._chunks: list[pa.Array] = [pa.array([], kind)]
        self._length = 0

    def append(self, names: pa.Array) -> int:
        """Add ids; returns the ref of the first."""
        first = self._length
        if len(names):
            self._chunks.append(names)
            self._length += len(names)
        return first

    def get(self, refs: I64) -> pa.Array:
        """The ids behind refs."""
        if len(self._chunks) > 1:
            self._chunks = [join(self._chunks)]
        return self._chunks[0].take(pa.array(refs))

    def is_worth_sweeping(self, used: int) -> bool:
        """Whether most ids are of objects that left."""
        return self._length > 4 * used + 4096

    def sweep(self, refs: I64) -> None:
        """Keep only these refs, renumbered in their order."""
        self._chunks = [self.get(refs)]
        self._length = len(refs)
