"""The benchmark of patterns runs, finds the same answers by all ways, and says what it promises to say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "patterns.py"


def test_example_told_ahead_and_from_scratch_are_the_same(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--quick", "--patterns", "3", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("patterns-*.json")
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["benchmark"] == "patterns"
    assert {"cpu", "cores", "python", "packages"} <= set(result["machine"])
    cases = result["cases"]
    assert {case["kind"] for case in cases} == {"binary", "numerical"}
    for case in cases:
        assert case["equal"] is True
        assert min(case["step_s"], case["numpy_s"], case["compiled_s"]) > 0
        assert 0 <= case["reads"] < case["updates_in_windows"]
        assert case["points"] > 0
    # patterns follow real trajectories, so that there is something to be equal
    assert sum(case["in_answers"] > 0 for case in cases) > len(cases) / 2
    assert len(result["targets"]) == 8
    assert path.with_suffix(".png").stat().st_size > 10_000
