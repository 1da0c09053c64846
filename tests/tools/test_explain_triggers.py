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


def test_example_explain_draws_the_graphs(explained: str, tmp_path: Path) -> None:
    for name in ("collision", "crowd", "loner"):
        assert "<svg" in (tmp_path / "graphs" / f"{name}.svg").read_text()
