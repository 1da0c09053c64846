"""The tables that motion patterns are evaluated with, and the numbers that stand for states in them.

Tables are arrays of records. Patterns have slots, and their steps stand end to end: pattern s owns `first .. first of
s + 1`. Objects go by their slots. Instants are counted: instant n of a pattern is n times `every`. Rows, spans, boxes
and updates are numbered as they come; -1 or `NEVER` says that there is none. Updates are numbered without end; those
before `count[BASE]` have left memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from vedette.kernels.arrays import F64, I32, I64, U8, U64
from vedette.kernels.grid import Grid
from vedette.kernels.motion.beats import Beats, Seats
from vedette.kernels.nearest import Ids
from vedette.kernels.shapes import Edges

Table: TypeAlias = Any  # an array of records

NEVER = np.iinfo(np.int64).max
SEEN = 4  # steps that an object remembers to have satisfied lately
LONG_AGO = -(1 << 62)  # older than everything; windows can still be measured from it

NOWHERE, GREY, COVERED = 0, 1, 2  # what of a cell satisfies a step
ALL, AT_MOST, AT_LEAST, LOWEST, HIGHEST = 0, 1, 2, 3, 4  # what a pattern chooses by score

# Cells of `count`.
ROWS, SETS, SPANS, SPAN_TOP, FREE_SPAN, AGENDA, TOLD, UPDATES, BASE, PAGED_T, BOXES, ASKED, WAITING, PHASE = range(14)
POINTS, READS = 14, 16  # two cells each: first instant, continuous phase
SEATS, SHEET = 18, 19
COUNTS = 20
DONE, RECALL, ROOM = 0, 1, 2  # why the loop ended

# As plain numbers these arguments would have types of their own, and kernels would be compiled once for each of them;
# as numpy's they have not.
JOINED: Any = np.int64(1)
LEFT: Any = np.int64(-1)

FIRST_BEAT = -(1 << 40)  # in the agenda: beat g is FIRST_BEAT - g

# By slot. `every` 0: no pattern. `entries`: so many sets of instants a row has. `condition`: a bit, or -1. `started`:
# the first instant that was looked at, NEVER before it. Of patterns with a score: `due`: when they are looked at next;
# `soonest`: so long after it happens an update may matter; `nearest`, `farthest`: the least a, the greatest b of what
# is measured; `rows`: the first of their rows; `worst`: of the lowest the n-th score, when they were looked at last, or
# inf; `is_free`: any object can be an answer, whether it has a row or not; `waits`: for the next update. Of free ones:
# `dear`: so many boxes and updates were looked at when it was everybody's turn; `crowded`: a reach within which there
# were too many updates to look through, 0; `tried`: more than so many.
PATTERN = np.dtype(
    [
        ("first", np.int64),
        ("every", np.int64),
        ("since", np.int64),
        ("limit", np.float64),
        ("n", np.int64),
        ("worst", np.float64),
        ("crowded", np.float64),
        ("dear", np.int64),
        ("tried", np.int64),
        ("entries", np.int64),
        ("condition", np.int64),
        ("started", np.int64),
        ("due", np.int64),
        ("soonest", np.int64),
        ("nearest", np.int64),
        ("farthest", np.int64),
        ("rows", np.int64),
        ("choice", np.int64),
        ("has_score", np.bool_),
        ("is_free", np.bool_),
        ("waits", np.bool_),
    ],
    align=True,
)

# The window is [tau - a, tau - b]. `entry`: which set of instants of a row is the step's, -1: it is only measured.
# `guard`: the set of a step whose window ends before this one begins, -1: what has no instant there is of no use.
# `follows`, `leads`: it is tied to the step before, behind: one of the two has no window. `bears`: an update that
# satisfies it makes a row. `decides`: its instants are those of the pattern, together with those of other such steps.
STEP = np.dtype(
    [
        ("pattern", np.int64),
        ("kind", np.int64),
        ("part", np.int64),
        ("a", np.int64),
        ("b", np.int64),
        ("entry", np.int64),
        ("guard", np.int64),
        ("radius", np.float64),
        ("is_number", np.bool_),
        ("is_disjoint", np.bool_),
        ("always", np.bool_),
        ("windowed", np.bool_),
        ("follows", np.bool_),
        ("leads", np.bool_),
        ("bears", np.bool_),
        ("decides", np.bool_),
    ],
    align=True,
)

# By slot. `last`: the time of the newest update; `until`: updates in the same cell before it are no news; `running`:
# so many sets of ALWAYS steps grow while updates satisfy them; `row`: the first of its rows; `mask`: a bit for each
# pattern that it may have a row of, folded. Of the trail: the first time that is kept, the newest box.
OBJECT = np.dtype(
    [
        ("x", np.float64),
        ("y", np.float64),
        ("last", np.int64),
        ("until", np.int64),
        ("mask", np.uint64),
        ("row", np.int32),
        ("running", np.int32),
        ("cell", np.int32),
        ("box", np.int32),
        ("begin", np.int64),
    ],
    align=True,
)

# The table of hits: what an object's updates say to a pattern. `entry`: the first of its sets of instants. `next` goes
# along the object's rows, `other` along those of a pattern with a score. `score`, `x`, `y`: as told.
ROW = np.dtype(
    [
        ("due", np.int64),
        ("score", np.float64),
        ("x", np.float64),
        ("y", np.float64),
        ("pattern", np.int32),
        ("object", np.int32),
        ("entry", np.int32),
        ("next", np.int32),
        ("other", np.int32),
        ("member", np.bool_),
        ("best", np.bool_),
    ],
    align=True,
)

# A set of instants as spans from the earliest to the latest, `top` is the last instant of it. Of ALWAYS: `fault`, the
# last update before the present run that did not satisfy the step; `is_running`: the newest update did.
SET = np.dtype(
    [("top", np.int64), ("fault", np.int64), ("head", np.int32), ("tail", np.int32), ("is_running", np.bool_)],
    align=True,
)

# Instants low .. high.
SPAN = np.dtype([("low", np.int64), ("high", np.int64), ("next", np.int64)], align=True)

# The trail of an object in a stretch of time: a box around its updates, the first and last of their times, the number
# of the last of them, the box before. `asked`: its updates are to be read back; `recalled`: they stand there, -1.
BOX = np.dtype(
    [
        ("begin", np.int64),
        ("end", np.int64),
        ("x0", np.float64),
        ("y0", np.float64),
        ("x1", np.float64),
        ("y1", np.float64),
        ("last", np.int64),
        ("before", np.int32),
        ("object", np.int32),
        ("recalled", np.int32),
        ("asked", np.bool_),
    ],
    align=True,
)

# A raw update in memory, the number of the one before of the same object, and of the one before in the same bucket of
# places, -1.
UPDATE = np.dtype(
    [
        ("t", np.int64),
        ("x", np.float64),
        ("y", np.float64),
        ("before", np.int64),
        ("near", np.int64),
        ("object", np.int64),
    ],
    align=True,
)

# A heap: a row of the table of hits, -1 - slot of a pattern with a score, or a beat.
ENTRY = np.dtype([("due", np.int64), ("who", np.int64)], align=True)

# What changed: +1 joined (again: it has another score or place, among the lowest or highest), -1 left.
CHANGE = np.dtype(
    [
        ("t", np.int64),
        ("score", np.float64),
        ("x", np.float64),
        ("y", np.float64),
        ("pattern", np.int64),
        ("object", np.int64),
        ("sign", np.int64),
    ],
    align=True,
)


class Areas(NamedTuple):
    """The steps, and the shapes behind them."""

    steps: Table
    p: F64
    edges: Edges
    wraps: bool


class Cells(NamedTuple):
    """The fixed grid, and what steps are to its cells.

    `holds[cell, step]`: NOWHERE, GREY or COVERED. By cell the steps with a set of instants that an update there may
    satisfy: those that bear rows first, then in their order; as twice their numbers, and 1 more where the cell is GREY.
    """

    grid: Grid
    holds: U8
    start: I64
    step: I64


class Recalled(NamedTuple):
    """Updates read back: those of box i stand at start[i] .. start[i + 1], in time order."""

    start: I64
    t: I64
    x: F64
    y: F64


class Trail(NamedTuple):
    """Where objects were, for what is measured.

    A box lasts no longer than `pane`, and never over a multiple of it; 0: nothing is kept. `times`: of the updates in
    memory in the order of time, and of those that come next, then NEVER. Updates between two instants may stand in any
    order, but for those of the same object: one is older than one before it by no more than `disorder`. `heads`: the
    newest update of each bucket of places, which are cells with this `side`. `least`: scratch by object, all infinite;
    `sheet`: room for the boxes of everybody.
    """

    pane: int
    disorder: int
    side: float
    heads: I64
    least: F64
    sheet: F64
    boxes: Table
    updates: Table
    times: I64
    recalled: Recalled


class World(NamedTuple):
    """All of it.

    `places[hash]`: a row, -1. `seen[object]`: a few steps that the object satisfied lately; before `seen_until` that is
    no news. In chains an update makes no more than `spare` spans, and no more than there are, doubled
    so many times (`doublings`).
    """

    areas: Areas
    cells: Cells
    beats: Beats
    seats: Seats
    trail: Trail
    patterns: Table
    objects: Table
    rows: Table
    sets: Table
    spans: Table
    places: I32
    agenda: Table
    told: Table
    seen: I32
    seen_until: I64
    words: U64
    ids: Ids
    counts: I64
    spare: int
    doublings: int


def records(kind: Any, n: int) -> Table:
    """A table with room for n records, all zero."""
    return np.zeros(n, kind).view(np.recarray)


def with_room(table: Table, n: int) -> Table:
    """The table with room for at least n records; what is new is zero."""
    if n <= len(table):
        return table
    larger = records(table.dtype, max(n, 2 * len(table)))
    larger[: len(table)] = table
    return larger
