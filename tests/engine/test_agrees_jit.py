"""Compiled and interpreted kernels give the same changes to the last bit, and both what brute force gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import oracle
from tests.engine.drive import expect, play
from tests.engine.seeded import story

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kind", ["planar", "lonlat"])
@pytest.mark.parametrize("seed", [2, 3])
def test_jit_on_and_off(kind: str, seed: int) -> None:
    plain = subprocess.run(
        [sys.executable, "-m", "tests.engine.seeded", kind, str(seed)],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    interpreted = [oracle.Change(*change) for change in json.loads(plain.stdout)]
    compiled = play(story(kind, seed), buckets=2, regions=3).changes
    assert len(compiled) > 100
    oracle.assert_same_changes(interpreted, compiled)
    oracle.assert_same_changes(compiled, expect(story(kind, seed)))
