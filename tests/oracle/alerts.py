"""Alerts at every tick, from scratch (DESIGN part 3.4): every constraint of every alert is decided anew.

In: the objects that are there. Out: which alerts hold. Nothing is shared, nothing is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle import circles
from tests.oracle.rows import Oid, Row
from tests.oracle.shapes import Plane, contains, point
from tests.oracle.sphere import unit_vector
from vedette.model.alert import Alert, Diameter, Distance, Elementary, InsideOf, ReverseNearest
from vedette.model.formula import holds


@dataclass
class Alerts:
    """The alerts that stand, and what is known of each name."""

    space: Plane
    standing: dict[str, Alert] = field(default_factory=dict)
    told: dict[str, bool] = field(default_factory=dict)

    def news(self, present: dict[Oid, Row]) -> list[tuple[str, int]]:
        """Names and signs of alerts that became true or false."""
        found = []
        for name in sorted(self.standing.keys() | self.told.keys()):
            alert = self.standing.get(name)
            truth = alert is not None and holds(alert.formula, lambda term: self.is_true(term, present))
            if truth != self.told.get(name, False):
                found.append((name, 1 if truth else -1))
            self.told[name] = truth
            if alert is None:
                del self.told[name]
        return found

    def is_true(self, term: Elementary, present: dict[Oid, Row]) -> bool:
        """Whether a constraint holds; never while one of its objects has no position."""
        ids = term.objects if isinstance(term, Diameter | Distance) else (term.object,)
        rows = [row for oid in ids for row in present.values() if str(row.oid) == oid]
        if len(rows) < len(ids):
            return False
        if isinstance(term, InsideOf):
            return contains(self.space, term.area.shape, rows[0])
        if isinstance(term, ReverseNearest):
            limit = self.space.distance2(point(term.x, term.y), rows[0])
            others = (row for row in present.values() if row is not rows[0])
            return sum(self.space.distance2(row, rows[0]) < limit for row in others) < term.k
        found: float
        if isinstance(term, Diameter):
            found = circles.measure([self.place(row) for row in rows], self.space.kind == "lonlat")
            limit = circles.limit(term.distance, self.space.kind == "lonlat")
        else:
            found = max(self.space.distance2(row, point(term.x, term.y)) for row in rows)
            limit = self.space.reach2(term.distance)
        return found < limit if term.op == "<" else found > limit

    def place(self, row: Row) -> circles.Point:
        """The position as circles take it."""
        return unit_vector(row.x, row.y) if self.space.kind == "lonlat" else (row.x, row.y, 0.0)
