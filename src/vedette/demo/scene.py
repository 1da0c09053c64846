"""The city, its traffic, and the queries that watch it.

In: a seed. Out: `Scene`: the network, the updates tick by tick, the SQL, and a phrase for each query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vedette.generate import Network, city, traffic

OBJECTS, TICKS, STEP_S = 420, 240, 5
TIMEOUT = "16s"  # everybody reports every 5 s; who is silent for longer has arrived

SQL = """\
-- What the demo watches. Try it again by hand:
--   vedette run queries.sql --input updates.parquet --output out --timeout 16s

CREATE REGION downtown AS POLYGON '((4150 5900, 4700 6350, 5650 6200, 6000 5300, 5450 4700, 4500 4800, 4150 5900))';
CREATE REGION stadium  AS RECT (6650, 6250, 7750, 7250);
CREATE REGION station  AS CIRCLE (3000, 6600, 600);

CREATE QUERY downtown  AS SELECT oid FROM objects INSIDE downtown;
CREATE QUERY no_trucks AS SELECT oid FROM objects WHERE class IN ('truck', 'bus') INSIDE downtown;
CREATE QUERY busy      AS SELECT COUNT(*) FROM objects INSIDE downtown;
CREATE QUERY stadium   AS SELECT oid FROM objects WHERE speed > 10 INSIDE stadium;
CREATE QUERY station   AS SELECT oid FROM objects INSIDE station DWELL 1 MIN GRACE 20 S;
CREATE QUERY depot     AS SELECT oid FROM objects WHERE class = 'van' KNN (3, 6900, 3300);
CREATE QUERY escort    AS SELECT oid FROM objects INSIDE CIRCLE (500) AROUND '{van}';
CREATE QUERY company   AS SELECT oid FROM objects KNN 2 AROUND '{van}';

-- A fence that is posted while everything is moving, and taken away again.
AT '{posted}' CREATE QUERY roadworks AS SELECT oid FROM objects INSIDE RECT (2500, 2500, 3900, 3500);
AT '{removed}' DROP QUERY roadworks;
"""

PHRASES: dict[str, tuple[str, str, str]] = {
    "downtown": ("who is downtown", "enters downtown", "leaves downtown"),
    "no_trucks": ("trucks and buses downtown", "has no business downtown", "has left downtown again"),
    "busy": ("how many are downtown", "", ""),
    "stadium": ("faster than 10 m/s at the stadium", "speeds past the stadium", "no longer speeds at the stadium"),
    "station": ("at the station for a minute", "waits at the station", "is gone from the station"),
    "depot": (
        "the 3 vans nearest to the depot",
        "becomes one of the depot's 3",
        "is farther from the depot than 3 others",
    ),
    "escort": ("within 500 m of {van}", "comes within 500 m of {van}", "falls back from {van}"),
    "company": ("the 2 nearest to {van}", "travels beside {van}", "no longer travels beside {van}"),
    "roadworks": ("passing the roadworks", "drives into the roadworks", "is through the roadworks"),
}


@dataclass(frozen=True)
class Scene:
    """All that the story needs."""

    network: Network
    ticks: list[pa.Table]
    sql: str
    van: str
    chapters: dict[int, str]

    def phrase(self, query: str, which: int) -> str:
        """What a query is about (0), and what its joining (1) and leaving (2) mean."""
        return PHRASES[query][which].format(van=self.van)


def build_scene(seed: int) -> Scene:
    """The same seed builds the same scene."""
    network = city(seed)
    ticks = list(traffic(OBJECTS, TICKS, seed=seed, network=network, step=STEP_S, time="timestamp", ids="text"))
    van = _longest_way(pa.concat_tables(ticks), "van")
    posted, removed = TICKS * 45 // 100, TICKS * 80 // 100
    sql = SQL.format(van=van, posted=_clock(ticks[posted]), removed=_clock(ticks[removed]))
    return Scene(network, ticks, sql, van, _chapters(van, posted, removed))


def _clock(table: pa.Table) -> str:
    return str(table["t"][0].as_py().strftime("%Y-%m-%dT%H:%M:%SZ"))


def _longest_way(updates: pa.Table, kind: str) -> str:
    """The object of this class that drives farthest: the hero of the moving queries."""
    mine = updates.filter(pc.equal(updates["class"], kind))
    ways = mine.group_by("oid").aggregate([("speed", "sum")]).to_pylist()
    return str(max(ways, key=lambda row: (row["speed_sum"], row["oid"]))["oid"])


def _chapters(van: str, posted: int, removed: int) -> dict[int, str]:
    """What the narrator says from which tick on."""
    marks = np.linspace(0, TICKS, 9).astype(int)[:-1]
    said = {
        int(marks[0]): f"Eight o'clock. {OBJECTS} cars, vans, trucks, buses, bikes and walkers are under way.",
        int(
            marks[1]
        ): "A fence runs around downtown. Trucks and buses are not welcome there; one query counts everybody.",
        int(
            marks[2]
        ): f"{van} carries something precious. One fence moves with it; another query knows its neighbours.",
        int(marks[5]): "The depot always knows its three nearest vans. Nobody asks twice; only changes are told.",
        int(marks[6]): "Who stops at the station for a whole minute is waiting for somebody: DWELL 1 MIN.",
    }
    said[posted] = "Roadworks in the south-west! A new fence is posted while everything moves."
    said[removed] = "The road is free again: the query is dropped, and whoever was in its answer departs from it."
    return said
