"""Alerts: elementary constraints as numbers, and where each alert lives (the paper's location constraints).

In: constraints and alerts of the model. Out: what kernels need of a constraint; for each alert the shard that it shares
with alerts over the same constraints and objects.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from vedette.families.ranges import disc, plan_inside, squared
from vedette.kernels.enclosing import measure_of
from vedette.kernels.judge import (
    DIAMETER_ABOVE,
    DIAMETER_BELOW,
    DISTANCE_ABOVE,
    DISTANCE_BELOW,
    REVERSE,
    WITHIN,
)
from vedette.model.alert import Alert, Diameter, Distance, Elementary, ReverseNearest, objects_of
from vedette.model.formula import distinct
from vedette.space import Space, unit_vector


@dataclass(frozen=True)
class Planned:
    """A constraint in the form that `kernels.judge` takes; edges are those of a polygon."""

    kind: int
    limit: float = 0.0
    p: tuple[float, ...] = ()
    shape: int = 0
    edges: tuple[tuple[float, float, float, float], ...] = ()


def plan_constraint(constraint: Elementary, space: Space) -> Planned:
    """The numbers behind a constraint."""
    if isinstance(constraint, Diameter):
        kind = DIAMETER_BELOW if constraint.op == "<" else DIAMETER_ABOVE
        return Planned(kind, measure_of(constraint.distance, space.is_lonlat))
    if isinstance(constraint, Distance):
        kind = DISTANCE_BELOW if constraint.op == "<" else DISTANCE_ABOVE
        x, y = constraint.x, constraint.y
        point = unit_vector(x, y) if space.is_lonlat else (x, y, 0.0)
        return Planned(kind, squared(constraint.distance, space), point)
    if isinstance(constraint, ReverseNearest):
        return Planned(REVERSE, float(constraint.k), disc(constraint.x, constraint.y, 0.0, space))
    figure = plan_inside(constraint.area.shape, space)
    return Planned(WITHIN, 0.0, figure.p, figure.kind, figure.edges)


def measured(constraint: Elementary) -> tuple[Hashable, bool] | None:
    """What a constraint's measure can be compared with, and whether it asks for more than a limit."""
    if isinstance(constraint, Diameter):
        return "diameter", constraint.op == ">"
    if isinstance(constraint, Distance):
        return ("distance", constraint.x, constraint.y), constraint.op == ">"
    return None


class Placement:
    """Which shard an alert goes to: where most of its constraints, else of its objects are, as long as there is room.

    It depends on what is registered, and on nothing else; whoever knows the same alerts and shards places alike.
    """

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._load = [0] * shards
        self._holders: dict[Hashable, Counter[int]] = {}

    def place(self, alert: Alert) -> int:
        """The shard for an alert to come."""
        terms = distinct(alert.formula)
        sharing: dict[int, list[int]] = {}
        for rank, keys in enumerate((terms, {("id", o) for term in terms for o in objects_of(term)})):
            for key in keys:
                for shard in self._holders.get(key, ()):
                    sharing.setdefault(shard, [0, 0])[rank] += 1
        room = 16 + 2 * math.ceil((sum(self._load) + 1) / self._shards)
        best = sorted((s for s in sharing if self._load[s] < room), key=lambda s: (sharing[s], -s), reverse=True)
        return best[0] if best else min(range(self._shards), key=lambda s: (self._load[s], s))

    def add(self, alert: Alert, shard: int) -> None:
        """An alert is there now."""
        self._load[shard] += 1
        for key in _keys(alert):
            self._holders.setdefault(key, Counter())[shard] += 1

    def remove(self, alert: Alert, shard: int) -> None:
        """It is gone."""
        self._load[shard] -= 1
        for key in _keys(alert):
            holders = self._holders[key]
            holders[shard] -= 1
            if not holders[shard]:
                del holders[shard]
            if not holders:
                del self._holders[key]

    def copy(self) -> Placement:
        """One that goes its own way from here."""
        other = Placement(self._shards)
        other._load = list(self._load)
        other._holders = {key: Counter(holders) for key, holders in self._holders.items()}
        return other


def _keys(alert: Alert) -> list[Hashable]:
    terms = distinct(alert.formula)
    return [*terms, *sorted({("id", o) for term in terms for o in objects_of(term)})]
