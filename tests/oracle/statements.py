"""From SQL to statements, with the language's own parser: the oracle checks answers, not spelling.

In: SQL, or statements already made. Out: statements, with regions bound by value as of their tick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vedette.lang import Catalog, parse
from vedette.model import Schema, Statement


@dataclass(frozen=True)
class Kind:
    """All that the parser wants to know of a space."""

    kind: str


@dataclass
class Reader:
    """Reads commands one after the other and remembers the names."""

    kind: str
    schema: Schema | None = None
    catalog: Catalog = field(default_factory=Catalog)

    def read(self, commands: Sequence[str | Statement], now: int | None) -> list[Statement]:
        """The statements of one batch; `now` is the frontier before it."""
        statements = []
        for command in commands:
            if isinstance(command, Statement):
                made = [command]
            else:
                made = parse(command, space=Kind(self.kind), schema=self.schema, catalog=self.catalog, now=now)
            for statement in made:
                self.catalog.apply(statement, now)
                statements.append(statement)
        return statements
