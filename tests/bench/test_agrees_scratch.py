"""What the benchmark of patterns compares with: one compiled pass and plain numpy find the same on any columns."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
OBJECTS, TAU = 12, 40


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    return import_module("_scratch")


def columns(chance: np.random.Generator) -> tuple[Any, ...]:
    """Updates in time order; many share a time, and lie on borders of boxes and windows."""
    n = int(chance.integers(0, 150))
    place = chance.integers(0, 6, (2, n)).astype(float)
    return np.sort(chance.integers(0, TAU + 1, n)), chance.integers(0, OBJECTS, n), *place


def windows(chance: np.random.Generator, steps: int) -> Any:
    """Rows (a, b) with a >= b."""
    return np.sort(chance.integers(0, TAU, (steps, 2)), axis=1)[:, ::-1].copy()


@pytest.mark.parametrize("seed", range(40))
def test_agrees_who_matches(scratch: Any, seed: int) -> None:
    """A window at a time over the rows themselves says so, too."""
    chance = np.random.default_rng(seed)
    steps = int(chance.integers(1, 4))
    (t, o, x, y), within = columns(chance), windows(chance, steps)
    always, low = chance.integers(0, 2, steps), chance.integers(0, 3, (steps, 2)).astype(float)
    boxes = np.hstack([low, low + chance.integers(0, 5, (steps, 2))])
    arguments = (t, o, x, y, TAU, within, always, boxes, OBJECTS)
    compiled, plain = scratch.matches(*arguments), scratch.matches_in_numpy(*arguments)
    assert compiled.tolist() == plain.tolist()
    rows = list(zip(t.tolist(), o.tolist(), x.tolist(), y.tolist(), strict=True))
    wanted = []
    for who in range(OBJECTS):
        found = []
        for (a, b), stays, (x0, y0, x1, y1) in zip(within, always, boxes, strict=True):
            mine = [x0 <= u <= x1 and y0 <= v <= y1 for s, w, u, v in rows if w == who and TAU - a <= s <= TAU - b]
            found.append(bool(mine) and (all(mine) if stays else any(mine)))
        wanted += [who] if all(found) else []
    assert compiled.tolist() == wanted


@pytest.mark.parametrize("seed", range(40))
def test_agrees_who_is_lowest(scratch: Any, seed: int) -> None:
    chance = np.random.default_rng(seed)
    steps = int(chance.integers(1, 4))
    points, n = chance.integers(0, 6, (steps, 2)).astype(float), int(chance.integers(1, OBJECTS))
    arguments = (*columns(chance), TAU, windows(chance, steps), points, OBJECTS, n)
    compiled, plain = scratch.lowest(*arguments), scratch.lowest_in_numpy(*arguments)
    assert len(compiled) == n
    assert compiled.tolist() == plain.tolist()
