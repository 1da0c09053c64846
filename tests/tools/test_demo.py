"""The demo: it ends in a table and a map, and tells the same story twice."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from vedette.cli import app
from vedette.demo.scene import PHRASES


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(app, ["demo", "--fast", "--out", str(folder / "story")])
    assert result.exit_code == 0, result.output
    return folder / "story", result.stdout


def test_example_the_story_ends_in_a_table_and_a_map(told: tuple[Path, str]) -> None:
    folder, text = told
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    for name in PHRASES:
        assert name in text
    assert "map.png" in text


def test_example_every_query_has_something_to_tell(told: tuple[Path, str]) -> None:
    changes = pq.read_table(told[0] / "changes.parquet")
    assert set(changes["query"].to_pylist()) == set(PHRASES)


def test_agrees_with_a_run_of_its_own_files(told: tuple[Path, str]) -> None:
    folder, _ = told
    again = folder.parent / "again"
    result = CliRunner().invoke(
        app,
        ["run", str(folder / "queries.sql"), "--input", str(folder / "updates.parquet"), "--output", str(again),
         "--timeout", "16s", "--engine", "local"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    keys = [("t", "ascending"), ("query", "ascending"), ("oid", "ascending"), ("sign", "ascending")]
    first, second = (
        pq.read_table(p).drop_columns("members").sort_by(keys) for p in (folder / "changes.parquet", again / "changes")
    )
    assert first.equals(second)
