"""Types of expressions: what can be compared with what, and what takes numbers.

In: an expression, and the kinds of the columns it may name. Out: its kind, and findings: what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vedette.conditions import parse_timestamp
from vedette.lang.print import print_expr
from vedette.lang.words import TIME_UNITS, did_you_mean, one_of
from vedette.model import (
    Between,
    Binary,
    Column,
    Duration,
    Expr,
    In,
    IsNull,
    Like,
    Schema,
    Unary,
    Value,
    Within,
)

Kind: TypeAlias = Literal["number", "string", "true or false", "timestamp", "id", "null", "any"]
Subject: TypeAlias = "Expr | str"  # an expression, or AGGREGATE, DWELL, GRACE, AT
KindOf: TypeAlias = "Callable[[Column], Kind | None]"

_KINDS: dict[str, Kind] = {
    "bool": "true or false",
    "long": "number",
    "double": "number",
    "string": "string",
    "timestamp": "timestamp",
}
_CORE = ("oid", "t", "x", "y")
_LISTED = 12


@dataclass(frozen=True)
class Finding:
    """A problem and what it is about, before it has a place in a text."""

    subject: Subject
    code: str
    message: str
    hint: str | None = None


# --------------------------------------------------------------------------------------------- expressions


class Types:
    """Infers kinds from the leaves up, and notes what does not fit."""

    def __init__(self, kind_of: KindOf, names: list[str], oid: str | None = None) -> None:
        self.kind_of = kind_of
        self.names = names
        self.oid = oid
        self.findings: list[Finding] = []

    def condition(self, expr: Expr) -> None:
        """The expression must be true or false."""
        kind = self.kind(expr)
        if kind not in ("true or false", "null", "any"):
            hint = f"compare it with something: {print_expr(expr)} > 0" if kind == "number" else None
            self._note(expr, "VD151", f"{print_expr(expr)} is a {kind}, not a condition", hint)

    def kind(self, expr: Expr) -> Kind:
        """The kind of an expression; `any` where it cannot be known."""
        match expr:
            case Column():
                return self._column(expr)
            case Value(value):
                return _literal_kind(value)
            case Unary("NOT", inner):
                self.condition(inner)
            case Unary(_, inner):
                self._number(inner, "-")
                return "number"
            case Binary("AND" | "OR", left, right):
                self.condition(left)
                self.condition(right)
            case Binary(op, left, right) if op in "+-*/%":
                self._number(left, op)
                self._number(right, op)
                return "number"
            case Binary(_, left, right):
                self._comparable(expr, left, (right,))
            case In(inner, items, _):
                self._comparable(expr, inner, items)
            case Between(inner, low, high, _):
                self._comparable(expr, inner, (low, high))
            case Like(inner, _, _):
                kind = self.kind(inner)
                if kind not in ("string", "id", "null", "any"):
                    self._note(inner, "VD151", f"LIKE takes a string; {print_expr(inner)} is a {kind}")
            case IsNull(inner, _):
                self.kind(inner)
            case Within():
                pass
        return "true or false"

    def _column(self, column: Column) -> Kind:
        kind = self.kind_of(column)
        if kind is not None:
            return kind
        hint = did_you_mean(column.name, self.names)
        if hint is None:
            rest = " ..." if len(self.names) > _LISTED else ""
            hint = f"there are {', '.join(self.names[:_LISTED])}{rest}"
        self._note(column, "VD150", f"there is no attribute {column.name}", hint)
        return "any"

    def _number(self, expr: Expr, op: str) -> None:
        kind = self.kind(expr)
        if kind == "id" and self.oid != "string":
            return
        if kind not in ("number", "null", "any"):
            self._note(expr, "VD151", f"{op} takes numbers; {print_expr(expr)} is a {self._shown(kind)}")

    def _comparable(self, whole: Expr, left: Expr, others: tuple[Expr, ...]) -> None:
        """The first that does not fit is enough; a joined table can have many."""
        kind = self.kind(left)
        kinds = [self.kind(other) for other in others]
        before = len(self.findings)
        for other, its_kind in zip(others, kinds, strict=True):
            self._compare(whole, left, other, (kind, its_kind))
            if len(self.findings) > before:
                return

    def _compare(self, whole: Expr, left: Expr, right: Expr, kinds: tuple[Kind, Kind]) -> None:
        if "timestamp" in kinds and "string" in kinds:
            literal = left if kinds[0] == "string" else right
            if isinstance(literal, Value):
                if parse_timestamp(str(literal.value)) is None:
                    hint = "an example: '2008-05-31T03:20:00Z'"
                    self._note(literal, "VD143", f"{print_expr(literal)} is not a time", hint)
                return
        elif _fit(*kinds) and not self._foreign_id(kinds, left, right):
            return
        a, b = (f"{print_expr(e)} ({self._shown(k)})" for e, k in zip((left, right), kinds, strict=True))
        self._note(whole, "VD151", f"cannot compare {a} with {b}", _comparison_hint(kinds, left, right))

    def _shown(self, kind: Kind) -> str:
        return {"string": "string", "long": "number"}.get(self.oid or "", "id") if kind == "id" else kind

    def _foreign_id(self, kinds: tuple[Kind, Kind], left: Expr, right: Expr) -> bool:
        """An id matches literals as text, but not whole columns or computations of the other kind."""
        if self.oid is None or "id" not in kinds or kinds == ("id", "id"):
            return False
        other, kind = (right, kinds[1]) if kinds[0] == "id" else (left, kinds[0])
        return not isinstance(other, Value) and kind == ("number" if self.oid == "string" else "string")

    def _note(self, subject: Expr, code: str, message: str, hint: str | None = None) -> None:
        self.findings.append(Finding(subject, code, message, hint))


def _literal_kind(value: float | int | str | bool | None) -> Kind:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return "string" if isinstance(value, str) else "number"


def _fit(a: Kind, b: Kind) -> bool:
    pair = {a, b}
    if len(pair) == 1 or pair & {"any", "null"}:
        return True
    return pair in ({"number", "true or false"}, {"id", "number"}, {"id", "string"})


def _comparison_hint(kinds: tuple[Kind, Kind], left: Expr, right: Expr) -> str | None:
    for kind, literal, other in ((kinds[0], left, kinds[1]), (kinds[1], right, kinds[0])):
        if kind == "string" and other == "number" and isinstance(literal, Value):
            try:
                float(str(literal.value))
            except ValueError:
                continue
            return f"without quotes: {literal.value}"
        if kind == "number" and other == "string" and isinstance(literal, Value):
            return f"in quotes: '{print_expr(literal)}'"
    if "timestamp" in kinds and "number" in kinds:
        return "times are written in quotes: '2008-05-31T03:20:00Z'"
    return None


def duration_findings(clause: str, duration: Duration, schema: Schema) -> Iterator[Finding]:
    """A unit where t is a long, none where it is a timestamp (zero is the same in every unit)."""
    if schema.time == "long" and duration.unit is not None:
        hint = "leave the unit out: the number is in the unit of t"
        yield Finding(clause, "VD141", f"{clause} has a unit, but t is a long", hint)
    elif schema.time != "long" and duration.unit is None and duration.value:
        hint = f"add one of {one_of(TIME_UNITS)}"
        yield Finding(clause, "VD141", f"{clause} has no unit, but t is a timestamp", hint)


def kind_in(schema: Schema | None, name: str) -> Kind | None:
    """The kind of a column of the objects; None where there is none of this name."""
    if name == "oid":
        return "id"
    if name in ("x", "y"):
        return "number"
    if schema is None:
        return "any"
    if name == "t":
        return "number" if schema.time == "long" else "timestamp"
    return _KINDS.get(dict(schema.attributes).get(name, ""))


def columns_in(schema: Schema | None) -> list[str]:
    """The names that a condition may use."""
    return [*_CORE, *sorted(name for name, _ in schema.attributes)] if schema else list(_CORE)
