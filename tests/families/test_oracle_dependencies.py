"""Which constraints follow from which others: the eight valid rules, and four that are often printed and do not hold.

|P| is the diameter of the smallest circle around the objects P; a constraint is false while one of its objects has no
position. Each rule is tried on random objects; each rule that does not hold is refuted by an example.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import circles
from vedette.families.links import Bounded, Links

Places = dict[str, tuple[float, float] | None]
LATTICE = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0])
PLACES = st.none() | st.tuples(LATTICE, LATTICE) | st.tuples(st.floats(0, 5), st.floats(0, 5))
DISTANCES = st.sampled_from([0.5, 1.0, 2.0, math.sqrt(2.0), 3.0, 4.0, 5.0])


def measure(objects: frozenset[str], places: Places) -> float | None:
    """The squared diameter; None while somebody has no position."""
    points = [(*p, 0.0) for o in sorted(objects) if (p := places[o]) is not None]
    return circles.measure(points, False) if len(points) == len(objects) else None


def truth(objects: frozenset[str], op: str, d: float, places: Places) -> bool:
    found = measure(objects, places)
    return found is not None and (found < d * d if op == "<" else found > d * d)


def there(objects: frozenset[str], places: Places) -> bool:
    return measure(objects, places) is not None


# letter: op of P, its truth, op of Q, what that becomes, whether P holds Q, how the distances relate, who must be there
Rule = tuple[str, bool, str, bool, bool, Callable[[float, float], bool], str]
VALID: dict[str, Rule] = {
    "a": ("<", True, "<", True, True, lambda d1, d2: d1 <= d2, ""),
    "b": (">", True, ">", True, False, lambda d1, d2: d1 >= d2, "Q"),
    "c": ("<", True, ">", False, True, lambda d1, d2: d1 <= d2, ""),
    "d": (">", True, "<", False, False, lambda d1, d2: d1 >= d2, ""),
    "e": (">", False, "<", True, True, lambda d1, d2: d1 < d2, "P"),
    "f": ("<", False, ">", True, False, lambda d1, d2: d1 > d2, "Q"),
    "g": ("<", False, "<", False, False, lambda d1, d2: d1 >= d2, ""),
    "h": (">", False, ">", False, True, lambda d1, d2: d1 <= d2, "P"),
}
SETS = st.tuples(
    st.sets(st.sampled_from("abcde"), min_size=1, max_size=3), st.sets(st.sampled_from("abcde"), max_size=3)
)


@pytest.mark.parametrize("letter", VALID)
@given(places=st.fixed_dictionaries(dict.fromkeys("abcde", PLACES)), sets=SETS, d1=DISTANCES, d2=DISTANCES)
def test_a_valid_rule_holds(letter: str, places: Places, sets: tuple[set[str], set[str]], d1: float, d2: float) -> None:
    op1, value1, op2, value2, p_holds_q, fits, needed = VALID[letter]
    small, large = frozenset(sets[0]), frozenset(sets[0] | sets[1])
    p, q = (large, small) if p_holds_q else (small, large)
    if (
        fits(d1, d2)
        and there(p if needed == "P" else q, places) >= bool(needed)
        and truth(p, op1, d1, places) == value1
    ):
        assert truth(q, op2, d2, places) == value2


AB, ABC = frozenset("ab"), frozenset("abc")
NEAR: Places = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (1.0, 0.0)}
FAR: Places = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (9.0, 0.0)}


def test_example_printed_row_2_does_not_hold() -> None:
    """|P| > d1, |Q| > d2, d1 >= d2, P within Q: that the second is satisfied says nothing of the first."""
    assert truth(ABC, ">", 2.0, FAR)
    assert not truth(AB, ">", 3.0, FAR)


def test_example_printed_row_4_does_not_hold() -> None:
    """|P| > d1, |Q| < d2, d1 >= d2, P within Q: the second unsatisfied does not make the first unsatisfied."""
    places: Places = {"a": (0.0, 0.0), "b": (8.0, 0.0), "c": (9.0, 0.0)}
    assert not truth(ABC, "<", 2.0, places)
    assert truth(AB, ">", 3.0, places)


def test_example_printed_row_6_does_not_hold() -> None:
    """|P| < d1, |Q| > d2, d1 > d2, P within Q: the second satisfied does not make the first unsatisfied."""
    assert truth(ABC, ">", 2.0, FAR)
    assert truth(AB, "<", 3.0, FAR)


def test_example_printed_row_8_does_not_hold() -> None:
    """|P| > d1, |Q| > d2, d1 <= d2, P holds Q: the second unsatisfied does not make the first unsatisfied."""
    assert not truth(AB, ">", 3.0, FAR)
    assert truth(ABC, ">", 2.0, FAR)


def test_example_missing_positions_break_rules_that_need_them() -> None:
    gone: Places = {**NEAR, "c": None}
    far_gone: Places = {"a": (0.0, 0.0), "b": (9.0, 0.0), "c": None}
    assert truth(AB, ">", 3.0, far_gone)  # b without Q
    assert not truth(ABC, ">", 2.0, far_gone)
    assert not truth(ABC, ">", 1.0, far_gone)  # e without P
    assert not truth(AB, "<", 2.0, far_gone)
    assert not truth(AB, "<", 0.5, gone)  # f without Q
    assert not truth(ABC, ">", 0.25, gone)
    assert not truth(ABC, ">", 2.0, far_gone)  # h without P
    assert truth(AB, ">", 3.0, far_gone)


@given(
    st.lists(
        st.tuples(
            st.frozensets(st.integers(0, 4), min_size=1, max_size=4), st.booleans(), st.sampled_from([1.0, 2.0, 3.0])
        ),
        max_size=12,
        unique=True,
    ),
    st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_every_link_is_a_valid_rule_and_the_nearest_one_is_there(
    made: list[tuple[frozenset[int], bool, float]], stays: list[bool]
) -> None:
    links = Links()
    for number, (objects, above, limit) in enumerate(made):
        links.insert(Bounded(number, objects, "diameter", above, limit))
    links.refresh()
    for number in range(len(made)):
        if not stays[number]:
            links.remove(number)
    links.refresh()
    kept = [n for n in range(len(made)) if stays[n]]
    for target in kept:
        objects, _, limit = made[target]
        found = links.into.get(target, [])
        for link in found:
            source, above, its_limit = made[link.source]
            assert stays[link.source]
            assert (
                (source >= objects and its_limit <= limit) if link.upper else (source <= objects and its_limit >= limit)
            )
            assert link.upper == (link.need != above)
        useful = {made[n][0] for n in kept if n != target and made[n][0] >= objects and made[n][2] <= limit}
        assert len(found) >= 16 or useful - {objects} <= {made[link.source][0] for link in found if link.upper}
