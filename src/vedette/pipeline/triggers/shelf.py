"""The rows behind stored events: ids, times, places and the values of comparisons, appended and swept.

In: columns of a batch. Out: refs to rows, and what is behind refs. A side that a trigger brings later is null before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import I64
from vedette.pipeline.rows import join


class Shelf:
    """Append-only columns; `sweep` renumbers."""

    def __init__(self, oid_type: pa.DataType) -> None:
        self._length = 0
        self._keys: list[I64] = [np.zeros((0, 0), np.int64)]
        self._chunks: dict[str, list[pa.Array]] = {
            "oid": [pa.array([], oid_type)],
            "t": [pa.array([], pa.int64())],
            "x": [pa.array([], pa.float64())],
            "y": [pa.array([], pa.float64())],
        }

    def append(self, columns: dict[str, Any]) -> int:
        """Add rows; returns the ref of the first."""
        first, n = self._length, len(columns["t"])
        for name, column in columns.items():
            if name.startswith("side.") and name not in self._chunks:
                self._chunks[name] = [pa.nulls(first, column.type)]
        for name, chunks in self._chunks.items():
            new = columns.get(name)
            kind = chunks[0].type
            if new is None:
                chunks.append(pa.nulls(n, kind))
                continue
            column = new if isinstance(new, pa.Array) else pa.array(new)
            if column.type != kind:  # the number of a side that is gone belongs to another one now
                chunks[:] = [pa.nulls(first, column.type)]
            chunks.append(column)
        self._keys.append(columns["keys"])
        self._length += n
        return first

    def key(self, number: int, refs: I64) -> I64:
        """The coarse keys of a side."""
        keys: I64 = self._all_keys()[refs, number]
        return keys

    def _all_keys(self) -> I64:
        if len(self._keys) > 1:
            width = max(keys.shape[1] for keys in self._keys)
            wide = [np.pad(keys, ((0, 0), (0, width - keys.shape[1]))) for keys in self._keys]
            self._keys = [np.concatenate(wide)]
        return self._keys[0]

    def _column(self, name: str) -> pa.Array:
        chunks = self._chunks[name]
        if len(chunks) > 1:
            chunks[:] = [join(chunks)]
        return chunks[0]

    def __len__(self) -> int:
        return self._length

    def side(self, number: int, refs: I64, is_oid: bool) -> pa.Array:
        """The values of a side, which may be the id itself."""
        return self._column("oid" if is_oid else f"side.{number}").take(pa.array(refs))

    def t(self, refs: I64) -> I64:
        """The times, in the shape of the refs."""
        return np.asarray(self._column("t").to_numpy(zero_copy_only=False))[refs]

    def events(self, refs: I64) -> dict[str, pa.Array]:
        """Ids, times and places."""
        taken = pa.array(refs)
        return {name: self._column(name).take(taken) for name in ("oid", "t", "x", "y")}

    def columns(self, refs: I64) -> dict[str, Any]:
        """Everything behind refs."""
        taken = pa.array(refs)
        columns = {name: self._column(name).take(taken) for name in self._chunks}
        return {n: c.to_numpy(zero_copy_only=False) if n in ("t", "x", "y") else c for n, c in columns.items()}

    def is_worth_sweeping(self, used: int) -> bool:
        """Whether most rows are behind no ref any more."""
        return self._length > 4 * used + 4096

    def sweep(self, refs: I64) -> I64:
        """Keep only these rows; their new refs."""
        taken = pa.array(refs)
        self._chunks = {name: [self._column(name).take(taken)] for name in self._chunks}
        self._keys = [self._all_keys()[refs]]
        self._length = len(refs)
        return np.arange(len(refs))
