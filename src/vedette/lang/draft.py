"""A statement between the passes: as far as it can be understood alone, and where its parts were written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from vedette.lang.shapes import RegionName
from vedette.lang.source import Node
from vedette.model import NO_TIME, Aggregate, Area, Combination, Duration, Expr, Inside, Nearest


@dataclass
class Draft:
    """A statement as far as it can be understood alone."""

    kind: str  # the word behind CREATE, or "DROP"
    name: str
    name_node: Node
    drops: str = ""
    replace: bool = False
    at: int | None = None
    at_is_timestamp: bool = False
    at_node: Node | None = None
    area: Area | None = None
    place: Inside | Nearest | Combination | RegionName | None = None
    condition: Expr | None = None
    condition_node: Node | None = None
    origin: dict[int, Node] = field(default_factory=dict)
    tables: list[tuple[str, str, Node]] = field(default_factory=list)  # name, alias, where; objects excepted
    aggregate: Aggregate | None = None
    aggregate_node: Node | None = None
    timings: dict[str, tuple[Duration, Node]] = field(default_factory=dict)
    body: Any = None  # what `kinds` made of the rest, for other kinds than QUERY and REGION
    nodes: dict[str, Node] = field(default_factory=dict)  # where parts of the body that have a name were written

    def duration(self, word: str) -> Duration:
        """DWELL or GRACE, 0 if it was not written."""
        return self.timings[word][0] if word in self.timings else NO_TIME
