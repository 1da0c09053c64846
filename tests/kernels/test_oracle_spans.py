"""Sets of instants as spans are Python's sets; spans are neither lost nor given away twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from tests.kernels.standing import bounds_of, memory_of, spans_of, with_sets
from vedette.kernels.motion.spans import add, clear, cut, first_in, first_not_in, trim
from vedette.kernels.motion.tables import FREE_SPAN, NEVER, SPAN_TOP, SPANS
from vedette.pipeline.patterns.memory import Memory

SETS = 3
BEGIN, LAST, END = -8, 22, 26  # what ends goes no further than LAST: whoever has END - 1 goes on for ever
INSTANTS = st.integers(BEGIN, LAST)
SPAN = st.one_of(
    st.tuples(INSTANTS, INSTANTS), st.tuples(INSTANTS, st.just(NEVER)), INSTANTS.flatmap(lambda n: st.just((n, n)))
)
ACTS = st.one_of(
    st.tuples(st.just("add"), SPAN),
    st.tuples(st.just("add"), SPAN),
    st.tuples(st.sampled_from(["cut", "trim"]), st.tuples(INSTANTS, st.just(0))),
    st.tuples(st.just("clear"), st.just((0, 0))),
)


def runs(instants: Iterable[int]) -> list[tuple[int, int]]:
    """The instants as spans that do not touch."""
    found: list[tuple[int, int]] = []
    for n in sorted(instants):
        found[-1:] = [(found[-1][0], n)] if found and found[-1][1] == n - 1 else [*found[-1:], (n, n)]
    return [(low, NEVER if high == END - 1 else high) for low, high in found]


def expected(instants: set[int], act: str, low: int, high: int) -> tuple[set[int], bool | None]:
    """What is left, and the answer."""
    if act == "add":
        new = set(range(low, END if high == NEVER else high + 1))
        return instants | new, not new <= instants
    if act == "cut":
        return {n for n in instants if n < low}, any(n >= low for n in instants)
    if act == "trim":  # only spans as a whole
        kept = [(a, b) for a, b in runs(instants) if b >= low]
        return {n for a, b in kept for n in range(a, min(b, END - 1) + 1)}, None
    return set(), None


def assert_sound(memory: Memory) -> None:
    """Lists end where they say, and every span is in one list or free."""
    live = [i for e in range(SETS) for i in spans_of(memory, e)]
    free, i = [], int(memory.count[FREE_SPAN])
    while i >= 0:
        assert i not in free, "a ring"
        free.append(i)
        i = int(memory.spans[i].next)
    assert memory.count[SPANS] == len(live)
    assert sorted(live + free) == list(range(memory.count[SPAN_TOP]))
    for e in range(SETS):
        numbers = spans_of(memory, e)
        assert memory.sets[e].tail == (numbers[-1] if numbers else -1)
        assert memory.sets[e].top == (memory.spans[numbers[-1]].high if numbers else -NEVER)


@given(st.lists(st.tuples(st.integers(0, SETS - 1), ACTS), max_size=30))
@example([(0, ("add", (3, 5))), (0, ("add", (9, NEVER))), (0, ("add", (6, 8)))])  # the gap between two is filled
@example([(0, ("add", (3, NEVER))), (0, ("cut", (4, 0))), (0, ("add", (0, 1)))])  # no end, then an end again
def test_oracle_acts(acts: list[tuple[int, tuple[str, tuple[int, int]]]]) -> None:
    memory = with_sets(memory_of(1), SETS, len(acts) + 1)
    w, instants = memory.world(), [set[int]() for _ in range(SETS)]
    kernels: dict[str, Callable[..., bool | None]] = {"add": add, "cut": cut, "trim": trim, "clear": clear}
    for e, (act, (low, high)) in acts:
        instants[e], answer = expected(instants[e], act, low, high)
        arguments = (low, high) if act == "add" else () if act == "clear" else (low,)
        assert kernels[act](w, e, *arguments) == answer
        spans = bounds_of(memory.spans, spans_of(memory, e))
        assert spans == runs(instants[e])
        assert all(before[1] + 1 < after[0] for before, after in pairwise(spans))
        assert_sound(memory)


@given(st.lists(SPAN, max_size=8), st.lists(INSTANTS, max_size=2))
def test_oracle_questions(spans: list[tuple[int, int]], cuts: list[int]) -> None:
    memory = with_sets(memory_of(1), SETS, len(spans) + 1)
    w, instants = memory.world(), set[int]()
    for low, high in spans:
        add(w, 1, low, high)
        instants, _ = expected(instants, "add", low, high)
    for n in cuts:
        cut(w, 1, n)
        instants, _ = expected(instants, "cut", n, 0)
    for n in range(BEGIN - 2, LAST + 2):
        assert first_in(w, 1, n) == min((m for m in instants if m >= n), default=NEVER)
        beyond = set(range(n, END)) - instants
        assert first_not_in(w, 1, n) == min(beyond, default=NEVER)
