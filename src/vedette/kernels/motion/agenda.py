"""Who has to be looked at again, and when: a binary heap.

An entry is valid while its time is the one that its row (or pattern) is due at; others are passed over when they come
up. So an earlier time is simply added, and a later one need not be found.
"""

from __future__ import annotations

from vedette.compiled import bare
from vedette.kernels.arrays import I64
from vedette.kernels.motion.tables import AGENDA, LOWEST, Table


@bare
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


@bare
def instant(every: int, t: int) -> int:
    """The first instant at t or later."""
    return -((-t) // every) * every


@bare
def instant_after(every: int, t: int) -> int:
    """The first instant after t."""
    return (t // every + 1) * every


@bare
def schedule(patterns: Table, hits: Table, agenda: Table, count: I64, h: int, due: int) -> None:
    """Look at a row at `due`, unless that happens before anyway."""
    s = hits[h].pattern
    if patterns[s].choice >= LOWEST:
        if due < patterns[s].due:
            patterns[s].due = due
            push(agenda, count, due, -1 - s)
    elif due < hits[h].due:
        hits[h].due = due
        push(agenda, count, due, h)
