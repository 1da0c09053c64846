"""What is forgotten: spans that have passed, rows that nothing can come of any more, rows of patterns that are gone."""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.compiled import bare
from vedette.kernels.motion.agenda import instant, push
from vedette.kernels.motion.rows import link, place
from vedette.kernels.motion.spans import clear, trim
from vedette.kernels.motion.tables import AGENDA, FIRST_BEAT, LONG_AGO, NEVER, ROWS, SETS, World


@bare
def sweep(w: World, now: int) -> None:
    """All instants before `now` have been asked: close the gaps that rows leave which nothing can come of."""
    for o in range(len(w.objects)):
        w.objects[o].row = -1
        w.objects[o].running = 0
        w.objects[o].mask = 0
    for s in range(len(w.patterns)):
        w.patterns[s].rows = -1
    w.places[:] = -1
    w.seen_until[:] = LONG_AGO
    rows, count = w.counts[ROWS], w.counts
    kept: Any = np.int64(0)
    sets: Any = np.int64(0)
    for r in range(rows):
        if not _lives(w, r, now):
            continue
        entries = w.patterns[w.rows[r].pattern].entries
        first = w.rows[r].entry
        w.rows[kept] = w.rows[r]
        w.rows[kept].entry = sets
        for e in range(entries):
            w.sets[sets + e] = w.sets[first + e]
            if w.sets[sets + e].is_running:
                w.objects[w.rows[kept].object].running += 1
        link(w, kept)
        kept += 1
        sets += entries
    count[ROWS], count[SETS] = kept, sets


@bare
def _lives(w: World, r: int, now: int) -> bool:
    """Whether something may come of a row; what has passed is forgotten."""
    s = w.rows[r].pattern
    if s < 0:
        return False
    n = instant(w.patterns[s].every, now)
    lives = bool(w.rows[r].member)
    for q in range(w.patterns[s].first, w.patterns[s + 1].first):
        step = w.areas.steps[q]
        if step.entry >= 0:
            trim(w, w.rows[r].entry + step.entry, n)
            lives = lives or (step.bears and w.sets[w.rows[r].entry + step.entry].top >= n)
    if not lives:
        for e in range(w.rows[r].entry, w.rows[r].entry + w.patterns[s].entries):
            clear(w, e)
    return lives


@bare
def forget_pattern(w: World, s: int) -> None:
    """The rows of a pattern are nobody's; the next sweep takes them away."""
    for r in range(w.counts[ROWS]):
        if w.rows[r].pattern == s:
            for e in range(w.rows[r].entry, w.rows[r].entry + w.patterns[s].entries):
                clear(w, e)
            w.rows[r].pattern = -1
            w.rows[r].due = NEVER


@bare
def begin_anew(w: World) -> None:
    """The next update of each object is news to every pattern."""
    for o in range(len(w.objects)):
        w.objects[o].cell = -1
    w.seen_until[:] = LONG_AGO


@bare
def make_agenda(w: World) -> None:
    """Fill the agenda with what is due."""
    w.counts[AGENDA] = 0
    for r in range(w.counts[ROWS]):
        if w.rows[r].pattern >= 0 and w.rows[r].due != NEVER:
            push(w.agenda, w.counts, w.rows[r].due, r)
    for s in range(len(w.patterns)):
        if w.patterns[s].every > 0 and w.patterns[s].due != NEVER:
            push(w.agenda, w.counts, w.patterns[s].due, -1 - s)
    for g in range(len(w.beats.beat)):
        if w.beats.beat[g].due != NEVER:
            push(w.agenda, w.counts, w.beats.beat[g].due, FIRST_BEAT - g)


@bare
def enter_places(w: World) -> None:
    """Enter all rows where they will be found: there are other places."""
    w.places[:] = -1
    for r in range(w.counts[ROWS]):
        place(w, r)
