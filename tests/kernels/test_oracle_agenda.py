"""The agenda hands out what is due in order; of a row that is put forward the earlier time counts; instants."""

from __future__ import annotations

import heapq
from fractions import Fraction
from math import ceil

from hypothesis import example, given
from hypothesis import strategies as st

from tests.kernels.standing import callable_from_python, memory_of
from vedette.kernels.motion import agenda as kernels
from vedette.kernels.motion.agenda import pop
from vedette.kernels.motion.tables import AGENDA, ENTRY, NEVER, ROW, records

instant, push, schedule = map(callable_from_python, (kernels.instant, kernels.push, kernels.schedule))

DUES = st.integers(-5, 5) | st.sampled_from([-(2**62), 2**62])


@given(st.lists(st.none() | st.tuples(DUES, st.integers(-3, 3)), max_size=60))
@example([(n, n % 2) for n in (5, 4, 3, 2, 1, 0)] + [None] * 3 + [(1, 1), (1, 0)])
def test_oracle_entries(acts: list[tuple[int, int] | None]) -> None:
    """Among equal times any order will do: but what is taken away is what stood first."""
    agenda, count = records(ENTRY, len(acts) + 1), memory_of(1).count
    waiting: list[tuple[int, int]] = []
    for act in [*acts, *([None] * len(acts))]:
        if act is not None:
            push(agenda, count, *act)
            waiting.append(act)
        elif waiting:
            first = int(agenda[0].due), int(agenda[0].who)
            assert first[0] == min(waiting)[0]
            waiting.remove(first)
            pop(agenda, count)
        assert count[AGENDA] == len(waiting)
    assert not waiting


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-9, 9) | st.just(NEVER)), max_size=20), st.integers(1, 4))
def test_oracle_rows_are_looked_at_at_the_earliest_time_asked_for(asked: list[tuple[int, int]], every: int) -> None:
    memory = memory_of(1, every)
    memory.rows, memory.agenda = records(ROW, 3), records(ENTRY, len(asked) + 1)
    memory.rows.due = NEVER
    w = memory.world()
    for r, n in asked:
        schedule(w, r, every, n)
    # an entry whose time is not that of its row has been overtaken
    heap = [(int(entry.due), int(entry.who)) for entry in memory.agenda[: memory.count[AGENDA]]]
    heapq.heapify(heap)
    popped = [heapq.heappop(heap) for _ in range(len(heap))]
    valid = [(due, r) for due, r in popped if memory.rows[r].due == due]
    earliest = {r: min(n for q, n in asked if q == r) for r, n in asked if n != NEVER}
    assert valid == sorted((n * every, r) for r, n in earliest.items())


@given(st.integers(1, 2**40), st.integers(-(2**61), 2**61))
@example(5, -7)
@example(5, -5)
def test_oracle_instants(every: int, t: int) -> None:
    assert instant(every, t) == ceil(Fraction(t, every))
