"""Rows of the table of hits are found as in a dict; what a sweep keeps is what something can still come of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.standing import bounds_of, callable_from_python, memory_of, spans_of
from vedette.kernels.motion import rows as kernels
from vedette.kernels.motion.rows import add_row
from vedette.kernels.motion.spans import add
from vedette.kernels.motion.tables import ROWS, SETS, SPANS
from vedette.pipeline.patterns.memory import Memory

OBJECTS, PATTERNS, LAST = 5, 70, 20  # more patterns than a mask has bits
WHO = st.tuples(st.integers(0, OBJECTS - 1), st.sampled_from([0, 1, 2, 63, 64, 65, 69]))
WHEN = st.integers(0, LAST)
find = callable_from_python(kernels.find)


def emptied(crowded: bool) -> Memory:
    """Nobody has a row; where it is crowded, all hashes fall on few places."""
    memory = memory_of(PATTERNS)
    memory.make_room(OBJECTS)
    memory._enlarge(1)
    if crowded:
        memory.places = memory.places[:128].copy()
        memory.rows = memory.rows[:64].copy()
    return memory


def all_found(memory: Memory) -> dict[tuple[int, int], int]:
    """Who has a row, and which."""
    w = memory.world()
    rows = {(o, s): int(find(w, o, s)) for o in range(OBJECTS) for s in range(PATTERNS)}
    return {who: r for who, r in rows.items() if r >= 0}


@given(st.lists(WHO, unique=True, max_size=35), st.booleans())
def test_oracle_rows_are_found(wanted: list[tuple[int, int]], crowded: bool) -> None:
    memory = emptied(crowded)
    w = memory.world()
    expected = {(o, s): int(add_row(w, s, o)) for o, s in wanted}
    assert sorted(expected.values()) == list(range(len(wanted)))
    assert all_found(memory) == expected


@given(
    st.dictionaries(WHO, st.tuples(st.lists(st.tuples(WHEN, WHEN), max_size=3), st.booleans()), max_size=35),
    st.sets(st.sampled_from([0, 1, 64])),
    st.integers(0, LAST),
)
def test_oracle_a_sweep_keeps_members_and_what_can_still_match(
    rows: dict[tuple[int, int], tuple[list[tuple[int, int]], bool]], gone: set[int], now: int
) -> None:
    """Rows live while they are members or have an instant to come; those of a pattern that is gone do not."""
    memory = emptied(crowded=False)
    w, instants = memory.world(), {}
    for (o, s), (spans, is_member) in rows.items():
        r = add_row(w, s, o)
        memory.rows[r].member = is_member
        for low, high in spans:
            add(w, memory.rows[r].entry, low, high)
        instants[o, s] = {n for low, high in spans for n in range(low, high + 1)}
    for s in gone:
        memory.forget_pattern(s)
    memory._sweep(now)
    kept = {who for who, ns in instants.items() if (rows[who][1] or any(n >= now for n in ns)) and who[1] not in gone}
    found = all_found(memory)
    assert found.keys() == kept
    assert memory.count[ROWS] == memory.count[SETS] == len(kept)
    left = 0
    for who, r in found.items():
        numbers = spans_of(memory, int(memory.rows[r].entry))
        there = {n for low, high in bounds_of(memory.spans, numbers) for n in range(low, high + 1)}
        assert {n for n in there if n >= now} == {n for n in instants[who] if n >= now}
        assert there <= instants[who]
        left += len(numbers)
    assert memory.count[SPANS] == left
