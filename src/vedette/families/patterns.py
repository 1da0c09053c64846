"""Motion patterns: from a checked pattern to numbers (CMP).

In: a `Pattern`. Out: its `PatternPlan`, times in ticks of the stream, distances in distance units.
"""

from __future__ import annotations

from dataclasses import dataclass

from vedette.families.plan import ticks
from vedette.families.ranges import disc, plan_inside
from vedette.families.shape import DISC, Figure
from vedette.kernels.motion.tables import ALL, AT_LEAST, AT_MOST, HIGHEST, LOWEST
from vedette.model import Circle, Expr, Extreme, Limit, Pattern, Point, Schema, Step
from vedette.space import Space


@dataclass(frozen=True)
class StepPlan:
    """A step. `radius` of a disc in distance units; `a`, `b`: the window [tau - a, tau - b], 0 without one."""

    figure: Figure
    radius: float
    is_number: bool
    is_disjoint: bool
    always: bool
    windowed: bool
    a: int
    b: int


@dataclass(frozen=True)
class PatternPlan:
    """A pattern."""

    steps: tuple[StepPlan, ...]
    every: int
    choice: int
    limit: float
    n: int
    condition: Expr | None

    def is_tied(self, k: int) -> bool:
        """Whether steps k and k + 1 are ordered against each other: one of them has no window."""
        return 0 <= k < len(self.steps) - 1 and not (self.steps[k].windowed and self.steps[k + 1].windowed)

    @property
    def has_score(self) -> bool:
        """Whether something is measured."""
        return any(step.is_number for step in self.steps)

    @property
    def horizon(self) -> int:
        """Updates older than this matter to no window."""
        return max(step.a for step in self.steps)


def plan_pattern(pattern: Pattern, space: Space, schema: Schema) -> PatternPlan:
    """The plan of a pattern over a stream."""
    steps = [_step(step, space, schema) for step in pattern.steps]
    choice, limit, n = ALL, 0.0, 0
    match pattern.choice:
        case Limit(op, score):
            choice, limit = (AT_MOST if op == "<=" else AT_LEAST), score
        case Extreme(end, count):
            choice, n = (LOWEST if end == "LOWEST" else HIGHEST), count
    return PatternPlan(tuple(steps), ticks(pattern.every, schema), choice, limit, n, pattern.condition)


def _step(step: Step, space: Space, schema: Schema) -> StepPlan:
    target = step.target
    if isinstance(target, Point):
        figure, radius = Figure(DISC, disc(target.x, target.y, 0.0, space)), 0.0
    else:
        figure = plan_inside(target.shape, space)
        radius = target.shape.radius if isinstance(target.shape, Circle) else 0.0
    window = step.window
    return StepPlan(
        figure,
        radius,
        step.test == "DIST",
        step.test == "DISJOINT",
        step.always,
        window is not None,
        0 if window is None else ticks(window.since, schema),
        0 if window is None else ticks(window.until, schema),
    )
