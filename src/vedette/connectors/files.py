"""A file, a glob or a folder as a replayable source of updates.

In: a path, how many files (or rows) make a micro-batch, the user's names of the columns. Out: pieces, by file name.
Invariant: the same files give the same pieces; the first file with rows pins the columns and their types; what was lost
on the way (cells, lines, columns) is said in `notes`, each kind once per file.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from vedette.columns import X, Y
from vedette.connectors.formats import SUFFIXES, format_of, is_text, read_blocks
from vedette.connectors.layout import Layout, conform, find_roles, pin, pin_text
from vedette.connectors.protocol import Piece, Position
from vedette.errors import ConfigError, SourceError


def find_files(path: str | Path) -> list[Path]:
    """The files that a path stands for, in order of name; hidden ones and those that begin with _ do not count."""
    given = Path(path).expanduser()
    if given.is_dir():
        inside = sorted(p for p in given.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(given)))
        files = [p for p in inside if format_of(p)]
        if not inside:
            raise SourceError(f"{given}: the folder is empty; expected files ending in {', '.join(SUFFIXES)}")
        if not files:
            seen = sorted({p.suffix or p.name for p in inside})
            raise SourceError(f"{given}: no file ends in {', '.join(SUFFIXES)}; found only {', '.join(seen[:8])}")
        return files
    if given.exists():
        files = [given]
    else:
        files = sorted(Path(p) for p in glob.glob(str(given), recursive=True) if Path(p).is_file())  # noqa: PTH207 (absolute patterns)
        if not files:
            raise SourceError(f"{given}: no such file or folder, and no file matches it as a pattern")
    for file in files:
        if format_of(file) is None:
            ending = f"ends in {file.suffix}" if file.suffix else "has no suffix"
            raise SourceError(f"{file}: {ending}; expected one of {', '.join(SUFFIXES)} (text also with .gz)")
    return files


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


class FileSource:
    """Micro-batches of `batch_files` files, or of at most `batch_rows` rows where that is given."""

    def __init__(
        self,
        path: str | Path,
        *,
        batch_files: int = 1,
        batch_rows: int | None = None,
        columns: Mapping[str, str] | None = None,
        is_lonlat: bool = False,
    ) -> None:
        if batch_files < 1:
            raise ConfigError(f"--batch-files must be at least 1, not {batch_files}")
        if batch_rows is not None and batch_rows < 1:
            raise ConfigError(f"--batch-rows must be at least 1, not {batch_rows}")
        self.files = find_files(path)
        self._anywhere = [file.absolute() for file in self.files]  # workers may have another working directory
        self.batch_files, self.batch_rows = batch_files, batch_rows
        self.notes: list[str] = []
        self.layout = _pin_first(self.files, columns or {}, is_lonlat, self.notes)

    @property
    def schema(self) -> pa.Schema:
        """The pinned columns, by the input's names."""
        return self.layout.schema

    @property
    def identity(self) -> dict[str, Any]:
        """How the stream is cut and what it is made of; a longer list of files continues a shorter one."""
        return {"batch_files": self.batch_files, "batch_rows": self.batch_rows, "files": [str(f) for f in self.files]}

    @property
    def names(self) -> list[str]:
        """The files, in order, by names that hold in every process of this machine."""
        return [str(file) for file in self._anywhere]

    def tables(self, number: int) -> Iterator[pa.Table]:
        """The rows of one file, by its number."""
        return self._read(self._anywhere[number])

    def pieces(self, number: int = 0, position: Position = (0, 0)) -> Iterator[Piece]:
        """All micro-batches from a position on, numbered from `number`."""
        first, skip = position
        for start in range(first, len(self.files), self.batch_files):
            group = self.files[start : start + self.batch_files]
            tables = (table for file in group for table in self._read(file))
            for taken, (table, is_last) in enumerate(self._cut(tables)):
                if taken >= skip:
                    yield Piece(number, table, (start + len(group), 0) if is_last else (start, taken + 1))
                    number += 1
            skip = 0

    def _cut(self, tables: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, bool]]:
        if self.batch_rows is None:
            yield pa.concat_tables([self.schema.empty_table(), *tables]), True
        else:
            yield from _cut_rows(tables, self.batch_rows)

    def _read(self, file: Path) -> Iterator[pa.Table]:
        notes: list[str] = []
        blank = frozenset((self.layout.roles[X], self.layout.roles[Y]))
        for block in read_blocks(file, notes, blank):
            table, said = conform(block, self.layout, str(file), may_omit=format_of(file) == "json")
            notes.extend(said)
            yield table
        self.notes.extend(dict.fromkeys(notes))


def _cut_rows(tables: Iterator[pa.Table], rows: int) -> Iterator[tuple[pa.Table, bool]]:
    """The same rows in tables of `rows`, and whether it is the last; one table is held back to know that."""
    held: pa.Table | None = None
    for table in tables:
        held = table if held is None else pa.concat_tables([held, table])
        while held.num_rows > rows:
            yield held.slice(0, rows), False
            held = held.slice(rows)
    if held is not None:
        yield held, True


def _pin_first(files: list[Path], columns: Mapping[str, str], is_lonlat: bool, notes: list[str]) -> Layout:
    """The layout of the first file that has rows (of the first file, if none has)."""
    layout: Layout | None = None
    for file in files:
        sample = _sample(file)
        roles = find_roles(sample.column_names, columns, is_lonlat, str(file))
        said: list[str] = []
        if is_text(file):
            found = pin_text(sample, roles, str(file))
        else:
            found, said = pin(sample, roles, str(file), widen=format_of(file) == "json")
        if sample.num_rows or layout is None:
            layout = found
        if sample.num_rows:
            notes.extend(said)
            break
    assert layout is not None  # find_files never returns an empty list
    return layout


def peek_columns(path: str | Path) -> list[str]:
    """The names of the columns of the first file."""
    return list(_sample(find_files(path)[0]).column_names)


def _sample(file: Path) -> pa.Table:
    """The first block with rows."""
    empty = None
    for block in read_blocks(file, []):
        if block.num_rows:
            return block
        empty = block if empty is None else empty
    return empty if empty is not None else pa.table({})


def read_table(path: str | Path) -> pa.Table:
    """All rows of a file, glob or folder as one table, types guessed where the format has none (for joined tables)."""
    files = find_files(path)
    layout: Layout | None = None
    tables = [(file, block) for file in files for block in read_blocks(file, [])]
    rows = [(file, block) for file, block in tables if block.num_rows] or tables[:1]
    for file, block in rows:
        if layout is None:
            layout = pin_text(block, {}, str(file)) if is_text(file) else pin(block, {}, str(file))[0]
    if layout is None:
        raise SourceError(f"{path}: no rows")
    return pa.concat_tables([conform(block, layout, str(file), may_omit=True)[0] for file, block in rows])
