"""Which patterns are kept as bits, and how their bits lie: the tables of `kernels.motion.beats`.

In: plans of patterns with their places in a beat. Out: a `Layout` for each beat, the tables of all of them. When
patterns come or go seats are carried from one layout to the next: a pattern keeps its bit while it stands.
A layout only follows from the patterns that are in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from vedette.families.patterns import PatternPlan, StepPlan
from vedette.kernels.arrays import I64, U8
from vedette.kernels.motion.beats import BEAT, COVER, FAULT, FILTER, NOT_YET, PART, TERM, WINDOW, Beats, Seats, Table
from vedette.kernels.motion.tables import COVERED, GREY, NEVER, Areas, records
from vedette.kernels.shapes import RECT

ONE = np.uint64(1)


def suits(plan: PatternPlan) -> bool:
    """Whether a pattern can be kept as bits: nothing is measured, all steps have windows."""
    return not plan.has_score and all(step.windowed for step in plan.steps)


@dataclass(frozen=True)
class Place:
    """A pattern in a beat: its bit, its number and slot, its first step."""

    index: int
    qid: int
    slot: int
    first: int
    plan: PatternPlan


class Layout:
    """How the bits of a beat lie."""

    def __init__(self, every: int, places: Iterable[Place]) -> None:
        self.every = every
        self.places = {place.index: place for place in places}

    def steps(self, k: int) -> dict[int, StepPlan]:
        """The k-th steps, by index."""
        return {i: place.plan.steps[k] for i, place in self.places.items() if k < len(place.plan.steps)}

    @cached_property
    def depth(self) -> int:
        """The most steps of a pattern."""
        return max(len(place.plan.steps) for place in self.places.values())

    @cached_property
    def ends(self) -> list[int]:
        """The last times of slices, since the instant before."""
        windows = {(step.a, step.b) for place in self.places.values() for step in place.plan.steps}
        found = {end % self.every or self.every for a, b in windows for end in (-a - 1, -b)}
        return sorted(found | {self.every})

    def number(self, t: int) -> int:
        """The slice that a time belongs to."""
        n = -((-t) // self.every)
        since = t - (n - 1) * self.every
        return n * len(self.ends) + next(d for d, end in enumerate(self.ends) if since <= end)

    def begin(self, number: int) -> int:
        """The first time of a slice."""
        n, d = divmod(number, len(self.ends))
        return (n - 1) * self.every + (self.ends[d - 1] if d else 0) + 1

    @cached_property
    def earliest(self) -> int:
        """The first slice that an instant looks at, counted from the first that ends with it."""
        return min(self.number(-step.a) for place in self.places.values() for step in place.plan.steps)

    @cached_property
    def latest(self) -> int:
        """The first slice of the latest window of a pattern, counted like that; of all patterns the least."""
        return min(max(self.number(-step.a) for step in place.plan.steps) for place in self.places.values())

    @property
    def ring(self) -> int:
        """Slices that are kept."""
        return len(self.ends) - self.earliest

    @cached_property
    def hit_at(self) -> list[int]:
        """By step where its words of hits begin, and the end."""
        return [0, *np.cumsum([_words(self.steps(k)) for k in range(self.depth)]).tolist()]

    @cached_property
    def fault_at(self) -> list[int]:
        """By step where its words of faults begin, and the end."""
        always = [{i for i, step in self.steps(k).items() if step.always} for k in range(self.depth)]
        return [self.hit_at[-1], *(self.hit_at[-1] + np.cumsum([_words(some) for some in always])).tolist()]

    @property
    def words(self) -> int:
        """Words of a slice."""
        return self.fault_at[-1]

    @property
    def wide(self) -> int:
        """Words of an answer."""
        return _words(self.places)

    @property
    def size(self) -> int:
        """Words of a seat."""
        return self.ring * self.words


def _words(indexes: Iterable[int]) -> int:
    return max(indexes, default=-1) // 64 + 1


def _mask(indexes: Iterable[int]) -> np.uint64:
    """Bits of the indexes, all of one word."""
    return np.uint64(sum(1 << (i % 64) for i in indexes))


# ---------------------------------------------------------------------------------------------- tables


def lay(
    layouts: list[Layout], areas: Areas | None, sheets: Mapping[int, U8], bits: Mapping[Any, int], cells: int
) -> Beats:
    """The tables of beats. `sheets`: by slot what of each cell satisfies each step; `bits`: of conditions."""
    beat = records(BEAT, len(layouts))
    at = cover = member = first_end = 0
    faults: list[Any] = []
    for record, layout in zip(beat, layouts, strict=True):
        record.every, record.slices, record.first_end = layout.every, len(layout.ends), first_end
        record.ring, record.words, record.hits = layout.ring, layout.words, layout.hit_at[-1]
        record.at, record.cover, record.member, record.wide = at, cover, member, layout.wide
        record.earliest, record.latest, record.patterns = layout.earliest, layout.latest, len(layout.places)
        record.due, record.is_new = NEVER, True
        record.low, record.high = 0, -1
        record.fault = len(faults)
        faults += _faults(layout, cover, member)
        record.faults = len(faults) - record.fault
        at, cover, member = at + layout.size, cover + layout.hit_at[-1], member + layout.wide
        first_end += len(layout.ends)
    present, slot = np.zeros(member, np.uint64), np.full(64 * member, -1, np.int64)
    terms: list[Any] = []
    windows: list[Any] = []
    filters: list[Any] = []
    term_start, filter_start = [0], [0]
    for g, layout in enumerate(layouts):
        for m in range(layout.wide):
            mine = {i: place for i, place in layout.places.items() if i // 64 == m}
            present[beat.member[g] + m] = _mask(mine)
            for i, place in mine.items():
                slot[64 * beat.member[g] + i] = place.slot
            for some, is_fault, word, absent in _steps_of(layout, m):
                first = len(windows)
                windows += _windows(layout, some, word)
                terms.append((first, len(windows), absent, is_fault))
            filters += _filters(mine.values(), bits)
            term_start.append(len(terms))
            filter_start.append(len(filters))
    cover_start, covers, part_start, parts = _cells(layouts, beat, areas, sheets, cells)
    ends = np.array([end for layout in layouts for end in layout.ends], np.int64)
    return Beats(
        beat,
        ends,
        _table(FAULT, faults),
        cover_start,
        covers,
        part_start,
        parts,
        np.array(term_start, np.int64),
        _table(TERM, terms),
        _table(WINDOW, windows),
        np.array(filter_start, np.int64),
        _table(FILTER, filters),
        present,
        slot,
        np.zeros(cover, np.uint64),
        np.zeros(cover, np.int64),
    )


def _faults(layout: Layout, cover: int, member: int) -> list[tuple[int, int, np.uint64, int]]:
    """For each word of faults: where it stands, its word of hits, its ALWAYS steps, its word of answers."""
    found = []
    for k in range(layout.depth):
        always = {i for i, step in layout.steps(k).items() if step.always}
        for m in range(_words(always)):
            some = {i for i in always if i // 64 == m}
            if some:
                found.append((layout.fault_at[k] + m, cover + layout.hit_at[k] + m, _mask(some), member + m))
    return found


def _steps_of(layout: Layout, m: int) -> list[tuple[dict[int, StepPlan], bool, int, np.uint64]]:
    """The steps of a word of patterns, with their word in a slice, those that look at the fewest slices first."""
    found = []
    mine = {i for i in layout.places if i // 64 == m}
    for k in range(layout.depth):
        steps = {i: step for i, step in layout.steps(k).items() if i in mine}
        if steps:
            found.append((steps, False, layout.hit_at[k] + m, _mask(mine - steps.keys())))
        always = {i: step for i, step in steps.items() if step.always}
        if always:
            found.append((always, True, layout.fault_at[k] + m, np.uint64(0)))
    return sorted(found, key=lambda each: max(step.a - step.b for step in each[0].values()))


def _windows(layout: Layout, steps: dict[int, StepPlan], word: int) -> list[tuple[int, int, int, np.uint64]]:
    by_window: dict[tuple[int, int], list[int]] = {}
    for i, step in steps.items():
        by_window.setdefault((step.a, step.b), []).append(i)
    return [(layout.number(-a), layout.number(-b), word, _mask(some)) for (a, b), some in sorted(by_window.items())]


def _filters(places: Iterable[Place], bits: Mapping[Any, int]) -> list[tuple[int, np.uint64]]:
    by_bit: dict[int, list[int]] = {}
    for place in places:
        if place.plan.condition is not None:
            by_bit.setdefault(bits[place.plan.condition], []).append(place.index)
    return [(bit, _mask(some)) for bit, some in sorted(by_bit.items())]


def _cells(
    layouts: list[Layout], beat: Table, areas: Areas | None, sheets: Mapping[int, U8], cells: int
) -> tuple[I64, Table, I64, Table]:
    """By cell, from start to start: words of what it covers; the steps that it satisfies in part."""
    covered = np.zeros((cells, sum(layout.hit_at[-1] for layout in layouts)), np.uint64)
    in_part, what = [np.zeros(0, np.int64)], []
    for g, layout in enumerate(layouts):
        for i, place in layout.places.items():
            bit = ONE << np.uint64(i % 64)
            for k, holds in enumerate(sheets[place.slot]):
                word = int(beat.cover[g]) + layout.hit_at[k] + i // 64
                covered[holds == COVERED, word] |= bit
                in_part.append(np.flatnonzero(holds == GREY))
                what.append((place.first + k, word, bit, *_box(areas, place.first + k)))
    cell = np.concatenate(in_part)
    number = np.repeat(np.arange(len(what)), [len(some) for some in in_part[1:]])
    parts = _table(PART, what)[number[np.argsort(cell, kind="stable")]]
    where, words = np.nonzero(covered)
    covers = records(COVER, len(where))
    covers.word, covers.bits = words, covered[where, words]
    return _starts(where, cells), covers, _starts(cell, cells), parts


def _starts(cell: I64, cells: int) -> I64:
    """Where what stands in each cell begins, and the end."""
    return np.concatenate(([0], np.cumsum(np.bincount(cell, minlength=cells)))).astype(np.int64)


def _box(areas: Areas | None, q: int) -> tuple[float, float, float, float, bool, bool]:
    """The box of a step in the plane; whether it is one, and what is asked is to be outside."""
    assert areas is not None
    x1, y1, x2, y2 = areas.p[q, :4].tolist()
    return x1, y1, x2, y2, bool(areas.steps.kind[q] == RECT and not areas.wraps), bool(areas.steps.is_disjoint[q])


def _table(kind: Any, rows: list[Any]) -> Table:
    return np.array(rows, kind).view(np.recarray)


NO_BEATS = lay([], None, {}, {}, 1)


# ----------------------------------------------------------------------------------------------- seats


def no_seats(layouts: list[Layout], beats: Beats, seats: int, objects: int) -> Seats:
    """Room for so many seats, all free."""
    return Seats(
        np.full(objects, -1, np.int32),
        np.zeros(seats, np.int64),
        np.zeros((seats, sum(layout.size for layout in layouts)), np.uint64),
        np.full((seats, len(layouts)), NOT_YET, np.int64),
        np.full((seats, len(layouts)), NOT_YET, np.int64),
        np.zeros((seats, len(beats.present)), np.uint64),
    )


def with_seats(seats: Seats, taken: int, wanted: int) -> Seats:
    """Room for more of them."""
    if wanted <= len(seats.object):
        return seats
    more = max(wanted, 2 * len(seats.object))
    grown = []
    for old in seats[1:]:
        new = np.zeros((more, *old.shape[1:]), old.dtype)
        new[:taken] = old[:taken]
        grown.append(new)
    return Seats(seats.at, *grown)


def carry(
    old: list[Layout], before: Beats, seats: Seats, taken: int, new: list[Layout], after: Beats
) -> tuple[Seats, int]:
    """Seats under other layouts, and how many are taken: patterns that stand in both keep their bits."""
    found = no_seats(new, after, len(seats.object), len(seats.at))
    found.object[:] = seats.object
    by_every = {layout.every: g for g, layout in enumerate(old)}
    for h, layout in enumerate(new):
        g = by_every.get(layout.every)
        if g is None:
            continue
        kept = {i for i in layout.places if i in old[g].places and old[g].places[i].qid == layout.places[i].qid}
        after.beat.due[h] = before.beat.due[g]
        after.beat.is_new[h] = before.beat.is_new[g] or len(kept) < len(layout.places)
        for m in range(min(layout.wide, old[g].wide)):
            mask = _mask(i for i in kept if i // 64 == m)
            found.member[:taken, after.beat.member[h] + m] = seats.member[:taken, before.beat.member[g] + m] & mask
        _carry_slices((old[g], before.beat[g], seats, g), (layout, after.beat[h], found, h), kept, taken)
    wanted = np.flatnonzero((found.newest[:taken] > NOT_YET).any(axis=1) | (found.member[:taken] != 0).any(axis=1))
    for column in found[1:]:
        column[: len(wanted)] = column[wanted]
    found.at[found.object[: len(wanted)]] = np.arange(len(wanted))
    return found, len(wanted)


Side: TypeAlias = tuple[Layout, Any, Seats, int]  # a layout, its record, the seats, its number


def _carry_slices(one: Side, two: Side, kept: set[int], n: int) -> None:
    """Slices of a beat; no window of a pattern that is kept cuts any of them, whatever they are cut by."""
    (old, was, seats, g), (new, now, found, h) = one, two
    words = _common_words(old, new, kept)
    newest, upto = seats.newest[:n, g], seats.upto[:n, g]
    last = int(upto.max(initial=NOT_YET))
    if last == NOT_YET:
        return
    top = new.number(old.begin(last))
    found.upto[:n, h] = top
    for number in range(last - old.ring + 1, last + 1):
        follows = new.number(old.begin(number))
        found.newest[:n, h][newest == number] = follows
        if follows <= top - new.ring:
            continue
        there = np.flatnonzero((number <= upto) & (number > upto - old.ring))
        source, target = was.at + number % old.ring * old.words, now.at + follows % new.ring * new.words
        for before, after, mask in words:
            found.ring[there, target + after] |= seats.ring[there, source + before] & mask


def _common_words(old: Layout, new: Layout, kept: set[int]) -> list[tuple[int, int, np.uint64]]:
    """Words of both, and the bits that they have in common."""
    found = []
    for k in range(min(old.depth, new.depth)):
        for begin, end in ((old.hit_at, new.hit_at), (old.fault_at, new.fault_at)):
            wide = min(begin[k + 1] - begin[k], end[k + 1] - end[k])
            found += [(begin[k] + m, end[k] + m, _mask(i for i in kept if i // 64 == m)) for m in range(wide)]
    return found
