"""What a bucket keeps of its objects: visits, updates, the table of hits, the agenda; and the loop over them.

In: tables of patterns (`book`), events in time order. Out: changes as records. Room is made when the loop asks for it;
updates beyond `cap` go to pages and are read back when the loop asks for those of a visit.
Invariant: between calls, nothing older than every window is kept for longer than it takes to double.
"""

from __future__ import annotations

import numpy as np

from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.motion.agenda import instant, push
from vedette.kernels.motion.follow import follow
from vedette.kernels.motion.forget import begin_anew, forget_pattern, in_agenda, renote, sweep
from vedette.kernels.motion.tables import (
    AGENDA,
    ASKED,
    ASKED_LOW,
    BASE,
    CHANGE,
    COUNTS,
    ENTRY,
    FREE,
    HIT,
    HITS,
    LONG_AGO,
    NEVER,
    OBJECT,
    PAGED_T,
    PATTERN,
    PHASE,
    POINTS,
    READS,
    RECALL,
    ROOM,
    STEP,
    TOLD,
    UPDATE,
    UPDATES,
    VISIT,
    VISITS,
    Areas,
    Cells,
    Past,
    Recalled,
    Table,
    World,
    records,
    with_room,
)
from vedette.kernels.nearest import Ids
from vedette.pipeline.patterns.pages import Pages

CAP = 1 << 19  # updates in memory, of 48 bytes each
MOST_EVENTS = 1 << 18  # in one go, so that the cap holds
SWEEP_SLACK = 4096
NO_IDS = Ids(True, np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.uint8))


class Memory:
    """The tables of a bucket."""

    def __init__(self) -> None:
        self.cap = CAP
        self.patterns, self.steps = records(PATTERN, 1), records(STEP, 0)
        self.areas: Areas | None = None
        self.cells: Cells | None = None
        self.visits, self.updates = records(VISIT, 256), records(UPDATE, 256)
        self.objects: Table = records(OBJECT, 0)
        self.words: U64 = np.zeros((0, 1), np.uint64)
        self.hits, self.agenda, self.told = records(HIT, 64), records(ENTRY, 64), records(CHANGE, 64)
        self.ids = NO_IDS
        self.mark: I64 = np.zeros(0, np.int64)
        self.count: I64 = np.zeros(COUNTS, np.int64)
        self.count[FREE], self.count[PAGED_T], self.count[PHASE] = -1, LONG_AGO, 1
        self.pages = Pages()
        self._recalled: list[tuple[int, Table]] = []  # (from when on, updates)
        self._recall = _no_recall()
        self._swept = 0

    # ------------------------------------------------------------------------------------------- use

    def set_tables(self, patterns: Table, areas: Areas, cells: Cells, words_wide: int) -> None:
        """These patterns stand from here on."""
        self.patterns, self.areas, self.cells, self.steps = patterns, areas, cells, areas.steps
        self.mark = np.full(len(patterns), -1, np.int64)
        if words_wide > self.words.shape[1]:
            wider = np.zeros((len(self.words), words_wide), np.uint64)
            wider[:, : self.words.shape[1]] = self.words
            self.words = wider

    def make_room(self, objects: int) -> None:
        """Slots up to there may come."""
        if objects > len(self.objects):
            n = len(self.objects)
            self.objects = with_room(self.objects, objects)
            self.objects.head[n:] = self.objects.row[n:] = -1
            words = np.zeros((len(self.objects), self.words.shape[1]), np.uint64)
            words[:n] = self.words
            self.words = words

    def run(self, t: I64, slot: I32, x: F64, y: F64, is_late: B1, words: U64, end: int) -> list[Table]:
        """Take in events and all instants before `end`; the changes, in time order."""
        told: list[Table] = []
        if words.shape[1] < self.words.shape[1]:
            words = np.pad(words, ((0, 0), (0, self.words.shape[1] - words.shape[1])))
        if len(t):
            self._begin(int(t[0]))
        first = 0
        while True:
            stop = min(len(t), first + min(MOST_EVENTS, max(1, self.cap // 2)))
            until = end if stop == len(t) else int(t[stop])
            self._enlarge(stop - first)
            while True:
                state, first = follow(self.world(), t, slot, x, y, is_late, words, first, stop, until)
                if state == RECALL:
                    self._read_back()
                elif state == ROOM:
                    told.append(self._take_told())
                    self._enlarge(stop - first)
                else:
                    break
            told.append(self._take_told())
            self._forget_recalled()
            self._page_out()
            if first == len(t):
                return [part for part in told if len(part)]

    def _begin(self, t: int) -> None:
        """Patterns whose vicinities grow from nothing: the first instant at which somebody can have a score."""
        patterns = self.patterns
        for s in np.flatnonzero(patterns.grows & (patterns.started == NEVER) & (patterns.due == NEVER)):
            steps = self.steps[patterns.first[s] : patterns.first[s + 1]]
            at, every = t + int(steps.b.max()), int(patterns.every[s])
            self.agenda = with_room(self.agenda, int(self.count[AGENDA]) + 1)
            patterns.due[s] = instant(every, at)
            push(self.agenda, self.count, int(patterns.due[s]), -1 - int(s))

    def world(self) -> World:
        """The tables as kernels take them."""
        return World(self.past(), self.patterns, self.hits, self.agenda, self.told, self.words, self.ids, self.mark)

    def past(self) -> Past:
        """What objects did, as kernels take it."""
        assert self.areas is not None
        assert self.cells is not None
        return Past(self.areas, self.cells, self.visits, self.updates, self._recall, self.objects, self.count)

    def settle(self, horizon: int) -> None:
        """The end of a step: forget what is older than every window, once it outweighs the rest."""
        count = self.count
        if count[VISITS] > 2 * self._swept + SWEEP_SLACK:
            self.sweep(horizon)
        resident = int(count[UPDATES] - count[BASE])
        if resident:
            old = int(np.searchsorted(self.updates.t[:resident], horizon))
            if 2 * old >= resident:
                self._drop_updates(old)
        self.pages.forget(horizon)
        count[PAGED_T] = self.pages.last_t
        if count[AGENDA] > 2 * count[HITS] + SWEEP_SLACK:
            self._tidy_agenda()

    def sweep(self, horizon: int) -> None:
        """Forget visits that ended before the horizon."""
        sweep(self.past(), horizon)
        self._swept = int(self.count[VISITS])

    def forget_pattern(self, s: int) -> None:
        """A pattern goes."""
        forget_pattern(self.world(), s)

    def begin_anew(self) -> None:
        """Patterns come: what objects do from here on counts for them."""
        if self.cells is not None:
            begin_anew(self.past())

    def members(self, s: int) -> I64:
        """The rows of the table of hits that are in the pattern's answer."""
        hits = self.hits[: self.count[HITS]]
        return np.flatnonzero((hits.pattern == s) & hits.member)

    def held(self) -> I32:
        """Slots of objects that something is known of."""
        known = (self.objects.head >= 0) | (self.objects.row >= 0)
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
        self._swept = int(self.count[VISITS])
        self.visits.recalled[:] = -1
        self._tidy_agenda()

    # ------------------------------------------------------------------------------------------ room

    def _enlarge(self, events: int) -> None:
        """Room for so many events; for what comes of them as much as they turn out to need."""
        count, slack = self.count, 4 * len(self.patterns) + 64
        self.visits = with_room(self.visits, int(count[VISITS]) + events)
        self.updates = with_room(self.updates, int(count[UPDATES] - count[BASE]) + events)
        rows = len(self.patterns) + 1
        if any(self.patterns.grows):
            rows = max(rows, len(self.objects))
        self.hits = with_room(self.hits, int(count[HITS]) + rows)
        self.agenda = with_room(self.agenda, int(count[AGENDA]) + slack)
        most = int(min(self.patterns.n.max(initial=0), count[HITS])) * 2
        self.told = with_room(self.told, max(1024, int(count[TOLD]) + most + 1))

    def _take_told(self) -> Table:
        told = self.told[: self.count[TOLD]].copy()
        self.count[TOLD] = 0
        return told

    def _tidy_agenda(self) -> None:
        entries = records(ENTRY, int(self.count[HITS]) + len(self.patterns))
        n = in_agenda(self.hits, self.patterns, int(self.count[HITS]), entries)
        entries = entries[:n][np.argsort(entries.due[:n], kind="stable")]  # a sorted array is a heap
        self.agenda = with_room(entries, n + 64)
        self.count[AGENDA] = n

    # ----------------------------------------------------------------------------------------- pages

    def _page_out(self) -> None:
        """The older half of the updates leaves the memory, when there are more than the cap."""
        resident = int(self.count[UPDATES] - self.count[BASE])
        if resident <= self.cap:
            return
        old = resident - self.cap // 2
        self.pages.put(self.updates[:old])
        self.count[PAGED_T] = self.pages.last_t
        self._drop_updates(old)

    def _drop_updates(self, old: int) -> None:
        resident = int(self.count[UPDATES] - self.count[BASE])
        rest = records(UPDATE, max(256, len(self.updates) if 4 * resident > len(self.updates) else 2 * resident))
        rest[: resident - old] = self.updates[old:resident]
        self.updates = rest
        self.count[BASE] += old

    def _read_back(self) -> None:
        """The updates of the visit that the loop asked for."""
        v, low = int(self.count[ASKED]), int(self.count[ASKED_LOW])
        found = self.pages.of_visit(self.visits[v], low)
        self.visits[v].recalled = len(self._recalled)
        self._recalled.append((low, found))
        everything = np.concatenate([part for _, part in self._recalled])
        start = np.cumsum([0, *(len(part) for _, part in self._recalled)]).astype(np.int64)
        lows = np.array([low for low, _ in self._recalled], np.int64)
        columns = (np.ascontiguousarray(everything[name]) for name in ("t", "x", "y"))
        self._recall = Recalled(lows, start, *columns)

    def _forget_recalled(self) -> None:
        if self._recalled:
            self.visits.recalled[: self.count[VISITS]] = -1
            self._recalled, self._recall = [], _no_recall()

    def regrid(self, cuts: I64, horizon: int) -> None:
        """Over another grid (`set_tables` came before): visits and pages anew, from the updates that are kept."""
        resident = self.updates[: int(self.count[UPDATES] - self.count[BASE])]
        everything = np.concatenate((self.pages.all(), resident)).view(np.recarray)
        everything = everything[everything.t >= horizon]
        self.pages.clear()
        self.count[PAGED_T], self.count[BASE] = LONG_AGO, 0
        self.visits = with_room(self.visits, len(everything))
        self.updates = with_room(self.updates, len(everything))
        renote(self.past(), everything, cuts)
        self._swept = int(self.count[VISITS])
        self._page_out()


def _no_recall() -> Recalled:
    floats = np.zeros(0)
    return Recalled(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), floats, floats)
