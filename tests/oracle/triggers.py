"""Triggers by brute force, straight from DESIGN 3.2: every tuple of different events is tried.

In: a timeline. Out: a change for each tuple that satisfies everything.
An event is an update that took effect at its own time: late rows are none, a repeat is none. A trigger sees those with
`t` at or after its registration, and fires for a tuple if it still stands at the time of the latest event.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, cast

from tests.oracle.answers import Change, Member, length
from tests.oracle.conditions import evaluate, operate, satisfied
from tests.oracle.ingest import Timeline
from tests.oracle.rows import Row, oid_order
from tests.oracle.shapes import Plane, contains
from vedette.model import (
    Apart,
    Compare,
    Constraint,
    Create,
    Drop,
    Duration,
    Expr,
    Lag,
    Span,
    Trigger,
    Value,
    Variable,
    Within,
)

ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


@dataclass
class Stand:
    """A trigger from its registration until it is dropped, replaced, or time ends."""

    trigger: Trigger
    start: float
    end: float


def fire(timeline: Timeline, space: Plane, t_type: str) -> list[Change]:
    """Everything that fires, ordered by (t, query)."""
    end = timeline.frontiers[-1] if timeline.frontiers else None
    if end is None:
        return []
    events = [row for tick, rows in timeline.effects.items() for row in rows.values() if row.t == tick and row.t < end]
    changes = [
        change
        for stand in stands(timeline)
        for change in alerts(stand.trigger, [e for e in events if e.t >= stand.start], space, t_type)
        if change.t < stand.end
    ]
    return sorted(changes, key=lambda change: (change.t, change.query))


def stands(timeline: Timeline) -> list[Stand]:
    """When each trigger stands; replacing is dropping and creating."""
    found: list[Stand] = []
    standing: dict[str, Stand] = {}
    for c, _, statement in sorted(timeline.commands, key=lambda command: command[:2]):
        action = statement.action
        name = action.query.name if isinstance(action, Create) else action.name
        if (isinstance(action, Create) or (isinstance(action, Drop) and not action.of_region)) and name in standing:
            standing.pop(name).end = c
        if isinstance(action, Create) and isinstance(action.query, Trigger):
            standing[name] = Stand(action.query, c, math.inf)
            found.append(standing[name])
    return found


def alerts(trigger: Trigger, events: list[Row], space: Plane, t_type: str) -> Iterator[Change]:
    """One change for each tuple of different events."""
    places = [variable for variable in trigger.variables for _ in range(variable.count)]
    for tuple_ in tuples(Trial(trigger, space, t_type), places, sorted(events, key=moment), []):
        members = tuple(Member(variable.name, e.oid, e.t, e.x, e.y) for variable, e in zip(places, tuple_, strict=True))
        yield Change(trigger.name, max(e.t for e in tuple_), 1, None, None, None, None, members)


def moment(event: Row) -> tuple[int, tuple[int, bytes]]:
    """The order of the events that stand for one set."""
    return event.t, oid_order(event.oid)


def tuples(trial: Trial, places: list[Variable], events: list[Row], chosen: list[Row]) -> Iterator[list[Row]]:
    """All ways to go on from the events chosen for the first places.

    Every constraint is one on pairs of events, so a choice that does not go with an earlier one is given up at once.
    Of the orders in which the same events can stand for a set only the ascending one is tried.
    """
    if len(chosen) == len(places):
        yield chosen
        return
    place = places[len(chosen)]
    for event in events:
        if any(event is other for other in chosen) or not trial.suits(place, event):
            continue
        if chosen and place is places[len(chosen) - 1] and moment(event) < moment(chosen[-1]):
            continue
        if all(trial.go(one, other, place, event) for one, other in zip(places, chosen, strict=False)):
            yield from tuples(trial, places, events, [*chosen, event])


@dataclass
class Trial:
    """What a trigger says about one event, and about two; remembered, since the same is asked very often."""

    trigger: Trigger
    space: Plane
    t_type: str
    known: dict[tuple[Any, ...], bool] = field(default_factory=dict)

    def suits(self, variable: Variable, event: Row) -> bool:
        """Whether the event may stand for the variable by itself."""
        key = variable.name, id(event)
        if key not in self.known:
            condition = variable.condition
            self.known[key] = condition is None or satisfied(settled(condition, event, self.space), event)
        return self.known[key]

    def go(self, one: Variable, e: Row, other: Variable, f: Row) -> bool:
        """Whether e for the one and f for the other go together."""
        key = one.name, id(e), other.name, id(f)
        if key not in self.known:
            self.known[key] = all(self.holds(constraint, one.name, e, other.name, f) for constraint in self.constraints)
        return self.known[key]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Those between variables."""
        return self.trigger.constraints

    def holds(self, constraint: Constraint, v: str, e: Row, w: str, f: Row) -> bool:
        """One constraint, for e as v and f as w; it holds if it is not about these two."""
        if isinstance(constraint, Span):
            if not {v, w} <= set(constraint.variables):
                return True
            return ORDERS[constraint.op](abs(e.t - f.t), self.ticks(constraint.length))
        if isinstance(constraint, Lag):
            return all(
                self.lag(constraint, earlier, later)
                for earlier, later in directed(constraint.earlier, constraint.later, v, e, w, f)
            )
        if isinstance(constraint, Apart):
            return all(self.apart(constraint, a, b) for a, b in directed(constraint.a, constraint.b, v, e, w, f))
        return all(self.compare(constraint, a, b) for a, b in directed(constraint.a, constraint.b, v, e, w, f))

    def lag(self, lag: Lag, earlier: Row, later: Row) -> bool:
        """How much later one is than the other."""
        difference = later.t - earlier.t
        if lag.op == "IN":
            assert lag.high is not None
            return self.ticks(lag.low) <= difference <= self.ticks(lag.high)
        return ORDERS[lag.op](difference, self.ticks(lag.low))

    def apart(self, apart: Apart, a: Row, b: Row) -> bool:
        """How far apart they are, compared as DESIGN part 2 says."""
        return ORDERS[apart.op](self.space.distance2(a, b), self.space.reach2(apart.distance))

    def compare(self, comparison: Compare, a: Row, b: Row) -> bool:
        """Each side is about one event; unknown is not satisfied."""
        return operate(comparison.op, evaluate(comparison.left, a), evaluate(comparison.right, b)) is True

    def ticks(self, duration: Duration) -> int:
        """A length of time in the unit of `t`."""
        return length(duration, self.t_type)


def directed(a: str, b: str, v: str, e: Row, w: str, f: Row) -> list[tuple[Row, Row]]:
    """The pairs (event of a, event of b) among e, which stands for v, and f, which stands for w."""
    return [pair for names, pair in (((v, w), (e, f)), ((w, v), (f, e))) if names == (a, b)]


def settled(condition: Expr, event: Row, space: Plane) -> Expr:
    """The condition with every INSIDE in it decided."""
    if isinstance(condition, Within):
        return Value(contains(space, condition.place.shape, event))
    changes: dict[str, Any] = {}
    for part in fields(condition):
        value: Any = getattr(condition, part.name)
        if is_dataclass(value):
            changes[part.name] = settled(cast(Expr, value), event, space)
        elif isinstance(value, tuple):
            changes[part.name] = tuple(settled(item, event, space) for item in value)
    return replace(condition, **changes)
