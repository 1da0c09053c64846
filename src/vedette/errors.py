"""Every error that Vedette raises on purpose.

    VedetteError            code, message
    ├── QueryError          one or more problems in a statement, each with line, column, caret, hint
    ├── ConfigError         an option that cannot be
    ├── SourceError         input that cannot be read as a stream of updates at all
    └── StateError          a saved state that this version cannot go on from

A message says what was found, what was expected and what to do. Bad *data* is never an exception:
bad rows are counted and routed to the rejects output. Codes are stable; messages may be reworded.
"""

from __future__ import annotations

from dataclasses import dataclass


class VedetteError(Exception):
    """Base of all errors raised on purpose."""

    code = "VD000"


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a statement: where it is, what it is, what to do about it."""

    code: str
    message: str
    line: int = 1
    column: int = 1
    source_line: str = ""
    hint: str | None = None
    width: int = 1

    def render(self, filename: str = "<sql>") -> str:
        """The problem with its source line and a caret under the place."""
        parts = [f"{filename}:{self.line}:{self.column}: {self.code}: {self.message}"]
        if self.source_line:
            pad = "".join("\t" if c == "\t" else " " for c in self.source_line[: self.column - 1])
            parts.append(f"    {self.source_line}")
            parts.append(f"    {pad}{'^' * max(1, self.width)}")
        if self.hint:
            parts.append(f"    hint: {self.hint}")
        return "\n".join(parts)


class QueryError(VedetteError):
    """A statement, or several, cannot be accepted; `problems` holds all of them."""

    code = "VD100"

    def __init__(self, problems: list[Problem], filename: str = "<sql>") -> None:
        self.problems = problems
        self.filename = filename
        super().__init__("\n".join(p.render(filename) for p in problems))


class ConfigError(VedetteError):
    """An option that cannot be."""

    code = "VD200"


class SourceError(VedetteError):
    """Input that cannot be read as a stream of updates at all."""

    code = "VD300"


class StateError(VedetteError):
    """A saved state that this version cannot go on from."""

    code = "VD400"
