"""WHERE, in SQL's three-valued logic: True, False, or None for unknown (DESIGN part 2, Nulls).

In: an expression of vedette.model and a row. Out: a value, None being NULL.
Invariant: any operand NULL makes the result NULL, but for AND, OR, IN and IS NULL; unknown is not satisfied.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from tests.oracle.rows import Row, Scalar, ticks_of
from vedette.model import Between, Binary, Column, Expr, In, IsNull, Like, Unary, Value

COORDINATES = {"x": "x", "lon": "x", "y": "y", "lat": "y", "t": "t", "oid": "oid"}


def satisfied(condition: Expr | None, row: Row) -> bool:
    """Whether the row passes; no condition lets everything pass."""
    return condition is None or evaluate(condition, row) is True


def evaluate(expr: Expr, row: Row) -> Scalar:
    """The value of the expression for this row."""
    match expr:
        case Value(value):
            return value
        case Column(name):
            return column(row, name)
        case Unary("NOT", operand):
            return negate(evaluate(operand, row))
        case Unary("-", operand):
            value = evaluate(operand, row)
            return None if value is None else -float(value)
        case Binary("AND", left, right):
            return both(evaluate(left, row), evaluate(right, row))
        case Binary("OR", left, right):
            return negate(both(negate(evaluate(left, row)), negate(evaluate(right, row))))
        case Binary(op, left, right):
            return compare(op, left, right, row)
        case Between(operand, low, high, negated):
            within = both(compare(">=", operand, low, row), compare("<=", operand, high, row))
            return negate(within) if negated else within
        case In(operand, items, negated):
            equal = [compare("=", operand, item, row) for item in items]
            found = True if True in equal else None if None in equal else False
            return negate(found) if negated else found
        case Like(operand, pattern, negated):
            value = evaluate(operand, row)
            if value is None:
                return None
            return like(str(value), pattern) != negated
        case IsNull(operand, negated):
            return (evaluate(operand, row) is None) != negated
    raise AssertionError(f"unknown expression {expr!r}")


def column(row: Row, name: str) -> Scalar:
    """An attribute, or oid, t, x, y; an attribute that the row does not have is NULL."""
    if name in COORDINATES and name not in row.attributes:
        value: Scalar = getattr(row, COORDINATES[name])
        return value
    return row.attributes.get(name)


def negate(truth: Scalar) -> bool | None:
    """NOT."""
    return None if truth is None else not truth


def both(left: Scalar, right: Scalar) -> bool | None:
    """AND: false wins over unknown, unknown over true."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def compare(op: str, left: Expr, right: Expr, row: Row) -> Scalar:
    """`left op right`. A string beside `t` is a time; a string beside a number is an id: ids match as text."""
    a, b = evaluate(left, row), evaluate(right, row)
    if Column("t") in (left, right):
        a, b = (ticks_of(datetime.fromisoformat(v)) if isinstance(v, str) else v for v in (a, b))
    elif a is not None and b is not None and isinstance(a, str) != isinstance(b, str):
        a, b = str(a), str(b)
    return operate(op, a, b)


def operate(op: str, left: Any, right: Any) -> Scalar:
    """A comparison, or arithmetic in float64; NULL in, NULL out; x / 0 and x % 0 are NULL."""
    if left is None or right is None:
        return None
    match op:
        case "=":
            return bool(left == right)
        case "<>":
            return bool(left != right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case ">=":
            return bool(left >= right)
    a, b = float(left), float(right)
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return None if b == 0 else a / b
        case "%":
            return None if b == 0 else math.fmod(a, b)
    raise AssertionError(f"unknown operator {op!r}")


def like(text: str, pattern: str) -> bool:
    """% is any run of characters, _ any one, a backslash takes the next character literally."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(like(text[i:], pattern[1:]) for i in range(len(text) + 1))
    if pattern[0] == "\\" and len(pattern) > 1:
        return text[:1] == pattern[1] and like(text[1:], pattern[2:])
    return bool(text) and pattern[0] in ("_", text[0]) and like(text[1:], pattern[1:])
