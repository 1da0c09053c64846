"""Patterns of which all steps have windows, as bits: what an object did in each slice of time.

A *beat* is all such patterns with the same EVERY. Their windows begin and end at fixed places between two instants, so
time falls into *slices* that no window cuts: an update counts for all of a slice or for none of it. An object that has
satisfied a step lately has a *seat*: a ring of slices for each beat, each a few words; a bit says that some update of
the slice satisfied a step, another that some update did not satisfy a step that is ALWAYS to be. Patterns have the same
bit in every word, so that the words of a window, of a step, of all steps meet by OR and AND, 64 patterns at once.

Slices are numbered along time: those between two instants follow each other, the last one ends with the instant. The
ring of a beat holds as many as the longest window and the present stretch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vedette.kernels.arrays import I32, I64, U64

Table = Any  # an array of records

NOT_YET = -(1 << 62)  # a slice before all others

# `slices`: so many between two instants; their ends stand in `ends` from `first_end` on, as times since the instant
# before. `ring`: slices that are kept; `words` of a slice, first `hits` for steps, then for faults. `at`: where the
# ring begins in a seat; `cover`, `member`: its words for cells and for answers, these are `wide`; `fault`, `faults`:
# its words of faults. `earliest`: the first slice that an instant looks at, from the first slice that ends with it;
# `latest`: whoever has no hit there or later matches no pattern. `patterns`: so many. `due`: asked next, NEVER;
# `is_new`: some of its patterns have never been asked. The slice that was written to last: the times `low` .. `high`,
# its `number`, where it stands in every seat (`place`).
BEAT = np.dtype(
    [
        ("every", np.int64),
        ("slices", np.int64),
        ("first_end", np.int64),
        ("ring", np.int64),
        ("words", np.int64),
        ("hits", np.int64),
        ("at", np.int64),
        ("cover", np.int64),
        ("member", np.int64),
        ("wide", np.int64),
        ("fault", np.int64),
        ("faults", np.int64),
        ("earliest", np.int64),
        ("latest", np.int64),
        ("patterns", np.int64),
        ("due", np.int64),
        ("low", np.int64),
        ("high", np.int64),
        ("number", np.int64),
        ("place", np.int64),
        ("is_new", np.bool_),
    ],
    align=True,
)

# A word of faults: where it stands in a slice, the word of hits that it belongs to, which of its steps are ALWAYS, the
# word of the answers.
FAULT = np.dtype([("word", np.int64), ("hit", np.int64), ("always", np.uint64), ("member", np.int64)], align=True)

# A word of hits that a cell covers some of.
COVER = np.dtype([("word", np.int64), ("bits", np.uint64)], align=True)

# One step of up to 64 patterns: its windows, the patterns that have no such step, whether its words are faults.
TERM = np.dtype(
    [("first", np.int64), ("stop", np.int64), ("absent", np.uint64), ("is_fault", np.bool_)],
    align=True,
)

# The slices low .. high of an instant, counted from its first; the word to look at, the patterns with this window.
WINDOW = np.dtype([("low", np.int64), ("high", np.int64), ("word", np.int64), ("mask", np.uint64)], align=True)

# Patterns of a word that share a condition, by its bit.
FILTER = np.dtype([("bit", np.int64), ("mask", np.uint64)], align=True)

# A step that a cell satisfies in part: its word among those for cells, its bit; its box, if it is one in the plane.
PART = np.dtype(
    [
        ("step", np.int64),
        ("word", np.int64),
        ("bit", np.uint64),
        ("x1", np.float64),
        ("y1", np.float64),
        ("x2", np.float64),
        ("y2", np.float64),
        ("is_box", np.bool_),
        ("is_disjoint", np.bool_),
    ],
    align=True,
)


class Beats(NamedTuple):
    """All beats. By cell, from start to start: words of steps that it covers, and the steps that it satisfies in part.

    By word of an answer: the patterns there (`present`), their slots by bit, terms and filters from start to start.
    `found`, `touched`: scratch, the words for one update, and which of them are not zero.
    """

    beat: Table
    ends: I64
    fault: Table
    cover_start: I64
    cover: Table
    part_start: I64
    part: Table
    term_start: I64
    term: Table
    window: Table
    filter_start: I64
    filter: Table
    present: U64
    slot: I64
    found: U64
    touched: I64


class Seats(NamedTuple):
    """What is known of objects. `at[object]`: its seat, -1.

    By seat: the object; its rings; by beat the newest slice with a hit, and the slice up to which the ring is valid;
    the answers that it is in.
    """

    at: I32
    object: I64
    ring: U64
    newest: I64
    upto: I64
    member: U64
