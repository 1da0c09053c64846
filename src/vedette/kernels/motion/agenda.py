"""Who has to be looked at again, and when: a binary heap.

An entry is valid while its time is the one that its row (or pattern) is due at; others are passed over when they come
up. So an earlier time is simply added, and a later one need not be found.
"""

from __future__ import annotations

from vedette.compiled import bare, folded
from vedette.kernels.arrays import I64
from vedette.kernels.motion.tables import AGENDA, NEVER, Table, World


@folded
def push(agenda: Table, count: I64, due: int, who: int) -> None:
    """Add an entry."""
    i = count[AGENDA]
    count[AGENDA] += 1
    while i > 0:
        above = (i - 1) >> 1
        if agenda[above].due <= due:
            break
        agenda[i].due = agenda[above].due
        agenda[i].who = agenda[above].who
        i = above
    agenda[i].due = due
    agenda[i].who = who


@bare
def pop(agenda: Table, count: I64) -> None:
    """Take the first entry away."""
    count[AGENDA] -= 1
    n = count[AGENDA]
    due, who = agenda[n].due, agenda[n].who
    i = 0
    while True:
        below = 2 * i + 1
        if below >= n:
            break
        if below + 1 < n and agenda[below + 1].due < agenda[below].due:
            below += 1
        if agenda[below].due >= due:
            break
        agenda[i].due = agenda[below].due
        agenda[i].who = agenda[below].who
        i = below
    agenda[i].due = due
    agenda[i].who = who


@folded
def instant(every: int, t: int) -> int:
    """The number of the first instant at t or later."""
    return -((-t) // every)


@folded
def schedule(w: World, r: int, every: int, n: int) -> None:
    """Look at a row at instant n, unless that happens before anyway."""
    if n != NEVER and n * every < w.rows[r].due:
        w.rows[r].due = n * every
        push(w.agenda, w.counts, n * every, r)


@folded
def schedule_pattern(w: World, s: int, n: int) -> None:
    """Look at a pattern with a score at instant n, unless that happens before anyway."""
    every = w.patterns[s].every
    if n != NEVER and n * every < w.patterns[s].due:
        w.patterns[s].due = n * every
        push(w.agenda, w.counts, n * every, -1 - s)
