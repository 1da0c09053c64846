"""A batch of normalised rows: ids, times, places, attributes, all as columns.

Invariant: all columns have the same length; ids are strings or longs without nulls; times are int64 (microseconds where
the stream has timestamps); places are finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vedette.kernels.ids import bucket_of_ids


@dataclass
class Rows:
    """Columns of updates. `attributes` maps lower-case names to Arrow arrays."""

    oid: pa.Array
    t: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    attributes: dict[str, pa.Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.t)

    def take(self, index: NDArray[Any]) -> Rows:
        """The rows at these places, or where a mask is true."""
        index = np.flatnonzero(index) if index.dtype == np.bool_ else index
        if len(index) == len(self) and (len(index) == 0 or (index[0] == 0 and np.all(np.diff(index) == 1))):
            return self
        where = pa.array(index)
        return Rows(
            self.oid.take(where),
            self.t[index],
            self.x[index],
            self.y[index],
            {name: column.take(where) for name, column in self.attributes.items()},
        )

    def run(self, index: NDArray[np.int64]) -> Rows:
        """The rows at these places; where those stand side by side, the same memory."""
        if len(index) == 0 or np.any(np.diff(index) != 1):
            return self.take(index)
        start, length = int(index[0]), len(index)
        part = slice(start, start + length)
        attributes = {name: column.slice(start, length) for name, column in self.attributes.items()}
        return Rows(self.oid.slice(start, length), self.t[part], self.x[part], self.y[part], attributes)

    def columns(self, time: str) -> dict[str, pa.Array]:
        """Everything a condition may ask for, by name."""
        t = pa.array(self.t)
        return {
            **self.attributes,
            "oid": self.oid,
            "t": t.cast(pa.timestamp("us", "UTC")) if time == "timestamp" else t,
            "x": pa.array(self.x),
            "y": pa.array(self.y),
            "lon": pa.array(self.x),
            "lat": pa.array(self.y),
        }


def concat(parts: Sequence[Rows]) -> Rows:
    """One after the other."""
    if len(parts) == 1:
        return parts[0]
    return Rows(
        join([p.oid for p in parts]),
        np.concatenate([p.t for p in parts]),
        np.concatenate([p.x for p in parts]),
        np.concatenate([p.y for p in parts]),
        {name: join([p.attributes[name] for p in parts]) for name in parts[0].attributes},
    )


def join(arrays: Sequence[pa.Array]) -> pa.Array:
    """Arrow arrays end to end."""
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)


def by_bucket(rows: Rows, buckets: int) -> list[Rows]:
    """The rows of each object bucket."""
    if buckets == 1 or len(rows) == 0:
        return [rows] * buckets
    bucket: NDArray[np.int32] = bucket_of_ids(*id_bytes(rows.oid), buckets)
    return [rows.take(np.flatnonzero(bucket == b)) for b in range(buckets)]


def id_bytes(oid: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Ids as bytes end to end, with offsets: UTF-8, or the 8 bytes of a long."""
    n = len(oid)
    if pa.types.is_integer(oid.type):
        longs = np.ascontiguousarray(oid.to_numpy(zero_copy_only=False).astype(np.int64, copy=False))
        return np.arange(n + 1, dtype=np.int64) * 8, longs.view(np.uint8)
    _, offsets, data = oid.buffers()
    starts = np.frombuffer(offsets, np.int32)[oid.offset : oid.offset + n + 1].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    return starts, raw


def attribute_rank(rows: Rows) -> NDArray[np.int64]:
    """Rank of each row by its attributes in order of their names, nulls first: the last resort among equal rows."""
    if not rows.attributes:
        return np.zeros(len(rows), np.int64)
    names = sorted(rows.attributes)
    table = pa.table({name: rows.attributes[name] for name in names})
    order = pc.sort_indices(table, sort_keys=[(name, "ascending", "at_start") for name in names]).to_numpy()
    rank = np.empty(len(rows), np.int64)
    rank[order] = np.arange(len(rows))
    return rank
