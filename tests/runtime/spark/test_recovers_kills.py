"""A run that loses processes, or all of them, says what a run says that loses none."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.runtime.spark.runs import (
    PROC,
    Parts,
    Place,
    Process,
    Running,
    assert_same,
    contents,
    kill,
    lay_out,
    more_than,
    parts_of,
)
from vedette.cli import app

pytestmark = [
    pytest.mark.xdist_group("spark-kill"),
    pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="processes are found in /proc"),
]

FILES = 30
KILLS = 10
QUERIES = """\
CREATE REGION yard AS RECT (10, 10, 60, 60);
CREATE REGION lake AS POLYGON '((20 20, 80 25, 70 75, 30 60, 20 20), (40 40, 50 40, 50 50, 40 50, 40 40))';
CREATE QUERY here AS SELECT oid FROM objects INSIDE yard;
CREATE QUERY fast AS SELECT oid FROM objects WHERE speed > 0.5 INSIDE lake;
CREATE QUERY near AS SELECT oid FROM objects KNN (4, 50, 50);
CREATE QUERY mates AS SELECT oid FROM objects WHERE type = 'car' KNN 3 AROUND o7;
CREATE QUERY escort AS SELECT oid FROM objects INSIDE CIRCLE (25) AROUND o3;
CREATE QUERY crowd AS SELECT COUNT(*) FROM objects INSIDE RECT (30, 40) AROUND o5;
CREATE QUERY mean AS SELECT AVG(speed) FROM objects INSIDE yard;
CREATE QUERY top AS SELECT MAX(speed) FROM objects KNN (10, 20, 20);
CREATE QUERY stay AS SELECT oid FROM objects INSIDE lake DWELL 6 GRACE 4;
CREATE TRIGGER meet FOR E AS a, E AS b
  WHEN a.type = 'bus' AND b.speed > 0.8 AND a.oid <> b.oid AND DISTANCE(a, b) < 15 AND b.t - a.t IN [-2, 4];
CREATE TRIGGER turn FOR E AS a, E AS b
  WHEN a.oid = b.oid AND a BEFORE b WITHIN 6 AND a.speed < 0.3 AND b.speed > 0.7;
CREATE QUERY both AS SELECT oid FROM objects WHERE INSIDE (yard) AND NOT KNN (8, 40, 40);
CREATE ALERT apart WHEN DISTANCE((50, 50), o1) < 45 OR NOT DIAMETER(o2, o3, o4) < 70;
CREATE ALERT asked WHEN RKNN((50, 50), 9, o6) OR INSIDE(o7, lake);
CREATE PATTERN walk AS INSIDE (lake) SOMETIME BETWEEN 12 AND 6 AGO THEN INSIDE (yard) EVERY 3;
CREATE PATTERN nearest AS DIST (50, 50) SOMETIME BETWEEN 10 AND 2 AGO LOWEST 3 EVERY 4;
AT 10 CREATE QUERY guest AS SELECT oid FROM objects KNN 2 AROUND o11 GRACE 3;
AT 20 CREATE OR REPLACE QUERY near AS SELECT oid FROM objects KNN (6, 30, 70);
AT 25 CREATE OR REPLACE REGION yard AS CIRCLE (70, 70, 20);
AT 30 DROP QUERY fast;
AT 31 CREATE QUERY later AS SELECT SUM(speed) FROM objects INSIDE lake DWELL 2;
AT 40 CREATE QUERY fast AS SELECT oid FROM objects WHERE speed <= 0.5 OR speed IS NULL INSIDE CIRCLE (60, 60, 25);
AT 45 CREATE TRIGGER trio FOR 3 E AS v
  WHEN INSIDE(v, lake) AND SPAN(v) <= 3 AND DISTANCE(v, v) < 20 AND v.oid <> v.oid USING TIGHT;
AT 50 CREATE OR REPLACE QUERY here AS SELECT COUNT(*) FROM objects INSIDE yard;
AT 55 CREATE OR REPLACE QUERY crowd AS SELECT oid FROM objects INSIDE RECT (30, 40) AROUND o8;
AT 60 DROP QUERY guest;
AT 58 DROP TRIGGER turn;
AT 59 DROP ALERT apart;
AT 62 DROP PATTERN walk;
AT 61 CREATE OR REPLACE QUERY stay AS SELECT oid FROM objects INSIDE lake DWELL 3;
AT 70 CREATE QUERY guest AS SELECT oid FROM objects INSIDE CIRCLE (40) AROUND o20 DWELL 4 GRACE 2;
AT 75 DROP QUERY mates;
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kills")
    lay_out(folder / "in", FILES, seed=20)
    (folder / "queries.sql").write_text(QUERIES)
    return folder


@pytest.fixture(scope="module")
def expected(place: Path) -> Parts:
    """What the local engine says of the same files."""
    here = Place(place)
    result = CliRunner().invoke(app, here.words("local", "--engine", "local", "--resident-updates", 1 << 20))
    assert result.exit_code == 0, result.output
    found = contents(here.output("local"))
    assert parts_of(here.output("local")) == list(range(FILES)), "a batch without changes shows nothing"
    assert ("changes", "part-end") in found
    for kind in ("late", "rejects"):
        assert sum(len(rows) for (of, _), rows in found.items() if of == kind) > FILES / 3
    return found


@pytest.fixture
def here(place: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    found = Place(place)
    yield found
    found.clean(request.node.name)


def test_recovers_everything_killed(here: Place, expected: Parts, request: pytest.FixtureRequest) -> None:
    """Ten times the driver, the JVM and all workers die at once, mostly in a batch, twice before the first one."""
    chance = random.Random(5)
    name = request.node.name
    output = here.output(name)
    moments = sorted(chance.sample(range(FILES - 4), KILLS - 2))
    for early in chance.sample(range(1, KILLS), 2):
        moments.insert(early, -1)
    lives = []
    for moment in moments:
        with here.start(name, "--master", "local[2]") as running:
            before = len(parts_of(output))
            if moment < 0:
                assert running.pause(chance.uniform(4, 9)), running.said()
            else:
                running.until(more_than(output, max(moment, before)))
                assert running.pause(chance.uniform(0, 0.4)), running.said()
            assert running.kill() == -signal.SIGKILL
            assert not running.members
        lives.append((before, len(parts_of(output))))
        assert not list((output / "changes").glob("*.end.*")), "it had come to its end"
    assert len(lives) == KILLS
    assert all(had <= has < FILES for had, has in lives)
    with here.start(name, "--master", "local[2]") as running:
        assert running.finish() == 0, running.said()
    assert_same(contents(output), expected)


def test_recovers_killed_python_workers(here: Place, expected: Parts, request: pytest.FixtureRequest) -> None:
    """Workers die at their work; Spark gives it to others, which begin from the state store."""
    chance = random.Random(6)
    name = request.node.name
    output = here.output(name)

    def at_work(running: Running) -> list[Process]:
        workers = [p for p in running.members if p.is_python_worker]
        daemons = {p.pid for p in workers}
        return [p for p in workers if p.parent in daemons and p.is_running]

    killed: set[int] = set()
    with here.start(name, "--master", "local[2,8]", "--buckets", 3, "--regions", 2) as running:
        for moment in (3, 8, 13, 18, 23):
            running.until(more_than(output, moment))
            assert running.pause(chance.uniform(0, 0.2)), running.said()
            victims: list[Process] = []
            while not victims:  # one look: a worker seen at work in an earlier look may have finished since
                victims = at_work(running)[:1]
                assert victims or running.pause(0.002), running.said()
            kill(victims[0].pid)
            killed.add(victims[0].pid)
        assert len(killed) == 5, "each was another one"
        assert running.finish() == 0, running.said()
    assert_same(contents(output), expected)


def test_recovers_killed_executor(here: Place, expected: Parts, request: pytest.FixtureRequest) -> None:
    """Two executors, processes of their own; one dies with its shuffle files and its share of the state."""
    name = request.node.name
    output = here.output(name)
    with here.start(name, "--master", "local-cluster[2,1,1024]", "--buckets", 3, "--regions", 4) as running:
        running.until(more_than(output, 8))
        members = running.members
        executors = {p.pid for p in members if p.is_executor}
        assert len(executors) == 2
        assert {p.parent for p in members if p.is_python_worker} >= executors, "one has nothing to do"
        kill(min(executors))
        running.until(lambda: len({p.pid for p in running.members if p.is_executor} - executors) == 1)
        assert running.finish() == 0, running.said()
    assert_same(contents(output), expected)
