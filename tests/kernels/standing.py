"""A bucket's memory for motion patterns with tables made by hand: kernels of `motion` take the world that it makes."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from vedette.kernels.grid import Grid
from vedette.kernels.motion.tables import NEVER, PATTERN, SET, SPAN, STEP, Areas, Cells, Table, records
from vedette.kernels.shapes import NO_EDGES, PARAMETERS
from vedette.pipeline.patterns.book import Tables
from vedette.pipeline.patterns.memory import Memory


def callable_from_python(kernel: Any) -> Any:
    """A kernel that is only meant to be compiled into others (`folded`), in one that Python can call."""
    if not hasattr(kernel, "py_func"):  # nothing is compiled
        return kernel

    @numba.njit
    def call(*arguments: Any) -> Any:
        return kernel(*arguments)

    return call


def memory_of(patterns: int, every: int = 1) -> Memory:
    """So many patterns of one step each, a cell around everything, nobody there yet."""
    memory = Memory()
    table, steps = records(PATTERN, patterns + 1), records(STEP, patterns)
    table.first, table.rows, table.condition = np.arange(patterns + 1), -1, -1
    table.every[:-1], table.entries[:-1] = every, 1
    table.started = table.due = NEVER
    steps.pattern, steps.bears, steps.decides = np.arange(patterns), True, True
    areas = Areas(steps, np.zeros((patterns, PARAMETERS)), NO_EDGES, False)
    listed = 2 * np.arange(patterns)
    cells = Cells(Grid(0.0, 0.0, 1.0, 1.0, 1, 1), np.ones((1, patterns), np.uint8), np.array([0, patterns]), listed)
    memory.set_tables(Tables(table, areas, cells), 1, -1)
    return memory


def with_sets(memory: Memory, sets: int, spans: int) -> Memory:
    """So many empty sets, and room for so many spans in all of them."""
    memory.sets, memory.spans = records(SET, sets), records(SPAN, spans)
    memory.sets.head = memory.sets.tail = -1
    memory.sets.top = -NEVER
    return memory


def spans_of(memory: Memory, e: int) -> list[int]:
    """The numbers of the spans of a set, in their order."""
    found, i = [], int(memory.sets[e].head)
    while i >= 0:
        assert i not in found, "a ring"
        found.append(i)
        i = int(memory.spans[i].next)
    return found


def bounds_of(spans: Table, numbers: list[int]) -> list[tuple[int, int]]:
    """First and last instants."""
    return [(int(spans[i].low), int(spans[i].high)) for i in numbers]
