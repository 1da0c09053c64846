"""The lattice of object sets against looking at all pairs."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from vedette.families.lattice import Lattice, ObjectSet

SETS = st.frozensets(st.integers(0, 5), min_size=1, max_size=5)


def above(sets: set[ObjectSet], one: ObjectSet) -> set[ObjectSet]:
    return {s for s in sets if s > one}


def below(sets: set[ObjectSet], one: ObjectSet) -> set[ObjectSet]:
    return {s for s in sets if s < one}


@given(st.lists(st.tuples(st.booleans(), SETS), max_size=40), SETS)
@example(  # a set that only overlaps the new one holds a subset of it
    [(True, frozenset({1, 2, 3})), (True, frozenset({2, 3})), (True, frozenset({2, 3, 4}))], frozenset({2})
)
def test_oracle_all_pairs(acts: list[tuple[bool, ObjectSet]], asked: ObjectSet) -> None:
    lattice, users = Lattice(), dict[ObjectSet, int]()
    for comes, objects in acts:
        if comes:
            assert lattice.insert(objects) == (objects not in users)
            users[objects] = users.get(objects, 0) + 1
        elif objects in users:
            users[objects] -= 1
            assert lattice.remove(objects) == (users[objects] == 0)
            if not users[objects]:
                del users[objects]
        sets = set(users)
        assert len(lattice) == len(sets)
        for one in sets:
            least = {s for s in above(sets, one) if not above(sets, one) & below(sets, s)}
            greatest = {s for s in below(sets, one) if not below(sets, one) & above(sets, s)}
            assert lattice.neighbours(one) == (least, greatest)
        for one in (*sets, asked):
            assert lattice.supersets(one) == above(sets, one)
            assert lattice.subsets(one) == below(sets, one)
