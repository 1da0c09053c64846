"""A longer stream from a seed, without Hypothesis: `python -m tests.engine.seeded KIND SEED` prints its changes.

Used to run one and the same stream in another process, compiled or not.
"""

from __future__ import annotations

import json
import random
import sys

from tests.engine.drive import play
from tests.strategies import LANDS, REGION_NAMES, STRING_IDS, Raw, Story
from vedette.pipeline.patterns import book

SELECTIONS = {
    "planar": (
        "SELECT oid FROM objects INSIDE (0, 0, 4, 4)",
        "SELECT oid FROM objects WHERE speed > 0.5 INSIDE CIRCLE (3, 3, 2)",
        "SELECT oid FROM objects KNN (3, 2, 2)",
        "SELECT oid FROM objects KNN 2 AROUND a",
        "SELECT oid FROM objects INSIDE CIRCLE (2) AROUND '9'",
        "SELECT COUNT(*) FROM objects INSIDE RECT (3, 3) AROUND 'é'",
    ),
    "lonlat": (
        "SELECT oid FROM objects INSIDE (178, -1, -178, 2)",
        "SELECT oid FROM objects WHERE speed > 0.5 INSIDE CIRCLE (180, 0, 150000)",
        "SELECT oid FROM objects KNN (3, -180, 1)",
        "SELECT oid FROM objects KNN 2 AROUND a",
        "SELECT oid FROM objects INSIDE CIRCLE (120000) AROUND '9'",
        "SELECT COUNT(*) FROM objects INSIDE RECT (3, 3) AROUND 'é'",
    ),
}
ANYWHERE = (
    "SELECT oid FROM objects INSIDE zone DWELL 3 GRACE 2",
    "SELECT AVG(speed) FROM objects WHERE type LIKE '%u%' INSIDE harbour",
    "SELECT MAX(speed) FROM objects INSIDE r2",
    "SELECT SUM(load) FROM objects KNN (4, 1, 1) GRACE 1",
)
COMBINED = (
    "SELECT oid FROM objects WHERE KNN (3, {x}, {y}) AND INSIDE zone",
    "SELECT oid FROM objects WHERE speed > 0.3 AND (INSIDE harbour OR KNN 2 AROUND a) AND NOT INSIDE r2 DWELL 1",
    "SELECT SUM(speed) FROM objects WHERE KNN (3, {x}, {y}) AND NOT INSIDE CIRCLE ({d}) AROUND '9'",
)
FORMULAS = (
    "NOT DIAMETER(a, '9', 'é') < {d}",
    "DIAMETER(a, '9') < {d} AND NOT INSIDE(a, zone) OR DISTANCE(({x}, {y}), 'é', '10') > {d}",
    "RKNN(({x}, {y}), 2, a) OR DIAMETER(a, '9', '10', 'é') > {e}",
    "DIAMETER(a, '9', 'é', 'Ω') < {e} AND (RKNN(({x}, {y}), 2, a) OR NOT RKNN(({x}, {y}), 1, '9'))",
)
WINDOWS = (
    "INSIDE zone BETWEEN 6 AND 2 AGO THEN INSIDE {box} BETWEEN 3 AND 0 AGO EVERY 1",
    "INSIDE CIRCLE ({x}, {y}, {d}) BETWEEN 8 AND 4 AGO EVERY 3",
    "DISJOINT {box} BETWEEN 5 AND 1 AGO THEN DISJOINT zone BETWEEN 2 AND 0 AGO WHERE speed > 0.2 EVERY 2",
)
CHAINS = (
    "INSIDE r2 THEN INSIDE zone THEN INSIDE {box} BETWEEN 1 AND 0 AGO EVERY 1",
    "INSIDE zone BETWEEN 9 AND 3 AGO THEN INSIDE harbour THEN DISJOINT r2 BETWEEN 1 AND 0 AGO EVERY 2",
    "DISJOINT {box} BETWEEN 3 AND 2 AGO THEN INSIDE zone EVERY 1",
)
ALWAYS = (
    "INSIDE {box} ALWAYS BETWEEN 4 AND 0 AGO EVERY 1",
    "DISJOINT harbour ALWAYS BETWEEN 4 AND 2 AGO THEN INSIDE r2 EVERY 1",
    "INSIDE zone THEN DISJOINT r2 ALWAYS BETWEEN 3 AND 1 AGO EVERY 1",
)
EXTREMES = (
    "DIST ({x}, {y}) BETWEEN 3 AND 0 AGO LOWEST 2 EVERY 1",
    "INSIDE zone BETWEEN 6 AND 2 AGO THEN DIST {near} ALWAYS BETWEEN 2 AND 0 AGO LOWEST 1 EVERY 2",
    "INSIDE r2 THEN DIST ({x}, {y}) BETWEEN 4 AND 1 AGO WHERE speed > 0.2 LOWEST 3 EVERY 1",
    "DIST ({x}, {y}) ALWAYS BETWEEN 4 AND 1 AGO HIGHEST 2 EVERY 1",
    "INSIDE {box} ALWAYS BETWEEN 1 AND 0 AGO THEN DIST {near} BETWEEN 4 AND 0 AGO HIGHEST 1 EVERY 2",
    "DIST {near} BETWEEN 2 AND 0 AGO THEN DIST ({x}, {y}) ALWAYS BETWEEN 8 AND 5 AGO HIGHEST 3 EVERY 3",
)
PATTERNS = (*WINDOWS, *CHAINS, *ALWAYS, *EXTREMES)
PLACE = {
    "planar": {"x": 2, "y": 2, "d": 3, "e": 5, "box": "(0, 0, 4, 4)", "near": "zone"},
    "lonlat": {
        "x": 180,
        "y": 1,
        "d": 300_000,
        "e": 500_000,
        "box": "(178, -1, -178, 2)",
        "near": "CIRCLE (181, 0, 100 KM)",
    },
}


def story(kind: str, seed: int, ticks: int = 60) -> Story:
    """The stream of that seed: 17 queries and alerts, 15 patterns, 4 rows a tick, a batch every 7 ticks, some late."""
    chance = random.Random(seed)
    x, y = ("x", "y") if kind == "planar" else ("lon", "lat")
    origin = (0.0, 0.0) if kind == "planar" else (177.0, -2.0)
    rows: list[Raw] = [
        {
            "oid": chance.choice(STRING_IDS),
            "t": t,
            x: origin[0] + chance.choice([chance.randrange(7), chance.uniform(0, 6)]),
            y: origin[1] + chance.choice([chance.randrange(7), chance.uniform(0, 6)]),
            "speed": chance.choice([None, chance.random(), 1.0]),
            "load": chance.randrange(4),
            "type": chance.choice([None, "truck", "bus", "tram"]),
            "ok": chance.choice([None, True, False]),
        }
        for t in range(ticks)
        for _ in range(4)
    ]
    rows.sort(key=lambda row: row["t"] + chance.randrange(4))
    selections = (*SELECTIONS[kind], *ANYWHERE)
    return Story(
        kind=kind,
        queries=[f"CREATE REGION {name} AS {LANDS[kind][0].areas[n]};" for n, name in enumerate(REGION_NAMES)]
        + [f"CREATE QUERY q{n} AS {selection};" for n, selection in enumerate(selections)]
        + [f"CREATE QUERY c{n} AS {each.format(**PLACE[kind])};" for n, each in enumerate(COMBINED)]
        + [f"CREATE ALERT a{n} WHEN {each.format(**PLACE[kind])};" for n, each in enumerate(FORMULAS)]
        + [f"CREATE PATTERN m{n} AS {each.format(**PLACE[kind])};" for n, each in enumerate(PATTERNS)],
        batches=[(rows[n : n + 28], []) for n in range(0, len(rows), 28)],
        lateness=1,
        timeout=9,
    )


if __name__ == "__main__":
    book.MOST_COLUMNS = 48  # interpreted, cells are dear; the grid of the patterns decides speed, never an answer
    json.dump(play(story(sys.argv[1], int(sys.argv[2])), buckets=2, regions=3).changes, sys.stdout)
