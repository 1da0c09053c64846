"""The tables that motion patterns are evaluated with, and the numbers that stand for states in them.

Tables are arrays of records. Patterns have slots, and their steps stand end to end: pattern s owns `first .. first of
s + 1`. Objects go by their slots. Visits (CMP's index points) and rows of the table of hits are numbered as they come;
-1 or `NEVER` says that there is none. Updates are numbered without end; those before `count[BASE]` have left memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from vedette.kernels.arrays import B1, F64, I64, U8, U64
from vedette.kernels.grid import Grid
from vedette.kernels.nearest import Ids
from vedette.kernels.shapes import Edges

Table: TypeAlias = Any  # an array of records

NEVER = np.iinfo(np.int64).max
NONE = np.iinfo(np.int64).min
ASK = NONE + 1  # the answer lies in updates that are not in memory: see count[ASKED]
LONG_AGO = -(1 << 62)  # older than everything; windows can still be measured from it

NOWHERE, GREY, COVERED = 0, 1, 2  # what of a cell satisfies a step
ALL, AT_MOST, AT_LEAST, LOWEST, HIGHEST = 0, 1, 2, 3, 4  # what a pattern chooses by score

# Cells of `count`.
VISITS, HITS, FREE, AGENDA, TOLD, UPDATES, BASE, PAGED_T, ASKED, ASKED_LOW, PHASE = range(11)
POINTS, READS = 11, 13  # two cells each: initial phase, continuous phase
COUNTS = 15
DONE, RECALL, ROOM, GONE = 0, 1, 2, 3  # why a look, or the loop, ended

# As plain numbers these arguments would have types of their own, and kernels would be compiled once for each of them;
# as numpy's they have not.
ANY: Any = np.int64(-1)  # in the place of a step: no matter where
WANTED: Any = np.bool_(True)
UNWANTED: Any = np.bool_(False)
EXACTLY: Any = np.bool_(True)
ABOUT: Any = np.bool_(False)
UPPER: Any = np.bool_(True)
LOWER: Any = np.bool_(False)
JOINED: Any = np.int64(1)
LEFT: Any = np.int64(-1)

# By slot. `every` 0: no pattern. `prefix`: so many steps without a window at the start; `is_ordered`: some stand behind
# one with a window. `condition`: a bit, or -1. `started`: the first instant of all, NEVER before it. `due`, `rows`: of
# patterns that choose the lowest or highest: when they are looked at next, and their first row in the table of hits.
# `grows`: rows are born in vicinities that grow.
PATTERN = np.dtype(
    [
        ("first", np.int64),
        ("every", np.int64),
        ("since", np.int64),
        ("prefix", np.int64),
        ("limit", np.float64),
        ("n", np.int64),
        ("condition", np.int64),
        ("started", np.int64),
        ("due", np.int64),
        ("rows", np.int64),
        ("choice", np.int64),
        ("is_ordered", np.bool_),
        ("has_score", np.bool_),
        ("grows", np.bool_),
    ],
    align=True,
)

# The window is [tau - a, tau - b]. `floor`: without a window, its witness is not older than tau - floor. `number`: the
# column of distances in the cells. `order` lists a pattern's steps with a window as they are tested. `bears`: a visit
# in its search area makes a row in the table of hits; that of a number is where it is not farther (of the highest: not
# nearer: `is_reversed`) than `reach`.
STEP = np.dtype(
    [
        ("pattern", np.int64),
        ("kind", np.int64),
        ("part", np.int64),
        ("a", np.int64),
        ("b", np.int64),
        ("floor", np.int64),
        ("number", np.int64),
        ("order", np.int64),
        ("radius", np.float64),
        ("reach", np.float64),
        ("is_number", np.bool_),
        ("is_reversed", np.bool_),
        ("is_disjoint", np.bool_),
        ("always", np.bool_),
        ("windowed", np.bool_),
        ("bears", np.bool_),
    ],
    align=True,
)

# A stay of an object in a cell: first and last update there, the longest silence between two, the object's visit
# before, the number of the last update; where its paged updates stand among those read back, -1.
VISIT = np.dtype(
    [
        ("begin", np.int64),
        ("end", np.int64),
        ("gap", np.int64),
        ("last", np.int64),
        ("object", np.int64),
        ("cell", np.int64),
        ("before", np.int64),
        ("recalled", np.int64),
    ],
    align=True,
)

# A raw update in memory, and the number of the one before in the same visit.
UPDATE = np.dtype(
    [
        ("t", np.int64),
        ("x", np.float64),
        ("y", np.float64),
        ("before", np.int64),
        ("object", np.int32),
        ("cell", np.int32),
    ],
    align=True,
)

# By slot. `head`: the newest visit; `is_open`: it may go on. `row`: its first row in the table of hits. `waits`: a row
# wants to hear of the next update. `is_tested`: the present visit may satisfy a step at the start of a pattern.
OBJECT = np.dtype(
    [
        ("x", np.float64),
        ("y", np.float64),
        ("head", np.int64),
        ("row", np.int64),
        ("is_open", np.bool_),
        ("waits", np.bool_),
        ("is_tested", np.bool_),
    ],
    align=True,
)

# The table of hits: an object that may match a pattern. `next` goes along the object's rows, `other` along those of the
# pattern (of the lowest or highest). `at`: the instant of the last look; `passed`: so many steps in testing order were
# satisfied then, -1: not known. `stage`, `stage_t`: how many steps at the start have a witness, and the time of the
# last of the earliest ones. `wake`: the next update matters so long after it happens, -1: it does not.
# `score`, `x`, `y`: as told.
HIT = np.dtype(
    [
        ("due", np.int64),
        ("at", np.int64),
        ("stage_t", np.int64),
        ("wake", np.int64),
        ("score", np.float64),
        ("x", np.float64),
        ("y", np.float64),
        ("pattern", np.int64),
        ("object", np.int64),
        ("next", np.int64),
        ("other", np.int64),
        ("other_before", np.int64),
        ("passed", np.int64),
        ("stage", np.int64),
        ("member", np.bool_),
    ],
    align=True,
)

# A heap: a row of the table of hits, or -1 - slot of a pattern that is looked at as a whole.
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
    """The fixed grid. `holds[cell, step]`: NOWHERE, GREY or COVERED. Bounds of distances are rounded outwards.

    `side`: of a cell, in distance units. `kept`: some pattern may ask for updates in this cell. Lists by cell: steps
    with a window that a visit of the cell may satisfy; steps without one at the start of a pattern. `numbers`: steps
    that measure and bear rows.
    """

    grid: Grid
    side: float
    holds: U8
    low: F64
    high: F64
    kept: B1
    start: I64
    step: I64
    prefix_start: I64
    prefix_step: I64
    numbers: I64


class Recalled(NamedTuple):
    """Updates read back, in time order: those from low[i] on stand at start[i] .. start[i + 1]."""

    low: I64
    start: I64
    t: I64
    x: F64
    y: F64


class Past(NamedTuple):
    """What objects did."""

    areas: Areas
    cells: Cells
    visits: Table
    updates: Table
    recalled: Recalled
    objects: Table
    counts: I64


class World(NamedTuple):
    """All of it. `mark` is scratch by pattern, all -1."""

    past: Past
    patterns: Table
    hits: Table
    agenda: Table
    told: Table
    words: U64
    ids: Ids
    mark: I64


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
