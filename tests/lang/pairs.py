"""Reads the fixture files: pairs of what is written and what it gives.

A file is a row of cases:

    -- case: what it shows
    -- space: lonlat                                  (planar if left out)
    -- schema: oid=long t=timestamp speed=double      (unknown if left out)
    the statements
    -- gives:
    their canonical text, or the errors, to the character

"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from vedette import lang
from vedette.errors import QueryError
from vedette.model import Schema
from vedette.space import Space, lonlat, planar

FOLDER = Path(__file__).parents[1] / "fixtures" / "lang"
SPACES = {"planar": planar(), "lonlat": lonlat()}

TABLES: dict[str, Any] = {
    "favourites": pa.table(
        {
            "oid": pa.array([42, 7, 42, None, 9], pa.int64()),
            "Level": pa.array([5, 4, 3, 9, None], pa.int64()),
            "name": ["x", "it's", None, "z", "q"],
        }
    ),
    "nobody": pa.table({"oid": pa.array([], pa.string())}),
}


@dataclass(frozen=True)
class Case:
    """What is written, where, and what it gives."""

    file: str
    title: str
    space: Space
    schema: Schema | None
    written: str
    gives: str

    def got(self) -> str:
        """What it really gives."""
        try:
            statements = lang.parse(self.written, space=self.space, schema=self.schema, tables=TABLES, filename="q.sql")
        except QueryError as error:
            return str(error)
        return "\n".join(lang.print_statement(s, self.space) for s in statements)


def cases() -> list[Case]:
    """All cases of all files."""
    return [case for path in sorted(FOLDER.glob("*.sql")) for case in read(path)]


def read(path: Path) -> list[Case]:
    """The cases of one file."""
    return [_case(path.name, block) for block in path.read_text(encoding="utf-8").split("-- case: ")[1:]]


def _case(file: str, block: str) -> Case:
    head, _, gives = block.partition("-- gives:\n")
    title, _, written = head.partition("\n")
    options: dict[str, str] = {}
    while written.startswith(("-- space: ", "-- schema: ")):
        line, _, written = written.partition("\n")
        key, _, value = line[3:].partition(": ")
        options[key] = value
    space = SPACES[options.get("space", "planar")]
    return Case(file, title, space, _schema(options.get("schema")), written.rstrip("\n"), gives.rstrip("\n"))


def _schema(text: str | None) -> Schema | None:
    if text is None:
        return None
    fields: dict[str, Any] = dict(part.split("=") for part in text.split())
    return Schema(fields.pop("oid"), fields.pop("t"), tuple(sorted(fields.items())))
