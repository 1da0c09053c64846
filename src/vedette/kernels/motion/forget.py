"""What is forgotten: visits that no window can reach any more, and rows of patterns that are gone."""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.compiled import bare, jit
from vedette.kernels.arrays import I64
from vedette.kernels.grid import cell_of
from vedette.kernels.motion.hits import drop_row
from vedette.kernels.motion.tables import HITS, NEVER, UPDATES, VISITS, Past, Table, World
from vedette.kernels.motion.visits import note


@jit
def sweep(past: Past, horizon: int) -> None:
    """Close the gaps that visits ended before the horizon leave."""
    visits, objects = past.visits, past.objects
    n = past.counts[VISITS]
    number = np.full(n, -1, np.int64)
    kept = 0
    for v in range(n):
        if visits[v].end < horizon:
            continue
        number[v] = kept
        before = visits[v].before
        visits[kept] = visits[v]
        visits[kept].before = number[before] if before >= 0 else -1
        visits[kept].recalled = -1
        kept += 1
    past.counts[VISITS] = kept
    for o in range(len(objects)):
        if objects[o].head >= 0:
            objects[o].head = number[objects[o].head]
            if objects[o].head < 0:
                objects[o].is_open = False
                objects[o].is_tested = False


@bare
def forget_pattern(w: World, s: int) -> None:
    """No row of the pattern is left."""
    for h in range(w.past.counts[HITS]):
        if w.hits[h].pattern == s:
            drop_row(w, h)


@bare
def begin_anew(past: Past) -> None:
    """The next update of each object begins a visit: none reaches over the tick at which a pattern comes."""
    for slot in range(len(past.objects)):
        past.objects[slot].is_open = False
        past.objects[slot].is_tested = False


@bare
def renote(past: Past, updates: Table, cuts: I64) -> None:
    """Visits of another grid, from updates in time order; none reaches over one of the sorted cuts."""
    past.counts[VISITS] = 0
    past.counts[UPDATES] = 0
    for slot in range(len(past.objects)):
        past.objects[slot].head = -1
        past.objects[slot].is_open = False
    cut = 0
    for u in range(len(updates)):
        t, x, y = updates[u].t, updates[u].x, updates[u].y
        o: Any = np.int64(updates[u].object)
        while cut < len(cuts) and cuts[cut] <= t:
            cut += 1
        head = past.objects[o].head
        if cut > 0 and head >= 0 and past.visits[head].begin < cuts[cut - 1]:
            past.objects[o].is_open = False
        cell = cell_of(past.cells.grid, x, y)
        if past.cells.kept[cell]:
            note(past, o, t, x, y, cell)
        else:
            past.objects[o].is_open = False
    begin_anew(past)


@bare
def in_agenda(hits: Table, patterns: Table, count: int, agenda: Table) -> int:
    """Fill the agenda with what is due, in order of time; how many entries there are."""
    n = 0
    for h in range(count):
        if hits[h].pattern >= 0 and hits[h].due != NEVER:
            agenda[n].due = hits[h].due
            agenda[n].who = h
            n += 1
    for s in range(len(patterns)):
        if patterns[s].every > 0 and patterns[s].due != NEVER:
            agenda[n].due = patterns[s].due
            agenda[n].who = -1 - s
            n += 1
    return n
