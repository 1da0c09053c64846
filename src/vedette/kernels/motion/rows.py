"""Rows of the table of hits: found by object and pattern; each with the sets of instants of its pattern's steps.

Rows are only ever added; `forget` closes the gaps. They are found by hashing; a bit of the object says beforehand that
most are not there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.compiled import bare, folded
from vedette.kernels.motion.tables import NEVER, ROWS, SETS, World

NOBODY: Any = np.int64(-1)


@folded
def bit_of(s: int) -> Any:
    """The bit of a pattern in the mask of an object."""
    return np.uint64(1) << np.uint64(s & 63)


@folded
def _hash(o: int, s: int) -> Any:
    """Bits of both, mixed; no product leaves 63 bits, so that Python's numbers say the same."""
    mixed = o * 2654435761 + s * 2246822519
    mixed = ((mixed ^ (mixed >> 17)) & 0x7FFFFFFF) * 2654435761
    return mixed >> 24


@folded
def find(w: World, o: int, s: int) -> Any:
    """The row of an object and a pattern, -1."""
    if not w.objects[o].mask & bit_of(s):
        return NOBODY
    last = len(w.places) - 1
    i = _hash(o, s) & last
    while w.places[i] >= 0:
        r: Any = np.int64(w.places[i])
        if w.rows[r].object == o and w.rows[r].pattern == s:
            return r
        i = (i + 1) & last
    return NOBODY


@bare
def place(w: World, r: int) -> None:
    """Enter a row where it will be found."""
    last = len(w.places) - 1
    i = _hash(int(w.rows[r].object), int(w.rows[r].pattern)) & last
    while w.places[i] >= 0:
        i = (i + 1) & last
    w.places[i] = r


@bare
def link(w: World, r: int) -> None:
    """Put a row into the lists of its object and its pattern."""
    o, s = int(w.rows[r].object), int(w.rows[r].pattern)
    w.rows[r].next = w.objects[o].row
    w.objects[o].row = r
    w.objects[o].mask |= bit_of(s)
    if w.patterns[s].has_score:
        w.rows[r].other = w.patterns[s].rows
        w.patterns[s].rows = r
    place(w, r)


@bare
def add_row(w: World, s: int, o: int) -> int:
    """A row for an object and a pattern."""
    count = w.counts
    r: int = count[ROWS]
    count[ROWS] += 1
    row = w.rows[r]
    row.pattern = s
    row.object = o
    row.entry = count[SETS]
    row.due = NEVER
    row.member = False
    row.best = False
    row.other = -1
    row.score = np.nan
    for e in range(count[SETS], count[SETS] + w.patterns[s].entries):
        w.sets[e].head = w.sets[e].tail = -1
        w.sets[e].top = -NEVER
        w.sets[e].is_running = False
    count[SETS] += w.patterns[s].entries
    link(w, r)
    return r
