"""Rows of the table of hits come and go."""

from __future__ import annotations

from vedette.compiled import bare
from vedette.kernels.motion.tables import FREE, HITS, LOWEST, NEVER, NONE, World


@bare
def room_for(w: World, rows: int) -> bool:
    """Whether so many rows fit, and some more entries in the agenda."""
    return bool(w.past.counts[HITS] + rows <= len(w.hits))


@bare
def room_for_all(w: World) -> bool:
    """Whether every object could get a row."""
    return room_for(w, len(w.past.objects))


@bare
def add_row(w: World, s: int, o: int) -> int:
    """A row for an object and a pattern."""
    count = w.past.counts
    h: int = count[FREE]
    if h >= 0:
        count[FREE] = w.hits[h].next
    else:
        h = count[HITS]
        count[HITS] += 1
    hit = w.hits[h]
    hit.pattern = s
    hit.object = o
    hit.next = w.past.objects[o].row
    w.past.objects[o].row = h
    hit.due = NEVER
    hit.at = NONE
    hit.passed = -1
    hit.member = False
    hit.stage = 0
    hit.stage_t = NONE
    hit.wake = -1
    hit.other = -1
    hit.other_before = -1
    if w.patterns[s].choice >= LOWEST:
        following = w.patterns[s].rows
        hit.other = following
        if following >= 0:
            w.hits[following].other_before = h
        w.patterns[s].rows = h
    return h


@bare
def drop_row(w: World, h: int) -> None:
    """Forget a row. The object's next update begins a visit, which may make it anew."""
    hit = w.hits[h]
    o, s = hit.object, hit.pattern
    w.past.objects[o].is_open = False
    before = w.past.objects[o].row
    if before == h:
        w.past.objects[o].row = hit.next
    else:
        while w.hits[before].next != h:
            before = w.hits[before].next
        w.hits[before].next = hit.next
    if w.patterns[s].choice >= LOWEST:
        if hit.other_before >= 0:
            w.hits[hit.other_before].other = hit.other
        else:
            w.patterns[s].rows = hit.other
        if hit.other >= 0:
            w.hits[hit.other].other_before = hit.other_before
    hit.pattern = -1
    hit.due = NEVER
    hit.next = w.past.counts[FREE]
    w.past.counts[FREE] = h
