"""What `vedette explain` says of triggers, and the pictures that it draws."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from vedette.cli import app

SQL = """
CREATE TRIGGER collision FOR E AS v1, E AS v2, E AS v3
  WHEN v1.p = 'A' AND DISTANCE(v1, v2) < 1 KM AND v2.t - v1.t IN [0 S, 5 MIN]
   AND DISTANCE(v2, v3) < 1 KM AND v3.t - v2.t IN [1 MIN, 5 MIN] USING TIGHT;
CREATE TRIGGER crowd FOR 3 E AS v WHEN SPAN(v) <= 1 H AND v.oid = v.oid;
CREATE TRIGGER loner FOR E AS a, E AS b WHEN b.t - a.t IN [-3 S, 3 S];
"""


@pytest.fixture
def explained(tmp_path: Path) -> str:
    (tmp_path / "q.sql").write_text(SQL)
    words = ["explain", str(tmp_path / "q.sql"), "--space", "lonlat", "--graphs", str(tmp_path / "graphs")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_example_explain_tells_what_follows(explained: str) -> None:
    for words in (
        "v1 to v3 1 min to 10 min later, at most 2000 m away",
        "after it: v3",
        "partners are at most 2000 m apart",
        "an event is kept for at most 10 min",
        "by space: an event goes to every region in reach",
        "TIGHT: shared index",
        "any two v -1 h to 1 h later",
        "by key: all events of a tuple have the same oid",
        "one shard for the whole trigger: nothing bounds the distance",
        "CELLS: a list for each variable",
    ):
        assert words in explained


TRAFFIC = """
CREATE TRIGGER near FOR E AS a, E AS b WHEN DISTANCE(a, b) < 0.1 AND b.t - a.t IN [0, 5];
CREATE TRIGGER gone FOR E AS a, E AS b WHEN DISTANCE(a, b) < 200 AND b.t - a.t IN [0, 5];
CREATE TRIGGER far FOR E AS a, E AS b WHEN DISTANCE(a, b) < 200 AND b.t - a.t IN [0, 5];
DROP TRIGGER gone;
CREATE TRIGGER any FOR E AS a, E AS b WHEN b.t - a.t IN [0, 5];
CREATE TRIGGER same FOR E AS a, E AS b WHEN a.oid = b.oid AND b.t - a.t IN [0, 5];
"""


def places(tmp_path: Path, regions: int) -> dict[str, str]:
    """What is said of the place of each trigger."""
    (tmp_path / "q.sql").write_text(TRAFFIC)
    lines = ["oid,t,x,y", *(f"{n},0,{n}.0,0.0" for n in range(100))]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    words = ["explain", str(tmp_path / "q.sql"), "--input", str(tmp_path / "in.csv"), "--regions", str(regions)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    parts = " ".join(result.output.split()).split("CREATE TRIGGER ")[1:]
    return {part.split()[0]: part.partition(" here ")[2].partition(" strategy ")[0] for part in parts}


def test_example_explain_tells_where_triggers_go(tmp_path: Path) -> None:
    """A hundred objects in a row, cut in four: three of them are so near to a cut that they go to a region beside.

    `far` comes while `gone` still has shard 0, `any` after it went.
    """
    told = places(tmp_path, 4)
    assert told["near"] == "by space in 4 regions: by space an event goes to 0.03 regions beyond its own on average"
    assert told["far"] == (
        "whole in shard 1 of 4: by space an event would go to 3.00 regions beyond its own on average, more than 0.1"
    )
    assert told["any"] == "whole in shard 0 of 4: nothing bounds the distance between all events"
    assert told["same"] == "by key over 4 shards"
    assert places(tmp_path, 1)["far"] == "whole in shard 0: there is one region"


def test_example_explain_needs_an_input_to_cut(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(TRAFFIC)
    result = CliRunner().invoke(app, ["explain", str(tmp_path / "q.sql"), "--space", "planar", "--regions", "4"])
    assert result.exit_code == 2
    assert "--regions needs --input" in " ".join(result.output.split())


def test_example_explain_draws_the_graphs(explained: str, tmp_path: Path) -> None:
    for name in ("collision", "crowd", "loner"):
        assert "<svg" in (tmp_path / "graphs" / f"{name}.svg").read_text()
