"""Motion patterns, from the whole history, at every instant anew (DESIGN 3.3).

In: on-time updates and the patterns that stand. Out: who matches at an instant, with which score.
"An update with t in [tau - a, tau - b] and t at or after the registration": every window is a filter over the list of
all updates of an object; sequences are tried witness by witness.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from tests.oracle.conditions import satisfied
from tests.oracle.rows import Oid, Row, oid_order
from tests.oracle.shapes import Plane, area_contains, point
from tests.oracle.sphere import EARTH_RADIUS_M, arcsine
from vedette.model import (
    MICROSECONDS,
    Circle,
    Create,
    Drop,
    Duration,
    Extreme,
    Inside,
    Limit,
    Pattern,
    Point,
    Polygon,
    Rect,
    Statement,
    Step,
)

Answer = dict[Oid, float | None]


@dataclass
class LivePattern:
    """A pattern that stands, and its answer at the last instant."""

    pattern: Pattern
    since: float
    answer: Answer = field(default_factory=dict)


class Patterns:
    """All updates that came in time, and what patterns find in them."""

    def __init__(self, space: Plane) -> None:
        self.space = space
        self.rows: dict[Oid, list[Row]] = defaultdict(list)
        self.live: dict[str, LivePattern] = {}
        self.told: dict[str, Answer] = {}

    def command(self, statement: Statement, c: float) -> None:
        """Patterns come and go."""
        action = statement.action
        if isinstance(action, Create) and isinstance(action.query, Pattern):
            self.live[action.query.name] = LivePattern(action.query, c)
        elif isinstance(action, Drop) and action.kind == "PATTERN":
            self.live.pop(action.name, None)

    def tick(self, tau: int, updates: dict[Oid, Row]) -> list[tuple[str, int, Oid, float | None]]:
        """Make it tau; who joined (with the score) and who left."""
        self.add(tau, updates)
        changes: list[tuple[str, int, Oid, float | None]] = []
        for name in sorted(self.live.keys() | self.told.keys()):
            live = self.live.get(name)
            if live is not None and tau % ticks(live.pattern.every) == 0:
                live.answer = self.answer(live, tau)
            before, after = self.told.pop(name, {}), live.answer if live is not None else {}
            if after:
                self.told[name] = after
            changes += [
                (name, 1, oid, after[oid]) if oid in after else (name, -1, oid, None)
                for oid in sorted(before.keys() ^ after.keys(), key=oid_order)
            ]
        return changes

    def add(self, tau: int, updates: dict[Oid, Row]) -> None:
        """Patterns never see rows that were late."""
        for oid, row in updates.items():
            if row.t == tau:
                self.rows[oid].append(row)

    def answer(self, live: LivePattern, tau: int) -> Answer:
        """Who matches at tau."""
        pattern, found = live.pattern, {}
        for oid, rows in self.rows.items():
            seen = [row for row in rows if live.since <= row.t <= tau]
            if not seen or not satisfied(pattern.condition, seen[-1]) or not self.chain(pattern.steps, seen, tau):
                continue
            numbers = [self.number(step, self.within(step, seen, tau)) for step in pattern.steps if step.test == "DIST"]
            score = sum(numbers, 0.0) if numbers else None
            if isinstance(pattern.choice, Limit):
                assert score is not None
                if not (score <= pattern.choice.score if pattern.choice.op == "<=" else score >= pattern.choice.score):
                    continue
            found[oid] = score
        if isinstance(pattern.choice, Extreme):
            sign = 1 if pattern.choice.end == "LOWEST" else -1
            order = sorted(found, key=lambda oid: (sign * (found[oid] or 0.0), oid_order(oid)))
            found = {oid: found[oid] for oid in order[: pattern.choice.n]}
        return found

    def within(self, step: Step, seen: list[Row], tau: int) -> list[Row]:
        """The updates of the step's window."""
        if step.window is None:
            return seen
        a, b = ticks(step.window.since), ticks(step.window.until)
        return [row for row in seen if tau - a <= row.t <= tau - b]

    def chain(self, steps: tuple[Step, ...], seen: list[Row], tau: int, before: float | None = None) -> bool:
        """Whether the steps have witnesses; the first not before `before` (None: no matter)."""
        if not steps:
            return True
        step, rest = steps[0], steps[1:]
        rows = self.within(step, seen, tau)
        is_tied = bool(rest) and (step.window is None or rest[0].window is None)
        if step.always:
            assert step.window is not None
            begin, end = tau - ticks(step.window.since), tau - ticks(step.window.until)
            if not rows or not all(self.holds(step, row) for row in rows) or (before is not None and before > begin):
                return False
            return self.chain(rest, seen, tau, end if is_tied else None)
        witnesses = {row.t for row in rows if (before is None or row.t >= before) and self.holds(step, row)}
        return any(self.chain(rest, seen, tau, t if is_tied else None) for t in witnesses)

    def holds(self, step: Step, row: Row) -> bool:
        """Whether an update satisfies a step; a distance is no condition."""
        if step.test == "DIST":
            return True
        assert isinstance(step.target, Inside)
        inside = area_contains(self.space, step.target.shape, row)  # type: ignore[arg-type]
        return inside == (step.test == "INSIDE")

    def number(self, step: Step, rows: list[Row]) -> float:
        """The greatest or least distance."""
        distances = [distance(self.space, step.target, row) for row in rows]
        return max(distances) if step.always else min(distances)


def ticks(duration: Duration) -> int:
    """A length of time in the unit of `t`."""
    return round(duration.value * (MICROSECONDS[duration.unit] if duration.unit else 1))


def pattern_instants(statements: list[Statement], first: int, end: int) -> set[int]:
    """All instants from `first` to before `end` at which some pattern is asked."""
    found: set[int] = set()
    for statement in statements:
        if isinstance(statement.action, Create) and isinstance(statement.action.query, Pattern):
            every = ticks(statement.action.query.every)
            found |= set(range(-(-first // every) * every, end, every))
    return found


def distance(space: Plane, target: Inside | Point, row: Row) -> float:
    """From an update to a point or to the nearest point of an area."""
    if isinstance(target, Point):
        return between(space, row, target.x, target.y)
    area = target.shape
    if area_contains(space, area, row):  # type: ignore[arg-type]
        return 0.0
    if isinstance(area, Circle):
        return max(0.0, between(space, row, area.x, area.y) - area.radius)
    if isinstance(area, Rect):
        dx = max(area.x1 - row.x, row.x - area.x2, 0.0)
        dy = max(area.y1 - row.y, row.y - area.y2, 0.0)
        return math.sqrt(dx * dx + dy * dy)
    assert isinstance(area, Polygon)
    rings = [ring for part in area.parts for ring in part]
    return math.sqrt(min(to_edge2(row, *a, *b) for ring in rings for a, b in pairwise(ring)))


def between(space: Plane, row: Row, x: float, y: float) -> float:
    """Straight in the plane, along the great circle on the sphere."""
    d2 = space.distance2(row, point(x, y))
    return math.sqrt(d2) if space.kind == "planar" else 2.0 * EARTH_RADIUS_M * arcsine(min(1.0, 0.5 * math.sqrt(d2)))


def to_edge2(row: Row, ax: float, ay: float, bx: float, by: float) -> float:
    """Squared distance to a segment."""
    ex, ey = bx - ax, by - ay
    length2 = ex * ex + ey * ey
    along = 0.0
    if length2 > 0.0:
        along = min(1.0, max(0.0, ((row.x - ax) * ex + (row.y - ay) * ey) / length2))
    dx, dy = row.x - (ax + along * ex), row.y - (ay + along * ey)
    return dx * dx + dy * dy
