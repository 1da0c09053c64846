"""Who may score no more than a reach, by boxes or by places: nobody is missed, and no bound is above the score."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.standing import callable_from_python
from vedette.kernels.motion import scores, vicinity
from vedette.kernels.motion.panes import LANES, lower_bounds, sheet_of
from vedette.kernels.motion.ranks import score
from vedette.kernels.motion.scores import NOTHING
from vedette.kernels.motion.tables import World
from vedette.kernels.motion.vicinity import near
from vedette.lang import parse
from vedette.model import Create, Pattern, Schema
from vedette.pipeline.patterns.book import Book
from vedette.pipeline.patterns.memory import Memory
from vedette.space import lonlat, planar

latest_step, measured = map(callable_from_python, (vicinity.latest_step, scores.measured))

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
AREAS = {
    "planar": ["({x}, {y})", "CIRCLE ({x}, {y}, 3)", "RECT ({x}, {y}, 50, 60)", "POLYGON '((0 0, 30 5, 20 40, 0 0))'"],
    "lonlat": ["({x}, {y})", "CIRCLE ({x}, {y}, 90000)"],
}
SPACES = {"planar": planar(), "lonlat": lonlat()}
END = 60
OTHER = "CREATE PATTERN other AS DIST (0, 0) BETWEEN 400 AND 300 AGO LOWEST 1 EVERY 90;"


def written(kind: str, chance: random.Random, far: int) -> str:
    """A pattern that anybody may match, about places around (far, 0)."""
    steps = []
    for _ in range(chance.randint(1, 3)):
        b = chance.randint(0, 45)
        place = chance.choice(AREAS[kind]).format(x=around(chance.randint(-30, 30), far), y=chance.randint(-30, 30))
        how = chance.choice(["SOMETIME", "ALWAYS"])
        steps.append(f"DIST {place} {how} BETWEEN {b + chance.randint(0, 30)} AND {b} AGO")
    return f"{' THEN '.join(steps)} LOWEST 3 EVERY {END}"


def around(x: Any, far: int) -> Any:
    """A longitude on the other side of the globe."""
    return (x + far + 180.0) % 360.0 - 180.0


def filled(kind: str, seed: int, panes: str) -> Memory:
    """Two patterns, many objects that report now and then, nobody asked yet; `panes`: what they become half way."""
    chance = random.Random(seed)
    rng = np.random.default_rng(seed)
    far = 179 if kind == "lonlat" and chance.random() < 0.5 else 0
    memory, book = Memory(), Book(SPACES[kind], Schema("long", "long"))

    def stand(sql: str, first: int) -> None:
        for n, statement in enumerate(parse(sql, space=SPACES[kind])):
            assert isinstance(statement.action, Create)
            assert isinstance(statement.action.query, Pattern)
            book.add(first + n, statement.action.query, 0)
        book.lay_grid()
        memory.set_tables(book.tables(memory.patterns), 1, book.reach)

    stand("".join(f"CREATE PATTERN p{n} AS {written(kind, chance, far)};" for n in range(2)), 0)
    if panes == "shorter":
        stand(OTHER, 2)
    most = chance.choice([3, 40, 3 * LANES])
    memory.make_room(most)
    home = rng.uniform(-20, 20, (2, most))
    coarse = chance.choice([1e-6, 5.0])  # so that many meet at the same place
    step = chance.choice([1, 7, 29])  # what comes at once is taken in object by object
    for first in range(1, END, step):
        if first >= END // 2 and panes == "longer":
            stand(OTHER, 2)
            panes = ""
        if first >= END // 2 and panes == "shorter":
            book.drop(2)
            stand("", 2)
            panes = ""
        stop = min(END, first + step)
        t = np.repeat(np.arange(first, stop), most)
        slot = np.tile(np.arange(most, dtype=np.int32), stop - first)
        there = rng.random(len(t)) < 0.3
        t, slot = t[there], slot[there]
        x, y = np.round((home[:, slot] + rng.normal(0, 5, (2, len(slot)))) / coarse) * coarse
        x = around(x, far) if kind == "lonlat" else x
        memory.run(t, slot, x, y, np.zeros(len(t), np.bool_), np.zeros((len(t), 1), np.uint64), stop)
    return memory


def asked(kind: str, seed: int, panes: str) -> World:
    """The world at an instant at which both patterns are due."""
    memory = filled(kind, seed, panes)
    memory.patterns.due[:2] = END
    memory.sheet = np.zeros(1 << 16)
    return memory.world()


SEEDS = {"seed": st.integers(0, 1 << 30), "panes": st.sampled_from(["the same", "longer", "shorter"])}
METRES = {"planar": 1.0, "lonlat": 111_000.0}  # of a unit of the plane, or a degree


@KINDS
@given(**SEEDS, reach=st.sampled_from([0.0, 5.0, 30.0, math.inf]))
def test_oracle_nobody_within_reach_is_missed(kind: str, seed: int, panes: str, reach: float) -> None:
    world, reach = asked(kind, seed, panes), reach * METRES[kind]
    sheet = sheet_of(world, END)
    for s in range(2):
        who, low = lower_bounds(world, sheet, s, END, reach)
        bound = dict(zip(who.tolist(), low.tolist(), strict=True))
        assert len(bound) == len(who)
        for o in range(len(world.objects)):
            exact = score(world, s, o, END, math.inf)
            if exact != NOTHING and exact <= reach:
                assert bound[o] <= exact


@KINDS
@given(**SEEDS, reach=st.sampled_from([0.0, 1.0, 5.0, 20.0]))
def test_oracle_nobody_in_the_vicinity_is_missed(kind: str, seed: int, panes: str, reach: float) -> None:
    world, reach = asked(kind, seed, panes), reach * METRES[kind]
    for s in range(2):
        is_told, who, leasts = near(world, s, END, reach)
        found = dict(zip(who.tolist(), leasts.tolist(), strict=True))
        q = latest_step(world, s)
        world.areas.steps.always[q] = False
        step = world.areas.steps[q]
        for o in range(len(world.objects)):
            least = measured(world, o, q, max(END - step.a, 0), END - step.b)
            if is_told and least != NOTHING and least <= reach:
                assert found[o] == least
        assert np.isinf(world.trail.least).all()
