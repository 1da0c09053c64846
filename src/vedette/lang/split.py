"""Cuts a text into statements.

In: the text of a file. Out: the spans between semicolons that hold more than blanks and comments, and what is
wrong with quotes. Strings, names in double quotes and `--` comments may hold semicolons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vedette.errors import Problem
from vedette.lang.source import Source, Span

_PIECE = re.compile(r"""--[^\n]*|'(?:[^']|'')*'|"(?:[^"\n]|"")*"|;|\s+|[^\s;'"-]+|-|['"]""")
_ENDS = re.compile(r";[ \t\r]*(--[^\n]*)?(\n|$)")


@dataclass
class Cut:
    """Spans of the statements, each with a flag: False where a quote is open and parsing is pointless."""

    statements: list[tuple[Span, bool]]
    problems: list[Problem]


def split(source: Source) -> Cut:
    """Cut at semicolons.

    A quote that is never closed swallows the rest of the file. Then the file is cut once more, strictly: a string
    that runs over the end of a line that ends a statement is held to be the open one, and cutting goes on behind it.
    """
    cut = _cut(source, strict=False)
    return _cut(source, strict=True) if cut.problems else cut


def _cut(source: Source, strict: bool) -> Cut:
    text = source.text
    cut = Cut([], [])
    pos, start, end, whole = 0, -1, 0, True

    def close() -> None:
        nonlocal start, whole
        if start >= 0:
            cut.statements.append(((start, end), whole))
        start, whole = -1, True

    while pos < len(text):
        piece = _PIECE.match(text, pos)
        assert piece is not None, "the last alternatives take any character"
        word, after = piece.group(), piece.end()
        if word == ";":
            close()
        elif word.startswith("--") or word.isspace():
            pass
        else:
            start = pos if start < 0 else start
            end = after
            if word in ("'", '"') or (strict and word[0] == "'" and _ENDS.search(word)):
                what = "string" if word[0] == "'" else "name in double quotes"
                problem = source.problem(
                    "VD102", f"this {what} is not closed", (pos, pos + 1), f"close it with {word[0]}"
                )
                cut.problems.append(problem)
                whole = False
                stop = _ENDS.search(text, pos)
                after = stop.start() if stop else len(text)
                end = after
        pos = after
    close()
    return cut
