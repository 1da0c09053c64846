"""The words of the language: what is reserved, which units and functions there are, and near misses among them.

In: a word as written. Out: what it stands for, or the words it may have been meant to be.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_STATEMENTS = ("AT", "CREATE", "OR", "REPLACE", "REGION", "QUERY", "DROP", "AS", "SELECT", "FROM", "WHERE")
_PLACES = ("INSIDE", "KNN", "AROUND", "POLYGON", "GEOJSON", "CIRCLE", "RECT", "DWELL", "GRACE")
_EVENTS = ("TRIGGER", "FOR", "WHEN", "USING", "BEFORE", "AFTER", "WITHIN")
_CONDITIONS = ("AND", "NOT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE")
KEYWORDS = frozenset(_STATEMENTS + _PLACES + _EVENTS + _CONDITIONS + ("ALERT",))

LATER = {"PATTERN": "motion patterns"}
"""Kinds of statement that the language keeps room for."""

RESERVED = KEYWORDS | frozenset(LATER) | {"OBJECTS", "THEN", "EVERY", "ALWAYS", "SOMETIME"}
"""Words that cannot name a query or a region (in double quotes they can)."""

METRES = {"M": 1.0, "KM": 1000.0, "MI": 1609.344, "NM": 1852.0}
TIME_UNITS = ("MS", "S", "MIN", "H", "D")
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")
CONSTRAINTS = ("DIAMETER", "DISTANCE", "INSIDE", "RKNN")

_BARE = re.compile(r"[^\W\d]\w*")


def one_of(words: Iterable[str], last: str = "or") -> str:
    """`A`, `A or B`, `A, B or C`."""
    listed = list(words)
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} {last} {listed[-1]}"


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was most likely meant to be, if there is one."""
    by_fold = {k.casefold(): k for k in sorted(known)}
    found = difflib.get_close_matches(word.casefold(), list(by_fold), n=1, cutoff=0.7)
    return by_fold[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint for a near miss."""
    found = near(word, known)
    return f"did you mean {found}?" if found else None


def quote_name(name: str) -> str:
    """A name as it can be written: bare where that reads back as the same name, else in double quotes."""
    if _BARE.fullmatch(name) and name == name.lower() and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def unquote(written: str) -> str:
    """What a string literal or a name in double quotes stands for."""
    mark = written[0]
    return written[1:-1].replace(mark * 2, mark)
