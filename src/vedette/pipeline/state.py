"""Named columns as bytes, with a format version, no pickles: how stages speak to each other and how they are kept.

In: a small JSON-able dictionary and named arrays (numpy of any shape, or Arrow). Out: one binary value, an Arrow IPC
stream of a single row whose cells are the arrays as lists (so that one message holds columns of any lengths); its
metadata carries kind, version, shapes and dictionary.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vedette.errors import StateError

Arrays = dict[str, "NDArray[Any] | pa.Array"]


def encode(kind: str, version: int, meta: dict[str, Any], arrays: Arrays) -> bytes:
    """Everything as one binary value."""
    shapes: list[list[int] | None] = []
    cells = []
    for values in arrays.values():
        column = values
        if isinstance(values, np.ndarray):
            shapes.append(list(values.shape))
            column = pa.array(np.ascontiguousarray(values).reshape(-1))
        else:
            shapes.append(None)
        cells.append(pa.LargeListArray.from_arrays(pa.array([0, len(column)], pa.int64()), column))
    head = {
        b"kind": kind.encode(),
        b"version": str(version).encode(),
        b"shapes": json.dumps(shapes).encode(),
        b"meta": json.dumps(meta).encode(),
    }
    schema = pa.schema([pa.field(name, cell.type) for name, cell in zip(arrays, cells, strict=True)], head)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        if cells:
            writer.write_batch(pa.RecordBatch.from_arrays(cells, schema=schema))
    written: bytes = sink.getvalue().to_pybytes()
    return written


def decode(kind: str, version: int, data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dictionary and the arrays; StateError where they are not of this kind and version."""
    try:
        reader = pa.ipc.open_stream(data)
        head = reader.schema.metadata or {}
        found = (head[b"kind"].decode(), int(head[b"version"]))
        shapes = json.loads(head[b"shapes"])
        columns = reader.read_next_batch().columns if shapes else []
        if len(columns) != len(shapes):
            raise ValueError(f"{len(columns)} of {len(shapes)} arrays are there")
    except (pa.ArrowException, OSError, KeyError, ValueError, StopIteration) as error:
        raise StateError(f"this is not a saved state of Vedette ({error}); start without it") from error
    if found != (kind, version):
        raise StateError(
            f"the saved state is of {found[0]} format {found[1]}, this version reads {kind} format {version}; "
            "start from an empty checkpoint, or use the version that wrote it"
        )
    arrays: dict[str, Any] = {}
    for name, shape, cell in zip(reader.schema.names, shapes, columns, strict=True):
        values = cell.flatten()
        # A copy, because kernels are compiled for arrays that may be written to.
        arrays[name] = values if shape is None else np.array(values.to_numpy(zero_copy_only=False)).reshape(shape)
    return json.loads(head[b"meta"]), arrays
