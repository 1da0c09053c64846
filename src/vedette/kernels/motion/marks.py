"""An update marks the steps that it satisfies, in the slice of time that it falls into."""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.compiled import bare, folded
from vedette.kernels.motion.agenda import instant, push
from vedette.kernels.motion.beats import NOT_YET
from vedette.kernels.motion.distances import satisfies
from vedette.kernels.motion.tables import FIRST_BEAT, NEVER, POINTS, READS, SEATS, World
from vedette.space import box_has


@folded
def mark(w: World, o: int, t: int, x: float, y: float, cell: int, before: int) -> None:
    """An update of object o, whose one before was at `before`."""
    b = w.beats
    w.counts[POINTS + 1] += 1
    n = _find(w, x, y, cell)
    i = w.seats.at[o]
    if i < 0:
        if n == 0:
            return
        i = _take_seat(w, o, t, before)
    for g in range(len(b.beat)):
        if n > 0 or b.beat[g].faults > 0:
            _write(w, i, g, t, n)
    for k in range(n):
        b.found[b.touched[k]] = 0


@folded
def _find(w: World, x: float, y: float, cell: int) -> int:
    """The words of the steps that a position satisfies; how many are not zero."""
    b = w.beats
    n = 0
    for k in range(b.cover_start[cell], b.cover_start[cell + 1]):
        b.found[b.cover[k].word] = b.cover[k].bits
        b.touched[n] = b.cover[k].word
        n += 1
    w.counts[READS + 1] += b.part_start[cell + 1] - b.part_start[cell]
    for k in range(b.part_start[cell], b.part_start[cell + 1]):
        part = b.part[k]
        if part.is_box:
            holds = box_has(x, y, part.x1, part.y1, part.x2, part.y2, False) != part.is_disjoint
        else:
            holds = satisfies(w.areas, part.step, x, y)
        if holds:
            if b.found[part.word] == 0:
                b.touched[n] = part.word
                n += 1
            b.found[part.word] |= part.bit
    return n


@folded
def _write(w: World, i: int, g: int, t: int, n: int) -> None:
    """Put the words of an update into a slice of a seat."""
    b, ring = w.beats, w.seats.ring
    beat = b.beat[g]
    if t < beat.low or t > beat.high:
        _turn_to(w, g, t)
    if beat.number > w.seats.upto[i, g]:
        turn(w, i, g, beat.number)
    is_hit = False
    for k in range(n):
        j = b.touched[k] - beat.cover
        if 0 <= j < beat.hits:
            ring[i, beat.place + j] |= b.found[b.touched[k]]
            is_hit = True
    for k in range(beat.fault, beat.fault + beat.faults):
        ring[i, beat.place + b.fault[k].word] |= b.fault[k].always & ~b.found[b.fault[k].hit]
    if is_hit:
        w.seats.newest[i, g] = max(w.seats.newest[i, g], beat.number)
        if beat.due == NEVER:
            beat.due = beat.number // beat.slices * beat.every
            push(w.agenda, w.counts, beat.due, FIRST_BEAT - g)


@bare
def _turn_to(w: World, g: int, t: int) -> None:
    """The slice that a time belongs to is the one that is written to."""
    beat, ends = w.beats.beat[g], w.beats.ends
    beat.number = slice_at(w, g, t)
    n, d = beat.number // beat.slices, beat.number % beat.slices
    begin = (n - 1) * beat.every
    beat.low = begin + 1 + (ends[beat.first_end + d - 1] if d > 0 else 0)
    beat.high = begin + ends[beat.first_end + d]
    beat.place = beat.at + (beat.number % beat.ring) * beat.words


@folded
def slice_at(w: World, g: int, t: int) -> int:
    """The number of the slice that a time belongs to."""
    beat, ends = w.beats.beat[g], w.beats.ends
    n = instant(beat.every, t)
    since = t - (n - 1) * beat.every
    d = 0
    while ends[beat.first_end + d] < since:
        d += 1
    number: int = n * beat.slices + d
    return number


@folded
def turn(w: World, i: int, g: int, number: int) -> int:
    """Where a slice stands in a seat; slices up to it that nothing was written to yet are empty."""
    beat, upto = w.beats.beat[g], w.seats.upto
    if number > upto[i, g]:
        for k in range(max(upto[i, g] + 1, number - beat.ring + 1), number + 1):
            _clear(w, i, beat.at + (k % beat.ring) * beat.words, beat.words)
        upto[i, g] = number
    place: int = beat.at + (number % beat.ring) * beat.words
    return place


@folded
def _clear(w: World, i: int, place: int, words: int) -> None:
    for j in range(place, place + words):
        w.seats.ring[i, j] = 0


@bare
def _take_seat(w: World, o: int, t: int, before: int) -> Any:
    """A seat for an object that satisfies something for the first time in a while.

    Whatever it did before in reach of a window satisfied nothing, so it was a fault for every ALWAYS step; of all that
    the last is enough, since no window that reaches back to an earlier one leaves it out.
    """
    b, seats = w.beats, w.seats
    i = w.counts[SEATS]
    w.counts[SEATS] += 1
    seats.at[o] = i
    seats.object[i] = o
    for m in range(seats.member.shape[1]):
        seats.member[i, m] = 0
    for g in range(len(b.beat)):
        beat = b.beat[g]
        seats.newest[i, g] = NOT_YET
        seats.upto[i, g] = NOT_YET
        number = slice_at(w, g, t)
        turn(w, i, g, number)
        if before <= NOT_YET or beat.faults == 0:
            continue
        earlier = slice_at(w, g, before)
        if earlier > number - beat.ring:
            place = beat.at + (earlier % beat.ring) * beat.words
            for k in range(beat.fault, beat.fault + beat.faults):
                seats.ring[i, place + b.fault[k].word] |= b.fault[k].always & _standing_at(w, b.fault[k].member, before)
    return i


@bare
def _standing_at(w: World, m: int, t: int) -> Any:
    """The patterns of a word of answers that stood already at a time."""
    b = w.beats
    found = np.uint64(0)
    for bit in range(64):
        s = b.slot[64 * m + bit]
        if s >= 0 and w.patterns[s].since <= t:
            found |= np.uint64(1) << np.uint64(bit)
    return found


@bare
def leave_seat(w: World, i: int) -> None:
    """A seat is free: the last one takes its place."""
    seats = w.seats
    last = w.counts[SEATS] - 1
    w.counts[SEATS] = last
    seats.at[seats.object[i]] = -1
    if i != last:
        seats.object[i] = seats.object[last]
        seats.at[seats.object[i]] = i
        for j in range(seats.ring.shape[1]):
            seats.ring[i, j] = seats.ring[last, j]
        for g in range(seats.newest.shape[1]):
            seats.newest[i, g] = seats.newest[last, g]
            seats.upto[i, g] = seats.upto[last, g]
        for m in range(seats.member.shape[1]):
            seats.member[i, m] = seats.member[last, m]
