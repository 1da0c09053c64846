"""A row of a pattern without a score: is the object a member at an instant, and when will that be otherwise?"""

from __future__ import annotations

import math

import numpy as np

from vedette.compiled import bare, folded
from vedette.kernels.motion.agenda import instant, schedule
from vedette.kernels.motion.chains import matches, next_match, next_miss
from vedette.kernels.motion.tables import JOINED, LEFT, NEVER, TOLD, World


@folded
def passes(w: World, s: int, o: int) -> bool:
    """Whether the object's latest update satisfies the pattern's condition."""
    bit = w.patterns[s].condition
    return bool(bit < 0 or (w.words[o, bit // 64] >> np.uint64(bit % 64)) & np.uint64(1))


@bare
def reconsider(w: World, r: int, t: int) -> None:
    """Something about a row is new at t: look at it when that matters."""
    s = w.rows[r].pattern
    every = w.patterns[s].every
    n = instant(every, t)
    schedule(w, r, every, next_miss(w, r, n) if w.rows[r].member else next_match(w, r, n))


@bare
def look(w: World, r: int, tau: int) -> None:
    """Look at a row at an instant."""
    s, o = int(w.rows[r].pattern), int(w.rows[r].object)
    every = w.patterns[s].every
    n = tau // every
    w.rows[r].due = NEVER
    passed = passes(w, s, o)
    is_in = passed and matches(w, r, n)
    if is_in != w.rows[r].member:
        tell(w, r, tau, JOINED if is_in else LEFT, math.nan)
        w.rows[r].member = is_in
    if is_in:
        schedule(w, r, every, next_miss(w, r, n + 1))
    elif passed:  # a new update that satisfies the condition is told at once
        schedule(w, r, every, next_match(w, r, n + 1))


@bare
def tell(w: World, r: int, tau: int, sign: int, value: float) -> None:
    """A change of the answer that a row is about."""
    tell_of(w, int(w.rows[r].pattern), int(w.rows[r].object), tau, sign, value)


@bare
def tell_of(w: World, s: int, o: int, tau: int, sign: int, value: float) -> None:
    """A change of the answer of pattern s: about object o, where it is now."""
    n = w.counts[TOLD]
    w.counts[TOLD] += 1
    w.told[n].t = tau
    w.told[n].pattern = s
    w.told[n].object = o
    w.told[n].sign = sign
    w.told[n].score = value
    w.told[n].x = w.objects[o].x
    w.told[n].y = w.objects[o].y
