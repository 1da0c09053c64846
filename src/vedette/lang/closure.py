"""What follows from the constraints of a trigger: the closed constraint graph (CCQ, section 2).

In: a trigger, and how many ticks a length of time is. Out: for any two of its events the least and greatest difference
in time, and the distances between which they lie; or a `Contradiction` with the constraints that cannot hold together.

In time the closure is exact: shortest paths over whole ticks (Dechter's simple temporal network), where a strict bound
is one tick less. In space it follows from the triangle inequality, in floating point: it serves to look in the right
places, and only what the user wrote decides. A set `FOR 3 E AS v` stands for three *slots* with the same constraints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

from vedette.lang.print import print_duration, print_number
from vedette.model import Apart, Duration, Lag, Span, Trigger

SLACK = 1e-9  # of a derived distance: far more than its rounding errors


@dataclass(frozen=True)
class Closure:
    """By slot and slot: `high[i][j]` is the most that t_j - t_i can be (None: any), `-high[j][i]` the least.

    `near[i][j]`: they are at most that far apart (inf: any); `far[i][j]`: at least.
    """

    slots: tuple[int, ...]  # the variable of each slot
    high: tuple[tuple[int | None, ...], ...]
    near: tuple[tuple[float, ...], ...]
    far: tuple[tuple[float, ...], ...]

    def names(self, trigger: Trigger) -> list[str]:
        """The slots as people call them."""
        counted: dict[int, int] = {}
        found = []
        for v in self.slots:
            counted[v] = counted.get(v, 0) + 1
            variable = trigger.variables[v]
            found.append(variable.name if variable.count == 1 else f"{variable.name}#{counted[v]}")
        return found

    def unbounded(self) -> tuple[int, int] | None:
        """Two slots whose difference in time has no bound."""
        m = len(self.slots)
        return next(((i, j) for i, j in permutations(range(m), 2) if self.high[i][j] is None), None)


class Contradiction(Exception):  # noqa: N818 (it is a finding, which the language reports)
    """Constraints that cannot hold together, in the user's words."""

    def __init__(self, constraints: list[str], because: str) -> None:
        super().__init__(because)
        self.constraints = list(dict.fromkeys(constraints))
        self.because = because


def close(trigger: Trigger, ticks: Callable[[Duration], int]) -> Closure:
    """The closed graph."""
    slots = tuple(v for v, variable in enumerate(trigger.variables) for _ in range(variable.count))
    of_name = {
        variable.name: [s for s, v in enumerate(slots) if v == i] for i, variable in enumerate(trigger.variables)
    }
    high = _close_times(trigger, len(slots), of_name, ticks)
    near, far = _close_distances(trigger, len(slots), of_name)
    return Closure(slots, high, near, far)


def _pairs(of_name: dict[str, list[int]], a: str, b: str) -> Iterator[tuple[int, int]]:
    """The pairs of slots that a constraint between two variables is about."""
    if a == b:
        yield from permutations(of_name[a], 2)
    else:
        yield from ((i, j) for i in of_name[a] for j in of_name[b])


# ---------------------------------------------------------------------------------------------------- time


def _close_times(
    trigger: Trigger, m: int, of_name: dict[str, list[int]], ticks: Callable[[Duration], int]
) -> tuple[tuple[int | None, ...], ...]:
    high: list[list[int | None]] = [[0 if i == j else None for j in range(m)] for i in range(m)]
    said: dict[tuple[int, int], str] = {}
    via: dict[tuple[int, int], int] = {}

    def at_most(i: int, j: int, bound: int, text: str) -> None:
        now = high[i][j]
        if i != j and (now is None or bound < now):
            high[i][j], said[i, j] = bound, text

    for earlier, later, bound, text in _upper_bounds(trigger, ticks):
        for i, j in _pairs(of_name, earlier, later):
            at_most(i, j, bound, text)
    for k in range(m):
        for i in range(m):
            for j in range(m):
                first, second, now = high[i][k], high[k][j], high[i][j]
                if first is None or second is None or k in (i, j):
                    continue
                if now is None or first + second < now:
                    high[i][j], via[i, j] = first + second, k
                    if i == j:
                        raise Contradiction(_path(i, k, said, via) + _path(k, i, said, via), "in time")
    return tuple(map(tuple, high))


def _path(i: int, j: int, said: dict[tuple[int, int], str], via: dict[tuple[int, int], int]) -> list[str]:
    k = via.get((i, j))
    return [said[i, j]] if k is None else _path(i, k, said, via) + _path(k, j, said, via)


def _upper_bounds(trigger: Trigger, ticks: Callable[[Duration], int]) -> Iterator[tuple[str, str, int, str]]:
    """All temporal constraints as `t_later - t_earlier <= bound`, each with the words that say so."""
    for c in trigger.constraints:
        if isinstance(c, Lag):
            difference = f"{c.later}.t - {c.earlier}.t"
            low = ticks(c.low)
            if c.op == "IN":
                assert c.high is not None
                yield c.earlier, c.later, ticks(c.high), f"{difference} <= {print_duration(c.high)}"
                yield c.later, c.earlier, -low, f"{difference} >= {print_duration(c.low)}"
                continue
            text = f"{difference} {c.op} {print_duration(c.low)}"
            if c.op in ("<", "<=", "="):
                yield c.earlier, c.later, low - (c.op == "<"), text
            if c.op in (">", ">=", "="):
                yield c.later, c.earlier, -low - (c.op == ">"), text
        elif isinstance(c, Span):
            text = f"SPAN({', '.join(c.variables)}) {c.op} {print_duration(c.length)}"
            for a, b in (*combinations(c.variables, 2), *((v, v) for v in c.variables)):
                for one, other in ((a, b), (b, a)):
                    yield one, other, ticks(c.length) - (c.op == "<"), text


# --------------------------------------------------------------------------------------------------- space


def _close_distances(
    trigger: Trigger, m: int, of_name: dict[str, list[int]]
) -> tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]:
    near = [[0.0 if i == j else math.inf for j in range(m)] for i in range(m)]
    far = [[0.0] * m for _ in range(m)]
    said: dict[tuple[int, int], str] = {}
    via: dict[tuple[int, int], int] = {}
    written: dict[tuple[int, int], tuple[float, bool, str]] = {}  # lower bounds, whether strict
    is_strict: dict[tuple[int, int], bool] = {}
    for c in trigger.constraints:
        if not isinstance(c, Apart):
            continue
        text = f"DISTANCE({c.a}, {c.b}) {c.op} {print_number(c.distance)}"
        for i, j in (pair for a, b in _pairs(of_name, c.a, c.b) for pair in ((a, b), (b, a))):
            if c.op in ("<", "<=") and (c.distance, c.op == "<=") < (near[i][j], not is_strict.get((i, j), False)):
                near[i][j], said[i, j], is_strict[i, j] = c.distance, text, c.op == "<"
            elif c.op in (">", ">=") and (c.distance, c.op == ">") > written.get((i, j), (-1.0, False, ""))[:2]:
                far[i][j], written[i, j] = c.distance, (c.distance, c.op == ">", text)
    for k in range(m):
        for i in range(m):
            for j in range(m):
                if near[i][k] + near[k][j] < near[i][j]:
                    near[i][j], via[i, j] = near[i][k] + near[k][j], k
    for (i, j), (least, strict, text) in written.items():
        is_direct = (i, j) not in via
        bound = near[i][j] if is_direct else near[i][j] * (1 + SLACK)
        if least > bound or (is_direct and least == bound and (strict or is_strict.get((i, j), False))):
            raise Contradiction([text, *_path(i, j, said, via)], "in space")
    lower = [row[:] for row in far]
    for (a, b), (least, _, _) in written.items():
        for i in range(m):
            for j in range(m):
                lower[i][j] = max(lower[i][j], least - near[i][a] - near[b][j])
    outward = [[d if i == j else d * (1 + SLACK) for j, d in enumerate(row)] for i, row in enumerate(near)]
    inward = [[max(0.0, d * (1 - SLACK)) for d in row] for row in lower]
    return tuple(map(tuple, outward)), tuple(map(tuple, inward))
