"""The benchmark of triggers runs, says what it promises to say, and says so where its data is not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "triggers.py"


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *(str(a) for a in arguments)]
    environment = {**os.environ, "VEDETTE_DATA": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_example_it_says_that_the_data_is_not_there(tmp_path: Path) -> None:
    done = run(tmp_path, "--quick", "--no-spark", "--out", tmp_path)
    assert done.returncode == 2
    assert f"the stream is not here: {tmp_path / 'tao.parquet'}" in done.stderr
    assert "VEDETTE_DATA" in done.stderr
    assert not list(tmp_path.iterdir())


def test_example_all_strategies_tell_the_same(data: Path, tmp_path: Path) -> None:
    done = run(data, "--quick", "--most", 5, "--no-spark", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("triggers-*.json")
    result = json.loads(path.read_text(encoding="utf-8"))
    (point,) = result["points"]
    assert set(point["strategies"]) == {"CELLS", "DOMAINS", "TIGHT", "LOOSE"}
    assert len({figures["alerts"] for figures in point["strategies"].values()}) == 1
    for figures in point["strategies"].values():
        assert figures["events"] == result["settings"]["events"] == 2 * 178_080
        assert 0.025 < figures["alerts_per_event"] < 0.1  # five triggers, 1% each
        assert 0 < figures["peak_stored_share"] < 0.01
    assert path.with_suffix(".png").stat().st_size > 10_000
