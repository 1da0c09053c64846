"""What a bucket keeps of its objects: the table of hits, the agenda, trails for what is measured; the loop over them.

In: tables of patterns (`book`), events in time order. Out: changes as records. Room is made when the loop asks for it;
updates of trails beyond `cap` leave memory; they are in pages then, and read back when the loop asks for those of some
boxes. What is saved now and then is written to pages ahead, so that an update is written once, and not with every save.
Invariant: between calls, nothing that no instant can ask for is kept for longer than it takes to double.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.motion.beats import Beats
from vedette.kernels.motion.follow import follow
from vedette.kernels.motion.forget import begin_anew, enter_places, forget_pattern, make_agenda, sweep
from vedette.kernels.motion.order import by_object
from vedette.kernels.motion.tables import (
    AGENDA,
    BASE,
    BOX,
    BOXES,
    CHANGE,
    COUNTS,
    DONE,
    ENTRY,
    FREE_SPAN,
    LONG_AGO,
    NEVER,
    OBJECT,
    PAGED_T,
    PATTERN,
    PHASE,
    POINTS,
    READS,
    RECALL,
    ROW,
    ROWS,
    SEATS,
    SEEN,
    SET,
    SETS,
    SHEET,
    SPAN,
    SPANS,
    STEP,
    TOLD,
    UPDATE,
    UPDATES,
    WAITING,
    Areas,
    Cells,
    Recalled,
    Table,
    Trail,
    World,
    records,
    with_room,
)
from vedette.kernels.motion.trail import forget_boxes
from vedette.kernels.motion.vicinity import enter_all
from vedette.kernels.nearest import Ids
from vedette.pipeline.cellar import Cellar, MemoryCellar
from vedette.pipeline.patterns.beats import NO_BEATS, Layout, carry, no_seats, with_seats
from vedette.pipeline.patterns.book import Tables
from vedette.pipeline.patterns.pages import Pages

Events: TypeAlias = tuple[I64, I32, F64, F64, B1, U64]  # time, slot, x, y, whether late, words

MOST_EVENTS = 1 << 18  # in one go, so that the cap holds
FEWEST_BOXES, MOST_BOXES = 8, 32  # of an object that reports all the time
SWEEP_SLACK = 4096
WRITTEN_AHEAD = 1 << 16  # updates that are saved again and again until they are so many
MOST_RHYTHMS = 8  # with more, hardly anything happens between two instants
CELLS_ACROSS, BUCKETS = 256, 1 << 16
NO_IDS = Ids(True, np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.uint8))


class Memory:
    """The tables of a bucket."""

    def __init__(self, cellar: Cellar | None = None, cap: int = NEVER) -> None:
        self.cap = cap  # updates in memory, of 56 bytes each
        self.patterns, self.steps = records(PATTERN, 1), records(STEP, 0)
        self.areas: Areas | None = None
        self.cells: Cells | None = None
        self.objects: Table = records(OBJECT, 0)
        self.words: U64 = np.zeros((0, 1), np.uint64)
        self.seen: I32 = np.zeros((0, SEEN), np.int32)
        self.seen_until: I64 = np.zeros((0, SEEN), np.int64)
        self.rows, self.sets, self.spans = records(ROW, 64), records(SET, 64), records(SPAN, 64)
        self.places: I32 = np.full(256, -1, np.int32)
        self.agenda, self.told = records(ENTRY, 64), records(CHANGE, 64)
        self.boxes, self.updates = records(BOX, 64), records(UPDATE, 64)
        self._old_boxes = records(BOX, 0)  # room to put them in order
        self.sheet: F64 = np.zeros(0)
        self.ids = NO_IDS
        self.layouts: list[Layout] = []
        self.beats = NO_BEATS
        self.seats = no_seats([], NO_BEATS, 0, 0)
        self.count: I64 = np.zeros(COUNTS, np.int64)
        self.count[FREE_SPAN], self.count[PAGED_T], self.count[PHASE] = -1, LONG_AGO, 1
        self.pages = Pages(MemoryCellar() if cellar is None else cellar)
        self.written = 0  # updates before this one are in pages, those in memory, too
        self.times: I64 = np.full(64, NEVER, np.int64)
        self.least: F64 = np.zeros(0)
        self.side = 0.0  # of the cells that updates are found by; 0: not chosen yet
        self.heads: I64 = np.full(BUCKETS, -1, np.int64)
        self._reach = self._pane = self._disorder = self._spare = self._doublings = 0
        self._recalled = _no_recall()
        self._swept = [0, 0, 0]  # rows, spans, boxes that the last sweeps left

    # ------------------------------------------------------------------------------------------- use

    def set_tables(self, tables: Tables, words_wide: int, reach: int) -> None:
        """These patterns stand from here on; nothing older than `reach` is measured (-1: nothing at all)."""
        patterns, areas = tables.patterns, tables.areas
        self.patterns, self.areas, self.cells, self.steps = patterns, areas, tables.cells, areas.steps
        if tables.layouts or self.layouts:
            self._carry_seats(list(tables.layouts), tables.beats)
        self.count[WAITING] = np.count_nonzero(patterns.waits)
        steps = areas.steps[areas.steps.follows]
        longest = np.array([areas.steps.a[areas.steps.pattern == s].max() for s in steps.pattern], np.int64)
        self._spare = int((longest // patterns.every[steps.pattern] + 4).sum())
        self._doublings = min(20, int(np.bincount(steps.pattern, minlength=1).max()))
        if words_wide > self.words.shape[1]:
            wider = np.zeros((len(self.words), words_wide), np.uint64)
            wider[:, : self.words.shape[1]] = self.words
            self.words = wider
        self._reach = reach
        if reach < 0:
            self._clear_trail()
            return
        every = int(patterns.every[:-1][patterns.has_score[:-1]].min())
        self._pane = max(1, min(max(every, reach // MOST_BOXES), reach // FEWEST_BOXES))

    def _carry_seats(self, layouts: list[Layout], beats: Beats) -> None:
        taken = int(self.count[SEATS])
        self.seats, self.count[SEATS] = carry(self.layouts, self.beats, self.seats, taken, layouts, beats)
        self.layouts, self.beats = layouts, beats
        self._make_agenda()

    def make_room(self, objects: int) -> None:
        """Slots up to there may come."""
        n = len(self.objects)
        if objects > n:
            at = np.full(max(objects, 2 * n), -1, np.int32)
            at[:n] = self.seats.at[:n]
            self.seats = self.seats._replace(at=at)
            self.objects = with_room(self.objects, objects)
            new = self.objects[n:]
            new.row = new.box = new.cell = -1
            new.last = LONG_AGO
            words = np.zeros((len(self.objects), self.words.shape[1]), np.uint64)
            words[:n] = self.words
            self.words = words
            self.least = np.full(len(self.objects), np.inf)
            self.seen = np.full((len(self.objects), SEEN), -1, np.int32)
            self.seen_until = np.zeros((len(self.objects), SEEN), np.int64)

    def run(self, t: I64, slot: I32, x: F64, y: F64, is_late: B1, words: U64, end: int) -> list[Table]:
        """Take in events and all instants before `end`; the changes, in time order."""
        told: list[Table] = []
        if words.shape[1] < self.words.shape[1]:
            words = np.pad(words, ((0, 0), (0, self.words.shape[1] - words.shape[1])))
        if self._pane and self.side == 0.0 and len(x):
            self._choose_side(x, y)
        size = min(MOST_EVENTS, max(1, self.cap // 2))
        for start in range(0, max(1, len(t)), size):
            part = slice(start, start + size)
            until = end if part.stop >= len(t) else int(t[part.stop])
            if self._pane:
                self._expect(t[part][~is_late[part]])
            events = self._by_object((t[part], slot[part], x[part], y[part], is_late[part], words[part]))
            if self._pane:
                self._disorder = max(self._disorder, _disorder(events[0]))
            self._take_in(events, until, told)
            self._forget_recalled()
            self._page_out()
            self._settle(until)
        return [part for part in told if len(part)]

    def _by_object(self, events: Events) -> Events:
        """What each object does between two instants stands together: neighbours in the tables are read faster."""
        rhythms = np.unique(self.patterns.every[self.patterns.every > 0])
        if len(rhythms) > MOST_RHYTHMS:
            return events
        t, slot, x, y, is_late, words = events
        passed = np.zeros(len(t), np.int64)
        for every in rhythms:
            passed -= -t // every
        order = by_object(passed, slot, len(self.objects))
        return t[order], slot[order], x[order], y[order], is_late[order], words[order]

    def _take_in(self, events: Events, until: int, told: list[Table]) -> None:
        """Take in some events and all instants before `until`."""
        first, stop = 0, len(events[0])
        self._enlarge(stop)
        while True:
            state, first = follow(self.world(), *events, first, stop, until)
            if state == RECALL:
                self._read_back()
                continue
            told.append(self._take_told())
            if state == DONE:
                return
            self._enlarge(stop - first)

    def world(self) -> World:
        """The tables as kernels take them."""
        assert self.areas is not None
        assert self.cells is not None
        return World(
            self.areas,
            self.cells,
            self.beats,
            self.seats,
            self._trail(),
            self.patterns,
            self.objects,
            self.rows,
            self.sets,
            self.spans,
            self.places,
            self.agenda,
            self.told,
            self.seen,
            self.seen_until,
            self.words,
            self.ids,
            self.count,
            self._spare,
            self._doublings,
        )

    def _trail(self) -> Trail:
        where = self.side, self.heads, self.least, self.sheet
        return Trail(self._pane, self._disorder, *where, self.boxes, self.updates, self.times, self._recalled)

    def forget_pattern(self, s: int) -> None:
        """A pattern goes."""
        forget_pattern(self.world(), s)
        self._sweep(LONG_AGO)

    def begin_anew(self) -> None:
        """Patterns come: what objects do from here on counts for them."""
        if self.cells is not None:
            begin_anew(self.world())

    def members(self, s: int) -> I64:
        """The objects that are in the pattern's answer."""
        rows = self.rows[: self.count[ROWS]]
        at = np.flatnonzero(self.beats.slot == s)
        if len(at):
            taken, word, bit = self.count[SEATS], at[0] // 64, np.uint64(at[0] % 64)
            seated = (self.seats.member[:taken, word] >> bit) & np.uint64(1)
            objects: I64 = self.seats.object[:taken][seated != 0]
        else:
            objects = rows.object[(rows.pattern == s) & rows.member].astype(np.int64)
        return objects

    def release(self, since: int) -> I32:
        """Slots of objects that something is known of; all others may be given to other objects."""
        known = (self.objects.row >= 0) | (self.objects.box >= 0) | (self.objects.last >= since)
        known |= self.seats.at[: len(known)] >= 0
        self.objects.cell[~known] = -1
        self.objects.last[~known] = LONG_AGO
        self.words[~known], self.seen_until[~known] = 0, LONG_AGO
        return np.flatnonzero(known).astype(np.int32)

    def metrics(self) -> dict[str, int]:
        """What was read since the last time, by phase."""
        count = self.count
        found = {
            "pattern_points_initial": int(count[POINTS]),
            "pattern_points": int(count[POINTS + 1]),
            "pattern_reads_initial": int(count[READS]),
            "pattern_reads": int(count[READS + 1]),
            "pattern_pages": self.pages.fetched,
        }
        count[POINTS : READS + 2] = 0
        self.pages.fetched = 0
        return found

    def restored(self) -> None:
        """The tables have been filled from what was saved."""
        self.boxes.recalled[:], self.boxes.asked[:] = -1, False
        self.objects.cell = -1
        self._swept[2] = int(self.count[BOXES])
        self._enlarge(1)
        self._sweep(LONG_AGO)
        resident = int(self.count[UPDATES] - self.count[BASE])
        self.times = np.append(np.sort(self.updates.t[:resident]), NEVER)
        if self._pane and resident:
            self._disorder = _disorder(self.updates.t[:resident])
            self._choose_side(self.updates.x[:resident], self.updates.y[:resident])
            enter_all(self.world())

    # ------------------------------------------------------------------------------------------ room

    def _enlarge(self, events: int) -> None:
        """Room for so many events; for what comes of them as much as they turn out to need."""
        count, patterns, steps = self.count, len(self.patterns), len(self.steps)
        objects = len(self.objects) if self._pane else 0
        self.rows = with_room(self.rows, int(count[ROWS]) + patterns + objects)
        self.sets = with_room(self.sets, int(count[SETS]) + steps + 1)
        handed_on = min(self._spare, (int(count[SPANS]) + steps) << self._doublings)
        self.spans = with_room(self.spans, int(count[SPANS]) + steps + handed_on + 1)
        beats, seats = len(self.beats.beat), int(count[SEATS])
        self.agenda = with_room(self.agenda, int(count[AGENDA]) + 2 * (patterns + steps) + beats + 2)
        self.told = with_room(
            self.told, int(count[TOLD]) + 1024 + patterns + 4 * seats + int(count[ROWS]) + 2 * objects
        )
        if beats:
            self.seats = with_seats(self.seats, seats, seats + min(events, 1024) + 1)
        if count[SHEET] > len(self.sheet):
            self.sheet = np.zeros(int(1.25 * count[SHEET]))
        if self._pane:
            self.boxes = with_room(self.boxes, int(count[BOXES]) + min(events, 65536) + 1)
            self.updates = with_room(self.updates, int(count[UPDATES] - count[BASE]) + events + 1)
        if len(self.places) < 2 * len(self.rows):
            self.places = np.full(1 << (2 * len(self.rows) - 1).bit_length(), -1, np.int32)
            enter_places(self.world())

    def _take_told(self) -> Table:
        told = self.told[: self.count[TOLD]].copy()
        self.count[TOLD] = 0
        return told

    def _settle(self, now: int) -> None:
        """All instants before `now` have been asked: forget what has passed, once it outweighs the rest."""
        count, swept = self.count, self._swept
        if count[ROWS] > 2 * swept[0] + SWEEP_SLACK or count[SPANS] > 2 * swept[1] + SWEEP_SLACK:
            self._sweep(now)
        elif count[AGENDA] > 2 * count[ROWS] + SWEEP_SLACK:
            self._make_agenda()
        if not self._pane:
            return
        horizon = max(LONG_AGO, now - self._reach)
        if count[BOXES] > 1.25 * swept[2] + SWEEP_SLACK:
            if len(self._old_boxes) < count[BOXES]:
                self._old_boxes = records(BOX, len(self.boxes))
            old_boxes = self._old_boxes[: count[BOXES]]
            old_boxes[:] = self.boxes[: count[BOXES]]
            forget_boxes(self.world(), horizon, old_boxes)
            swept[2] = int(count[BOXES])
        resident = int(count[UPDATES] - count[BASE])
        if 2 * int(np.searchsorted(self.times[:resident], horizon)) > resident:
            is_old = self.updates.t[:resident] < horizon
            self._drop_updates(resident if is_old.all() else int(np.argmin(is_old)))
        self.pages.forget(horizon)

    def _sweep(self, now: int) -> None:
        sweep(self.world(), now)
        self._swept[:2] = int(self.count[ROWS]), int(self.count[SPANS])
        self._make_agenda()

    def _make_agenda(self) -> None:
        self.agenda = with_room(self.agenda, int(self.count[ROWS]) + len(self.patterns) + len(self.beats.beat))
        make_agenda(self.world())

    # ----------------------------------------------------------------------------------------- trails

    def _choose_side(self, x: F64, y: F64) -> None:
        """Cells that most updates lie a few dozen of apart."""
        wide = max(float(np.subtract(*np.quantile(v, (0.99, 0.01)))) for v in (x, y))
        self.side = wide / CELLS_ACROSS if 0.0 < wide < np.inf else 1.0

    def _expect(self, t: I64) -> None:
        """Updates of these times come next."""
        resident = int(self.count[UPDATES] - self.count[BASE])
        wanted = resident + len(t) + 1
        if wanted > len(self.times):
            self.times = np.append(self.times[:resident], np.full(max(wanted, 2 * len(self.times)) - resident, NEVER))
        self.times[resident : wanted - 1] = t
        self.times[wanted - 1] = NEVER

    def _clear_trail(self) -> None:
        """Nothing is measured any more."""
        self._pane = self._disorder = 0
        self.side = 0.0
        self.heads[:] = -1
        self.objects.box = -1
        self.boxes, self.updates = records(BOX, 64), records(UPDATE, 64)
        self._old_boxes, self.sheet = records(BOX, 0), np.zeros(0)
        self.times = np.full(64, NEVER, np.int64)
        self.count[[SHEET, BOXES, UPDATES, BASE]] = 0
        self.count[PAGED_T] = LONG_AGO
        self.written = 0
        self.pages.clear()

    def _page_out(self) -> None:
        """The older half of the updates leaves the memory, when there are more than the cap."""
        base, resident = int(self.count[BASE]), int(self.count[UPDATES] - self.count[BASE])
        if resident <= self.cap:
            return
        old = resident - self.cap // 2
        self._write(base + old)
        self.count[PAGED_T] = max(int(self.count[PAGED_T]), int(self.updates.t[:old].max()))
        self._drop_updates(old)

    def write_ahead(self) -> tuple[int, Table]:
        """The number of the first update that is in no page, and all of those; few, if there were many."""
        end = int(self.count[UPDATES])
        if end - self._unwritten > min(WRITTEN_AHEAD, self.cap // 2):
            self._write(end)
        base = int(self.count[BASE])
        return self._unwritten, self.updates[self._unwritten - base : end - base]

    @property
    def _unwritten(self) -> int:
        return max(self.written, int(self.count[BASE]))

    def _write(self, end: int) -> None:
        """Put all updates before this one into pages that are not yet."""
        first, base = self._unwritten, int(self.count[BASE])
        if first < end:
            self.pages.put(self.updates[first - base : end - base])
            self.written = end

    def _drop_updates(self, old: int) -> None:
        """The first ones leave memory. Their room is used again, unless it is far too much: new room is dear."""
        resident = int(self.count[UPDATES] - self.count[BASE])
        rest = self.updates[old:resident]
        if len(self.updates) > 8 * max(64, resident):
            self.updates = with_room(records(UPDATE, 0), 2 * resident)
        self.updates[: resident - old] = rest
        self.times[: len(self.times) - old] = self.times[old:].copy()
        self.count[BASE] += old

    def _read_back(self) -> None:
        """The updates of the boxes that the loop asked for, and of those that it asked for before."""
        is_wanted = self.boxes.asked | (self.boxes.recalled >= 0)
        which = np.flatnonzero(is_wanted[: self.count[BOXES]])
        self.boxes.asked[which] = False
        self.boxes.recalled[which] = np.arange(len(which))
        self._recalled = self.pages.of_boxes(self.boxes[which])

    def _forget_recalled(self) -> None:
        if len(self._recalled.start) > 1:
            self.boxes.recalled[:] = -1
            self._recalled = _no_recall()


def _disorder(t: I64) -> int:
    """How much older than one before it a time is at the most."""
    return int((np.maximum.accumulate(t) - t).max(initial=0))


def _no_recall() -> Recalled:
    floats = np.zeros(0)
    return Recalled(np.zeros(1, np.int64), np.zeros(0, np.int64), floats, floats)
