"""The benchmarks run, say what they promise to say, and measure answers that are right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
SMALL = ("--objects", "2000", "--ticks", "2", "--queries", "60", "--moving", "8", "--knn", "8", "--repetitions", "2")


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCH / script), *(str(a) for a in arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def result_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    done = run("range.py", *SMALL, "--out", folder)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("range-*.json")
    return path


@pytest.fixture(scope="module")
def result(result_file: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(result_file.read_text(encoding="utf-8"))
    return loaded


def test_the_engine_and_plain_numpy_tell_the_same_changes(result: dict[str, Any]) -> None:
    naive = result["naive"]
    assert naive["equal"] is True
    assert naive["compared_changes"] > 100  # the first answers of eight kNN queries alone are 80 rows
    assert set(naive["seconds"]) == {"stationary", "moving", "knn"}
    assert set(naive["ratio"]) == {"stationary", "mix"}


def test_a_result_names_machine_date_and_settings(result: dict[str, Any]) -> None:
    assert result["benchmark"] == "range"
    assert result["date"].endswith("+00:00")
    assert result["settings"]["objects"] == 2000
    assert {"cpu", "cores", "python", "packages"} <= set(result["machine"])
    assert {"vedette", "numpy", "numba", "pyarrow"} <= set(result["machine"]["packages"])


def test_every_case_has_its_figures(result: dict[str, Any]) -> None:
    cases = result["cases"]
    assert {"stationary", "mix", "stationary, string ids", "queries / 10", "queries x 5", "objects x 10"} <= set(cases)
    assert cases["queries x 5"]["load"]["stationary"] == 300
    assert cases["objects x 10"]["load"]["objects"] == 20000
    for case in cases.values():
        assert case["updates_per_s"] == max(case["updates_per_s_each"])
        assert len(case["updates_per_s_each"]) == 2
        assert case["peak_mb"] > case["baseline_mb"] > 0
        assert case["parse_s"] > 0
        assert len(case["warm_up_s"]) >= 3
    same = {cases[name]["changes_per_update"] for name in ("stationary", "stationary, string ids")}
    assert len(same) == 1  # the kind of id changes the cost, never the answers


def test_compare_prints_one_result_and_several_and_draws_them(result_file: Path, tmp_path: Path) -> None:
    picture = tmp_path / "growth.png"
    alone = run("compare.py", result_file, "--plot", picture)
    assert alone.returncode == 0, alone.stderr
    assert "changes compared with the engine's: the same" in alone.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    both = run("compare.py", result_file, result_file)
    assert both.returncode == 0, both.stderr
    assert "1.00x" in both.stdout


def test_alerts_are_measured_with_and_without_what_makes_them_cheap(tmp_path: Path) -> None:
    done = run(
        "alerts.py",
        "--part",
        "50",
        "--objects",
        "300",
        "--rounds",
        "1",
        "--out",
        tmp_path,
        "--plot",
        tmp_path / "p.png",
    )
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("alerts-*.json")
    found = json.loads(path.read_text(encoding="utf-8"))
    cases = {(c["case"], c["formulas"], c["repetition"], c["dependent"]): c for c in found["cases"]}
    shared, alone = cases["shared", 200, 0.6, 0.0], cases["alone", 200, 0.6, 0.0]
    assert shared["computed"] < 0.45 * alone["computed"]
    links, without = cases["links", 200, 0.0, 0.5], cases["no links", 200, 0.0, 0.5]
    assert without["computed"] == links["computed"] + links["inferred"]
    assert links["inferred"] > 0.25 * without["computed"]
    assert (tmp_path / "p.png").stat().st_size > 10_000
