"""What comes from outside becomes rows, or rejects with a reason; whatever type pandas, CSV or Parquet gave it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from vedette.errors import SourceError
from vedette.model import Schema
from vedette.pipeline.intake import AHEAD, REASONS, Intake, bind
from vedette.pipeline.rows import Rows
from vedette.space import Space, lonlat, planar

SECOND = 1_000_000
NOON = datetime(2008, 5, 31, 12, tzinfo=UTC)
NOON_US = int(NOON.timestamp()) * SECOND


def table(**columns: Any) -> pa.Table:
    """One row, or as many as the columns have, with what is not given filled in."""
    n = max((len(column) for column in columns.values()), default=1)
    return pa.table({"oid": ["a"] * n, "t": [1] * n, "x": [2.0] * n, "y": [3.0] * n, **columns})


def read(given: pa.Table, space: Space | None = None) -> tuple[Intake, Rows, pa.Table]:
    intake = bind(given.schema, space or planar())
    return intake, *intake.read(given)


# ------------------------------------------------------------------------------------------ good rows


@pytest.mark.parametrize(
    ("ids", "kind", "expected"),
    [
        (pa.array(["a", "é"]), "string", ["a", "é"]),
        (pa.array(["a", ""], pa.large_string()), "string", ["a", ""]),
        (pa.array(["a", "b"]).dictionary_encode(), "string", ["a", "b"]),
        (pa.array([7, 8]).dictionary_encode(), "long", [7, 8]),
        (pa.array([1, -2], pa.int32()), "long", [1, -2]),
        (pa.array([1, 255], pa.uint8()), "long", [1, 255]),
        (pa.array([2**63 - 1, 5], pa.uint64()), "long", [2**63 - 1, 5]),
        (pa.array([1.0, 2.0**40]), "long", [1, 2**40]),  # what pandas makes of longs with a null among them
    ],
)
def test_example_ids(ids: pa.Array, kind: str, expected: list[Any]) -> None:
    intake, rows, rejects = read(table(oid=ids))
    assert intake.schema.oid == kind
    assert rows.oid.type == intake.oid_type
    assert rows.oid.to_pylist() == expected
    assert rejects.num_rows == 0


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (pa.array([NOON], pa.timestamp("us", "UTC")), NOON_US),
        (pa.array([NOON], pa.timestamp("s", "UTC")), NOON_US),
        (pa.array([NOON], pa.timestamp("ns", "Europe/Berlin")), NOON_US),
        (pa.array([NOON.replace(tzinfo=None)], pa.timestamp("ms")), NOON_US),  # naive means UTC
        (pa.array([NOON_US * 1000 + 999], pa.int64()).cast(pa.timestamp("ns")), NOON_US),
        (pa.array([date(2008, 5, 31)], pa.date32()), NOON_US - 12 * 3600 * SECOND),
        (pa.array([date(2008, 5, 31)], pa.date64()), NOON_US - 12 * 3600 * SECOND),
        (pa.array(["2008-05-31T12:00:00Z"]), NOON_US),
        (pa.array(["2008-05-31 12:00:00.5Z"]), NOON_US + SECOND // 2),
        (pa.array(["2008-05-31T14:00:00+02:00"], pa.large_string()), NOON_US),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_example_timestamps(times: pa.Array, expected: int) -> None:
    intake, rows, rejects = read(table(t=times))
    assert rejects.num_rows == 0
    assert intake.schema.time == "timestamp"
    assert rows.t.tolist() == [expected]


@pytest.mark.parametrize(
    "times", [pa.array([5], pa.int32()), pa.array([5], pa.uint16()), pa.array([5.0]), pa.array([5], pa.int64())]
)
def test_example_long_times(times: pa.Array) -> None:
    intake, rows, _ = read(table(t=times))
    assert (intake.schema.time, rows.t.tolist()) == ("long", [5])
    assert intake.times(rows.t).type == pa.int64()


@pytest.mark.parametrize(
    "kind",
    [pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("ns"), pa.timestamp("us", "Asia/Tokyo")],
    ids=str,
)
def test_agrees_times_go_out_as_they_came(kind: pa.DataType) -> None:
    times = pa.array([NOON.replace(tzinfo=None), datetime(1969, 12, 31, 23)], pa.timestamp("s")).cast(kind)  # noqa: DTZ001
    intake, rows, _ = read(table(t=times))
    assert intake.times(rows.t).type == kind
    assert intake.times(rows.t).to_pylist() == times.to_pylist()
    assert intake.table(rows)["t"].type == kind


@pytest.mark.parametrize(
    "numbers",
    [
        pa.array([2], pa.int32()),
        pa.array([2.0], pa.float32()),
        pa.array([Decimal("2.00")]),
        pa.array(["2.0"]),
        pa.array([2.0]).dictionary_encode(),
    ],
    ids=lambda numbers: str(numbers.type),
)
def test_example_coordinates_of_any_type(numbers: pa.Array) -> None:
    _, rows, rejects = read(table(x=numbers, y=numbers))
    assert rejects.num_rows == 0
    assert (rows.x.tolist(), rows.y.tolist()) == ([2.0], [2.0])


@pytest.mark.parametrize(
    ("column", "kind", "expected"),
    [
        (pa.array([True, None]), "bool", [True, None]),
        (pa.array([1, None], pa.int16()), "long", [1, None]),
        (pa.array([1.5, float("nan")]), "double", [1.5, None]),
        (pa.array([1.5, None], pa.float32()), "double", [1.5, None]),
        (pa.array([Decimal("1.25"), None]), "double", [1.25, None]),
        (pa.array(["v", None]).dictionary_encode(), "string", ["v", None]),
        (pa.array(["v", None], pa.large_string()), "string", ["v", None]),
        (pa.nulls(2), "string", [None, None]),
        (pa.array([NOON, None], pa.timestamp("ns", "UTC")), "timestamp", [NOON, None]),
        (pa.array([date(2008, 5, 31), None]), "timestamp", [NOON.replace(hour=0), None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_example_attributes(column: pa.Array, kind: str, expected: list[Any]) -> None:
    intake, rows, _ = read(table(Speed=column))
    assert intake.schema.attributes == (("speed", kind),)
    assert rows.attributes["speed"].to_pylist() == expected


def test_example_attributes_that_cannot_be_used_are_left_out() -> None:
    intake, rows, _ = read(table(tags=pa.array([["a"]]), load=pa.array([1]), LOAD=pa.array([2])))
    assert intake.schema.attributes == (("load", "long"),)  # of two that differ in case, the first
    assert {name: column.to_pylist() for name, column in rows.attributes.items()} == {"load": [1]}


def test_example_a_frame_of_pandas() -> None:
    """Ids that became floats because one is missing, naive nanosecond times, categories."""
    frame = pd.DataFrame(
        {
            "oid": [1, None, 3],
            "t": pd.to_datetime(["2008-05-31 12:00"] * 3),
            "x": [0.5, 1.5, np.nan],
            "y": [0, 1, 2],
            "type": pd.Categorical(["car", "bus", "car"]),
        }
    )
    intake, rows, rejects = read(pa.Table.from_pandas(frame))
    assert intake.schema == Schema("long", "timestamp", (("type", "string"),))
    assert (rows.oid.to_pylist(), rows.t.tolist()) == ([1], [NOON_US])
    assert rejects["reason"].to_pylist() == [REASONS[1], REASONS[3]]


# ------------------------------------------------------------------------------------------- bad rows

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"oid": pa.array([None, "a"])}, 1),
        ({"oid": pa.array([1.5, 1.0])}, 1),
        ({"oid": pa.array([NAN, 1.0])}, 1),
        ({"oid": pa.array([2.0**63, 1.0])}, 1),
        ({"oid": pa.array([2**64 - 1, 1], pa.uint64())}, 1),
        ({"t": pa.array([None, 5])}, 2),
        ({"t": pa.array([0.5, 5.0])}, 2),
        ({"t": pa.array([INF, 5.0])}, 2),
        ({"t": pa.array([None, NOON], pa.timestamp("us", "UTC"))}, 2),
        ({"t": pa.array(["yesterday", "2008-05-31T12:00:00Z"])}, 2),
        ({"t": pa.array(["", "2008-05-31T12:00:00Z"])}, 2),
        ({"x": pa.array([None, 1.0])}, 3),
        ({"x": pa.array([NAN, 1.0])}, 3),
        ({"y": pa.array([INF, 1.0])}, 3),
        ({"y": pa.array([-INF, 1.0])}, 3),
        ({"y": pa.array(["n/a", "1"])}, 3),
        (
            {"x": pa.nulls(2).cast(pa.float64()), "t": pa.array([None, 5]), "oid": pa.array([None, None], pa.string())},
            1,
        ),
    ],
)
def test_example_bad_rows(columns: dict[str, pa.Array], reason: int) -> None:
    """The first row is rejected as it came, with the first reason that fits; the second only if it is bad too."""
    given = table(**columns)
    _, rows, rejects = read(given)
    assert rejects["reason"][0].as_py() == REASONS[reason]
    assert rejects.schema.names == [*given.schema.names, "reason"]
    assert str(rejects.drop_columns("reason").slice(0, 1).to_pylist()) == str(given.slice(0, 1).to_pylist())
    assert len(rows) + rejects.num_rows == 2
    assert len(rows) == sum(column[1].is_valid for column in columns.values()) // len(columns)
    assert rows.oid.null_count == 0
    assert np.isfinite(rows.x).all()


@pytest.mark.parametrize(
    ("lat", "is_good"), [(90.0, True), (-90.0, True), (90.00000000000001, False), (-91.0, False), (NAN, False)]
)
def test_example_latitudes(lat: float, is_good: bool) -> None:
    _, rows, rejects = read(pa.table({"oid": [1], "t": [1], "lon": [0.0], "lat": [lat]}), lonlat())
    assert len(rows) == is_good
    if not is_good:
        assert rejects["reason"].to_pylist() == [REASONS[3 if np.isnan(lat) else 4]]


@pytest.mark.parametrize(
    ("lon", "expected"),
    [(180.0, -180.0), (-180.0, -180.0), (181.0, -179.0), (540.0, -180.0), (-541.0, 179.0), (360.0, 0.0), (-0.0, 0.0)],
)
def test_example_longitudes_are_wrapped(lon: float, expected: float) -> None:
    _, rows, _ = read(pa.table({"oid": [1], "t": [1], "lon": [lon], "lat": [-0.0]}), lonlat())
    assert (str(rows.x[0]), str(rows.y[0])) == (str(expected), "0.0")


def test_example_a_long_column_with_a_few_bad_cells() -> None:
    cells = [str(n) for n in range(1000)]
    for bad in (0, 17, 18, 500, 999):
        cells[bad] = "oops"
    _, rows, rejects = read(table(x=pa.array(cells)))
    assert rows.x.tolist() == [float(cell) for cell in cells if cell != "oops"]
    assert rejects["x"].to_pylist() == ["oops"] * 5


def test_example_no_rows_at_all() -> None:
    intake = bind(table().schema, planar())
    assert len(intake.empty()) == 0
    assert intake.read(table().slice(0, 0))[1].schema.names == ["oid", "t", "x", "y", "reason"]


# ------------------------------------------------------------------------------------- columns by name


def test_example_names_are_matched_whatever_their_case() -> None:
    given = pa.table({"OID": ["a"], "T": [1], "Lat": [2.0], "LON": [3.0]})
    _, rows, _ = read(given, lonlat())
    assert (rows.x.tolist(), rows.y.tolist()) == ([3.0], [2.0])


def test_example_columns_can_be_mapped() -> None:
    given = pa.table({"MMSI": [9], "when": [1], "x": [2.0], "y": [3.0], "oid": ["other"], "east": [7.0]})
    intake = bind(given.schema, planar(), {"OID": "mmsi", "t": "when", "x": "EAST"})
    rows, _ = intake.read(given)
    assert (rows.oid.to_pylist(), rows.x.tolist()) == ([9], [7.0])
    assert [name for name, _ in intake.schema.attributes] == ["x", "oid"]


@pytest.mark.parametrize(
    ("names", "columns", "message"),
    [
        (["oid", "t", "x"], None, "no column 'y'.*columns="),
        (["id", "t", "x", "y"], None, "no column 'oid'.*--map oid=id"),
        (["oid", "t", "x", "y"], {"oid": "mmsi"}, "oid=mmsi: the input has no such column"),
        (["oid", "t", "x", "y"], {"speed": "x"}, r"cannot rename \['speed'\]"),
        ([], None, "no column 'oid'"),
    ],
)
def test_example_columns_that_are_not_there(names: list[str], columns: dict[str, str] | None, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        bind(pa.schema([(name, pa.float64()) for name in names]), planar(), columns)


@pytest.mark.parametrize(
    ("column", "kind", "message"),
    [
        ("oid", pa.list_(pa.int64()), "'oid' cannot be an id"),
        ("oid", pa.bool_(), "'oid' cannot be an id"),
        ("t", pa.bool_(), "'t' cannot be a time"),
        ("t", pa.duration("s"), "'t' cannot be a time"),
    ],
)
def test_example_types_that_cannot_be(column: str, kind: pa.DataType, message: str) -> None:
    schema = table().schema
    with pytest.raises(SourceError, match=message):
        bind(schema.set(schema.get_field_index(column), pa.field(column, kind)), planar())


def test_example_later_tables_may_differ() -> None:
    """Other types are cast, missing attributes are null, new ones are ignored; a needed column must be there."""
    intake = bind(table(speed=[1.5], kind=["car"]).schema, planar())
    rows, rejects = intake.read(
        pa.table({"Y": [1, 2], "x": ["3", "no"], "t": pa.array([4, 5], pa.int8()), "oid": ["a", "b"], "more": [1, 1]})
    )
    assert (rows.oid.to_pylist(), rows.t.tolist(), rows.x.tolist(), rows.y.tolist()) == (["a"], [4], [3.0], [1.0])
    assert {name: column.to_pylist() for name, column in rows.attributes.items()} == {"speed": [None], "kind": [None]}
    assert rejects["reason"].to_pylist() == [REASONS[3]]
    with pytest.raises(SourceError, match="no column 'x'"):
        intake.read(table().drop_columns("x"))


def test_example_rows_as_they_may_have_looked() -> None:
    given = table(oid=pa.array([7], pa.int32()), t=pa.array([NOON], pa.timestamp("ms", "UTC")), tags=pa.array([["a"]]))
    intake, rows, _ = read(given)
    again = intake.as_input(rows, AHEAD)
    assert again.drop_columns(["tags", "reason"]).equals(given.drop_columns("tags"))
    assert again["reason"].to_pylist() == [AHEAD]


def test_example_times_as_text_with_and_without_an_offset() -> None:
    texts = ["2026-01-01 00:00:00", "2026-01-01T00:00:05Z", "2026-01-01T02:00:07+02:00", "soon", None]
    for some in (texts, texts[:1], texts[1:3], texts[3:]):
        table = pa.table(
            {"oid": [1] * len(some), "t": pa.array(some, pa.string()), "x": [0.0] * len(some), "y": [0.0] * len(some)}
        )
        rows, rejects = bind(table.schema, planar()).read(table)
        seconds = {"2026-01-01 00:00:00": 0, "2026-01-01T00:00:05Z": 5, "2026-01-01T02:00:07+02:00": 7}
        assert [(t - 1_767_225_600_000_000) / 1e6 for t in rows.t.tolist()] == [
            seconds[s] for s in some if s in seconds
        ]
        assert rejects.num_rows == len(some) - len(rows)
