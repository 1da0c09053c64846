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
from vedette.kernels.events.sift import cast, units
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
from vedette.pipeline.triggers.alerts import Alerts
from vedette.pipeline.triggers.freight import Part, joined
from vedette.pipeline.triggers.graphs import graph_of, slots_by_qid
from vedette.pipeline.triggers.keys import keys_of
from vedette.pipeline.triggers.shelf import Shelf

VERSION = 2
AT_ONCE = 1 << 16  # events that are matched together


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
        self._sides: dict[int, tuple[str, bool]] = {}  # by number: how it is compared, whether it is the id
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
        alerts = Alerts(self._shelf)
        parts = [letter.arrays for letter in letters if letter.arrays]
        if parts:
            self._take_in(joined(parts), alerts)
        self._match(_nobody(self._events.keys.shape[1]), frontier)
        gone = {c["qid"] for c in commands if c["op"] == "drop"}
        if gone:
            self._replan([t for t in self._triggers if t["qid"] not in gone])
        counts = self._counts
        self.metrics = {
            "alerts": alerts.count,
            "stored_events": int(counts[EVENTS] - before[EVENTS]),
            "peak_stored_events": int(counts[PEAK_EVENTS] - before[PEAK_EVENTS]),
            "probed_events": int(counts[PROBED] - before[PROBED]),
        }
        return alerts.letters()

    def _take_in(self, part: Part, alerts: Alerts) -> None:
        """The events of a batch in their order, some ten thousand at a time: the room of most is soon free again."""
        ids = part["ids"]
        rank = np.empty(len(ids), np.int64)
        rank[pc.sort_indices(ids).to_numpy()] = np.arange(len(ids))
        order = np.lexsort((rank[part["id"]], part["t"]))
        qids, firsts = self._by_qid
        slot = (firsts[np.searchsorted(qids, part["qid"])] + part["base"]).astype(np.int32)
        first = np.concatenate(([0], np.cumsum(part["count"], dtype=np.int64)))
        code = part["code"].astype(np.int32, copy=False)
        oid_keys = {n: keys_of(ids, use) for n, (use, is_oid) in self._sides.items() if is_oid}
        for start in range(0, len(order), AT_ONCE):
            which = order[start : start + AT_ONCE]
            events = cast(which, first, code, part["is_home"], part["users"], slot, part["is_whole"])
            a = self._columns(part, which, oid_keys)
            a |= {"ref": self._shelf.append(a) + np.arange(len(which)), **events._asdict()}
            found = self._match(a, int(part["t"][order[min(start + AT_ONCE, len(order) - 1)]]))
            alerts.add(self._triggers, found)
            self._sweep()

    def _columns(self, part: Part, which: I64, oid_keys: dict[int, I64]) -> dict[str, Any]:
        """Some events of a part, as the shelf and the kernel take them."""
        taken, code = pa.array(which), part["id"][which]
        columns: dict[str, Any] = {name: part[name][which] for name in ("t", "x", "y")}
        columns["oid"] = part["ids"].take(pa.array(code))
        columns |= {name: column.take(taken) for name, column in part.items() if name.startswith("side.")}
        keys = np.zeros((len(which), self._events.keys.shape[1]), np.int64)
        for number, (use, is_oid) in self._sides.items():
            if is_oid:
                keys[:, number] = oid_keys[number][code]
            elif f"side.{number}" in columns:
                keys[:, number] = keys_of(columns[f"side.{number}"], use)
        return columns | {"keys": keys}

    def _match(self, a: dict[str, Any], frontier: int) -> I64:
        """The tuples that some events complete, as (trigger, refs by slot); none before the frontier will follow."""
        self._make_room(len(a["t"]), len(a["slot"]))
        wraps = self._setup.wraps
        found: I64 = match(
            a["t"],
            a["x"],
            a["y"],
            units(a["x"], a["y"], wraps),
            a["keys"],
            a["ref"],
            a["start"],
            a["slot"],
            a["is_owned"],
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

    def _make_room(self, events: int, entries: int) -> None:
        """Room for so many more; chains stay short."""
        counts = self._counts
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
        chained = int(counts[ENTRIES]) + min(entries, AT_ONCE)
        if 2 * chained > len(self._heads):
            self._heads = np.full(1 << (2 * chained - 1).bit_length(), -1, np.int32)
            self._rehang()

    # ---------------------------------------------------------------------------------------- triggers

    def _replan(self, triggers: list[dict[str, Any]]) -> None:
        """Other triggers than before: entries of those that stay get their new slots, the others go."""
        old_qids, old_firsts = self._by_qid
        old = self._graph
        self._triggers, self._graph, self._standing = triggers, graph_of(triggers, self._setup.wraps), None
        self._know_sides()
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

    def _know_sides(self) -> None:
        """The sides of all triggers, and room for a key of each."""
        self._sides = {int(n): (use, is_oid) for t in self._triggers for n, (use, is_oid) in t["sides"].items()}
        self._widen(max(self._sides, default=-1) + 1)

    def _widen(self, keys: int) -> None:
        more = keys - self._events.keys.shape[1]
        if more > 0:
            wider = np.pad(self._events.keys, ((0, 0), (0, more)))
            self._events = self._events._replace(keys=wider)

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
        self._widen(a["keys"].shape[1])
        self._make_room(n, m)
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


def _nobody(keys: int) -> dict[str, Any]:
    """No events; what is kept of others may expire."""
    none, floats, keyless = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, keys), np.int64)
    a = {"t": none, "x": floats, "y": floats, "keys": keyless, "ref": none, "start": np.zeros(1, np.int64)}
    return {**a, "slot": np.zeros(0, np.int32), "is_owned": np.zeros(0, np.bool_)}
