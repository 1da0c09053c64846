"""A folder of part files as a sink: DIR/changes, DIR/late and DIR/rejects, one part per micro-batch.

In: outcomes by number. Out: part-00000.parquet (or .csv, .json) and so on, each written under another name first and
then renamed, so that a part is there whole or not at all. Writing a number again replaces its parts.
An empty table leaves no part, except part 0: every folder can be read and shows its columns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pyarrow.types as pt

from vedette.columns import OID, T
from vedette.connectors.protocol import Outcome
from vedette.errors import ConfigError

Format = Literal["parquet", "csv", "json"]
KINDS = ("changes", "late", "rejects")


class PartFiles:
    """The three folders of an output directory. `fresh` refuses a directory that holds something already."""

    def __init__(
        self, folder: str | Path, kind: Format = "parquet", *, fresh: bool = True, overwrite: bool = False
    ) -> None:
        self.folder, self.format = Path(folder).expanduser(), kind
        if self.folder.exists() and not self.folder.is_dir():
            raise ConfigError(f"{self.folder} is a file; --output needs a folder")
        if overwrite:
            for part in self._parts():
                part.unlink()
        elif fresh and self.folder.exists() and any(p.is_file() for p in self.folder.rglob("*")):
            raise ConfigError(f"{self.folder} is not empty; choose another --output, or replace it with --overwrite")
        try:
            for name in KINDS:
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot write to {self.folder}: {error.strerror}") from error
        for left_over in self.folder.glob("*/.part-*"):
            left_over.unlink()

    def write(self, number: int, outcome: Outcome, *, is_end: bool = False) -> None:
        """Keep the three tables of a micro-batch. Those of the end of the input are void once anything follows."""
        ending = f".end.{self.format}" if is_end else f".{self.format}"
        for kind in KINDS:
            table: pa.Table = getattr(outcome, kind)
            if kind == "changes":
                table = _ordered(table)
            path = self.folder / kind / f"part-{number:05d}{ending}"
            if table.num_rows or number == 0:
                write_file(path, table, self.format)
            else:
                path.unlink(missing_ok=True)
        for void in self._parts():
            if void.name.endswith(f".end.{self.format}") and not (is_end and _number(void) == number):
                void.unlink()

    def trim(self, count: int) -> None:
        """Remove the parts of all micro-batches from `count` on."""
        for part in self._parts():
            if _number(part) >= count:
                part.unlink()

    def has_part(self, number: int) -> bool:
        """True if the changes of this micro-batch were written, in this format."""
        return any(_number(part) == number for part in (self.folder / "changes").glob(f"part-*.{self.format}"))

    def _parts(self) -> list[Path]:
        return sorted(p for kind in KINDS for p in (self.folder / kind).glob("part-*") if _number(p) >= 0)


def _ordered(changes: pa.Table) -> pa.Table:
    """Engines order changes by time only; here equal times get an order too, so that equal runs give equal files."""
    keys = [(name, "ascending") for name in (T, "query", OID, "sign") if name in changes.column_names]
    return changes.sort_by(keys) if changes.num_rows > 1 else changes


def _number(part: Path) -> int:
    digits = part.name.removeprefix("part-").split(".")[0]
    return int(digits) if digits.isdigit() else -1


def write_file(path: Path, table: pa.Table, kind: Format) -> None:
    """Write a table to a file that appears only when it is complete."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _WRITERS[kind](table, hidden)
        hidden.replace(path)
    except OSError as error:
        hidden.unlink(missing_ok=True)
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error


def _write_parquet(table: pa.Table, path: Path) -> None:
    pyarrow.parquet.write_table(table, path, compression="zstd")


def _write_csv(table: pa.Table, path: Path) -> None:
    """Lists have no place in a cell of CSV: they are written as JSON."""
    columns = [_flat(table[name]) for name in table.column_names]
    pyarrow.csv.write_csv(pa.table(columns, names=table.column_names), path)


def _flat(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pt.is_nested(column.type):
        return column
    texts = [None if cell is None else json.dumps(cell, default=_plain) for cell in column.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _write_json(table: pa.Table, path: Path) -> None:
    """One object a line; times as ISO text, missing and non-finite numbers as null."""
    with path.open("w", encoding="utf-8") as file:
        for batch in table.to_batches(max_chunksize=65_536):
            file.writelines(_dump(row) + "\n" for row in batch.to_pylist())


def _dump(row: dict[str, Any]) -> str:
    try:
        return json.dumps(row, default=_plain, allow_nan=False, ensure_ascii=False)
    except ValueError:
        finite = {k: None if isinstance(v, float) and v - v != 0 else v for k, v in row.items()}
        return json.dumps(finite, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "json": _write_json,
}
