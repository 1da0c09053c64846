"""The closed graph of a trigger against trying all times; contradictions are those that leave no times at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vedette.lang import parse
from vedette.lang.closure import Contradiction, close
from vedette.lang.triggers import in_ticks
from vedette.model import Apart, Create, Duration, Lag, Trigger, Variable
from vedette.space import planar

NAMES = ("a", "b", "c", "d")
BOUNDS = st.integers(-3, 3)


@st.composite
def networks(draw: st.DrawFn) -> Trigger:
    """Up to four events, each within 4 of the one before, and more constraints between any two."""
    names = NAMES[: draw(st.integers(2, 4))]
    lags = [Lag(a, b, "IN", Duration(-4), Duration(4)) for a, b in pairwise(names)]
    for _ in range(draw(st.integers(0, 4))):
        a, b = draw(st.permutations(names))[:2]
        op = draw(st.sampled_from(["<", "<=", ">", ">=", "=", "IN"]))
        low, high = sorted((draw(BOUNDS), draw(BOUNDS)))
        lags.append(Lag(a, b, op, Duration(low), Duration(high) if op == "IN" else None))  # type: ignore[arg-type]
    return Trigger("q", tuple(map(Variable, names)), tuple(lags))


def satisfied(trigger: Trigger, times: dict[str, int]) -> bool:
    tests: dict[str, Callable[[float, float, float], bool]] = {
        "<": lambda d, low, _: d < low,
        "<=": lambda d, low, _: d <= low,
        ">": lambda d, low, _: d > low,
        ">=": lambda d, low, _: d >= low,
        "=": lambda d, low, _: d == low,
        "IN": lambda d, low, high: low <= d <= high,
    }
    return all(
        tests[c.op](times[c.later] - times[c.earlier], c.low.value, (c.high or c.low).value)
        for c in trigger.constraints
        if isinstance(c, Lag)
    )


@given(networks())
def test_bounds_in_time_are_the_tightest(trigger: Trigger) -> None:
    names = [v.name for v in trigger.variables]
    solutions = [
        times
        for rest in product(range(-12, 13), repeat=len(names) - 1)
        if satisfied(trigger, times := dict(zip(names, (0, *rest), strict=True)))
    ]
    if not solutions:
        with pytest.raises(Contradiction) as found:
            close(trigger, in_ticks)
        assert found.value.constraints
        return
    closure = close(trigger, in_ticks)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            assert closure.high[i][j] == max(times[b] - times[a] for times in solutions)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ab", "bc", "cd", "ac", "ad", "bd"]),
            st.sampled_from(["<", "<=", ">", ">="]),
            st.sampled_from([1.0, 2.0, 3.5, 5.0]),
        ),
        max_size=6,
    ),
    st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), min_size=4, max_size=4),
)
def test_bounds_in_space_hold_for_every_solution(
    drawn: list[tuple[str, str, float]], places: list[tuple[float, float]]
) -> None:
    aparts = tuple(Apart(pair[0], pair[1], op, d) for pair, op, d in drawn)  # type: ignore[arg-type]
    trigger = Trigger("q", tuple(map(Variable, NAMES)), aparts)
    distance = [[math.dist(p, q) for q in places] for p in places]

    def holds(c: Apart) -> bool:
        d = distance[NAMES.index(c.a)][NAMES.index(c.b)]
        return {"<": d < c.distance, "<=": d <= c.distance, ">": d > c.distance, ">=": d >= c.distance}[c.op]

    if not all(holds(c) for c in aparts):
        return
    closure = close(trigger, in_ticks)  # there is a solution, so nothing contradicts
    for i in range(4):
        for j in range(4):
            assert closure.far[i][j] <= distance[i][j] + 1e-9
            assert distance[i][j] <= closure.near[i][j] + 1e-9 or i == j


def test_example_the_papers_graph() -> None:
    """v1 to v2 in [0, 5], v2 to v3 in [1, 5], both closer than 1: v1 to v3 in [1, 10], closer than 2."""
    sql = """CREATE TRIGGER q FOR E AS v1, E AS v2, E AS v3
        WHEN DISTANCE(v1, v2) < 1 AND v2.t - v1.t IN [0, 5] AND DISTANCE(v2, v3) < 1 AND v3.t - v2.t IN [1, 5]"""
    action = parse(sql, space=planar())[0].action
    assert isinstance(action, Create)
    assert isinstance(action.query, Trigger)
    closure = close(action.query, in_ticks)
    assert (closure.high[0][2], closure.high[2][0]) == (10, -1)
    assert closure.near[0][2] == pytest.approx(2.0)
    assert closure.names(action.query) == ["v1", "v2", "v3"]
