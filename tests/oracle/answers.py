"""The answers at every tick, from scratch, and the changes between them (DESIGN parts 2 and 3.1).

In: a timeline. Out: the changes. At each instant at which anything can change, every live query is asked anew by
testing every object; nothing is indexed, nothing is skipped. (What a *still* shape and a condition say about one
row never changes, so that much is remembered per row.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tests.oracle.alerts import Alerts
from tests.oracle.conditions import satisfied
from tests.oracle.ingest import Timeline
from tests.oracle.rows import Oid, Row, oid_order
from tests.oracle.shapes import Plane, contains, point
from vedette.model import (
    MICROSECONDS,
    Aggregate,
    Alert,
    Combination,
    Create,
    CreateQuery,
    Drop,
    Duration,
    Inside,
    MovingCircle,
    MovingRect,
    Nearest,
    Query,
    Statement,
)
from vedette.model.formula import distinct, holds


class Member(NamedTuple):
    """An event behind a trigger's alert, and the variable for which it stands."""

    variable: str
    oid: Oid
    t: int
    x: float
    y: float


class Change(NamedTuple):
    """One row of the change stream."""

    query: str
    t: int
    sign: int
    oid: Oid | None
    x: float | None
    y: float | None
    value: float | None
    members: tuple[Member, ...] | None = None


class Figure(NamedTuple):
    """An aggregate's value, and the object that it names."""

    oid: Oid | None
    value: float | None


@dataclass
class Live:
    """A registered query and what it has said so far."""

    query: Query
    dwell: int
    grace: int
    figure: Figure  # the aggregate as the reader knows it
    is_inside: set[Oid] = field(default_factory=set)
    since: dict[Oid, int] = field(default_factory=dict)  # when the present stay inside, or outside, began
    joined: set[Oid] = field(default_factory=set)
    terms: dict[Any, Live] = field(default_factory=dict)  # of a combination, each as a query of its own
    remembered: dict[int, tuple[Row, bool]] = field(default_factory=dict)  # by id(row), which the row keeps alive


def tell(timeline: Timeline, world: World) -> list[Change]:
    """Let everything happen that is closed; return all changes, ordered by (t, query, oid)."""
    end = timeline.frontiers[-1] if timeline.frontiers else None
    if end is None:
        return []
    commands = sorted(timeline.commands, key=lambda command: command[:2])
    changes: list[Change] = []
    world.first = min(timeline.effects, default=None)
    for tau in instants(timeline, world.timeout, world.t_type):
        if tau >= end:
            break
        due = [(c, statement) for c, _, statement in commands if c <= tau]
        del commands[: len(due)]
        for c, statement in due:
            world.command(statement, before_time=not math.isfinite(c))
        changes += world.tick(tau, timeline.effects.get(tau, {}))
    return changes


def instants(timeline: Timeline, timeout: int | None, t_type: str) -> list[int]:
    """Every time at which an answer can change.

    Positions and the set of queries change at updates, timeouts and commands; delayed membership changes a dwell or a
    grace after one of those. (More instants than needed do no harm: nothing changes there.)
    """
    base = {int(c) for c, _, _ in timeline.commands if math.isfinite(c)}
    for tick, rows in timeline.effects.items():
        base.add(tick)
        if timeout is not None:
            base |= {row.t + timeout for row in rows.values()}
    delays = {0}
    for _, _, statement in timeline.commands:
        if isinstance(statement.action, CreateQuery):
            query = statement.action.query
            delays |= {length(query.dwell, t_type), length(query.grace, t_type)}
    return sorted({tau + delay for tau in base for delay in delays})


def length(duration: Duration, t_type: str) -> int:
    """A duration in the unit of `t`."""
    if duration.unit is None:
        assert t_type == "long" or duration.value == 0, "a bare duration needs a long t"
        return int(duration.value)
    assert t_type == "timestamp", "a duration with a unit needs a timestamp t"
    return round(duration.value * MICROSECONDS[duration.unit])


class World:
    """Where everything is, and all that has been said about it."""

    def __init__(self, space: Plane, timeout: int | None, t_type: str) -> None:
        self.space, self.timeout, self.t_type = space, timeout, t_type
        self.present: dict[Oid, Row] = {}
        self.last_known: dict[Oid, Row] = {}
        self.live: dict[str, Live] = {}
        self.alerts = Alerts(space)
        self.first: int | None = None  # the first tick of the stream; nothing is judged before
        self.members: dict[str, set[Oid]] = {}  # of each query of objects, as the reader knows them

    def tick(self, tau: int, updates: dict[Oid, Row]) -> list[Change]:
        """Make it `tau`; return what changed."""
        self.move(tau, updates)
        changes: list[Change] = []
        for name in sorted(self.live.keys() | self.members.keys()):
            live = self.live.get(name)
            if live is not None:
                self.delay(live, self.inside(live), tau)
            changes += self.member_changes(name, live, tau)
            if live is not None and live.query.aggregate is not None:
                changes += self.figure_changes(live, live.query.aggregate, tau)
        if self.first is not None and tau >= self.first:
            news = self.alerts.news(self.present)
            changes += [Change(name, tau, sign, None, None, None, None) for name, sign in news]
        return changes

    def answers(self) -> dict[str, set[Oid] | Figure]:
        """Who is in each answer now, or what it comes to; not made from changes."""
        return {
            name: set(live.joined) if live.query.aggregate is None else self.figure(live.query.aggregate, live.joined)
            for name, live in self.live.items()
        }

    # ------------------------------------------------------------------------------------ what happens

    def command(self, statement: Statement, before_time: bool) -> None:
        """Create, replace or drop; regions were bound by value when the statement was read.

        What is replaced before time begins never had a value that anybody knows.
        """
        action = statement.action
        if isinstance(action, CreateQuery):
            query = action.query
            old = self.live.get(query.name)
            figure = Figure(None, 0.0 if query.aggregate and query.aggregate.function == "COUNT" else None)
            if old is not None and old.query.aggregate and query.aggregate and not before_time:
                figure = old.figure  # replaced: a row only where the new value differs from the one known
            dwell, grace = length(query.dwell, self.t_type), length(query.grace, self.t_type)
            self.live[query.name] = Live(query, dwell, grace, figure)
        elif isinstance(action, Create) and isinstance(action.query, Alert):
            self.alerts.standing[action.query.name] = action.query
        elif isinstance(action, Drop) and not action.of_region:
            self.live.pop(action.name, None)
            self.alerts.standing.pop(action.name, None)

    def move(self, tau: int, updates: dict[Oid, Row]) -> None:
        """Apply the updates of the tick; forget who has not been heard of for `timeout`."""
        self.present.update(updates)
        self.last_known.update(updates)
        if self.timeout is not None:
            for oid in [oid for oid, row in self.present.items() if tau - row.t >= self.timeout]:
                del self.present[oid]

    # ------------------------------------------------------------------------------- what the answer is

    def inside(self, live: Live) -> set[Oid]:
        """The objects of the query, before dwell and grace."""
        where, condition = live.query.where, live.query.condition
        if isinstance(where, Combination):
            for term in distinct(where.formula):
                live.terms.setdefault(term, Live(replace(live.query, where=term), 0, 0, live.figure))
            insides = {term: self.inside(each) for term, each in live.terms.items()}
            return {oid for oid in self.present if holds(where.formula, lambda term: oid in insides[term])}  # noqa: B023
        focal_id = where.focal if isinstance(where, Nearest) else getattr(where.shape, "focal", None)
        if focal_id is not None:
            focal = next((row for oid, row in self.present.items() if str(oid) == focal_id), None)
            if focal is None:
                return set()
            others = [row for row in self.present.values() if row is not focal and passes(live, condition, row)]
            if isinstance(where, Nearest):
                return self.nearest(where.k, focal, others)
            assert isinstance(where.shape, MovingRect | MovingCircle)
            return {row.oid for row in others if contains(self.space, where.shape, row, focal)}
        if isinstance(where, Nearest):
            assert where.x is not None
            assert where.y is not None
            exist = [row for row in self.present.values() if passes(live, condition, row)]
            return self.nearest(where.k, point(where.x, where.y), exist)
        return {oid for oid, row in self.present.items() if self.is_inside_still(live, where, row)}

    def is_inside_still(self, live: Live, where: Inside, row: Row) -> bool:
        """Whether the row passes the filter and lies in a shape that does not move."""
        known = live.remembered.get(id(row))
        if known is None:
            truth = satisfied(live.query.condition, row) and contains(self.space, where.shape, row)
            known = live.remembered[id(row)] = (row, truth)
        return known[1]

    def nearest(self, k: int, centre: Row, rows: list[Row]) -> set[Oid]:
        """The k first by (distance, oid)."""
        order = sorted(rows, key=lambda row: (self.space.distance2(row, centre), oid_order(row.oid)))
        return {row.oid for row in order[:k]}

    def delay(self, live: Live, inside: set[Oid], tau: int) -> None:
        """Dwell and grace.

        Joined once inside throughout the closed [tau - dwell, tau]; parted once outside throughout the closed
        [tau - grace, tau]. An object that is gone is outside.
        """
        for oid in inside ^ live.is_inside:
            live.since[oid] = tau
        live.is_inside = inside
        live.joined |= {oid for oid in inside if tau - live.since[oid] >= live.dwell}
        live.joined -= {oid for oid in live.joined - inside if tau - live.since[oid] >= live.grace}

    def figure(self, aggregate: Aggregate, joined: set[Oid]) -> Figure:
        """The aggregate over the members; nulls do not count, ties go to the smallest oid."""
        if aggregate.function == "COUNT":
            return Figure(None, float(len(joined)))
        assert aggregate.argument is not None
        named = {oid: argument(self.last_known[oid], aggregate.argument) for oid in sorted(joined, key=oid_order)}
        values = {oid: value for oid, value in named.items() if value is not None}
        if not values:
            return Figure(None, None)
        match aggregate.function:
            case "SUM":
                return Figure(None, math.fsum(values.values()))
            case "AVG":
                return Figure(None, math.fsum(values.values()) / len(values))
            case "MIN":
                oid = min(values, key=values.__getitem__)  # the first of equals
                return Figure(oid, values[oid])
            case "MAX":
                oid = max(values, key=values.__getitem__)
                return Figure(oid, values[oid])

    # ------------------------------------------------------------------------------------ what is said

    def member_changes(self, name: str, live: Live | None, tau: int) -> list[Change]:
        """Who joined and who left the answer of this name; aggregates and dropped queries have no members."""
        before = self.members.pop(name, set())
        after = set(live.joined) if live is not None and live.query.aggregate is None else set()
        if after:
            self.members[name] = after
        changes = []
        for oid in sorted(before ^ after, key=oid_order):
            at = self.last_known[oid]
            changes.append(Change(name, tau, 1 if oid in after else -1, oid, at.x, at.y, None))
        return changes

    def figure_changes(self, live: Live, aggregate: Aggregate, tau: int) -> list[Change]:
        """The new value, if it is one."""
        figure = self.figure(aggregate, live.joined)
        if figure == live.figure:
            return []
        live.figure = figure
        at = None if figure.oid is None else self.last_known[figure.oid]
        x, y = (None, None) if at is None else (at.x, at.y)
        return [Change(live.query.name, tau, 0, figure.oid, x, y, figure.value)]


def passes(live: Live, condition: object, row: Row) -> bool:
    """Whether the row passes the query's filter."""
    if condition is None:
        return True
    known = live.remembered.get(id(row))
    if known is None:
        known = live.remembered[id(row)] = (row, satisfied(live.query.condition, row))
    return known[1]


def argument(row: Row, name: str) -> float | None:
    """What an aggregate takes from a row: x, y or an attribute, as a float64."""
    value = {"x": row.x, "y": row.y, "lon": row.x, "lat": row.y}.get(name) if name not in row.attributes else None
    if value is None:
        value = row.attributes.get(name)  # type: ignore[assignment]
    return None if value is None else float(value)
