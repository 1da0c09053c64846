"""The loop: updates one by one, and between them the instants at which something is due.

At an instant all updates up to it have been taken in, and none after it. An update that goes on with a visit costs
little; one that begins a visit of a cell wakes the rows that wait for it there, and makes rows where it may be the
beginning of a match.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.compiled import bare
from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.grid import cell_of
from vedette.kernels.motion.agenda import instant, pop, schedule
from vedette.kernels.motion.distances import satisfies
from vedette.kernels.motion.examine import look
from vedette.kernels.motion.hits import add_row, drop_row, room_for
from vedette.kernels.motion.ranks import rank
from vedette.kernels.motion.tables import (
    AGENDA,
    BASE,
    COVERED,
    DONE,
    GONE,
    HITS,
    NEVER,
    PHASE,
    READS,
    ROOM,
    TOLD,
    UPDATES,
    VISITS,
    World,
)
from vedette.kernels.motion.visits import is_near, note


@bare
def follow(
    w: World, t: I64, slot: I32, x: F64, y: F64, is_late: B1, words: U64, first: int, stop: int, end: int
) -> tuple[int, int]:
    """Take in events first .. stop and all instants before `end`; (DONE, RECALL or ROOM, the next event)."""
    i = first
    while True:
        state = _catch_up(w, t[i] if i < stop else end)
        if state != DONE or i == stop:
            return state, i
        if not _has_room(w):
            return ROOM, i
        o: Any = np.int64(slot[i])
        obj = w.past.objects[o]
        obj.x = x[i]
        obj.y = y[i]
        if obj.waits:
            _wake(w, o, t[i])
        if not is_late[i]:
            _judge(w, o, t[i], words, i)
            cell = cell_of(w.past.cells.grid, x[i], y[i])
            if not w.past.cells.kept[cell]:
                obj.is_open = False
                obj.is_tested = False
            elif note(w.past, o, t[i], x[i], y[i], cell):
                _arrive(w, o, t[i], x[i], y[i], cell)
            elif obj.is_tested:
                _mark(w, o)
                obj.is_tested = _witness(w, o, t[i], x[i], y[i], cell)
                _unmark(w, o)
        i += 1


@bare
def _has_room(w: World) -> bool:
    """Whether everything that one update can bring fits."""
    count, patterns = w.past.counts, len(w.patterns)
    return bool(
        count[VISITS] < len(w.past.visits)
        and count[UPDATES] - count[BASE] < len(w.past.updates)
        and room_for(w, patterns)
        and count[AGENDA] + 4 * patterns + 4 <= len(w.agenda)
    )


@bare
def _catch_up(w: World, limit: int) -> int:
    """Look at all that is due before `limit`."""
    count = w.past.counts
    while count[AGENDA] > 0 and w.agenda[0].due < limit:
        tau, who = w.agenda[0].due, w.agenda[0].who
        s = w.hits[who].pattern if who >= 0 else -1 - who
        if (who >= 0 and w.hits[who].due != tau) or (who < 0 and w.patterns[s].due != tau):
            pop(w.agenda, count)
            continue
        changes = 1 if who >= 0 else 2 * min(w.patterns[s].n, count[HITS])
        if count[TOLD] + changes > len(w.told) or count[AGENDA] + 1 >= len(w.agenda):
            return ROOM
        if w.patterns[s].started == NEVER:
            w.patterns[s].started = tau
        count[PHASE] = 0 if w.patterns[s].started == tau else 1
        state = look(w, who, tau) if who >= 0 else rank(w, s, tau)
        count[PHASE] = 1
        if state == GONE:
            drop_row(w, who)
        elif state != DONE:
            return state
        pop(w.agenda, count)
    return DONE


@bare
def _wake(w: World, o: int, t: int) -> None:
    """Rows that wait for the object's next update hear of it."""
    w.past.objects[o].waits = False
    h = w.past.objects[o].row
    while h >= 0:
        if w.hits[h].wake >= 0:
            every = w.patterns[w.hits[h].pattern].every
            schedule(w.patterns, w.hits, w.agenda, w.past.counts, h, instant(every, t + w.hits[h].wake))
            w.hits[h].wake = -1
        h = w.hits[h].next


@bare
def _judge(w: World, o: int, t: int, words: U64, i: int) -> None:
    """Which conditions the update satisfies; rows for which that is news hear of it."""
    is_new = False
    for k in range(words.shape[1]):
        is_new = is_new or w.words[o, k] != words[i, k]
    if not is_new:
        return
    h = w.past.objects[o].row
    while h >= 0:
        s = w.hits[h].pattern
        bit = w.patterns[s].condition
        if bit >= 0 and ((w.words[o, bit // 64] ^ words[i, bit // 64]) >> np.uint64(bit % 64)) & np.uint64(1):
            schedule(w.patterns, w.hits, w.agenda, w.past.counts, h, instant(w.patterns[s].every, t))
        h = w.hits[h].next
    for k in range(words.shape[1]):
        w.words[o, k] = words[i, k]


# ------------------------------------------------------------------------------------------- new visits


@bare
def _mark(w: World, o: int) -> None:
    """The object's rows by pattern."""
    h = w.past.objects[o].row
    while h >= 0:
        w.mark[w.hits[h].pattern] = h
        h = w.hits[h].next


@bare
def _unmark(w: World, o: int) -> None:
    h = w.past.objects[o].row
    while h >= 0:
        w.mark[w.hits[h].pattern] = -1
        h = w.hits[h].next


@bare
def _arrive(w: World, o: int, t: int, x: float, y: float, cell: int) -> None:
    """The object begins a visit."""
    cells, steps, count = w.past.cells, w.past.areas.steps, w.past.counts
    _mark(w, o)
    w.past.objects[o].is_tested = _witness(w, o, t, x, y, cell)
    for k in range(cells.start[cell], cells.start[cell + 1]):
        q = cells.step[k]
        s = steps[q].pattern
        h = w.mark[s]
        if h < 0:
            if not steps[q].bears:
                continue
            h = add_row(w, s, o)
            w.mark[s] = h
        elif w.hits[h].member or w.hits[h].passed < 0:
            continue
        elif steps[w.patterns[s].first + w.patterns[s].prefix + w.hits[h].passed].order != q:
            continue  # it waits for another step
        schedule(w.patterns, w.hits, w.agenda, count, h, instant(w.patterns[s].every, t + steps[q].b))
    for k in range(len(cells.numbers)):
        q = cells.numbers[k]
        if is_near(w.past, cell, q):
            s = steps[q].pattern
            h = w.mark[s]
            if h < 0:
                h = add_row(w, s, o)
                w.mark[s] = h
            schedule(w.patterns, w.hits, w.agenda, count, h, instant(w.patterns[s].every, t + steps[q].b))
    _unmark(w, o)


@bare
def _witness(w: World, o: int, t: int, x: float, y: float, cell: int) -> bool:
    """Steps at the start of patterns that have their first witness here; whether later updates may be some too."""
    cells, steps = w.past.cells, w.past.areas.steps
    is_tested = False
    for k in range(cells.prefix_start[cell], cells.prefix_start[cell + 1]):
        q = cells.prefix_step[k]
        s = steps[q].pattern
        h = w.mark[s]
        if q - w.patterns[s].first != (w.hits[h].stage if h >= 0 else 0):
            continue
        if cells.holds[cell, q] != COVERED:
            w.past.counts[READS + 1] += 1
            if not satisfies(w.past.areas, q, x, y):
                is_tested = True
                continue
        if h < 0:
            h = add_row(w, s, o)
            w.mark[s] = h
        w.hits[h].stage += 1
        w.hits[h].stage_t = t
        if w.hits[h].stage == w.patterns[s].prefix:
            schedule(w.patterns, w.hits, w.agenda, w.past.counts, h, instant(w.patterns[s].every, t))
    return is_tested
