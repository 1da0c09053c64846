"""Realistic triggers over real buoys and earthquakes: the engine fires for exactly the tuples that plain numpy finds.

Brute force here is a list of events for each variable, all pairs of each two lists decided at once as a matrix, and
tuples put together from the matrices. It shares nothing with the engine but the radius of the earth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import vedette as vd
from vedette.space import EARTH_RADIUS_M

DAY, HOUR = 86_400_000, 3_600_000
BATCH = 700
Columns = dict[str, NDArray[Any]]
Fired = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Case:
    """A trigger, in our language and in numpy: which events suit each place, and which pairs suit two of them."""

    sql: str
    suits: tuple[Callable[[Columns], Any], ...]
    fits: dict[tuple[int, int], Callable[[Any, Any, Any, Any], Any]]  # of: km, lag in ms, first columns, second columns
    is_set: bool = False


def between(low: float, high: float) -> Callable[[Any], Any]:
    """Whether a lag is in a closed interval."""
    return lambda lag: (lag >= low) & (lag <= high)


BUOYS = {
    "warm water moves": Case(
        """FOR E AS a, E AS b, E AS c WHEN a.sst > 29.3 AND b.sst > 29.3 AND c.sst > 29.8 AND DISTANCE(a, b) < 700 KM
           AND DISTANCE(b, c) < 700 KM AND b.t - a.t IN [1 D, 3 D] AND c.t - b.t IN [1 D, 3 D]
           AND a.oid <> b.oid AND b.oid <> c.oid AND a.oid <> c.oid""",
        (lambda e: e["sst"] > 29.3, lambda e: e["sst"] > 29.3, lambda e: e["sst"] > 29.8),
        {
            (0, 1): lambda km, lag, a, b: (km < 700) & between(DAY, 3 * DAY)(lag) & (a["oid"] != b["oid"]),
            (1, 2): lambda km, lag, b, c: (km < 700) & between(DAY, 3 * DAY)(lag) & (b["oid"] != c["oid"]),
            (0, 2): lambda km, lag, a, c: a["oid"] != c["oid"],
        },
    ),
    "wind turns, air cools": Case(
        """FOR E AS east, E AS west WHEN east.zon_winds < -8 AND west.zon_winds > 3
           AND east.air_temp > west.air_temp + 0.5 AND west.t - east.t IN [-5 D, 5 D]
           AND DISTANCE(east, west) >= 300 KM AND DISTANCE(east, west) <= 6000 KM""",
        (lambda e: e["zon_winds"] < -8, lambda e: e["zon_winds"] > 3),
        {
            (0, 1): lambda km, lag, a, b: (
                (a["air_temp"] > b["air_temp"] + 0.5) & between(-5 * DAY, 5 * DAY)(lag) & (km >= 300) & (km <= 6000)
            )
        },
    ),
    "a damp corner": Case(
        """FOR 3 E AS v WHEN v.humidity > 88 AND v.humidity IS NOT NULL AND SPAN(v) <= 2 D AND DISTANCE(v, v) < 1700 KM
           AND v.oid <> v.oid""",
        (lambda e: e["humidity"] > 88,) * 3,
        dict.fromkeys(
            combinations(range(3), 2),
            lambda km, lag, a, b: (km < 1700) & (abs(lag) <= 2 * DAY) & (a["oid"] != b["oid"]),
        ),
        is_set=True,
    ),
    "sudden cooling": Case(
        "FOR E AS a, E AS b WHEN a.oid = b.oid AND a BEFORE b WITHIN 4 D AND b.sst < a.sst - 0.9",
        (lambda e: e["t"] > 0,) * 2,
        {(0, 1): lambda km, lag, a, b: (a["oid"] == b["oid"]) & between(1, 4 * DAY)(lag) & (b["sst"] < a["sst"] - 0.9)},
    ),
    "across the date line": Case(
        """FOR E AS a, E AS b WHEN INSIDE(a, RECT (160, -10, 180, 10)) AND INSIDE(b, RECT (-180, -10, -160, 10))
           AND a.mer_winds > 1 AND b.mer_winds > 1 AND DISTANCE(a, b) < 1700 KM AND b.t - a.t BETWEEN 0 D AND 1 D""",
        (
            lambda e: (abs(e["lon"]) >= 160) & ((e["lon"] > 0) | (e["lon"] == -180)) & (e["mer_winds"] > 1),
            lambda e: (abs(e["lon"]) >= 160) & ((e["lon"] < 0) | (e["lon"] == 180)) & (e["mer_winds"] > 1),
        ),
        {(0, 1): lambda km, lag, a, b: (km < 1700) & between(0, DAY)(lag)},
    ),
}
QUAKES = {
    "aftershocks": Case(
        """FOR E AS main, E AS one, E AS two WHEN main.mag >= 3.5 AND one.mag > 1 AND two.mag > 1
           AND main.mag > one.mag + 1 AND DISTANCE(main, one) < 60 KM AND DISTANCE(main, two) < 60 KM
           AND main BEFORE one WITHIN 24 H AND one BEFORE two WITHIN 12 H""",
        (lambda e: e["mag"] >= 3.5, lambda e: e["mag"] > 1, lambda e: e["mag"] > 1),
        {
            (0, 1): lambda km, lag, a, b: (km < 60) & between(1, 24 * HOUR)(lag) & (a["mag"] > b["mag"] + 1),
            (0, 2): lambda km, lag, a, b: km < 60,
            (1, 2): lambda km, lag, a, b: between(1, 12 * HOUR)(lag),
        },
    ),
    "swarm": Case(
        "FOR 4 E AS v WHEN v.mag >= 1.2 AND v.depth < 20 AND SPAN(v) <= 1 H AND DISTANCE(v, v) <= 25 KM",
        (lambda e: (e["mag"] >= 1.2) & (e["depth"] < 20),) * 4,
        dict.fromkeys(combinations(range(4), 2), lambda km, lag, a, b: (km <= 25) & (abs(lag) <= HOUR)),
        is_set=True,
    ),
    "deep, then far and shallow": Case(
        """FOR E AS deep, E AS far WHEN deep.depth > 150 AND far.depth < 40 AND far.mag >= 4.5 AND deep.net = far.net
           AND deep BEFORE far WITHIN 6 H AND DISTANCE(deep, far) > 3000 KM""",
        (lambda e: e["depth"] > 150, lambda e: (e["depth"] < 40) & (e["mag"] >= 4.5)),
        {(0, 1): lambda km, lag, a, b: (a["net"] == b["net"]) & between(1, 6 * HOUR)(lag) & (km > 3000)},
    ),
}


def columns_of(table: pa.Table) -> Columns:
    """Columns of numbers (nulls are nan) and of strings; unit vectors of the positions; times in ms."""
    columns: Columns = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_floating(column.type):
            columns[name] = column.to_numpy()
        elif pa.types.is_large_string(column.type) or pa.types.is_string(column.type):
            columns[name] = column.to_numpy().astype(str)
    columns["t"] = table["t"].cast(pa.int64()).to_numpy()
    lon, lat = np.radians(columns["lon"]), np.radians(columns["lat"])
    columns["unit"] = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    return columns


def brute_force(case: Case, events: Columns) -> set[Fired]:
    """Every tuple, as (oid, t in ms) by place; those of a set in the order of (t, oid)."""
    lists = [np.flatnonzero(suits(events)) for suits in case.suits]
    fitting = {}
    for (i, j), fits in case.fits.items():
        a = {name: column[lists[i]][:, None] for name, column in events.items() if name != "unit"}
        b = {name: column[lists[j]][None, :] for name, column in events.items() if name != "unit"}
        one, other = events["unit"][lists[i]], events["unit"][lists[j]]
        chord = np.sqrt(sum((one[:, None, k] - other[None, :, k]) ** 2 for k in range(3)))
        km = 2 * np.arcsin(np.minimum(chord / 2, 1)) * EARTH_RADIUS_M / 1000
        fitting[i, j] = fits(km, b["t"] - a["t"], a, b) & (lists[i][:, None] != lists[j][None, :])
    found: list[tuple[int, ...]] = [(k,) for k in range(len(lists[0]))]
    for j in range(1, len(lists)):
        longer = []
        for chosen in found:
            mask = np.ones(len(lists[j]), np.bool_)
            for i, k in enumerate(chosen):
                if (i, j) in fitting:
                    mask &= fitting[i, j][k]
                mask &= lists[j] != lists[i][k]
            if case.is_set:
                mask[: chosen[-1] + 1] = False
            longer += [(*chosen, int(k)) for k in np.flatnonzero(mask)]
        found = longer
    told = set()
    for chosen in found:
        rows = [int(lists[i][k]) for i, k in enumerate(chosen)]
        members = [(str(events["oid"][row]), int(events["t"][row])) for row in rows]
        told.add(tuple(sorted(members, key=lambda m: (m[1], m[0])) if case.is_set else members))
    return told


def run(table: pa.Table, cases: dict[str, Case], strategy: str, regions: int) -> dict[str, list[Fired]]:
    """What the engine fires, by trigger."""
    texts = "\n".join(f'CREATE TRIGGER "{name}" {case.sql} USING {strategy};' for name, case in cases.items())
    engine = vd.local(vd.Watch(space=vd.lonlat(), queries=texts, regions=regions))
    parts = [engine.feed(table.slice(start, BATCH)) for start in range(0, table.num_rows, BATCH)]
    found: dict[str, list[Fired]] = {name: [] for name in cases}
    for change in pa.concat_tables([*parts, engine.finish()]).select(["query", "members"]).to_pylist():
        members = tuple((m["oid"], round(m["t"].timestamp() * 1000)) for m in change["members"])
        found[change["query"]].append(members)
    return found


@cache
def buoys(folder: Path, start: int) -> tuple[pa.Table, dict[str, set[Fired]]]:
    """Two months or so of buoys, and what fires."""
    table = pq.read_table(folder / "tao.parquet").slice(start, 3_000)
    return _with_answers(table.set_column(1, "t", table["t"].cast(pa.timestamp("ms", "UTC"))), BUOYS)


@cache
def quakes(folder: Path) -> tuple[pa.Table, dict[str, set[Fired]]]:
    """Two weeks of earthquakes, and what fires."""
    return _with_answers(pq.read_table(folder / "usgs_quakes_3months.parquet").slice(3_000, 4_000), QUAKES)


def _with_answers(table: pa.Table, cases: dict[str, Case]) -> tuple[pa.Table, dict[str, set[Fired]]]:
    events = columns_of(table)
    return table, {name: brute_force(case, events) for name, case in cases.items()}


def check(
    table: pa.Table, expected: dict[str, set[Fired]], cases: dict[str, Case], strategy: str, regions: int
) -> None:
    """Every trigger fires several times, and for the same tuples, each once."""
    fired = run(table, cases, strategy, regions)
    for name, tuples in expected.items():
        assert len(tuples) >= 20, f"{name}: only {len(tuples)} alerts"
        assert sorted(fired[name]) == sorted(tuples), name


VARIANTS = pytest.mark.parametrize(("strategy", "regions"), [("CELLS", 1), ("DOMAINS", 4), ("TIGHT", 3), ("LOOSE", 1)])


@VARIANTS
@pytest.mark.parametrize("start", [100_000, 150_000])
def test_triggers_over_buoys(data: Path, strategy: str, regions: int, start: int) -> None:
    check(*buoys(data, start), BUOYS, strategy, regions)


@VARIANTS
def test_triggers_over_earthquakes(data: Path, strategy: str, regions: int) -> None:
    check(*quakes(data), QUAKES, strategy, regions)
