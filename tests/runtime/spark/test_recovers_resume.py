"""A run that goes on: with more files, with other queries, on other cores, with commands that came in between."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.runtime.spark.runs import PROC, Parts, Place, Running, assert_same, contents, in_turn, lay_out
from vedette.cli import app

pytestmark = [
    pytest.mark.xdist_group("spark-kill"),
    pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="processes are found in /proc"),
]

QUERIES = """\
CREATE REGION yard AS RECT (10, 10, 60, 60);
CREATE QUERY here AS SELECT oid FROM objects INSIDE yard;
CREATE QUERY near AS SELECT oid FROM objects KNN (4, 50, 50);
CREATE QUERY mean AS SELECT AVG(speed) FROM objects INSIDE yard;
CREATE QUERY stay AS SELECT oid FROM objects INSIDE CIRCLE (50, 50, 30) DWELL 3 GRACE 2;
CREATE QUERY mates AS SELECT oid FROM objects KNN 3 AROUND o7;
AT 14 CREATE QUERY never AS SELECT oid FROM objects INSIDE CIRCLE (30) AROUND o5;
AT 15 DROP QUERY here;
"""

# near changes, mean goes, crowd comes, never is withdrawn before its tick, mates and the drop at 15 stay as they are.
AMENDED = """\
CREATE REGION yard AS RECT (10, 10, 60, 60);
CREATE QUERY here AS SELECT oid FROM objects INSIDE yard;
CREATE QUERY near AS SELECT oid FROM objects KNN (5, 30, 30);
CREATE QUERY stay AS SELECT oid FROM objects INSIDE CIRCLE (50, 50, 30) DWELL 3 GRACE 2;
CREATE QUERY mates AS SELECT oid FROM objects KNN 3 AROUND o7;
CREATE QUERY crowd AS SELECT COUNT(*) FROM objects INSIDE RECT (40, 40) AROUND o3;
AT 15 DROP QUERY here;
AT 18 CREATE QUERY last AS SELECT oid FROM objects INSIDE yard;
"""


@dataclass
class Desk:
    """Takes commands for one process that carries them out."""

    running: Running
    folder: Path
    numbers: Iterator[int]

    def ask(self, words: list[str]) -> tuple[int, str]:
        """The exit code of a command and what it has printed."""
        answer = self.folder / f"{next(self.numbers)}.json"
        stream = self.running.process.stdin
        assert stream is not None
        stream.write(json.dumps({"words": words, "answer": str(answer)}).encode() + b"\n")
        stream.flush()
        self.running.until(answer.exists)
        told = json.loads(answer.read_text(encoding="utf-8"))
        assert "Traceback" not in told["output"], told["output"]
        return told["code"], told["output"]

    def go(self, words: list[str]) -> str:
        """What a command that must succeed has printed."""
        code, output = self.ask(words)
        assert code == 0, output
        return output


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    words = [sys.executable, "-m", "tests.runtime.spark.in_turn"]
    try:
        with Running(words, folder / "scratch", folder / "log.txt") as running:
            yield Desk(running, folder, itertools.count())
    finally:
        Place(folder).clean(".")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    lay_out(tmp_path / "in", 8, seed=31)
    (tmp_path / "queries.sql").write_text(QUERIES)
    return Place(tmp_path)


def first(count: int) -> str:
    """A pattern that names the first files of the input."""
    return f"00[0-{count - 1}].parquet"


def local(place: Place, name: str, files: str = "*") -> None:
    result = CliRunner().invoke(app, place.words(name, "--engine", "local", files=files))
    assert result.exit_code == 0, result.output


def rows(place: Place, name: str) -> Parts:
    return in_turn(contents(place.output(name)))


def ends(place: Place, name: str) -> list[str]:
    return [p.name for p in (place.output(name) / "changes").glob("*.end.parquet")]


def test_recovers_more_files_and_other_queries(desk: Desk, place: Place) -> None:
    """One run after another over one checkpoint; each is held to the local engine."""
    on = ("--master", "local[2]")
    desk.go(place.words("spark", *on, "--buckets", 3, files=first(2)))
    assert ends(place, "spark") == ["part-00002.end.parquet"]

    # Another number of buckets is refused, before anything is touched.
    before = contents(place.output("spark"))
    code, output = desk.ask(place.words("spark", *on, "--buckets", 2, files=first(4)))
    assert code == 1
    assert "--buckets 3" in output
    assert contents(place.output("spark")) == before

    # Without a number it goes on with the one it had, on fewer cores too; the end that was told is void.
    desk.go(place.words("spark", "--master", "local[1]", files=first(4)))
    local(place, "at once", files=first(4))
    assert_same(rows(place, "spark"), rows(place, "at once"))
    assert len(ends(place, "spark")) == 1

    # Other queries, and more files at the same time.
    local(place, "resumed", files=first(4))
    place.queries.write_text(AMENDED)
    local(place, "resumed")
    desk.go(place.words("spark", *on))
    assert_same(rows(place, "spark"), rows(place, "resumed"))
    named = {
        name
        for part in rows(place, "spark").values()
        for name in ("crowd", "last", "never")
        if f"'{name}'" in str(part)
    }
    assert named == {"crowd", "last"}


FIRST = "CREATE QUERY one AS SELECT oid FROM objects INSIDE CIRCLE (60, 60, 25);"
SECOND = "AT 14 DROP QUERY one; DROP QUERY mean; DROP QUERY mates;"
THIRD = "CREATE QUERY mean AS SELECT COUNT(*) FROM objects KNN 5 AROUND o9;"
BAD = "CREATE QUERY two AS SELECT oid FROM objects INSIED (0, 0, 9, 9);"
TWICE = "CREATE QUERY stay AS SELECT oid FROM objects INSIDE yard;"
REFUSED = "a command was refused"


def with_commands(desk: Desk, place: Place, files: int) -> str:
    (place.folder / "commands").mkdir(exist_ok=True)
    more = ("--master", "local[2]", "--commands", place.folder / "commands")
    return desk.go(place.words("spark", *more, files=first(files)))


def with_statements(place: Place, files: int, *commands: str) -> None:
    """The local engine takes no commands: they are statements at the end of its file, from the same batch on."""
    place.queries.write_text("\n".join([QUERIES, *commands]))
    local(place, "local", files=first(files))
    place.queries.write_text(QUERIES)


def command(place: Place, name: str, sql: str) -> None:
    folder = place.folder / "commands"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(sql)


def test_recovers_commands_act_once(desk: Desk, place: Place) -> None:
    """Some commands are there before the first start, some come before the second."""
    command(place, "1.sql", FIRST)
    command(place, "2.sql", SECOND)
    command(place, "3.sql", BAD)
    said = with_commands(desk, place, 3)
    assert said.count(REFUSED) == 1
    assert "INSIED is not expected here" in said
    with_statements(place, 3, FIRST, SECOND)
    assert_same(rows(place, "spark"), rows(place, "local"))

    # The old ones are not taken again: the first would be refused, the second would drop what the third creates.
    command(place, "0.sql", THIRD)
    command(place, "4.sql", TWICE)
    said = with_commands(desk, place, 6)
    assert said.count(REFUSED) == 1
    assert "VD110" in said
    with_statements(place, 6, FIRST, SECOND, THIRD)
    assert_same(rows(place, "spark"), rows(place, "local"))


def test_recovers_a_command_that_comes_with_the_end(desk: Desk, place: Place) -> None:
    """Where no file is left, a command meets the end of the run, which is void when more files come; it is not."""
    with_commands(desk, place, 2)
    with_statements(place, 2)
    command(place, "1.sql", FIRST)
    for files in (2, 4):
        assert REFUSED not in with_commands(desk, place, files)
        with_statements(place, files, FIRST)
        assert_same(rows(place, "spark"), rows(place, "local"))
