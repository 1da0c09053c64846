"""Where things are in a text: offsets to line and column, and the problems found so far.

In: the whole text of a file. Out: `Problem`s with line, column, source line and width of the caret.
Invariant: positions are those in the whole file, whichever statement they were found in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TypeAlias

from lark import Token, Tree

from vedette.errors import Problem

Node: TypeAlias = "Tree[Token] | Token"
Span: TypeAlias = tuple[int, int]


class Source:
    """A text, and what its parts are called in an error message."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        line = bisect_right(self._starts, offset) - 1
        return line + 1, offset - self._starts[line] + 1

    def problem(self, code: str, message: str, span: Span, hint: str | None = None) -> Problem:
        """A problem with its caret; a span over several lines is marked on the first one."""
        line, column = self.place(span[0])
        start = self._starts[line - 1]
        end = self.text.find("\n", start)
        source_line = self.text[start : len(self.text) if end < 0 else end].rstrip("\r")
        width = max(1, min(span[1] - span[0], len(source_line) - column + 1))
        return Problem(code, message, line, column, source_line, hint, width)


def tokens(node: Node) -> Iterator[Token]:
    """The tokens of a tree in the order of the text; without recursion, since conditions can be deep."""
    stack: list[Node | None] = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, Token):
            yield top
        elif isinstance(top, Tree):
            stack.extend(reversed(top.children))


def span_of(node: Node) -> Span:
    """From the first to the last character of a tree."""
    found = list(tokens(node))
    if not found:
        return (0, 1)
    start, end = found[0].start_pos, found[-1].end_pos
    return (start or 0, end or 1)


class Report:
    """Collects the problems of one statement, whose tree has positions relative to `base`."""

    def __init__(self, source: Source, base: int, end: int) -> None:
        self.source = source
        self.base = base
        self.end = end
        self.problems: list[Problem] = []
        self.unreadable = False

    def add(self, code: str, message: str, at: Node | Span | None, hint: str | None = None) -> None:
        """Note a problem at a tree, a span inside the statement, or (None) at the end of the statement."""
        if at is None:
            length = self.end - self.base
            span = (length, length + 1)
        else:
            span = at if isinstance(at, tuple) else span_of(at)
        self.problems.append(self.source.problem(code, message, (span[0] + self.base, span[1] + self.base), hint))
