"""Files as a source: what is found, how it is cut, what is said when it cannot be."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vedette.connectors import FileSource, read_table
from vedette.errors import SourceError


def rows(*columns: str, count: int = 4, start: int = 0) -> list[dict[str, object]]:
    names = columns or ("oid", "t", "x", "y")
    return [dict.fromkeys(names, start + i) for i in range(count)]


def write(path: Path, records: list[dict[str, object]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif path.suffix in (".jsonl", ".ndjson", ".json"):
        path.write_text("".join(json.dumps(r) + "\n" for r in records))
    else:
        text = "\n".join([",".join(records[0]), *(",".join(map(str, r.values())) for r in records)]) + "\n"
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
    return path


def everything(source: FileSource) -> pa.Table:
    return pa.concat_tables([piece.table for piece in source.pieces()])


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.csv.gz", "a.json", "a.jsonl", "a.ndjson"])
def test_example_every_format_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    source = FileSource(write(tmp_path / name, rows()))
    table = everything(source)
    assert table.schema.types == [pa.int64(), pa.int64(), pa.float64(), pa.float64()]
    assert table.to_pylist() == rows()
    assert source.notes == []


def test_example_folders_are_read_in_order_of_name(tmp_path: Path) -> None:
    for number in (2, 0, 1):
        write(tmp_path / f"part-{number}.csv", rows(start=10 * number))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "README.txt").write_text("not ours")
    assert [p.table["t"][0].as_py() for p in FileSource(tmp_path).pieces()] == [0, 10, 20]
    grouped = list(FileSource(tmp_path / "*.csv", batch_files=2).pieces())
    assert [(p.number, p.table.num_rows, p.position) for p in grouped] == [(0, 8, (2, 0)), (1, 4, (3, 0))]


def test_agrees_for_any_cut_and_any_place_to_go_on(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"{number}.csv", rows(count=7, start=100 * number))
    whole = everything(FileSource(tmp_path))
    source = FileSource(tmp_path, batch_files=2, batch_rows=3)
    pieces = list(source.pieces())
    assert [p.table.num_rows for p in pieces] == [3, 3, 3, 3, 2, 3, 3, 1]
    assert pa.concat_tables([p.table for p in pieces]).equals(whole)
    for done in range(len(pieces)):
        rest = list(source.pieces(pieces[done].number + 1, pieces[done].position))
        assert [(p.number, p.position) for p in rest] == [(p.number, p.position) for p in pieces[done + 1 :]]
        assert all(p.table.equals(q.table) for p, q in zip(rest, pieces[done + 1 :], strict=True))


def test_example_the_first_file_pins_columns_and_types(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", [{"OID": "x1", "t": 1, "x": 1, "y": 1, "speed": 3, "name": "007"}])
    (tmp_path / "b.csv").write_text("oid,t,x,y,speed,extra\n5,2,2,2,3.5,hello\n")
    source = FileSource(tmp_path)
    table = everything(source)
    assert table.to_pylist()[1] == {"OID": "5", "t": 2, "x": 2.0, "y": 2.0, "speed": 3.5, "name": None}
    assert source.notes == [f"{tmp_path}/b.csv: no column name; read as null"]


def test_example_cells_that_do_not_parse_become_null(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("oid,t,x,y\n1,2008-05-31T03:20:00Z,1,2\n2,2008-05-31T03:20:01Z,abc,2\n3,never,1,2\n")
    source = FileSource(path)
    table = everything(source)
    assert table["x"].to_pylist() == [1.0, None, 1.0]
    assert table["t"].null_count == 1
    assert len(source.notes) == 2
    assert "such as 'abc'" in source.notes[1]


def test_example_broken_lines_become_rows_without_a_place(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("oid,t,x,y\n1,1,1,1\n2,2\n3,3,3,3,3\n4,4,4,4\n")
    source = FileSource(path)
    table = everything(source)
    assert sorted(table["oid"].to_pylist()) == [1, 2, 3, 4]
    assert table.filter(pa.compute.is_null(table["x"]))["oid"].to_pylist() == [2, 3]
    assert "2 lines do not have 4 cells" in source.notes[0]


def test_example_bad_json_lines_and_mixed_types(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"oid":"a","t":1,"x":1,"y":2}\n{"oid":"b","t":2,"x":"1.5","y":"?"}\n{oops\n[1]\n{"oid":7,"t":3}\n')
    source = FileSource(path)
    assert everything(source).to_pylist() == [
        {"oid": "a", "t": 1, "x": 1.0, "y": 2.0},
        {"oid": "b", "t": 2, "x": 1.5, "y": None},
        {"oid": None, "t": None, "x": None, "y": None},
        {"oid": None, "t": None, "x": None, "y": None},
        {"oid": "7", "t": 3, "x": None, "y": None},
    ]
    assert any("2 lines are not JSON objects" in said for said in source.notes)


def test_example_json_keeps_text_as_text_and_times_exact(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"oid":"42","t":"2008-05-31T03:20:00.125Z","x":1,"y":2,"code":"1","n":3}\n')
    table = everything(FileSource(path))
    assert table.schema.field("oid").type == pa.string()
    assert table.schema.field("code").type == pa.string()
    assert table.schema.field("n").type == pa.float64()
    assert table["t"].cast(pa.int64()).to_pylist() == [1212204000125000]
    array = tmp_path / "b.json"
    array.write_text(json.dumps(rows(), indent=1))
    assert everything(FileSource(array)).to_pylist() == rows()


def test_example_files_that_are_not_utf8_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("oid,t,x,y\nGroße,1,1,1\n".encode("latin-1"))
    source = FileSource(path)
    assert everything(source)["oid"].to_pylist() == ["Große"]
    assert "Latin-1" in source.notes[0]


def test_example_parquet_of_many_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "oid": pa.array(["a", "b"]).dictionary_encode(),
            "t": pa.array([1.0, 2.5]),
            "x": pa.array([1, 2], pa.int16()),
            "y": pa.array(["3", "oops"], pa.large_string()),
            "small": pa.array([1, None], pa.uint8()),
            "shape": pa.array([b"wkb", None]),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    source = FileSource(tmp_path / "a.parquet")
    assert everything(source).to_pylist() == [
        {"oid": "a", "t": 1, "x": 1.0, "y": 3.0, "small": 1},
        {"oid": "b", "t": None, "x": 2.0, "y": None, "small": None},
    ]
    assert any("shape" in said and "left out" in said for said in source.notes)


def test_example_delimiters_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\ufeffoid;t;x;y\r\n1;1;1.5;1\r\n")
    assert everything(FileSource(path)).to_pylist() == [{"oid": 1, "t": 1, "x": 1.5, "y": 1.0}]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda d: d / "nothing.csv", "no such file or folder"),
        (lambda d: d / "*.csv", "no file matches"),
        (lambda d: d, "the folder is empty"),
        (lambda d: _touch(d / "a.xlsx"), "ends in .xlsx; expected one of .parquet"),
        (lambda d: _touch(d / "a.xlsx").parent, "found only .xlsx"),
        (lambda d: _touch(d / "a.csv"), "is empty; expected a header"),
        (lambda d: _touch(d / "a.parquet"), "cannot be read as Parquet"),
        (lambda d: _touch(d / "a.csv.gz", b"hello"), "cannot be read as CSV"),
        (lambda d: _touch(d / "a.json"), "no column oid, t, x, y; found none"),
        (lambda d: _touch(d / "a.csv", b"oid,t,x,x\n1,1,1,1\n"), "the column 'x' twice"),
        (lambda d: _touch(d / "a.csv", b"oid,t,x,y\n1,1.5,1,1\n"), "1.5 is not a whole number"),
        (lambda d: _touch(d / "a.json", b"[{]"), "JSON array"),
    ],
)
def test_example_what_cannot_be_read_is_said(tmp_path: Path, make: object, said: str) -> None:
    with pytest.raises(SourceError) as error:
        FileSource(make(tmp_path))  # type: ignore[operator]
    assert said in str(error.value)


def _touch(path: Path, data: bytes = b"") -> Path:
    path.write_bytes(data)
    return path


def test_example_missing_columns_come_with_a_suggestion(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", rows("MMSI", "BaseDateTime", "LON", "LAT"))
    with pytest.raises(SourceError) as error:
        FileSource(path)
    assert "found MMSI, BaseDateTime, LON, LAT" in str(error.value)
    assert "--map oid=MMSI,t=BaseDateTime,x=LON,y=LAT, or use --space lonlat" in str(error.value)
    with pytest.raises(SourceError, match="no column oid, t; "):
        FileSource(path, is_lonlat=True)
    with pytest.raises(SourceError, match="--map oid=ship: no column 'ship'"):
        FileSource(path, is_lonlat=True, columns={"oid": "ship", "t": "BaseDateTime"})
    source = FileSource(path, is_lonlat=True, columns={"oid": "mmsi", "t": "basedatetime"})
    assert source.layout.roles == {"oid": "MMSI", "t": "BaseDateTime", "x": "LON", "y": "LAT"}


def test_example_tables_to_join(tmp_path: Path) -> None:
    path = tmp_path / "fav.csv"
    path.write_text("oid,weight\ncar-1,2\ncar-2,3.5\n")
    assert read_table(path).to_pylist() == [{"oid": "car-1", "weight": 2.0}, {"oid": "car-2", "weight": 3.5}]
