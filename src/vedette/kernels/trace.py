"""The last position of every object: which row wins a tick, who moved where, who timed out when.

In: rows in time order, and the table of last positions by slot. Out: events (arrive, move, time out),
with the region left and the region reached.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import B1, F64, I32, I64
from vedette.kernels.regions import Regions, region_of

FOREVER = np.iinfo(np.int64).max


class Tracks(NamedTuple):
    """By slot: own time and place of the last applied row; region -1: no position."""

    t: I64
    x: F64
    y: F64
    region: I32


class Trail(NamedTuple):
    """Events: row is the row behind it (-1: a timeout); old, new: regions, -1 for none."""

    t: I64
    slot: I32
    row: I64
    old: I32
    new: I32
    x: F64
    y: F64


@jit
def winners(t: I64, own: I64, slot: I32, x: F64, y: F64, rank: I64, last: I64) -> tuple[B1, B1, int]:
    """Which rows count: per object and tick the greatest own time, then the smallest (x, y, rank).

    `last` is scratch by slot, all -1 before and after. Also tells rows that tie in all but rank (their rank must
    come from their attributes), and how many rows repeat an (object, time).
    """
    keep = np.ones(len(t), np.bool_)
    tied = np.zeros(len(t), np.bool_)
    repeats = 0
    for i in range(len(t)):
        s = slot[i]
        j = last[s]
        if j < 0 or t[j] != t[i]:
            last[s] = i
            continue
        if own[i] == own[j]:
            repeats += 1
            if x[i] == x[j] and y[i] == y[j]:
                tied[i] = True
                tied[j] = True
                better = rank[i] < rank[j]
            else:
                better = x[i] < x[j] or (x[i] == x[j] and y[i] < y[j])
        else:
            better = own[i] > own[j]
        if better:
            keep[j] = False
            last[s] = i
        else:
            keep[i] = False
    for i in range(len(t)):
        last[slot[i]] = -1
    return keep, tied, repeats


@jit
def trace(
    first: int,
    stop: int,
    keep: B1,
    t: I64,
    own: I64,
    slot: I32,
    x: F64,
    y: F64,
    timeout: int,
    end: int,
    regions: Regions,
    tracks: Tracks,
) -> Trail:
    """Apply rows first..stop, and all timeouts before the tick `end`. Events are in time order except for timeouts."""
    room = stop - first
    if timeout != FOREVER:
        room = 2 * room + len(tracks.t)
    out = Trail(
        np.empty(room, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room),
    )
    n = 0
    for i in range(first, stop):
        if not keep[i]:
            continue
        s = slot[i]
        if tracks.region[s] >= 0 and timeout != FOREVER and tracks.t[s] + timeout < t[i]:
            out.t[n] = tracks.t[s] + timeout
            out.slot[n] = s
            out.row[n] = -1
            out.old[n] = tracks.region[s]
            out.new[n] = -1
            out.x[n] = tracks.x[s]
            out.y[n] = tracks.y[s]
            n += 1
            tracks.region[s] = -1
        region = region_of(regions, x[i], y[i])
        out.t[n] = t[i]
        out.slot[n] = s
        out.row[n] = i
        out.old[n] = tracks.region[s]
        out.new[n] = region
        out.x[n] = x[i]
        out.y[n] = y[i]
        n += 1
        tracks.t[s] = own[i]
        tracks.x[s] = x[i]
        tracks.y[s] = y[i]
        tracks.region[s] = region
    if timeout != FOREVER:
        for s in range(len(tracks.t)):
            if tracks.region[s] >= 0 and tracks.t[s] + timeout < end:
                out.t[n] = tracks.t[s] + timeout
                out.slot[n] = s
                out.row[n] = -1
                out.old[n] = tracks.region[s]
                out.new[n] = -1
                out.x[n] = tracks.x[s]
                out.y[n] = tracks.y[s]
                n += 1
                tracks.region[s] = -1
    return Trail(
        out.t[:n].copy(),
        out.slot[:n].copy(),
        out.row[:n].copy(),
        out.old[:n].copy(),
        out.new[:n].copy(),
        out.x[:n].copy(),
        out.y[:n].copy(),
    )
