"""Motion patterns: a sequence of spatial predicates on what an object did, in windows of time that slide along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias
from typing import Literal as OneOf

from vedette.model.standing import Standing
from vedette.model.terms import Duration, Expr, Inside


@dataclass(frozen=True)
class Point:
    """A place without extent."""

    x: float
    y: float


@dataclass(frozen=True)
class Window:
    """Between `since` and `until` ago, both ends included."""

    since: Duration
    until: Duration


@dataclass(frozen=True)
class Step:
    """One predicate: INSIDE and DISJOINT are true or false of a position, DIST is a number.

    Without a window the step stands in time where it stands in the sequence.
    """

    test: OneOf["INSIDE", "DISJOINT", "DIST"]
    target: Inside | Point  # a still area; a point for DIST alone
    always: bool = False
    window: Window | None = None


@dataclass(frozen=True)
class Limit:
    """SCORE <= c or >= c."""

    op: OneOf["<=", ">="]
    score: float


@dataclass(frozen=True)
class Extreme:
    """LOWEST n or HIGHEST n."""

    end: OneOf["LOWEST", "HIGHEST"]
    n: int


Choice: TypeAlias = Limit | Extreme


@dataclass(frozen=True)
class Pattern(Standing):
    """Who moved like this, asked every so often."""

    kind: ClassVar[str] = "PATTERN"

    steps: tuple[Step, ...]
    every: Duration
    choice: Choice | None = None
    condition: Expr | None = None
