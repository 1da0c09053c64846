"""Runs the grammar over one statement and puts its complaints into words.

In: the text of a statement. Out: lark's tree, or a problem that says what was found, what was expected, and which
word may have been meant.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from vedette.lang.source import Report
from vedette.lang.words import KEYWORDS, near, one_of

_PLAIN = {
    "NAME": "a name",
    "QUOTED": None,
    "NUMBER": "a number",
    "STRING": "a string in single quotes",
    "COMPARE": "a comparison",
    "PLUS": None,
    "MINUS": None,
    "STAR": "*",
    "SLASH": None,
    "PERCENT": None,
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": "a comma",
    "DOT": None,
    "LSQB": "[",
    "RSQB": "]",
    "UNIT": None,
    "$END": "the end of the statement",
}
_OPERATORS = {"COMPARE", "IN", "BETWEEN", "LIKE", "IS", "NOT", "BEFORE", "AFTER"}
_OPERANDS = {"TRUE", "FALSE", "NULL", "INSIDE", "KNN"}
_OPERAND_STARTS = _OPERANDS | {"NAME", "QUOTED", "NUMBER", "STRING", "LPAR", "PLUS", "MINUS", "NOT"}
_CURLY_QUOTES = "\u2018\u2019\u201c\u201d`\u00b4"
# What could stand there too, but is not what somebody forgot: an alias after a table, the brackets of a function after
# a column, a unit after a number, the end where a query still lacks its place.
_UNLIKELY = (
    ({"AS", "INSIDE"}, {"AS", "NAME", "COMMA"}),
    ({"LPAR", "FROM"}, {"LPAR"}),
    ({"COMMA", "RPAR"}, {"NAME", "UNIT"}),
    ({"NAME", "NUMBER", "STRING", "CIRCLE"}, {"CIRCLE", "GEOJSON", "POLYGON", "RECT"}),
    ({"AND", "INSIDE"}, {"$END", "DWELL", "GRACE"}),
)
_ORDER = ["NAME", "NUMBER", "STRING", "LPAR", "STAR", "COMMA", "RPAR", "COMPARE"]


@cache
def grammar() -> Lark:
    """The parser, built once."""
    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="contextual", maybe_placeholders=True)


def read(text: str, report: Report) -> Tree[Token] | None:
    """The tree of a statement; None after a problem was reported."""
    try:
        return grammar().parse(text)
    except (UnexpectedToken, UnexpectedCharacters):
        _explain(text, report)
        return None


def _explain(text: str, report: Report) -> None:
    """Go through the statement again, now with an eye on what each word could have been."""
    steps = grammar().parse_interactive(text)
    before: list[tuple[Token, frozenset[str]]] = []
    accepted = _accepted(steps)
    try:
        for token in steps.lexer_thread.lex(steps.parser_state):  # type: ignore[no-untyped-call]
            before.append((token, accepted))
            steps.feed_token(token)
            accepted = _accepted(steps)
        steps.feed_eof()  # type: ignore[no-untyped-call]
    except UnexpectedCharacters as error:
        position: int | None = error.pos_in_stream
        _stray(text, position or 0, report)
    except UnexpectedToken as error:
        found = error.token
        if before and before[-1][0] is found:
            before.pop()
        _unexpected(found, accepted, before, report)


def _accepted(steps: InteractiveParser) -> frozenset[str]:
    return frozenset(steps.accepts())  # type: ignore[no-untyped-call]


def _stray(text: str, position: int, report: Report) -> None:
    character = text[position]
    hint = None
    if character in _CURLY_QUOTES:
        hint = "strings stand in straight single quotes: 'text'"
    elif character in "[]{}":
        hint = "lists and arguments stand in round brackets"
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    report.add("VD103", f"{shown} has no meaning here", (position, position + 1), hint)


def _unexpected(
    found: Token, accepted: frozenset[str], before: list[tuple[Token, frozenset[str]]], report: Report
) -> None:
    at_end = found.type == "$END"
    word = str(found)
    hint = None
    if not at_end and (word[0].isalpha() or word[0] == "_"):
        meant = near(word, accepted & KEYWORDS)
        hint = f"did you mean {meant}?" if meant else None
    if hint is None and before:
        # A misspelt keyword may have passed as a name (an alias, a region, a unit): only the next word is in the way.
        last, could_be = before[-1]
        meant = near(str(last), could_be & KEYWORDS) if last.type == "NAME" else None
        if meant:
            instead = expected(could_be - {"NAME", "QUOTED"})
            report.add("VD101", f"{last} is not expected here; expected {instead}", last, f"did you mean {meant}?")
            return
        if last.type == "COMPARE" and found.type == "COMPARE":
            hint = "equality is written ="
    what = "the statement ends here" if at_end else f"{_shown(word)} is not expected here"
    report.add("VD101", f"{what}; expected {expected(accepted)}", None if at_end else found, hint)


def _shown(word: str) -> str:
    first = word.split("\n", maxsplit=1)[0]
    return first if len(first) <= 40 and first == word else f"{first[:36]}..."


def expected(accepted: frozenset[str]) -> str:
    """What could have stood there, in words; operators and operands are summed up."""
    left = set(accepted)
    words: list[str] = []
    for sign, unlikely in _UNLIKELY:
        if sign <= left:
            left -= unlikely
    if left >= _OPERANDS:
        words.append("a value or a condition" if "NOT" in left else "a value")
        left -= _OPERAND_STARTS
    elif {"NAME", "NUMBER", "STRING"} <= left:
        words.append("an id" if "LPAR" in left else "an argument")
        left -= _OPERAND_STARTS - {"LPAR"}
    elif {"PLUS", "SLASH"} <= left:
        left -= _OPERATORS | {"PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "UNIT", "LPAR"}
        words.append("an operator")
    for name in [*_ORDER, *sorted(left - set(_ORDER) - {"$END"}), "$END"]:
        if name in left:
            plain = _PLAIN.get(name, name)
            if plain:
                words.append(plain)
    return one_of(words)
