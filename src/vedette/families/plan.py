"""What the stages need to know of a query, and which family says it.

Every query is a shape (still, or following a focal object), a filter on attributes, and a way from members to output:
the k nearest of them or all, delayed or not, as objects or as one value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from vedette.errors import ConfigError
from vedette.families.nearest import plan_nearest
from vedette.families.ranges import disc, plan_inside
from vedette.families.shape import DISC, NO_FIGURE, Figure
from vedette.model import MICROSECONDS, Aggregate, Combination, Duration, Expr, Inside, Query, Schema
from vedette.model.alert import ReverseNearest
from vedette.space import Space


@dataclass(frozen=True)
class Plan:
    """A query as the stages see it. Times are in ticks of the stream."""

    figure: Figure
    condition: Expr | None
    aggregate: Aggregate | None
    dwell: int
    grace: int

    @property
    def is_combined(self) -> bool:
        """Whether the answer is made of those of other queries."""
        return self.figure is NO_FIGURE

    @property
    def is_delayed(self) -> bool:
        """Whether membership is not just being inside."""
        return self.dwell > 0 or self.grace > 0

    @property
    def measure(self) -> str | None:
        """The attribute, or x or y, that is aggregated."""
        return self.aggregate.argument if self.aggregate else None


def plan_query(query: Query, space: Space, schema: Schema) -> Plan:
    """The plan of a query over a stream."""
    where = query.where
    if isinstance(where, Combination):
        figure = NO_FIGURE
    else:
        figure = plan_inside(where.shape, space) if isinstance(where, Inside) else plan_nearest(where, space)
    aggregate = query.aggregate
    if aggregate is not None and aggregate.argument in ("lon", "lat"):
        aggregate = replace(aggregate, argument="x" if aggregate.argument == "lon" else "y")
    return Plan(figure, query.condition, aggregate, ticks(query.dwell, schema), ticks(query.grace, schema))


def plan_reverse(constraint: ReverseNearest, space: Space) -> Plan:
    """How many objects are closer to the object than the point is."""
    figure = Figure(DISC, disc(constraint.x, constraint.y, 0.0, space), focal=constraint.object, reverse=True)
    return Plan(figure, None, Aggregate("COUNT"), 0, 0)


def ticks(duration: Duration, schema: Schema) -> int:
    """A duration in ticks of the stream: microseconds, or the unit of its long times."""
    if duration.unit is None:
        if schema.time == "timestamp" and duration.value != 0:
            raise ConfigError(f"{duration.value:g} has no unit, and t is a timestamp: write it with MS, S, MIN, H or D")
        return round(duration.value)
    if schema.time == "long":
        raise ConfigError(
            f"{duration.value:g} {duration.unit} has a unit, but t is a long whose unit is not known: "
            "write a bare number"
        )
    return round(duration.value * MICROSECONDS[duration.unit])
