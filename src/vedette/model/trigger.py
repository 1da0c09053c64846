"""Triggers: several events under constraints on each and between any two of them (CCQ)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias
from typing import Literal as OneOf

from vedette.model.standing import Standing
from vedette.model.terms import Duration, Expr

Order: TypeAlias = OneOf["<", "<=", ">", ">=", "="]


@dataclass(frozen=True)
class Variable:
    """`FOR [count] E AS name`: one event, or `count` interchangeable ones, that satisfy a condition of their own.

    Columns of the condition carry no table: they are those of the event.
    """

    name: str
    count: int = 1
    condition: Expr | None = None


@dataclass(frozen=True)
class Apart:
    """`DISTANCE(a, b) op distance`, in distance units. a = b: between any two events of a set."""

    a: str
    b: str
    op: OneOf["<", "<=", ">", ">="]
    distance: float


@dataclass(frozen=True)
class Lag:
    """`later.t - earlier.t IN [low, high]` (op IN, both closed), or `later.t - earlier.t op low`."""

    earlier: str
    later: str
    op: Order | OneOf["IN"]
    low: Duration
    high: Duration | None = None


@dataclass(frozen=True)
class Span:
    """`SPAN(a, b, ...) op length`: between the first and the last of all events that these variables stand for."""

    variables: tuple[str, ...]
    op: OneOf["<", "<="]
    length: Duration


@dataclass(frozen=True)
class Compare:
    """`left op right`: each side names the columns of one variable (`a`, `b`), without a table."""

    a: str
    b: str
    op: OneOf["=", "<>", "<", "<=", ">", ">="]
    left: Expr
    right: Expr


Constraint: TypeAlias = Apart | Lag | Span | Compare
Strategy: TypeAlias = OneOf["CELLS", "LOOSE", "TIGHT", "DOMAINS"]


@dataclass(frozen=True)
class Trigger(Standing):
    """Fires once for each tuple of different events that satisfies everything."""

    kind: ClassVar[str] = "TRIGGER"

    variables: tuple[Variable, ...]
    constraints: tuple[Constraint, ...] = ()
    strategy: Strategy | None = None  # None: the default
