"""All objects with a seat at an instant: in which answers are they, by the slices that its windows hold?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vedette.compiled import bare, folded
from vedette.kernels.motion.agenda import instant, push
from vedette.kernels.motion.looks import tell_of
from vedette.kernels.motion.marks import leave_seat, turn
from vedette.kernels.motion.tables import (
    DONE,
    FIRST_BEAT,
    JOINED,
    LEFT,
    NEVER,
    PHASE,
    POINTS,
    ROOM,
    SEATS,
    TOLD,
    World,
)


@bare
def judge(w: World, g: int, tau: int) -> int:
    """Look at a beat: DONE, or ROOM where that has to be made first; what was told before is not told again."""
    beat = w.beats.beat[g]
    base = tau // beat.every * beat.slices
    lives = False
    i = w.counts[SEATS] - 1
    while i >= 0:
        if w.counts[TOLD] + beat.patterns > len(w.told):
            return ROOM
        is_near = w.seats.newest[i, g] >= base + beat.earliest
        may_match = w.seats.newest[i, g] >= base + beat.latest
        if may_match:
            turn(w, i, g, base + beat.slices - 1)
        is_member = False
        for m in range(beat.member, beat.member + beat.wide):
            now = _matches(w, i, g, m, base) if may_match else np.uint64(0)
            changed = now ^ w.seats.member[i, m]
            if changed:
                w.seats.member[i, m] = now
                _tell_changes(w, int(w.seats.object[i]), m, tau, changed, now)
            is_member = is_member or now != 0
        if is_near or is_member:
            lives = True
        elif not _is_wanted(w, i, tau):
            leave_seat(w, i)
        i -= 1
    beat.is_new = False
    beat.due = NEVER
    if lives:
        beat.due = tau + beat.every
        push(w.agenda, w.counts, beat.due, FIRST_BEAT - g)
    return DONE


@folded
def _matches(w: World, i: int, g: int, m: int, base: int) -> Any:
    """The patterns of a word that an object matches: conditions, then step by step while any is left."""
    b, o = w.beats, w.seats.object[i]
    left = b.present[m]
    for k in range(b.filter_start[m], b.filter_start[m + 1]):
        bit = b.filter[k].bit
        if not (w.words[o, bit // 64] >> np.uint64(bit % 64)) & np.uint64(1):
            left &= ~b.filter[k].mask
    for k in range(b.term_start[m], b.term_start[m + 1]):
        if left == 0:
            break
        term = b.term[k]
        seen = np.uint64(0)
        for v in range(term.first, term.stop):
            window = b.window[v]
            if window.mask & left:
                seen |= _any(w, i, g, base + window.low, base + window.high, window.word) & window.mask
                w.counts[POINTS + w.counts[PHASE]] += window.high - window.low + 1
        left &= ~seen if term.is_fault else seen | term.absent
    return left


@folded
def _any(w: World, i: int, g: int, first: int, last: int, word: int) -> Any:
    """A word of some slices, by OR."""
    beat, ring = w.beats.beat[g], w.seats.ring
    found = np.uint64(0)
    k = first % beat.ring
    for _ in range(first, last + 1):
        found |= ring[i, beat.at + k * beat.words + word]
        k += 1
        if k == beat.ring:
            k = 0
    return found


@bare
def _tell_changes(w: World, o: int, m: int, tau: int, changed: Any, now: Any) -> None:
    """Every pattern whose bit has changed."""
    for bit in range(64):
        if (changed >> np.uint64(bit)) & np.uint64(1):
            joined = (now >> np.uint64(bit)) & np.uint64(1)
            tell_of(w, int(w.beats.slot[64 * m + bit]), o, tau, JOINED if joined else LEFT, math.nan)


@folded
def _is_wanted(w: World, i: int, tau: int) -> bool:
    """Whether any beat may still ask for what an object did."""
    for g in range(len(w.beats.beat)):
        beat = w.beats.beat[g]
        if w.seats.newest[i, g] >= instant(beat.every, tau) * beat.slices + beat.earliest:
            return True
        for m in range(beat.member, beat.member + beat.wide):
            if w.seats.member[i, m]:
                return True
    return False
