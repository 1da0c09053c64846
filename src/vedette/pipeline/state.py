"""State as bytes: named columns with a format version, no pickles.

In: a small JSON-able dictionary and named arrays (numpy of any shape, or Arrow). Out: one binary value, an Arrow
IPC stream of (name, shape, payload) rows whose metadata carries stage, version and dictionary.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vedette.errors import StateError

Arrays = dict[str, "NDArray[Any] | pa.Array"]


def encode(stage: str, version: int, meta: dict[str, Any], arrays: Arrays) -> bytes:
    """Everything as one binary value."""
    names, shapes, payloads = [], [], []
    for name, values in arrays.items():
        shape, column = "", values
        if isinstance(values, np.ndarray):
            shape, column = json.dumps(values.shape), pa.array(np.ascontiguousarray(values).reshape(-1))
        names.append(name)
        shapes.append(shape)
        payloads.append(_to_ipc(pa.table({"v": column})))
    table = pa.table({"name": names, "shape": shapes, "payload": pa.array(payloads, pa.large_binary())})
    head = {
        b"stage": stage.encode(),
        b"version": str(version).encode(),
        b"arrays": str(len(names)).encode(),
        b"meta": json.dumps(meta).encode(),
    }
    return _to_ipc(table.replace_schema_metadata(head))


def decode(stage: str, version: int, data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dictionary and the arrays; StateError where they are not of this stage and version."""
    try:
        table = pa.ipc.open_stream(data).read_all()
        head = table.schema.metadata or {}
        found = (head[b"stage"].decode(), int(head[b"version"]))
        if table.num_rows != int(head[b"arrays"]):
            raise ValueError(f"{table.num_rows} of {int(head[b'arrays'])} arrays are there")
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise StateError(f"this is not a saved state of Vedette ({error}); start without it") from error
    if found != (stage, version):
        raise StateError(
            f"the saved state is of {found[0]} format {found[1]}, this version reads {stage} format {version}; "
            "start from an empty checkpoint, or use the version that wrote it"
        )
    arrays: dict[str, Any] = {}
    for name, shape, payload in zip(*(table[c].to_pylist() for c in ("name", "shape", "payload")), strict=True):
        column = pa.ipc.open_stream(payload).read_all()["v"].combine_chunks()
        arrays[name] = column
        if shape:
            arrays[name] = column.to_numpy(zero_copy_only=False).reshape(json.loads(shape)).copy()
    return json.loads(head[b"meta"]), arrays


def _to_ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written
