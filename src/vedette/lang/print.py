"""The canonical text of conditions and places.

In: records of the model. Out: text that parses back to an equal record, whatever the case, spacing and form in which
it was first written. The text of a condition is its identity: two queries with the same text share one filter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from vedette.lang.polygons import to_wkt
from vedette.lang.shapes import SpaceKind
from vedette.lang.words import quote_name, quote_text
from vedette.model import (
    Area,
    Between,
    Binary,
    Circle,
    Column,
    Duration,
    Expr,
    In,
    Inside,
    IsNull,
    Like,
    MovingCircle,
    MovingRect,
    Nearest,
    Polygon,
    Rect,
    Unary,
    Value,
    Within,
)

_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _OPERAND = range(8)
_LEVEL = {"OR": _OR, "AND": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}
_WHOLE = re.compile(r"-?[0-9]+")


# ------------------------------------------------------------------------------------------ expressions


def print_expr(expr: Expr, within: Callable[[Within], str] | None = None) -> str:
    """The canonical text of a condition, with no more brackets than needed; `within` prints an INSIDE term."""
    return _Printer(within or (lambda term: print_place(term.place, _PLAIN_SPACE))).text(expr)[0]


class _Plain:
    kind = "planar"


_PLAIN_SPACE = _Plain()


def print_conjunct(expr: Expr) -> str:
    """The same, to be joined with others by AND."""
    text, own = _Printer(lambda term: print_place(term.place, _PLAIN_SPACE)).text(expr)
    return text if own >= _AND else f"({text})"


class _Printer:
    """Text, and how strongly it holds together."""

    def __init__(self, within: Callable[[Within], str]) -> None:
        self.within = within

    def text(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case Column(name, table):
                return (f"{quote_name(table)}." if table else "") + quote_name(name), _OPERAND
            case Value(value):
                return _literal(value)
            case Within():
                return self.within(expr), _OPERAND
            case Unary("NOT", operand):
                return f"NOT {self.at_least(_NOT, operand)}", _NOT
            case Unary(_, operand):
                text = self.at_least(_SIGN, operand)
                return f"- {text}" if text.startswith("-") else f"-{text}", _SIGN
            case Binary(op, left, right):
                level = _LEVEL.get(op, _COMPARISON)
                first = _SUM if level == _COMPARISON else level
                return f"{self.at_least(first, left)} {op} {self.at_least(level + 1, right)}", level
            case In(operand, items, negated):
                listed = ", ".join(self.text(i)[0] for i in items)
                return f"{self.at_least(_SUM, operand)} {_not(negated)}IN ({listed})", _COMPARISON
            case Between(operand, low, high, negated):
                limits = f"{self.at_least(_SUM, low)} AND {self.at_least(_SUM, high)}"
                return f"{self.at_least(_SUM, operand)} {_not(negated)}BETWEEN {limits}", _COMPARISON
            case Like(operand, pattern, negated):
                return f"{self.at_least(_SUM, operand)} {_not(negated)}LIKE {quote_text(pattern)}", _COMPARISON
            case IsNull(operand, negated):
                return f"{self.at_least(_SUM, operand)} IS {_not(negated)}NULL", _COMPARISON

    def at_least(self, level: int, expr: Expr) -> str:
        """The text, in brackets if it holds together less than that."""
        text, own = self.text(expr)
        return text if own >= level else f"({text})"


def _not(negated: bool) -> str:
    return "NOT " if negated else ""


def _literal(value: float | int | str | bool | None) -> tuple[str, int]:
    if value is None:
        return "NULL", _OPERAND
    if isinstance(value, bool):
        return ("TRUE" if value else "FALSE"), _OPERAND
    if isinstance(value, str):
        return quote_text(value), _OPERAND
    text = print_number(value)
    return text, _SIGN if text.startswith("-") else _OPERAND


def print_number(value: float | int) -> str:
    """The shortest digits that read back as the same number; whole numbers without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


# ------------------------------------------------------------------------------------------------ places


def print_place(place: Inside | Nearest, space: SpaceKind) -> str:
    """The INSIDE or KNN clause."""
    if isinstance(place, Nearest):
        target = f"({print_numbers(place.x, place.y)})" if place.focal is None else print_id(place.focal)
        return f"KNN {place.k} AROUND {target}"
    match place.shape:
        case MovingRect(focal, w, h):
            return f"INSIDE RECT ({print_numbers(w, h)}) AROUND {print_id(focal)}"
        case MovingCircle(focal, radius):
            return f"INSIDE CIRCLE ({print_distance(radius, space)}) AROUND {print_id(focal)}"
        case area:
            return f"INSIDE {print_area(area, space)}"


def print_area(area: Area, space: SpaceKind) -> str:
    """An area by value."""
    match area:
        case Rect(x1, y1, x2, y2):
            return f"RECT ({print_numbers(x1, y1, x2, y2)})"
        case Circle(x, y, radius):
            return f"CIRCLE ({print_numbers(x, y)}, {print_distance(radius, space)})"
        case Polygon():
            return f"POLYGON {quote_text(to_wkt(area))}"


def print_numbers(*values: float | None) -> str:
    """Numbers with commas between them."""
    return ", ".join(print_number(v) for v in values if v is not None)


def print_distance(value: float, space: SpaceKind) -> str:
    """A distance with its unit."""
    return print_number(value) + (" M" if space.kind == "lonlat" else "")


def print_duration(duration: Duration) -> str:
    """A length of time with its unit, if it has one."""
    return print_number(duration.value) + (f" {duration.unit}" if duration.unit else "")


def print_id(focal: str) -> str:
    """An id as it is written in a statement."""
    return focal if _WHOLE.fullmatch(focal) else quote_text(focal)
