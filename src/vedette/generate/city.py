"""A procedural city: bent blocks, avenues every fifth street, a diagonal, a ring motorway, a river with bridges.

In: a seed and a radius. Out: a `Network` with the river as water.
Invariant: the same seed and radius give the same city.
"""

from __future__ import annotations

import numpy as np

from vedette.errors import ConfigError
from vedette.generate.network import MAIN, MOTORWAY, SIDE, Bools, Floats, Ints, Network, build_network

BLOCK_M = 200.0  # spacing of side streets before bending; blocks shrink toward the centre
AVENUE = 5  # every fifth street is a main street
BRIDGE = 10  # and every tenth crosses the river
RING = 0.68  # radius of the ring motorway, as a share of the city's


def city(seed: int = 0, radius_m: float = 5000.0) -> Network:
    """A city around (radius_m, radius_m), about 1800 nodes at the default radius of 5 km."""
    if not radius_m >= 1000:
        raise ConfigError(f"a city needs a radius of at least 1000 m, not {radius_m:g}")
    rng = np.random.default_rng([seed, 7919])
    half = int(np.ceil(radius_m * 1.35 / BLOCK_M))
    side = 2 * half + 1
    i, j = np.divmod(np.arange(side * side), side)
    i, j = i - half, j - half
    x, y = _bend(i * BLOCK_M, j * BLOCK_M, radius_m, rng)
    river_y, river = _river(radius_m, rng)

    avenue = (i % AVENUE == 0) | (j % AVENUE == 0) | (i == j)
    lives = (np.hypot(x, y) < _outline(x, y, radius_m, rng)) & ((np.abs(y - river_y(x)) > 70) | (i % BRIDGE == 0))

    a, b, street = _blocks(i, j, side, avenue)
    bank = y > river_y(x)
    crosses = bank[a] != bank[b]
    bridge = crosses & (i[a] == i[b]) & (i[a] % BRIDGE == 0)
    thinned = (street == SIDE) & (rng.random(len(a)) < 0.08 + 0.15 * np.hypot(x[a], y[a]) / radius_m)
    stays = lives[a] & lives[b] & ~thinned & (~crosses | bridge)
    a, b, street = a[stays], b[stays], street[stays]

    x, y, c, d, fast = _motorways(x, y, lives & avenue & (np.abs(y - river_y(x)) > 150), radius_m)
    a, b, street = np.concatenate([a, c]), np.concatenate([b, d]), np.concatenate([street, fast])
    return build_network(x + radius_m, y + radius_m, a, b, street, (river + radius_m,))


def _bend(u: Floats, v: Floats, radius_m: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rotate the grid, draw it together toward the centre, and bend it with long waves and a little noise."""
    turn = rng.uniform(0.1, 0.3)
    x, y = u * np.cos(turn) - v * np.sin(turn), u * np.sin(turn) + v * np.cos(turn)
    pull = 0.72 + 0.28 * np.minimum(np.hypot(x, y) / (1.3 * radius_m), 1.0)
    x, y = x * pull, y * pull
    phase = rng.uniform(0, 2 * np.pi, 4)
    wave = 2 * np.pi / (0.9 * radius_m)
    bent_x = x + 0.022 * radius_m * (np.sin(wave * y + phase[0]) + 0.5 * np.sin(1.9 * wave * (x + y) + phase[1]))
    bent_y = y + 0.022 * radius_m * (np.sin(wave * x + phase[2]) + 0.5 * np.sin(2.3 * wave * (x - y) + phase[3]))
    return bent_x + rng.normal(0, 10, len(x)), bent_y + rng.normal(0, 10, len(y))


class _Course:
    """The river's course: y as a function of x."""

    def __init__(self, radius_m: float, phase: Floats) -> None:
        self.radius_m, self.phase = radius_m, phase

    def __call__(self, x: Floats) -> Floats:
        wave = 2 * np.pi * x / (2.2 * self.radius_m)
        bends = 0.13 * np.sin(wave + self.phase[0]) + 0.05 * np.sin(2.3 * wave + self.phase[1])
        return np.asarray(self.radius_m * (bends - 0.24), dtype=np.float64)


def _river(radius_m: float, rng: np.random.Generator) -> tuple[_Course, Floats]:
    course = _Course(radius_m, rng.uniform(0, 2 * np.pi, 2))
    x = np.linspace(-1.25 * radius_m, 1.25 * radius_m, 160)
    return course, np.stack([x, course(x)], axis=1)


def _outline(x: Floats, y: Floats, radius_m: float, rng: np.random.Generator) -> Floats:
    """The distance from the centre at which the city ends, in the direction of each node."""
    angle, phase = np.arctan2(y, x), rng.uniform(0, 2 * np.pi, 2)
    lobes = 0.08 * np.sin(3 * angle + phase[0]) + 0.05 * np.sin(7 * angle + phase[1])
    return np.asarray(radius_m * (0.87 + lobes), dtype=np.float64)


def _blocks(i: Ints, j: Ints, side: int, avenue: Bools) -> tuple[Ints, Ints, Ints]:
    """The grid's edges to the right, upward, and along one diagonal avenue, with their class."""
    node = np.arange(side * side)
    right, up, diagonal = node[i < i.max()], node[j < j.max()], node[(i == j) & (i < i.max())]
    a = np.concatenate([right, up, diagonal])
    b = np.concatenate([right + side, up + 1, diagonal + side + 1])
    along_j = np.where(j[right] % AVENUE == 0, MAIN, SIDE)
    along_i = np.where(i[up] % AVENUE == 0, MAIN, SIDE)
    return a, b, np.concatenate([along_j, along_i, np.full(len(diagonal), MAIN)])


def _motorways(x: Floats, y: Floats, joins: Bools, radius_m: float) -> tuple[Floats, Floats, Ints, Ints, Ints]:
    """A ring with a ramp every 30 degrees to the nearest main street, and five arms out of town."""
    angle = np.deg2rad(np.arange(0, 360, 5.0))
    radius = RING * radius_m * (1 + 0.05 * np.sin(2 * angle + 1))
    ring = len(x) + np.arange(len(angle))
    px, py = [radius * np.cos(angle)], [radius * np.sin(angle)]
    a, b, street = [ring], [np.roll(ring, -1)], [np.full(len(ring), MOTORWAY)]

    candidates = np.flatnonzero(joins)
    for k in range(0, len(angle), 6):
        d2 = (x[candidates] - px[0][k]) ** 2 + (y[candidates] - py[0][k]) ** 2
        a.append(ring[k : k + 1])
        b.append(candidates[d2.argmin()][None])
        street.append(np.array([MAIN]))

    free = len(x) + len(angle)
    for k in (3, 17, 31, 45, 60):
        reach = np.linspace(radius[k], 1.12 * radius_m, 6)[1:]
        arm = free + np.arange(len(reach))
        free += len(reach)
        bend = angle[k] + np.linspace(0, 0.12, len(reach))
        px.append(reach * np.cos(bend))
        py.append(reach * np.sin(bend))
        a.append(np.concatenate([ring[k : k + 1], arm[:-1]]))
        b.append(arm)
        street.append(np.full(len(arm), MOTORWAY))
    return (
        np.concatenate([x, *px]),
        np.concatenate([y, *py]),
        np.concatenate(a),
        np.concatenate(b),
        np.concatenate(street).astype(np.int64),
    )
