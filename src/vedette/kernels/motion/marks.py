"""An update marks the steps that it satisfies, in the slice of time that it falls into."""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.compiled import bare
from vedette.kernels.motion.agenda import instant, push
from vedette.kernels.motion.beats import NOT_YET
from vedette.kernels.motion.distances import satisfies
from vedette.kernels.motion.tables import FIRST_BEAT, NEVER, POINTS, READS, SEATS, World


@bare
def mark(w: World, o: int, t: int, x: float, y: float, cell: int, before: int) -> None:
    """An update of object o, whose one before was at `before`."""
    b, counts = w.beats, w.counts
    found = b.found
    some = np.uint64(0)
    for j in range(len(found)):
        found[j] = b.covered[cell, j]
        some |= found[j]
    counts[POINTS + 1] += 1
    for k in range(b.part_start[cell], b.part_start[cell + 1]):
        counts[READS + 1] += 1
        if satisfies(w.areas, b.part[k].step, x, y):
            found[b.part[k].word] |= b.part[k].bit
            some |= b.part[k].bit
    if w.seats.at[o] < 0:
        if some == 0:
            return
        _take_seat(w, o, t, before)
    i = w.seats.at[o]
    for g in range(len(b.beat)):
        _write(w, i, g, slice_at(w, g, t))


@bare
def _write(w: World, i: int, g: int, number: int) -> None:
    """Put the words of an update into a slice of a seat."""
    b = w.beats
    beat = b.beat[g]
    place = turn(w, i, g, number)
    some = np.uint64(0)
    for j in range(beat.hits):
        word = b.found[beat.cover + j]
        w.seats.ring[i, place + j] |= word
        some |= word
        hit = b.hit[beat.cover + j]
        if hit.fault >= 0:
            w.seats.ring[i, place + hit.fault] |= hit.always & ~word
    if some != 0:
        w.seats.newest[i, g] = max(w.seats.newest[i, g], number)
        if beat.due == NEVER:
            period = number // beat.slices
            b.beat[g].due = period * beat.every
            push(w.agenda, w.counts, b.beat[g].due, FIRST_BEAT - g)


@bare
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


@bare
def turn(w: World, i: int, g: int, number: int) -> int:
    """Where a slice stands in a seat; slices up to it that nothing was written to yet are empty."""
    beat, upto = w.beats.beat[g], w.seats.upto
    if number > upto[i, g]:
        for k in range(max(upto[i, g] + 1, number - beat.ring + 1), number + 1):
            _clear(w, i, beat.at + (k % beat.ring) * beat.words, beat.words)
        upto[i, g] = number
    place: int = beat.at + (number % beat.ring) * beat.words
    return place


@bare
def _clear(w: World, i: int, place: int, words: int) -> None:
    for j in range(place, place + words):
        w.seats.ring[i, j] = 0


@bare
def _take_seat(w: World, o: int, t: int, before: int) -> None:
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
        if before <= NOT_YET or beat.words == beat.hits:
            continue
        earlier = slice_at(w, g, before)
        if earlier > number - beat.ring:
            place = beat.at + (earlier % beat.ring) * beat.words
            for j in range(beat.hits):
                hit = b.hit[beat.cover + j]
                if hit.fault >= 0:
                    mask = hit.always & _standing_at(w, g, j, before)
                    seats.ring[i, place + hit.fault] |= mask


@bare
def _standing_at(w: World, g: int, j: int, t: int) -> Any:
    """The patterns of a word of hits that stood already at a time."""
    b = w.beats
    m = b.hit[b.beat[g].cover + j].member
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
