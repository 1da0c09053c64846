"""Objects that appear at a node, follow their route, and disappear at the destination.

In: a network, numbers of objects and ticks, a seed. Out: Arrow tables of updates in order of (t, oid).
Every trip has its own oid. Its first row has the event `new`, its last `end`, those between `move`; `speed` is what was
driven since the row before, in metres a second. Invariant: the rows do not depend on how they are cut into tables.
One compiled loop moves everybody: 10 M rows (100 k objects, 100 ticks) take some seconds on one core.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vedette.compiled import jit
from vedette.errors import ConfigError
from vedette.generate.city import city
from vedette.generate.network import MOTORWAY, Bools, Floats, Ints, Network
from vedette.generate.routes import Hops, next_hops, pool_size

CLASSES = ("car", "van", "truck", "bus", "bike", "walker")
SHARES = np.array([0.55, 0.12, 0.10, 0.05, 0.13, 0.05])
TOP_SPEED = np.array([36.0, 30.0, 23.0, 19.0, 5.5, 1.5])  # metres a second
IS_SLOW = np.array([False, False, False, False, True, True])  # routed by length, away from motorways
LIMIT = np.array([30.0, 14.0, 8.5])  # by class of street
EVENTS = ("new", "move", "end")
METRES_PER_DEGREE = np.pi * 6_371_008.8 / 180
EPOCH = datetime(2026, 1, 1, 8, tzinfo=UTC)


@dataclass
class _Fleet:
    """Who is under way, in order of oid; one row per object in every array."""

    oid: Ints
    kind: Ints
    pace: Floats  # how this driver takes the limits
    row: Ints  # of the tables of next hops
    edge: Ints
    offset: Floats  # metres driven on the edge
    driven: Floats  # metres driven in this tick
    event: Ints

    def where(self, keep: Bools) -> _Fleet:
        return _Fleet(*(getattr(self, f.name)[keep] for f in fields(self)))

    def joined(self, other: _Fleet) -> _Fleet:
        return _Fleet(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)))


def traffic(
    objects: int = 1000,
    ticks: int = 100,
    *,
    rate: int | None = None,
    seed: int = 0,
    network: Network | None = None,
    step: int = 10,
    time: Literal["long", "timestamp"] = "long",
    start: datetime = EPOCH,
    ids: Literal["long", "text"] = "long",
    lonlat: tuple[float, float] | None = None,
    ticks_per_table: int = 1,
) -> Iterator[pa.Table]:
    """Updates of `objects` moving objects over `ticks` ticks of `step` seconds, as tables of some ticks each.

    rate      new objects per tick; None: as many as have arrived, so that the number under way stays
    network   where they move; None: the procedural city of the same seed
    time      `t` as seconds since the beginning (long), or as a timestamp from `start` on
    ids       numbers, or text such as `car-17`
    lonlat    put the middle of the network there and write columns lon, lat instead of x, y
    """
    for name, value, least in (("objects", objects, 1), ("ticks", ticks, 1), ("step", step, 1), ("rate", rate, 0)):
        if value is not None and value < least:
            raise ConfigError(f"{name} must be at least {least}, not {value}")
    if ticks_per_table < 1:
        raise ConfigError(f"ticks per table must be at least 1, not {ticks_per_table}")
    if lonlat is not None and not (-180 <= lonlat[0] <= 180 and -85 <= lonlat[1] <= 85):
        raise ConfigError(f"a city cannot lie at lon {lonlat[0]:g}, lat {lonlat[1]:g}: need |lon| <= 180, |lat| <= 85")
    roads = city(seed) if network is None else network
    columns = _Columns(roads, step, time, start, ids, lonlat)
    return _run(objects, ticks, rate, seed, roads, step, columns, ticks_per_table)


def _run(
    objects: int,
    ticks: int,
    rate: int | None,
    seed: int,
    roads: Network,
    step: int,
    columns: _Columns,
    ticks_per_table: int,
) -> Iterator[pa.Table]:
    rng = np.random.default_rng([seed, 104729])
    trips = _Trips(roads, rng, seed)
    fleet = trips.begin(objects, under_way=True)
    parts = []
    for tick in range(ticks):
        if tick > 0:
            fleet = fleet.where(fleet.event != 2)
            top = TOP_SPEED[fleet.kind]
            _advance(
                float(step), fleet.row, fleet.edge, fleet.offset, fleet.driven, fleet.event, fleet.pace, top,
                LIMIT[roads.street], roads.target, roads.length, trips.hops,
            )  # fmt: skip
            arrived = int(np.count_nonzero(fleet.event == 2))
            fleet = fleet.joined(trips.begin(arrived if rate is None else rate))
        parts.append(columns.table(fleet, tick))
        if len(parts) == ticks_per_table or tick == ticks - 1:
            yield pa.concat_tables(parts).combine_chunks()
            parts = []


class _Trips:
    """Begins trips: draws class, origin, destination and temper; numbers them."""

    def __init__(self, roads: Network, rng: np.random.Generator, seed: int) -> None:
        self.roads, self.rng, self.count = roads, rng, 0
        size = pool_size(len(roads.x))
        self.pool = rng.choice(len(roads.x), size=2 * size, replace=2 * size > len(roads.x)).astype(np.int64)
        self.size = size
        by_time = roads.length / LIMIT[roads.street]
        by_length = roads.length * np.where(roads.street == MOTORWAY, 50.0, 1.0)
        self.hops = np.concatenate(
            [
                next_hops(roads, self.pool[:size], by_time, 0.5, seed),
                next_hops(roads, self.pool[size:], by_length, 0.3, seed + 1),
            ]
        )

    def begin(self, count: int, under_way: bool = False) -> _Fleet:
        """`count` new trips at their first node, or somewhere on their first street."""
        rng = self.rng
        kind = rng.choice(len(CLASSES), size=count, p=SHARES)
        row = rng.integers(0, self.size, count) + self.size * IS_SLOW[kind]
        node = rng.integers(0, len(self.roads.x), count)
        node = np.where(node == self.pool[row], (node + 1) % len(self.roads.x), node)
        edge = self.hops[row, node].astype(np.int64)
        share = rng.random(count) if under_way else np.zeros(count)
        oid = np.arange(self.count, self.count + count, dtype=np.int64) + 1
        self.count += count
        return _Fleet(
            oid,
            kind,
            np.clip(rng.normal(0.95, 0.12, count), 0.6, 1.3),
            row,
            edge,
            share * self.roads.length[edge],
            np.zeros(count),
            np.zeros(count, dtype=np.int64),
        )


@jit
def _advance(
    step: float,
    row: Ints,
    edge: Ints,
    offset: Floats,
    driven: Floats,
    event: Ints,
    pace: Floats,
    top: Floats,
    limit: Floats,
    target: Ints,
    length: Floats,
    hops: Hops,
) -> None:
    """Move everybody by `step` seconds along their route, in place; event 1 under way, 2 arrived."""
    for i in range(len(edge)):
        e, at, left, way = edge[i], offset[i], step, 0.0
        event[i] = 1
        while True:
            speed = min(top[i], limit[e] * pace[i])
            rest = length[e] - at
            if rest > speed * left:
                at += speed * left
                way += speed * left
                break
            left = max(0.0, left - rest / speed)
            way += rest
            onward = hops[row[i], target[e]]
            if onward < 0:
                at = length[e]
                event[i] = 2
                break
            e, at = onward, 0.0
        edge[i], offset[i], driven[i] = e, at, way


class _Columns:
    """Turns the fleet at a tick into a table, in the types and the coordinates that were asked for."""

    def __init__(
        self,
        roads: Network,
        step: int,
        time: Literal["long", "timestamp"],
        start: datetime,
        ids: Literal["long", "text"],
        lonlat: tuple[float, float] | None,
    ) -> None:
        self.roads, self.step, self.time, self.ids, self.lonlat = roads, step, time, ids, lonlat
        at = start if start.tzinfo else start.replace(tzinfo=UTC)
        self.start_us = round(at.timestamp() * 1_000_000)
        x0, y0, x1, y1 = roads.bounds
        self.middle = (x0 + x1) / 2, (y0 + y1) / 2

    def table(self, fleet: _Fleet, tick: int) -> pa.Table:
        """One tick's rows: oid, t, x, y (or lon, lat), class, speed, event."""
        kind = pa.array(CLASSES).take(pa.array(fleet.kind))
        x, y = self._places(fleet)
        names = ("lon", "lat") if self.lonlat else ("x", "y")
        columns = {
            "oid": self._ids(fleet, kind),
            "t": self._times(len(fleet.oid), tick),
            names[0]: pa.array(x),
            names[1]: pa.array(y),
            "class": kind,
            "speed": pa.array(fleet.driven / self.step),
            "event": pa.array(EVENTS).take(pa.array(fleet.event)),
        }
        return pa.table(columns)

    def _ids(self, fleet: _Fleet, kind: pa.Array) -> pa.Array:
        numbers = pa.array(fleet.oid)
        if self.ids == "long":
            return numbers
        return pc.binary_join_element_wise(kind, numbers.cast(pa.string()), "-")

    def _times(self, count: int, tick: int) -> pa.Array:
        if self.time == "long":
            return pa.array(np.full(count, tick * self.step, dtype=np.int64))
        micros = np.full(count, self.start_us + tick * self.step * 1_000_000, dtype=np.int64)
        return pa.array(micros).cast(pa.timestamp("us", tz="UTC"))

    def _places(self, fleet: _Fleet) -> tuple[Floats, Floats]:
        roads, a, b = self.roads, self.roads.source[fleet.edge], self.roads.target[fleet.edge]
        length = roads.length[fleet.edge]
        share = np.divide(fleet.offset, length, out=np.zeros_like(length), where=length > 0)
        x = roads.x[a] + share * (roads.x[b] - roads.x[a])
        y = roads.y[a] + share * (roads.y[b] - roads.y[a])
        if self.lonlat is None:
            return x, y
        lon, lat = self.lonlat
        wide = METRES_PER_DEGREE * np.cos(np.deg2rad(lat))
        east = lon + (x - self.middle[0]) / wide
        return (east + 180) % 360 - 180, lat + (y - self.middle[1]) / METRES_PER_DEGREE
