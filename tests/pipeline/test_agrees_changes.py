"""Changes are the same tables whether they travel or not, whole or in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vedette as vd
from vedette.pipeline.assemble import Changes
from vedette.pipeline.intake import Intake, bind
from vedette.pipeline.outcome import changes_in_pieces, changes_table
from vedette.pipeline.tuples import Tuples
from vedette.pipeline.wire import read_changes, write_changes

WORDS = ["first", "v", "w"]
FLOATS = st.none() | st.floats(-9.0, 9.0)
MEMBERS = st.lists(st.tuples(st.integers(0, len(WORDS) - 1), st.integers(0, 3)), max_size=4)


def intake(oid: pa.DataType, t: pa.DataType) -> Intake:
    return bind(pa.schema([("oid", oid), ("t", t), ("x", pa.float64()), ("y", pa.float64())]), vd.planar())


def array(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array([str(v) if v is not None and kind == pa.string() else v for v in values], kind)


@st.composite
def parts(draw: st.DrawFn, oid: pa.DataType) -> Changes:
    """The changes of one family, of alerts or of objects or of both."""
    n = draw(st.integers(0, 8))
    has_oid, has_place, has_members = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())

    def column(strategy: st.SearchStrategy[Any], there: bool = True) -> list[Any]:
        return draw(st.lists(strategy, min_size=n, max_size=n)) if there else [None] * n

    def floats(there: bool) -> Any:
        return np.array([np.nan if v is None else v for v in column(FLOATS, there)], np.float64)

    x, value, members = floats(has_place), floats(has_place), None
    if has_members:
        lists = column(MEMBERS)
        flat = np.array([m for each in lists for m in each], np.uint8).reshape(-1, 2)
        members = Tuples(
            np.cumsum([0, *map(len, lists)]),
            flat[:, 0].copy(),
            flat[:, 1].copy(),
            pa.array(WORDS),
            array([7, 8, 9, 10], oid),
            np.array([3, 1, 4, 1]),
            np.array([0.5, 1.0, -1.0, 2.0]),
            np.array([0.0, 3.0, 5.0, 7.0]),
        )
    return Changes(
        ["p", "q"],
        np.array(column(st.integers(0, 1)), np.int32),
        np.sort(np.array(column(st.integers(0, 5)), np.int64)),
        np.array(column(st.sampled_from([-1, 0, 1])), np.int8),
        array(column(st.none() | st.integers(0, 9), has_oid), oid),
        x,
        x + 1.0,  # both or none
        value,
        members,
    )


@pytest.mark.parametrize("t", [pa.int64(), pa.timestamp("ms"), pa.timestamp("us", "UTC")], ids=str)
@pytest.mark.parametrize("oid", [pa.string(), pa.int64()], ids=str)
@given(data=st.data(), at_once=st.integers(1, 9))
def test_changes_that_travel_and_come_in_pieces(
    oid: pa.DataType, t: pa.DataType, data: st.DataObject, at_once: int
) -> None:
    told = data.draw(st.lists(parts(oid), min_size=1, max_size=3))
    reading = intake(oid, t)
    whole = changes_table(told, reading)
    arrived = read_changes(write_changes(told), oid)
    assert changes_table(arrived, reading).equals(whole)
    pieces = list(changes_in_pieces(arrived, reading, at_once))
    assert pa.concat_tables(pieces).equals(whole)
    assert all(piece.schema == whole.schema for piece in pieces)
