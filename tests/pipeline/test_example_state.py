"""Saved state: what goes in comes out, and what is no saved state of this stage and version is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vedette.errors import StateError
from vedette.pipeline.state import decode, encode

KINDS = st.sampled_from([np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float64, np.bool_])
ARRAYS = hnp.arrays(KINDS, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3))
METAS = st.dictionaries(st.text(max_size=3), st.recursive(st.none() | st.integers() | st.text(), st.lists), max_size=3)
SAVED = encode("track", 3, {"a": 1}, {"x": np.arange(5)})


@given(METAS, st.dictionaries(st.text(max_size=5), ARRAYS, max_size=4))
def test_agrees_arrays_come_back(meta: dict[str, Any], arrays: dict[str, Any]) -> None:
    found_meta, found = decode("track", 1, encode("track", 1, meta, arrays))
    assert found_meta == json.loads(json.dumps(meta))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == np.ascontiguousarray(array).tobytes()  # to the bit: NaN, -0.0
        assert found[name].flags.writeable


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None, "é", ""]),
        pa.array([], pa.string()),
        pa.array([1, None, -3], pa.int64()),
        pa.array([True, None]),
        pa.array([0, 1], pa.timestamp("us", "UTC")),
        pa.array([b"\0\xff", None], pa.binary()),
        pa.array(["a", "b", "c", "d"]).slice(1, 2),
    ],
    ids=str,
)
def test_agrees_columns_come_back(column: pa.Array) -> None:
    found = decode("answers", 1, encode("answers", 1, {}, {"oid": column}))[1]["oid"]
    assert found.type == column.type
    assert found.to_pylist() == column.to_pylist()


def test_agrees_slices_and_views_come_back() -> None:
    """Arrays that are not contiguous."""
    matrix = np.arange(12.0).reshape(3, 4)
    found = decode("s", 1, encode("s", 1, {}, {"t": matrix.T, "s": matrix[:, 1:3], "r": matrix[::-1, 0]}))[1]
    assert found["t"].tolist() == matrix.T.tolist()
    assert found["s"].tolist() == matrix[:, 1:3].tolist()
    assert found["r"].tolist() == [8.0, 4.0, 0.0]


@pytest.mark.parametrize(("stage", "version"), [("answers", 3), ("track", 2), ("track", 4)])
def test_example_other_stage_or_version(stage: str, version: int) -> None:
    with pytest.raises(StateError, match=rf"of track format 3, .* reads {stage} format {version}"):
        decode(stage, version, SAVED)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        b"\0" * 100,
        b"\xff" * 100,
        b"PK\x03\x04 a zip file",
        json.dumps({"stage": "track"}).encode(),
        SAVED[:10],
        SAVED[: len(SAVED) // 2],
        SAVED[8:],
    ],
    ids=range(9),
)
def test_example_garbage(data: bytes) -> None:
    with pytest.raises(StateError, match="not a saved state"):
        decode("track", 3, data)


def test_example_an_arrow_stream_of_someone_else() -> None:
    sink = pa.BufferOutputStream()
    table = pa.table({"name": ["x"]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(StateError, match="not a saved state"):
        decode("track", 3, sink.getvalue().to_pybytes())


def test_oracle_a_state_cut_short_is_whole_or_refused() -> None:
    """Wherever writing stopped: everything is there (but for the end mark), or a StateError."""
    refused = 0
    for length in range(len(SAVED)):
        try:
            meta, arrays = decode("track", 3, SAVED[:length])
        except StateError:
            refused += 1
        else:
            assert meta == {"a": 1}
            assert arrays["x"].tolist() == [0, 1, 2, 3, 4]
    assert refused >= len(SAVED) - 8
