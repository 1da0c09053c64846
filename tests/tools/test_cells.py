"""Text cells: typed where they parse, null where they do not, and counted."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vedette.connectors.cells import (
    BOOL,
    DOUBLE,
    LONG,
    NAIVE,
    STRING,
    ZONED,
    cast_text,
    guess_attribute,
    guess_id,
    guess_time,
)
from vedette.errors import SourceError


def column(*cells: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, STRING)])


def test_example_numbers() -> None:
    cast = cast_text(column("1", " 2.5 ", "+3", "1e2", "abc", None, "n/a", "1,5", ".5"), DOUBLE)
    assert cast.column.to_pylist() == [1.0, 2.5, 3.0, 100.0, None, None, None, None, 0.5]
    assert (cast.lost, cast.example) == (2, "abc")


def test_example_whole_numbers() -> None:
    cells = column("7", "8.0", "+9", "9.5", "99999999999999999999", "-3", "0x1F")
    cast = cast_text(cells, LONG)
    assert cast.column.to_pylist() == [7, 8, 9, None, None, -3, None]
    assert cast.lost == 3


def test_example_times() -> None:
    cells = column(
        "2008-05-31T03:20:00Z", "2008-05-31 03:20:00.5", "2008-05-31T05:20:00+02:00", "2008-02-31", "2008-05-31", "x"
    )
    moment = datetime(2008, 5, 31, 3, 20, tzinfo=UTC)
    want = [moment, moment.replace(microsecond=500_000), moment, None, datetime(2008, 5, 31, tzinfo=UTC), None]
    zoned = cast_text(cells, ZONED)
    assert zoned.column.to_pylist() == want
    assert (zoned.lost, zoned.example) == (2, "2008-02-31")
    naive = cast_text(cells, NAIVE).column.to_pylist()
    assert naive == [None if t is None else t.replace(tzinfo=None) for t in want]


def test_example_truth() -> None:
    assert cast_text(column("true", "FALSE", "maybe", None), BOOL).column.to_pylist() == [True, False, None, None]


def test_example_a_column_without_chunks() -> None:
    empty = pa.chunked_array([], type=STRING)
    for kind in (LONG, DOUBLE, BOOL, ZONED, NAIVE):
        assert len(cast_text(empty, kind).column) == 0


@given(st.lists(st.one_of(st.none(), st.text(max_size=12), st.floats().map(repr), st.integers().map(str))))
def test_oracle_doubles_agree_with_python(cells: list[str | None]) -> None:
    number = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
    got = cast_text(column(*cells), DOUBLE).column.to_pylist()
    for cell, value in zip(cells, got, strict=True):
        want = float(cell.strip()) if cell is not None and number.fullmatch(cell.strip()) else None
        assert repr(value) == repr(want)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], LONG),
        (["1", None, "-20"], LONG),
        (["007", "8"], STRING),
        (["1", "A2"], STRING),
        (["1234567890123456789012"], STRING),
        ([None], STRING),
    ],
)
def test_example_ids(cells: list[str | None], kind: pa.DataType) -> None:
    assert guess_id(column(*cells)) == kind


def test_example_times_are_what_most_cells_are() -> None:
    assert guess_time(column("1", "2", "2008-05-31T03:20:00Z"), "here") == LONG
    assert guess_time(column("1", "2008-05-31T03:20:00Z", "2008-05-31T03:20:00"), "here") == ZONED
    assert guess_time(column("2008-05-31", "2008-06-01 10:00"), "here") == NAIVE
    with pytest.raises(SourceError, match="here: 'soon' is not a time"):
        guess_time(column("soon", "later"), "here")
    with pytest.raises(SourceError, match=r"1\.5 is not a whole number"):
        guess_time(column("1.5", "2.5", "3"), "here")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], DOUBLE),
        (["1", "2.5", "n/a"], DOUBLE),
        (["1", "x"], STRING),
        (["00123", "00456"], STRING),
        (["12345678901234567"], LONG),
        (["true", "false"], BOOL),
        (["2008-05-31T00:00:00Z", ""], ZONED),
        ([None, "-"], STRING),
    ],
)
def test_example_attributes(cells: list[str | None], kind: pa.DataType) -> None:
    assert guess_attribute(column(*cells)) == kind
