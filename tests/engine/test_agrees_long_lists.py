"""Many useful events at once: partners are found by cells, by the shared index and by plain lists alike."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import vedette as vd

STRATEGIES = ("DOMAINS", "CELLS", "TIGHT", "LOOSE")
OBJECTS, TICKS = 400, 8
PLACES = {
    "planar": (vd.planar(), (0.0, 10.0), (0.0, 10.0), "0.4"),
    "antimeridian": (vd.lonlat(), (175.0, 185.0), (-3.0, 3.0), "30 KM"),
    "pole": (vd.lonlat(), (-180.0, 180.0), (84.0, 90.0), "40 KM"),
    "world": (vd.lonlat(), (-180.0, 180.0), (-90.0, 90.0), "900 KM"),
}


def stream(xs: tuple[float, float], ys: tuple[float, float]) -> list[pa.Table]:
    """Objects anywhere at every tick."""
    chance = np.random.default_rng(7)
    tables = []
    for t in range(TICKS):
        x, y = chance.uniform(*xs, OBJECTS), chance.uniform(*ys, OBJECTS)
        columns = {"oid": np.arange(OBJECTS), "t": np.full(OBJECTS, t), "x": x, "y": y}
        tables.append(pa.table({**columns, "speed": chance.random(OBJECTS)}))
    return tables


@pytest.mark.parametrize("place", PLACES)
def test_agrees_whatever_finds_the_partners(place: str) -> None:
    space, xs, ys, near = PLACES[place]
    told = {}
    for strategy in STRATEGIES:
        sql = f"""
            CREATE TRIGGER pair FOR E AS a, E AS b WHEN a.oid <> b.oid AND a.speed < 0.4 AND b.speed > 0.7
              AND DISTANCE(a, b) < {near} AND b.t - a.t IN [-1, 2] USING {strategy};
            CREATE TRIGGER three FOR 3 E AS v WHEN v.speed > 0.5 AND DISTANCE(v, v) < {near} AND SPAN(v) <= 1
              USING {strategy};
        """
        run = vd.local(vd.Watch(space=space, queries=sql, regions=3))
        tables = [run.feed(table) for table in stream(xs, ys)] + [run.finish()]
        assert run.totals["peak_stored_events"] > 300
        told[strategy] = sorted(map(repr, pa.concat_tables(tables).to_pylist()))
    assert len(told["DOMAINS"]) > 100
    for strategy in STRATEGIES[1:]:
        assert told[strategy] == told["DOMAINS"], strategy
