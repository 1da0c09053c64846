"""Statements: an action, and the tick at which it acts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from vedette.model.query import Query
from vedette.model.standing import Standing
from vedette.model.terms import Area


@dataclass(frozen=True)
class CreateRegion:
    """CREATE [OR REPLACE] REGION: a name for an area."""

    name: str
    area: Area
    replace: bool = False


@dataclass(frozen=True)
class Create:
    """CREATE [OR REPLACE] of any kind of standing query: it stands from now on."""

    query: Standing
    replace: bool = False


@dataclass(frozen=True)
class CreateQuery(Create):
    """CREATE [OR REPLACE] QUERY."""

    query: Query


@dataclass(frozen=True)
class Drop:
    """DROP, by name: REGION, or the kind of a standing query."""

    kind: str
    name: str

    @property
    def of_region(self) -> bool:
        """Whether a region goes, not a query."""
        return self.kind == "REGION"


Action: TypeAlias = CreateRegion | Create | Drop


@dataclass(frozen=True)
class Statement:
    """An action, the tick at which it acts (None: as soon as possible) and where it was written.

    `at` is an int (in the unit of `t`: microseconds since the epoch where `t` is a timestamp, which is how it was
    written if `at_is_timestamp`).
    """

    action: Action
    at: int | None = None
    at_is_timestamp: bool = False
    line: int = field(default=1, compare=False)
    column: int = field(default=1, compare=False)
    text: str = field(default="", compare=False)
