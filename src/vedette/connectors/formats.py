"""One file of Parquet, CSV or JSON lines as Arrow tables.

In: a path. Out: its rows as tables, whole or in blocks. CSV cells come out as strings, and so do JSON columns
that mix types; `layout` gives them their types.
Invariant: no row disappears: a line that is no row at all comes out as a row without coordinates, so it is rejected.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pyarrow.types as pt

from vedette.connectors.cells import STRING
from vedette.errors import SourceError

SUFFIXES = (".parquet", ".csv", ".json", ".jsonl", ".ndjson")
BLOCK_ROWS = 1 << 18
BLOCK_BYTES = 16 << 20
NULLS = ["", "NULL", "null"]


def format_of(path: Path) -> str | None:
    """parquet, csv or json, by the suffix (.gz may follow that of a text file); None if it is none of ours."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        suffix = Path(path.stem).suffix.lower()
        return {".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}.get(suffix)
    if suffix not in SUFFIXES:
        return None
    return {".parquet": "parquet", ".csv": "csv"}.get(suffix, "json")


def is_text(path: Path) -> bool:
    """True where every cell is read as text and types must be guessed."""
    return format_of(path) == "csv"


def read_blocks(path: Path, notes: list[str], blank: frozenset[str] = frozenset()) -> Iterator[pa.Table]:
    """The file's rows in blocks of some hundred thousand. Broken lines become rows whose `blank` columns are null."""
    read = {"parquet": _read_parquet, "csv": _read_csv, "json": _read_json}[str(format_of(path))]
    try:
        yield from read(path, notes, blank)
    except (OSError, EOFError, pa.ArrowException, UnicodeError) as error:
        what = {"parquet": "Parquet", "csv": "CSV", "json": "JSON lines"}[str(format_of(path))]
        raise SourceError(f"{path}: cannot be read as {what}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _read_parquet(path: Path, notes: list[str], blank: frozenset[str]) -> Iterator[pa.Table]:
    with pyarrow.parquet.ParquetFile(path) as file:
        if file.metadata.num_rows == 0:
            yield file.schema_arrow.empty_table()
        for batch in file.iter_batches(batch_size=BLOCK_ROWS):
            yield pa.Table.from_batches([batch])


# --------------------------------------------------------------------------------------------- CSV


def _read_csv(path: Path, notes: list[str], blank: frozenset[str]) -> Iterator[pa.Table]:
    header, delimiter, encoding = _sniff(path, notes)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SourceError(f"{path}: the header names the column {twice!r} twice")
    broken: list[str] = []

    def keep(row: pyarrow.csv.InvalidRow) -> str:
        broken.append(row.text)
        return "skip"

    reader = pyarrow.csv.open_csv(
        pa.input_stream(str(path), compression="detect"),
        pyarrow.csv.ReadOptions(
            column_names=names, skip_rows=1, block_size=BLOCK_BYTES, use_threads=False, encoding=encoding
        ),
        pyarrow.csv.ParseOptions(delimiter=delimiter, invalid_row_handler=keep, newlines_in_values=False),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, STRING),
            null_values=NULLS,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    yield pa.schema([(name, STRING) for name in names]).empty_table()
    for batch in reader:
        yield pa.Table.from_batches([batch])
    if broken:
        notes.append(f"{path}: {len(broken)} lines do not have {len(names)} cells, such as {broken[0][:60]!r}")
        yield _mend(broken, names, delimiter, blank)


def _sniff(path: Path, notes: list[str]) -> tuple[str, str, str]:
    """The header line, the delimiter it uses, and an encoding that reads the whole file."""
    encoding = "utf-8"
    with pa.input_stream(str(path), compression="detect") as stream:
        head = b""
        while b"\n" not in head and (more := stream.read(1 << 16)):
            head += more
        if not head.strip():
            raise SourceError(f"{path}: is empty; expected a header line with the names of the columns")
        first = head.split(b"\n", 1)[0].rstrip(b"\r").removeprefix(b"\xef\xbb\xbf")
        piece: bytes = head
        rest: bytes | None = b""
        while piece:  # one pass over the bytes: a bad byte in the middle must not end a run
            rest = _undecoded((rest or b"") + piece)
            if rest is None:
                encoding = "latin-1"
                notes.append(f"{path}: is not UTF-8; read as Latin-1")
                break
            piece = stream.read(BLOCK_BYTES)
    header = first.decode(encoding)
    delimiter = max(",;\t|", key=header.count)
    return header, delimiter if delimiter in header else ",", encoding


def _undecoded(data: bytes) -> bytes | None:
    """The bytes of a character cut at the end; None where the data are not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data[error.start :] if len(data) - error.start < 4 and "unexpected end" in error.reason else None
    return b""


def _mend(lines: list[str], names: list[str], delimiter: str, blank: frozenset[str]) -> pa.Table:
    """Lines with too few or too many cells, cell by cell as far as they go; the `blank` columns stay null."""
    rows = [(next(csv.reader([line], delimiter=delimiter), []) + [None] * len(names))[: len(names)] for line in lines]
    columns = {
        name: pa.array([None if name in blank or row[at] in NULLS else row[at] for row in rows], STRING)
        for at, name in enumerate(names)
    }
    return pa.table(columns)


# -------------------------------------------------------------------------------------------- JSON


def _read_json(path: Path, notes: list[str], blank: frozenset[str]) -> Iterator[pa.Table]:
    """Objects line by line. Arrow's reader takes files whose columns keep one type; the patient one takes the rest."""
    try:
        table = _read_json_at_once(path, [])
        # What looks like times is cut to seconds without a zone here: read it again as the text it is.
        times = [field.name for field in table.schema if pt.is_timestamp(field.type)]
        yield _read_json_at_once(path, times).select(table.column_names) if times else table
    except pa.ArrowInvalid:
        yield from _read_json_patiently(path, notes)


def _read_json_at_once(path: Path, texts: list[str]) -> pa.Table:
    schema = pa.schema([(name, STRING) for name in texts]) if texts else None
    with pa.input_stream(str(path), compression="detect") as stream:
        return pyarrow.json.read_json(
            stream,
            pyarrow.json.ReadOptions(block_size=BLOCK_BYTES),
            pyarrow.json.ParseOptions(explicit_schema=schema),
        )


def _read_json_patiently(path: Path, notes: list[str]) -> Iterator[pa.Table]:
    """Lines, or one array of objects; a column of mixed types comes out as text, a bad line as a row of nulls."""
    bad: list[str] = []
    with pa.input_stream(str(path), compression="detect") as stream:
        names: dict[str, None] = {}
        block: list[dict[str, Any]] = []
        for record in _records(_lines(stream), bad):
            names.update(dict.fromkeys(record))
            block.append(record)
            if len(block) == BLOCK_ROWS:
                yield _table(block, names)
                block = []
        yield _table(block, names)
    if bad:
        notes.append(f"{path}: {len(bad)} lines are not JSON objects, such as {bad[0][:60]!r}")


def _lines(stream: IO[bytes]) -> Iterator[str]:
    rest = b""
    while piece := stream.read(BLOCK_BYTES):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def _records(lines: Iterator[str], bad: list[str]) -> Iterator[dict[str, Any]]:
    first = True
    for line in lines:
        text = line.strip().lstrip("\ufeff")
        if not text:
            continue
        if first and text.startswith("["):
            yield from _array("\n".join([text, *lines]), bad)
            return
        first = False
        try:
            record = json.loads(text)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            bad.append(text)
            record = {}
        yield record


def _array(text: str, bad: list[str]) -> Iterator[dict[str, Any]]:
    try:
        records = json.loads(text)
    except ValueError as error:
        raise SourceError(f"starts like a JSON array and is none: {error}") from error
    for record in records:
        if not isinstance(record, dict):
            bad.append(str(record))
        yield record if isinstance(record, dict) else {}


def _table(records: list[dict[str, Any]], names: dict[str, None]) -> pa.Table:
    return pa.table({name: _column([record.get(name) for record in records]) for name in names})


def _column(cells: list[Any]) -> pa.Array:
    kinds = {type(cell) for cell in cells} - {type(None)}
    if len(kinds) > 1 and kinds != {int, float}:
        cells = [cell if cell is None or isinstance(cell, str) else json.dumps(cell) for cell in cells]
    elif kinds == {int, float}:
        cells = [None if cell is None else float(cell) for cell in cells]
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, OverflowError):  # integers beyond 64 bits
        return pa.array([None if cell is None else json.dumps(cell) for cell in cells], STRING)
