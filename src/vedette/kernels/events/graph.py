"""Closed constraint graphs of triggers as arrays, and whether two events fit together (CCQ's matrix M[i, j]).

Slots of all triggers are numbered through. A set's slots have equal constraints, so the first of them, its *base*,
speaks for all; between two events of one set the pair (base, base + 1) does. Keys are coarse: what they refuse is
refused, what they let pass is looked at once more when an alert is about to fire.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import bare
from vedette.kernels.arrays import B1, F64, I8, I32, I64
from vedette.kernels.events.store import Cells, Events, Whole, cell_of
from vedette.space import planar_d2, sphere_d2

LOOSE, TIGHT, DOMAINS, CELLS = 0, 1, 2, 3
EQUAL, AT_MOST, AT_LEAST = 0, 1, 2


class Graph(NamedTuple):
    """By trigger: `first` slot, `pairs` (where its matrix begins), `strategy`.

    By slot: its `trigger`, `base`, `size`, `key` column (-1: none), and the cells that its events hang in: their `side`
    (0: none) and how many are `around`.
    By pair (i, j) of a trigger's slots: t_j - t_i <= high; distances as they are compared (near2 inf, far2 -1: any),
    strict or not; reach2: what follows for the distance, rounded outwards; comparisons of key columns a and b.
    """

    first: I32
    pairs: I64
    strategy: I8
    trigger: I32
    base: I32
    size: I32
    key: I32
    side: F64
    around: I32
    high: I64
    near2: F64
    near_strict: B1
    far2: F64
    far_strict: B1
    reach2: F64
    compare: I32
    op: I8
    a: I32
    b: I32


@bare
def pair_of(graph: Graph, q: Whole, i: Whole, j: Whole) -> Whole:
    """The pair of two slots of a trigger; of one base, that of two events of the set."""
    other = j + 1 if i == j else j
    first = graph.first[q]
    number: Whole = graph.pairs[q] + (i - first) * (graph.first[q + 1] - first) + (other - first)
    return number


@bare
def list_of(graph: Graph, slot: Whole) -> Whole:
    """Whose chains the events of a variable hang in: its own, or (-1) those that all triggers share."""
    return slot if graph.strategy[graph.trigger[slot]] >= DOMAINS else np.int64(-1)


@bare
def place_of(graph: Graph, events: Events, slot: Whole, event: Whole) -> Whole:
    """The cell, or the key, by which an event at a variable is found."""
    if graph.side[slot] > 0.0:
        return cell_of(Cells(graph.side[slot], graph.around[slot]), events.x[event], events.y[event])
    return np.int64(0) if graph.key[slot] < 0 else events.keys[event, graph.key[slot]]


@bare
def is_chained(graph: Graph, slot: Whole) -> bool:
    """Whether events at a variable are found by a cell or a key."""
    return bool(graph.side[slot] > 0.0 or graph.key[slot] >= 0)


@bare
def d2_between(events: Events, a: Whole, b: Whole, wraps: bool) -> float:
    """Squared distance or chord of two events."""
    if wraps:
        return sphere_d2(events.ux[a], events.uy[a], events.uz[a], events.ux[b], events.uy[b], events.uz[b])
    return planar_d2(events.x[a], events.y[a], events.x[b], events.y[b])


@bare
def keys_fit(op: int, a: int, b: int) -> bool:
    """Whether coarse keys allow for a comparison."""
    if op == EQUAL:
        return a == b
    return a <= b if op == AT_MOST else a >= b


@bare
def fits(graph: Graph, events: Events, p: Whole, back: Whole, a: Whole, b: Whole, wraps: bool) -> bool:
    """Whether events a and b satisfy all that is between two slots; `p` is their pair, `back` the other way."""
    if a == b:
        return False
    lag = events.t[b] - events.t[a]
    if lag > graph.high[p] or -lag > graph.high[back]:
        return False
    d2 = d2_between(events, a, b, wraps)
    near2, far2 = graph.near2[p], graph.far2[p]
    if d2 > graph.reach2[p] or d2 > near2 or d2 < far2:
        return False
    if (d2 == near2 and graph.near_strict[p]) or (d2 == far2 and graph.far_strict[p]):
        return False
    for c in range(graph.compare[p], graph.compare[p + 1]):
        if not keys_fit(graph.op[c], events.keys[a, graph.a[c]], events.keys[b, graph.b[c]]):
            return False
    return True
