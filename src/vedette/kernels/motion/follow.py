"""The loop: updates one by one, and between them the instants at which something is due.

At an instant all updates up to it have been taken in, and none after it. An update in the same cell as the one before
costs little: it is news only where the cell belongs to an area in part, or once it reaches another instant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.compiled import bare, folded
from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.grid import cell_of
from vedette.kernels.motion.agenda import instant, pop, schedule
from vedette.kernels.motion.chains import fault, hit
from vedette.kernels.motion.distances import satisfies
from vedette.kernels.motion.looks import look, reconsider
from vedette.kernels.motion.marks import mark
from vedette.kernels.motion.ranks import rank_due, wake_patterns
from vedette.kernels.motion.rows import add_row, find
from vedette.kernels.motion.tables import (
    AGENDA,
    BASE,
    BOXES,
    COVERED,
    DONE,
    FIRST_BEAT,
    GREY,
    NEVER,
    PHASE,
    POINTS,
    READS,
    ROOM,
    ROWS,
    SEATS,
    SEEN,
    SETS,
    SPANS,
    TOLD,
    UPDATES,
    WAITING,
    World,
)
from vedette.kernels.motion.trail import note
from vedette.kernels.motion.verdicts import judge


@bare
def follow(
    w: World, t: I64, slot: I32, x: F64, y: F64, is_late: B1, words: U64, first: int, stop: int, end: int
) -> tuple[int, int]:
    """Take in events first .. stop and all instants before `end`; (DONE, RECALL or ROOM, the next event)."""
    i = first
    while True:
        limit = t[i] if i < stop else end
        if w.counts[AGENDA] > 0 and w.agenda[0].due < limit:
            state = _catch_up(w, limit)
            if state != DONE:
                return state, i
        if i == stop:
            return DONE, i
        if not _has_room(w):
            return ROOM, i
        earliest = w.trail.times[w.counts[UPDATES] - w.counts[BASE]]  # updates may stand in the order of objects
        o: Any = np.int64(slot[i])
        w.objects[o].x = x[i]
        w.objects[o].y = y[i]
        if not is_late[i]:
            _judge(w, o, t[i], words, i)
            before = w.objects[o].last
            w.objects[o].last = t[i]
            cell = cell_of(w.cells.grid, x[i], y[i])
            if len(w.beats.beat) > 0:
                mark(w, o, t[i], x[i], y[i], cell, before)
            if cell != w.objects[o].cell or t[i] >= w.objects[o].until:
                w.objects[o].cell = cell
                w.objects[o].until = _attend(w, o, t[i], x[i], y[i], cell, before)
            if w.trail.pane > 0:
                note(w, o, t[i], x[i], y[i])
        if w.counts[WAITING] > 0:
            wake_patterns(w, min(t[i], earliest))
        i += 1


@folded
def _has_room(w: World) -> bool:
    """Whether everything that one update can bring fits: a span each step, and what steps of a chain hand on."""
    count, patterns, steps = w.counts, len(w.patterns), len(w.areas.steps)
    handed_on = min(w.spare, (count[SPANS] + steps) << w.doublings)
    return bool(
        count[ROWS] + patterns <= len(w.rows)
        and count[SETS] + steps <= len(w.sets)
        and count[SPANS] + steps + handed_on <= len(w.spans)
        and (len(w.beats.beat) == 0 or count[SEATS] < len(w.seats.object))
        and count[AGENDA] + 2 * (patterns + steps) + len(w.beats.beat) <= len(w.agenda)
        and (w.trail.pane == 0 or count[UPDATES] - count[BASE] < len(w.trail.updates))
        and (w.trail.pane == 0 or count[BOXES] < len(w.trail.boxes))
    )


@bare
def _catch_up(w: World, limit: int) -> int:
    """Look at all that is due before `limit`."""
    count = w.counts
    while count[AGENDA] > 0 and w.agenda[0].due < limit:
        tau, who = w.agenda[0].due, w.agenda[0].who
        if not _is_due(w, tau, who):
            pop(w.agenda, count)
            continue
        if count[TOLD] + 1 > len(w.told) or count[AGENDA] + 1 > len(w.agenda):
            return ROOM
        if who <= FIRST_BEAT:
            count[PHASE] = 0 if w.beats.beat[FIRST_BEAT - who].is_new else 1
            state = judge(w, FIRST_BEAT - who, tau)
            count[PHASE] = 1
            if state != DONE:
                return state
            continue
        if who >= 0:
            s = w.rows[who].pattern
            if w.patterns[s].started == NEVER:
                w.patterns[s].started = tau
            pop(w.agenda, count)
            look(w, who, tau)
            continue
        state = rank_due(w, tau)
        count[PHASE] = 1
        if state != DONE:
            return state
    return DONE


@folded
def _is_due(w: World, tau: int, who: int) -> bool:
    """Whether an entry of the agenda is still valid."""
    if who <= FIRST_BEAT:
        return bool(w.beats.beat[FIRST_BEAT - who].due == tau)
    return bool(w.rows[who].due == tau if who >= 0 else w.patterns[-1 - who].due == tau)


@folded
def _judge(w: World, o: int, t: int, words: U64, i: int) -> None:
    """Which conditions the update satisfies; rows for which that is news hear of it."""
    is_new = False
    for k in range(words.shape[1]):
        is_new = is_new or w.words[o, k] != words[i, k]
    if not is_new:
        return
    r = int(w.objects[o].row)
    while r >= 0:
        s = w.rows[r].pattern
        bit = w.patterns[s].condition
        if bit >= 0 and ((w.words[o, bit // 64] ^ words[i, bit // 64]) >> np.uint64(bit % 64)) & np.uint64(1):
            every = w.patterns[s].every
            if not w.patterns[s].has_score:
                schedule(w, r, every, instant(every, t))
        r = int(w.rows[r].next)
    for k in range(words.shape[1]):
        w.words[o, k] = words[i, k]


@folded
def _attend(w: World, o: int, t: int, x: float, y: float, cell: int, before: int) -> int:
    """What an update says to all steps; until when others in the same cell say nothing more."""
    cells, steps = w.cells, w.areas.steps
    w.counts[POINTS + 1] += 1
    until = NEVER
    if w.objects[o].running > 0:
        _find_faults(w, o, t, x, y, cell)
    for k in range(cells.start[cell], cells.start[cell + 1]):
        q = cells.step[k] >> 1
        place = q & (SEEN - 1)
        if w.seen[o, place] == q and t < w.seen_until[o, place]:
            until = min(until, w.seen_until[o, place])
            continue
        s = steps[q].pattern
        r = find(w, o, s)
        if r < 0 and not steps[q].bears:
            continue
        if cells.step[k] & 1:
            until = t + 1
            w.counts[READS + 1] += 1
            if not satisfies(w.areas, q, x, y):
                continue
        again = _again(w, q, t)
        until = min(until, again)
        if not steps[q].always and not steps[q].follows:
            w.seen[o, place] = q
            w.seen_until[o, place] = again
        if r < 0:
            r = add_row(w, s, o)
        if hit(w, r, q, t, before) and not w.patterns[s].has_score:
            reconsider(w, r, t)
    return until


@folded
def _again(w: World, q: int, t: int) -> int:
    """When an update that satisfies step q, after one at t that does, is news."""
    step, every = w.areas.steps[q], w.patterns[w.areas.steps[q].pattern].every
    if step.follows:
        return t + 1
    return ((t + step.a) // every + 1) * every - step.a if step.windowed else NEVER


@bare
def _find_faults(w: World, o: int, t: int, x: float, y: float, cell: int) -> None:
    """Steps that were satisfied by all updates up to here and are not by this one."""
    r = int(w.objects[o].row)
    while r >= 0:
        s = w.rows[r].pattern
        for q in range(w.patterns[s].first, w.patterns[s + 1].first):
            step = w.areas.steps[q]
            if not step.always or step.entry < 0 or not w.sets[w.rows[r].entry + step.entry].is_running:
                continue
            held = w.cells.holds[cell, q]
            if held == COVERED:
                continue
            if held == GREY:
                w.counts[READS + 1] += 1
                if satisfies(w.areas, q, x, y):
                    continue
            if fault(w, r, q, t) and not w.patterns[s].has_score:
                reconsider(w, r, t)
        r = int(w.rows[r].next)
