"""Triggers in PARTICIPATE: the events of a shard that may still matter, and the alerts that its events complete.

In: letters of all buckets: events with the variables that they can stand for, triggers that come and go. Out: alerts
by query bucket. Events are taken in the order of (t, oid), all buckets together, so an alert is told exactly once: when
its last event comes, by the shard that owns that event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vedette.kernels.arrays import F64, I64, all_enlarged
from vedette.kernels.events.match import MOST_SLOTS, match, rehang
from vedette.kernels.events.sift import units
from vedette.kernels.events.store import (
    ENTRIES,
    EVENTS,
    FREE_ENTRIES,
    FREE_EVENTS,
    NEXT_NUMBER,
    PEAK_EVENTS,
    PROBED,
    Entries,
    Events,
    Heap,
    Lists,
)
from vedette.pipeline import state
from vedette.pipeline.messages import Letter
from vedette.pipeline.setup import Setup
from vedette.pipeline.triggers.graphs import graph_of, slots_by_qid
from vedette.pipeline.triggers.keys import holds
from vedette.pipeline.triggers.shelf import Shelf

VERSION = 1


class TriggerShard:
    """One shard: a region of space, or some of the keys, or some triggers, by the same number."""

    def __init__(self, setup: Setup, region: int, oid_type: pa.DataType, sections: dict[str, bytes]) -> None:
        self.metrics: Mapping[str, int] = {}
        self._setup = setup
        self._triggers: list[dict[str, Any]] = []
        self._graph = graph_of([], setup.wraps)
        self._by_qid = slots_by_qid([], self._graph)
        self._events = _no_events(0)
        self._entries = _no_entries()
        self._heap = Heap(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))
        self._heads = np.full(16, -1, np.int32)
        self._lists = Lists(np.zeros(0, np.int32), np.zeros(0, np.int64))
        self._counts = np.zeros(8, np.int64)
        self._shelf = Shelf(oid_type)
        self._standing: bytes | None = None
        if sections:
            self._load(sections)

    # -------------------------------------------------------------------------------------------- step

    def step(self, letters: list[Letter], frontier: int) -> dict[int, Letter]:
        """Take in a batch; the alerts by query bucket."""
        commands = sorted(
            (c for letter in letters for c in letter.meta["commands"]),
            key=lambda c: (c["c"], c["sequence"], c["op"] == "create"),
        )
        came = [c for c in commands if c["op"] == "create"]
        if came:
            self._replan([*self._triggers, *came])
        before = self._counts.copy()
        alerts = self._match(_merged([letter.arrays for letter in letters if letter.arrays]), frontier)
        told = self._told(alerts)
        gone = {c["qid"] for c in commands if c["op"] == "drop"}
        if gone:
            self._replan([t for t in self._triggers if t["qid"] not in gone])
        self._sweep()
        counts = self._counts
        self.metrics = {
            "alerts": sum(len(letter.arrays["t"]) for letter in told.values()),
            "stored_events": int(counts[EVENTS] - before[EVENTS]),
            "peak_stored_events": int(counts[PEAK_EVENTS] - before[PEAK_EVENTS]),
            "probed_events": int(counts[PROBED] - before[PROBED]),
        }
        return told

    def _match(self, a: dict[str, Any], frontier: int) -> I64:
        """The tuples that the events of a batch complete, as (trigger, refs by slot)."""
        if not a:
            t, keys = np.zeros(0, np.int64), np.zeros((0, self._events.keys.shape[1]), np.int64)
            a = {"t": t, "x": np.zeros(0), "y": np.zeros(0), "keys": keys, "slot": np.zeros(0, np.int32)}
            a |= {"start": np.zeros(1, np.int64), "owned": np.zeros(0, np.bool_), "ref": t}
        else:
            order = pc.sort_indices(
                pa.table({"t": a["t"], "oid": a["oid"]}), sort_keys=[("t", "ascending"), ("oid", "ascending")]
            ).to_numpy()
            a = _in_order(a, order)
            a["ref"] = self._shelf.append(a) + np.arange(len(a["t"]))
            qids, firsts = self._by_qid
            a["slot"] = (firsts[np.searchsorted(qids, a["qid"])] + a["base"]).astype(np.int32)
        self._make_room(len(a["t"]), len(a["slot"]), a["keys"].shape[1])
        keys = a["keys"]
        width = self._events.keys.shape[1]
        if keys.shape[1] < width:
            keys = np.concatenate((keys, np.zeros((len(keys), width - keys.shape[1]), np.int64)), axis=1)
        wraps = self._setup.wraps
        found: I64 = match(
            a["t"],
            a["x"],
            a["y"],
            units(a["x"], a["y"], wraps),
            np.ascontiguousarray(keys),
            a["ref"],
            a["start"],
            a["slot"],
            a["owned"],
            self._graph,
            self._events,
            self._entries,
            self._heap,
            self._heads,
            self._lists,
            self._counts,
            frontier,
            wraps,
        )
        return found

    def _make_room(self, events: int, entries: int, keys: int) -> None:
        """Room for all of a batch; chains stay short."""
        counts = self._counts
        if keys > self._events.keys.shape[1]:
            wider = np.zeros((len(self._events.t), keys), np.int64)
            wider[:, : self._events.keys.shape[1]] = self._events.keys
            self._events = self._events._replace(keys=wider)
        if events + 1 > counts[FREE_EVENTS]:
            room = len(self._events.t)
            more = max(2 * room, room + events + 1)
            free = self._events.free[: counts[FREE_EVENTS]]
            self._events = all_enlarged(self._events, more)
            self._events.free[: more - room] = np.arange(more - 1, room - 1, -1)
            self._events.free[more - room : more - room + len(free)] = free
            counts[FREE_EVENTS] = more - room + len(free)
        if entries + 1 > counts[FREE_ENTRIES]:
            room = len(self._entries.event)
            more = max(2 * room, room + entries + 1)
            free = self._entries.free[: counts[FREE_ENTRIES]]
            found = np.zeros((more, MOST_SLOTS), np.uint8)
            found[:room] = self._entries.found
            stamp = np.zeros(more, np.int64)
            stamp[:room] = self._entries.stamp
            self._entries = all_enlarged(self._entries, more)._replace(found=found, stamp=stamp)
            self._entries.free[: more - room] = np.arange(more - 1, room - 1, -1)
            self._entries.free[more - room : more - room + len(free)] = free
            counts[FREE_ENTRIES] = more - room + len(free)
            self._heap = all_enlarged(self._heap, more)
            if 2 * more > len(self._heads):
                self._heads = np.full(1 << (2 * more - 1).bit_length(), -1, np.int32)
                self._rehang()

    # ------------------------------------------------------------------------------------------ alerts

    def _told(self, alerts: I64) -> dict[int, Letter]:
        """Alerts whose comparisons hold exactly, by query bucket; then by trigger, in time order."""
        by_bucket: dict[int, list[tuple[str, I64, list[str]]]] = {}
        alerts = alerts[np.argsort(alerts[:, 0], kind="stable")]
        start = np.searchsorted(alerts[:, 0], np.arange(len(self._triggers) + 1))
        for q in np.flatnonzero(np.diff(start)).tolist():
            trigger = self._triggers[q]
            refs = alerts[start[q] : start[q + 1], 1 : 1 + len(trigger["bases"])]
            refs = refs[self._exactly(trigger, refs)] if trigger["comparisons"] else refs
            if len(refs):
                by_bucket.setdefault(trigger["bucket"], []).append((trigger["name"], refs, trigger["names"]))
        return {bucket: self._letter(told) for bucket, told in by_bucket.items()}

    def _exactly(self, trigger: dict[str, Any], refs: I64) -> Any:
        """Which tuples satisfy all comparisons, by value."""
        good = np.ones(len(refs), np.bool_)
        bases = trigger["bases"]
        for a, b, op, left, right, is_keyed in trigger["comparisons"]:
            ends = trigger["is_oid"][str(left)], trigger["is_oid"][str(right)]
            for i in [s for s, base in enumerate(bases) if base == a]:
                for j in [s for s, base in enumerate(bases) if base == b and s != i]:
                    some = np.arange(len(refs))
                    if op == "<>" and is_keyed:  # what has other keys is something else
                        some = np.flatnonzero(self._shelf.key(left, refs[:, i]) == self._shelf.key(right, refs[:, j]))
                    if len(some):
                        one, other = self._shelf.side(left, refs[some, i]), self._shelf.side(right, refs[some, j])
                        good[some] &= holds(op, one, other, *ends)
        return good

    def _letter(self, told: list[tuple[str, I64, list[str]]]) -> Letter:
        """Tuples of several triggers: each a row with its time, and its events end to end."""
        names = [name for name, _, _ in told]
        size = np.concatenate([np.full(len(refs), refs.shape[1], np.int64) for _, refs, _ in told])
        ref = np.concatenate([refs.reshape(-1) for _, refs, _ in told])
        events = self._shelf.events(ref)
        last = np.concatenate([self._shelf.t(refs).max(axis=1) for _, refs, _ in told])
        arrays = {
            "name": np.repeat(np.arange(len(told), dtype=np.int32), [len(refs) for _, refs, _ in told]),
            "t": last,
            "size": size,
            **{f"member.{name}": column for name, column in events.items()},
        }
        return Letter({"names": names, "variables": [variables for _, _, variables in told]}, arrays)

    # ---------------------------------------------------------------------------------------- triggers

    def _replan(self, triggers: list[dict[str, Any]]) -> None:
        """Other triggers than before: entries of those that stay get their new slots, the others go."""
        old_qids, old_firsts = self._by_qid
        old = self._graph
        self._triggers, self._graph, self._standing = triggers, graph_of(triggers, self._setup.wraps), None
        self._by_qid = slots_by_qid(triggers, self._graph)
        first_of = dict(zip(*(a.tolist() for a in self._by_qid), strict=True))
        to = np.full(len(old.base) + 1, -1, np.int64)
        for qid, first in zip(old_qids.tolist(), old_firsts.tolist(), strict=True):
            if qid in first_of:
                last = int(old.first[old.trigger[first] + 1])
                to[first:last] = first_of[qid] + np.arange(last - first)
        live = np.flatnonzero(self._entries.event >= 0)
        self._entries.slot[live] = to[self._entries.slot[live]]
        gone = live[self._entries.slot[live] < 0]
        self._forget(gone)
        self._rehang()

    def _forget(self, gone: Any) -> None:
        counts = self._counts
        for entry in gone.tolist():  # a trigger was dropped
            event = self._entries.event[entry]
            self._entries.event[entry] = -1
            self._entries.stamp[entry] += 1
            self._entries.free[counts[FREE_ENTRIES]] = entry
            counts[FREE_ENTRIES] += 1
            counts[ENTRIES] -= 1
            self._events.users[event] -= 1
            if self._events.users[event] == 0:
                self._events.free[counts[FREE_EVENTS]] = event
                counts[FREE_EVENTS] += 1
                counts[EVENTS] -= 1

    def _rehang(self) -> None:
        live = np.flatnonzero(self._entries.event >= 0)
        order = live[np.argsort(self._events.number[self._entries.event[live]], kind="stable")].astype(np.int32)
        slots = len(self._graph.base)
        self._lists = Lists(np.full(slots, -1, np.int32), np.zeros(slots, np.int64))
        rehang(self._graph, self._events, self._entries, self._heap, self._heads, self._lists, self._counts, order)

    def _sweep(self) -> None:
        """Forget the rows of events that are gone, once they outweigh the others."""
        live = np.flatnonzero(self._events.users > 0)
        if self._shelf.is_worth_sweeping(len(live)):
            self._events.ref[live] = self._shelf.sweep(self._events.ref[live])

    # ------------------------------------------------------------------------------------- save and load

    def save(self) -> dict[str, bytes]:
        """Live events and entries; triggers apart, since they change rarely."""
        if self._standing is None:
            self._standing = state.encode("trigger shard standing", VERSION, {"triggers": self._triggers}, {})
        events = np.flatnonzero(self._events.users > 0)
        events = events[np.argsort(self._events.number[events], kind="stable")]
        number = np.full(len(self._events.t), -1, np.int64)
        number[events] = np.arange(len(events))
        entries = np.flatnonzero(self._entries.event >= 0)
        entries = entries[np.argsort(number[self._entries.event[entries]], kind="stable")]
        arrays: dict[str, Any] = self._shelf.columns(self._events.ref[events])
        arrays |= {"keys": self._events.keys[events], "event": number[self._entries.event[entries]]}
        for name in ("slot", "until", "place", "found"):
            arrays[name] = getattr(self._entries, name)[entries]
        meta = {"peak": int(self._counts[PEAK_EVENTS]), "probed": int(self._counts[PROBED])}
        columns = state.encode("trigger shard", VERSION, meta, arrays)
        return {"standing": self._standing, "columns": columns}

    def _load(self, sections: dict[str, bytes]) -> None:
        self._standing = sections["standing"]
        self._triggers = state.decode("trigger shard standing", VERSION, self._standing)[0]["triggers"]
        meta, a = state.decode("trigger shard", VERSION, sections["columns"])
        n, m = len(a["t"]), len(a["event"])
        self._graph = graph_of(self._triggers, self._setup.wraps)
        self._by_qid = slots_by_qid(self._triggers, self._graph)
        self._make_room(n, m, a["keys"].shape[1])
        events, entries, counts = self._events, self._entries, self._counts
        self._shelf.append(a)
        for name in ("t", "x", "y", "keys"):
            getattr(events, name)[:n] = a[name]
        u: F64 = units(a["x"], a["y"], self._setup.wraps)
        events.ux[:n], events.uy[:n], events.uz[:n] = u[:, 0], u[:, 1], u[:, 2]
        events.ref[:n] = events.number[:n] = np.arange(n)
        events.users[:n] = np.bincount(a["event"], minlength=n)
        for name in ("event", "slot", "until", "place", "found"):
            getattr(entries, name)[:m] = a[name]
        events.free[: len(events.t) - n] = np.arange(len(events.t) - 1, n - 1, -1)
        entries.free[: len(entries.event) - m] = np.arange(len(entries.event) - 1, m - 1, -1)
        counts[[FREE_EVENTS, FREE_ENTRIES]] = len(events.t) - n, len(entries.event) - m
        counts[[NEXT_NUMBER, EVENTS, ENTRIES]] = n, n, m
        counts[[PEAK_EVENTS, PROBED]] = meta["peak"], meta["probed"]
        standing = self._standing
        self._replan(self._triggers)
        self._standing = standing


def _no_events(keys: int) -> Events:
    none, floats = np.zeros(0, np.int64), np.zeros(0)
    whole = np.zeros(0, np.int32)
    return Events(none, floats, floats, floats, floats, floats, none, none, whole, np.zeros((0, keys), np.int64), whole)


def _no_entries() -> Entries:
    none, whole = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return Entries(
        whole, whole, none, none, none, whole, whole, whole, whole, none, np.zeros((0, MOST_SLOTS), np.uint8), whole
    )


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The events of several buckets; an object has one bucket, so no event comes twice."""
    if not parts:
        return {}
    width = max(part["keys"].shape[1] for part in parts)
    merged: dict[str, Any] = {}
    for name in ("t", "x", "y", "count", "qid", "base", "owned"):
        merged[name] = np.concatenate([part[name] for part in parts])
    merged["oid"] = pa.concat_arrays([part["oid"] for part in parts])
    keys = np.zeros((len(merged["t"]), width), np.int64)
    at = 0
    for part in parts:
        keys[at : at + len(part["t"]), : part["keys"].shape[1]] = part["keys"]
        at += len(part["t"])
    merged["keys"] = keys
    for name in sorted({n for part in parts for n in part if n.startswith("side.")}):
        kind = next(part[name].type for part in parts if name in part)
        merged[name] = pa.concat_arrays([part.get(name, pa.nulls(len(part["t"]), kind)) for part in parts])
    return merged


def _in_order(a: dict[str, Any], order: Any) -> dict[str, Any]:
    """Events in this order, each with its pairs."""
    start = np.concatenate(([0], np.cumsum(a["count"])))
    count = a["count"][order]
    begin = np.repeat(start[:-1][order], count)
    new = np.concatenate(([0], np.cumsum(count)))
    pair = begin + np.arange(new[-1]) - np.repeat(new[:-1], count)
    taken = pa.array(order)
    columns = {
        name: column.take(taken) if isinstance(column, pa.Array) else column[order]
        for name, column in a.items()
        if name in ("t", "x", "y", "oid", "keys") or name.startswith("side.")
    }
    return {**columns, "start": new, **{name: a[name][pair] for name in ("qid", "base", "owned")}}
