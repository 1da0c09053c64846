"""The canonical text of statements, queries and conditions.

In: records of the model. Out: text that parses back to an equal record, whatever the case, spacing and form in which
it was first written. The text of a condition is its identity: two queries with the same text share one filter.
"""

from __future__ import annotations

import re

from vedette.conditions import format_timestamp
from vedette.lang.polygons import to_wkt
from vedette.lang.shapes import SpaceKind
from vedette.lang.words import quote_name, quote_text
from vedette.model import (
    Area,
    Between,
    Binary,
    Circle,
    Column,
    CreateQuery,
    CreateRegion,
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
    Query,
    Rect,
    Statement,
    Unary,
    Value,
)

_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _OPERAND = range(8)
_LEVEL = {"OR": _OR, "AND": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}
_WHOLE = re.compile(r"-?[0-9]+")


# ------------------------------------------------------------------------------------------ expressions


def print_expr(expr: Expr) -> str:
    """The canonical text of a condition, with no more brackets than needed."""
    return _print(expr)[0]


def _print(expr: Expr) -> tuple[str, int]:
    """Text, and how strongly it holds together."""
    match expr:
        case Column(name, table):
            return (f"{quote_name(table)}." if table else "") + quote_name(name), _OPERAND
        case Value(value):
            return _literal(value)
        case Unary("NOT", operand):
            return f"NOT {_at_least(_NOT, operand)}", _NOT
        case Unary(_, operand):
            text = _at_least(_SIGN, operand)
            return f"- {text}" if text.startswith("-") else f"-{text}", _SIGN
        case Binary(op, left, right):
            level = _LEVEL.get(op, _COMPARISON)
            first = _SUM if level == _COMPARISON else level
            return f"{_at_least(first, left)} {op} {_at_least(level + 1, right)}", level
        case In(operand, items, negated):
            listed = ", ".join(print_expr(i) for i in items)
            return f"{_at_least(_SUM, operand)} {_not(negated)}IN ({listed})", _COMPARISON
        case Between(operand, low, high, negated):
            limits = f"{_at_least(_SUM, low)} AND {_at_least(_SUM, high)}"
            return f"{_at_least(_SUM, operand)} {_not(negated)}BETWEEN {limits}", _COMPARISON
        case Like(operand, pattern, negated):
            return f"{_at_least(_SUM, operand)} {_not(negated)}LIKE {quote_text(pattern)}", _COMPARISON
        case IsNull(operand, negated):
            return f"{_at_least(_SUM, operand)} IS {_not(negated)}NULL", _COMPARISON


def _at_least(level: int, expr: Expr) -> str:
    text, own = _print(expr)
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


# -------------------------------------------------------------------------------------------- statements


def print_statement(statement: Statement, space: SpaceKind) -> str:
    """A whole statement, with AT and the semicolon."""
    prefix = ""
    if statement.at is not None:
        at = quote_text(format_timestamp(statement.at)) if statement.at_is_timestamp else str(statement.at)
        prefix = f"AT {at} "
    action = statement.action
    if isinstance(action, CreateQuery):
        return prefix + print_query(action.query, space, replace=action.replace)
    if isinstance(action, CreateRegion):
        return f"{prefix}{_create(action.replace)} REGION {quote_name(action.name)} AS {_area(action.area, space)};"
    return f"{prefix}DROP {action.kind} {quote_name(action.name)};"


def print_query(query: Query, space: SpaceKind, *, replace: bool = False) -> str:
    """A query as the statement that creates it. Named regions and joined tables appear by value."""
    parts = [f"{_create(replace)} QUERY {quote_name(query.name)} AS SELECT {_selected(query)} FROM objects"]
    if query.condition is not None:
        parts.append(f"WHERE {print_expr(query.condition)}")
    parts.append(print_place(query.where, space))
    parts += [f"{word} {_duration(d)}" for word, d in (("DWELL", query.dwell), ("GRACE", query.grace)) if d.value]
    return " ".join(parts) + ";"


def print_place(place: Inside | Nearest, space: SpaceKind) -> str:
    """The INSIDE or KNN clause."""
    if isinstance(place, Nearest):
        target = f"({_numbers(place.x, place.y)})" if place.focal is None else _id(place.focal)
        return f"KNN {place.k} AROUND {target}"
    match place.shape:
        case MovingRect(focal, w, h):
            return f"INSIDE RECT ({_numbers(w, h)}) AROUND {_id(focal)}"
        case MovingCircle(focal, radius):
            return f"INSIDE CIRCLE ({_distance(radius, space)}) AROUND {_id(focal)}"
        case area:
            return f"INSIDE {_area(area, space)}"


def _create(replace: bool) -> str:
    return "CREATE OR REPLACE" if replace else "CREATE"


def _selected(query: Query) -> str:
    if query.aggregate is None:
        return "oid"
    argument = query.aggregate.argument
    return f"{query.aggregate.function}({'*' if argument is None else quote_name(argument)})"


def _area(area: Area, space: SpaceKind) -> str:
    match area:
        case Rect(x1, y1, x2, y2):
            return f"RECT ({_numbers(x1, y1, x2, y2)})"
        case Circle(x, y, radius):
            return f"CIRCLE ({_numbers(x, y)}, {_distance(radius, space)})"
        case Polygon():
            return f"POLYGON {quote_text(to_wkt(area))}"


def _numbers(*values: float | None) -> str:
    return ", ".join(print_number(v) for v in values if v is not None)


def _distance(value: float, space: SpaceKind) -> str:
    return print_number(value) + (" M" if space.kind == "lonlat" else "")


def _duration(duration: Duration) -> str:
    return print_number(duration.value) + (f" {duration.unit}" if duration.unit else "")


def _id(focal: str) -> str:
    return focal if _WHOLE.fullmatch(focal) else quote_text(focal)
