"""Where triggers are placed, against a count of copies by hand: regions as rectangles, distances along the chain."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vedette.families.triggers import TriggerPlan, plan_trigger
from vedette.kernels.regions import Regions, split
from vedette.lang import parse
from vedette.model import Schema, Trigger
from vedette.pipeline.setup import MOST_LANDMARKS, landmarks_of
from vedette.pipeline.triggers.shards import MOST_COPIES, SPREAD, Shards
from vedette.space import disc_box, lonlat, planar

SCHEMA = Schema("long", "long", (("load", "long"),))
SPACES = pytest.mark.parametrize("kind", ["planar", "lonlat"])
METRES = 100_000.0
# Nothing is a whole number away from a cut, so that it does not matter how distances are rounded.
DISTANCES = st.lists(st.integers(0, 40).map(lambda n: n + 0.37), min_size=1, max_size=3)
PLACES = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=1, max_size=25)
TRIGGERS = st.tuples(st.sampled_from(["space", "space", "space", "key", "one"]), DISTANCES)


def planned(kind: str, mode: str, distances: list[float]) -> TriggerPlan:
    """A chain of events, each so far from the next."""
    unit = METRES if kind == "lonlat" else 1.0
    names = [f"v{n}" for n in range(len(distances) + 1)]
    said = [f"{b}.t - {a}.t IN [0, 5]" for a, b in pairwise(names)]
    said += [f"{a}.load = {b}.load" for a, b in pairwise(names) if mode == "key"]
    near = distances if mode != "one" else distances[1:]
    said += [f"DISTANCE({a}, {b}) < {d * unit}" for (a, b), d in zip(pairwise(names), near, strict=False)]
    events = ", ".join(f"E AS {name}" for name in names)
    sql = f"CREATE TRIGGER x FOR {events} WHEN {' AND '.join(said)};"
    space = lonlat() if kind == "lonlat" else planar()
    query: Any = getattr(parse(sql, space=space)[0].action, "query", None)
    assert isinstance(query, Trigger)
    return plan_trigger(query, space, SCHEMA)


def rectangles(regions: Regions) -> list[tuple[float, float, float, float]]:
    """x1, y1, x2, y2 of each region: the lower border belongs to it, the upper one does not."""
    found = {}

    def walk(node: int, box: list[float]) -> None:
        if node < 0:
            found[-1 - node] = (box[0], box[1], box[2], box[3])
            return
        axis, cut = int(regions.axis[node]), float(regions.cut[node])
        low, high = list(box), list(box)
        low[2 + axis] = min(low[2 + axis], cut)  # an empty region may lie between two cuts at one place
        high[axis] = max(high[axis], cut)
        walk(int(regions.child[node, 0]), low)
        walk(int(regions.child[node, 1]), high)

    walk(0 if regions.size > 1 else -1, [-math.inf, -math.inf, math.inf, math.inf])
    return [found[r] for r in range(regions.size)]


def copies(kind: str, regions: Regions, places: list[tuple[float, float]], distances: list[float]) -> float:
    """Regions beyond its own that an event goes to, on average over variables and places."""
    along = np.concatenate(([0.0], np.cumsum(distances)))
    reaches = [max(abs(a - b) for b in along) for a in along]
    boxes = rectangles(regions)
    counted = 0
    for reach in reaches:
        for x, y in places:
            if kind == "planar":
                asked = [(x - reach, y - reach, x + reach, y + reach)]
            else:
                chord = 2 * math.sin(min(reach * METRES / 6_371_008.8, math.pi) / 2)
                a, low, b, high = disc_box(x, y, chord * chord, True)
                asked = [(a + turn, low, b + turn, high) for turn in (-360.0, 0.0, 360.0)]
                asked = [box for box in asked if box[2] >= -180 and box[0] <= 180]
            touched = {
                r
                for r, (x1, y1, x2, y2) in enumerate(boxes)
                for a, low, b, high in asked
                if a < x2 and b >= x1 and low < y2 and high >= y1
            }
            counted += len(touched) - 1
    return counted / (len(reaches) * len(places))


@SPACES
@given(PLACES, st.integers(1, 9), st.lists(TRIGGERS, min_size=1, max_size=7), st.data())
def test_triggers_are_placed_by_the_copies_that_they_would_cost(
    kind: str,
    at: list[tuple[int, int]],
    size: int,
    wanted: list[tuple[str, list[float]]],
    data: st.DataObject,
) -> None:
    places = [(x + 0.11, y + 0.23) for x, y in at]
    landmarks = np.array(places)
    regions = split(landmarks[:, 0] + 0.05, landmarks[:, 1] + 0.05, size)
    wraps = kind == "lonlat"
    shards = Shards(regions, landmarks, wraps)
    expected: dict[int, int] = {}
    for qid, (mode, distances) in enumerate(wanted):
        found = shards.place(qid, planned(kind, mode, distances))
        cost = {"key": 0.0, "one": math.inf}.get(mode, copies(kind, regions, places, distances))
        assert found.copies == (pytest.approx(cost) if size > 1 or mode != "space" else 0.0)
        if size > 1 and cost <= MOST_COPIES:
            expected[qid] = SPREAD
        else:
            counts = [sum(shard == s for s in expected.values()) for shard in range(size)]
            expected[qid] = counts.index(min(counts))
        assert found.shard == expected[qid]
        if data.draw(st.booleans()):  # one goes, and everything is put away and taken out again
            gone = data.draw(st.sampled_from(sorted(expected)))
            shards.drop(gone)
            del expected[gone]
            again = Shards(regions, landmarks, wraps)
            for other, shard in shards.places.items():
                again.adopt(other, shard)
            shards = again
        assert shards.places == expected


@given(st.integers(0, 3 * MOST_LANDMARKS + 1))
def test_landmarks_are_a_few_of_the_positions(count: int) -> None:
    x = np.arange(count, dtype=np.float64)
    found = landmarks_of(x, -x)
    assert min(count, MOST_LANDMARKS // 2) <= len(found) <= MOST_LANDMARKS
    assert set(map(tuple, found.tolist())) <= set(zip(x.tolist(), (-x).tolist(), strict=True))
