"""Range and kNN queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from vedette.model.standing import Standing
from vedette.model.terms import NO_TIME, Combination, Duration, Expr, Inside, Nearest


@dataclass(frozen=True)
class Aggregate:
    """COUNT(*) has no argument; SUM, AVG, MIN, MAX take an attribute or x, y."""

    function: OneOf["COUNT", "SUM", "AVG", "MIN", "MAX"]
    argument: str | None = None


@dataclass(frozen=True)
class Query(Standing):
    """A range or kNN query, or a combination of both. `aggregate` None: the answer is the set of objects."""

    where: Inside | Nearest | Combination
    condition: Expr | None = None
    aggregate: Aggregate | None = None
    dwell: Duration = NO_TIME
    grace: Duration = NO_TIME
