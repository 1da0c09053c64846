"""Tuples that a shard has found, on their way to ASSEMBLE: each event once, however many alerts it is in.

In: tuples of refs to the shelf, some at a time. Out: by query bucket a letter: for each alert its trigger (`name`) and
its events in the order of variables, end to end (`member`), which point to the events themselves (oid, t, x, y).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import B1, I32, I64
from vedette.pipeline.messages import Letter
from vedette.pipeline.rows import join
from vedette.pipeline.triggers.freight import smallest
from vedette.pipeline.triggers.keys import holds
from vedette.pipeline.triggers.shelf import Shelf
from vedette.pipeline.tuples import Tuples


@dataclass
class _Told:
    """What is for one query bucket: names and variables of triggers by number, and columns in parts."""

    number: dict[str, int] = field(default_factory=dict)
    variables: list[list[str]] = field(default_factory=list)
    name: list[I64] = field(default_factory=list)
    member: list[I64] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0


class Alerts:
    """The alerts of a step."""

    def __init__(self, shelf: Shelf) -> None:
        self.count = 0
        self._shelf = shelf
        self._told: dict[int, _Told] = {}

    def add(self, triggers: list[dict[str, Any]], found: I64) -> None:
        """Tuples whose comparisons hold exactly become alerts, by trigger; the refs need not stay."""
        found = found[np.argsort(found[:, 0], kind="stable")]
        start = np.searchsorted(found[:, 0], np.arange(len(triggers) + 1))
        by_bucket: dict[int, list[I64]] = {}
        for q in np.flatnonzero(np.diff(start)).tolist():
            trigger = triggers[q]
            refs = found[start[q] : start[q + 1], 1 : 1 + len(trigger["bases"])]
            refs = refs[self._exactly(trigger, refs)] if trigger["comparisons"] else refs
            if len(refs):
                told = self._told.setdefault(trigger["bucket"], _Told())
                number = told.number.setdefault(trigger["name"], len(told.number))
                if number == len(told.variables):
                    told.variables.append(trigger["names"])
                told.name.append(np.full(len(refs), number))
                by_bucket.setdefault(trigger["bucket"], []).append(refs.reshape(-1))
                self.count += len(refs)
        for bucket, several in by_bucket.items():
            self._add_events(self._told[bucket], np.concatenate(several))

    def _add_events(self, told: _Told, refs: I64) -> None:
        there = np.zeros(len(self._shelf), np.bool_)
        there[refs] = True
        distinct = np.flatnonzero(there)
        number = np.cumsum(there) - 1 + told.count
        told.member.append(number[refs])
        told.events.append(self._shelf.events(distinct))
        told.count += len(distinct)

    def _exactly(self, trigger: dict[str, Any], refs: I64) -> B1:
        """Which tuples satisfy all comparisons, by value."""
        good = np.ones(len(refs), np.bool_)
        bases, shelf = trigger["bases"], self._shelf
        for a, b, op, left, right, is_keyed in trigger["comparisons"]:
            ends = trigger["sides"][str(left)][1], trigger["sides"][str(right)][1]
            for i in [s for s, base in enumerate(bases) if base == a]:
                for j in [s for s, base in enumerate(bases) if base == b and s != i]:
                    some = np.arange(len(refs))
                    if op == "<>" and is_keyed:  # what has other keys is something else
                        some = np.flatnonzero(shelf.key(left, refs[:, i]) == shelf.key(right, refs[:, j]))
                    if len(some):
                        one = shelf.side(left, refs[some, i], ends[0])
                        good[some] &= holds(op, one, shelf.side(right, refs[some, j], ends[1]), *ends)
        return good

    def letters(self) -> dict[int, Letter]:
        """The letters, by query bucket."""
        return {bucket: _letter(told) for bucket, told in self._told.items()}


def _letter(told: _Told) -> Letter:
    columns: dict[str, Any] = {name: join([events[name] for events in told.events]) for name in ("oid", "t", "x", "y")}
    columns |= {"name": smallest(np.concatenate(told.name)), "member": smallest(np.concatenate(told.member))}
    return Letter({"names": list(told.number), "variables": told.variables}, columns)


def resolved(letters: list[Letter], oid_type: pa.DataType) -> tuple[list[str], I32, I64, Tuples]:
    """Alerts in the order of time: names, the trigger of each, its time (that of its latest event), and its events."""
    names: list[str] = []
    words: list[str] = []
    sizes: list[int] = []
    number, member, events = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [_no_events(oid_type)]
    for letter in letters:
        a = letter.arrays
        number.append(a["name"].astype(np.int32) + len(names))
        member.append(a["member"].astype(np.int32) + sum(len(e["t"]) for e in events))
        events.append(a)
        names += letter.meta["names"]
        sizes += [len(variables) for variables in letter.meta["variables"]]
        words += [word for variables in letter.meta["variables"] for word in variables]
    oid, t, x, y = (join([e[n] for e in events]) for n in ("oid", "t", "x", "y"))
    times = np.asarray(t.to_numpy())
    size_of, trigger, members = np.array(sizes, np.int64), np.concatenate(number), np.concatenate(member)
    size = size_of[trigger]
    begin = np.cumsum(size) - size
    latest = np.maximum.reduceat(times[members], begin) if len(begin) else times
    order = np.argsort(latest, kind="stable")
    trigger, size = trigger[order], size[order]
    ends = np.cumsum(size)
    within = np.arange(len(members)) - np.repeat(ends - size, size)
    event = smallest(members[np.repeat(begin[order], size) + within])
    variable = smallest(np.repeat((np.cumsum(size_of) - size_of)[trigger], size) + within)
    offsets = np.concatenate(([0], ends))
    places = np.asarray(x.to_numpy()), np.asarray(y.to_numpy())
    return (
        names,
        trigger,
        latest[order],
        Tuples(offsets, variable, event, pa.array(words, pa.string()), oid, times, *places),
    )


def _no_events(oid_type: pa.DataType) -> dict[str, pa.Array]:
    kinds = {"oid": oid_type, "t": pa.int64(), "x": pa.float64(), "y": pa.float64()}
    return {name: pa.array([], kind) for name, kind in kinds.items()}
