"""ASSEMBLE's part in alerts: a shard of alerts behind the letters of all TRACK buckets.

In: alerts that come and go, events of objects, counts around them (by `pipeline.assemble`). Out: changes, +1 where an
alert becomes true and -1 where it becomes false. An alert is first judged at its tick, or at the first tick of the
stream if that is later: there is no time before. What is replaced or dropped is told of by its name, so that only the
difference is.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import I64
from vedette.kernels.judge import Counts, Happenings
from vedette.model.plain import from_plain
from vedette.pipeline import state
from vedette.pipeline.alerts.shard import Shard
from vedette.pipeline.alerts.track import EVENTS
from vedette.pipeline.assemble import Changes
from vedette.pipeline.messages import Letter
from vedette.pipeline.setup import Setup

VERSION = 1
COUNTS = {"t": np.int64, "qid": np.int64, "count": np.int64}
News = tuple[int, str, bool]


class AlertAnswers:
    """The alerts of one query bucket."""

    def __init__(self, setup: Setup, oid_type: pa.DataType, sections: dict[str, bytes]) -> None:
        self._oid_type = oid_type
        self._standing: bytes | None = None
        self._first: int | None = None
        self._pending: int | None = None  # the tick of what was not judged yet
        self._gids: dict[int, str] = {}
        self.shard = Shard(setup.space)
        if sections:
            self._standing = sections["standing"]
            standing, _ = state.decode("alerts standing", VERSION, self._standing)
            meta, columns = state.decode("alerts", VERSION, sections["columns"])
            self._first, self._pending = meta["first"], meta["pending"]
            self._gids = dict(standing["gids"])
            self.shard = Shard.load(setup.space, standing, columns)

    # ------------------------------------------------------------------------------------------ step

    def step(self, letters: list[Letter], frontier: int) -> Changes:
        """Everything before the frontier happens."""
        commands = sorted(
            (c for each in letters for c in each.meta.get("commands", ())),
            key=lambda c: (c["c"], c["sequence"], c["comes"]),
        )
        for letter in letters:
            self._gids.update((gid, oid) for oid, gid in letter.meta.get("objects", ()))
            first = letter.meta.get("first")
            if first is not None:
                self._first = first if self._first is None else min(first, self._first)
        events = _merged([each for each in letters if "gid" in each.arrays], EVENTS)
        counts = _merged([each for each in letters if "qid" in each.arrays], COUNTS)
        news: list[News] = []
        done = [0, 0]
        for c, group in groupby(commands, key=lambda command: command["c"]):
            news += self._run(events, counts, done, c)
            news += self._apply(c, list(group))
        news += self._run(events, counts, done, None)
        if commands:
            bodies = self.shard.bodies()
            self._gids = {gid: oid for gid, oid in self._gids.items() if oid in bodies}
        return self._changes(news)

    def _run(self, events: dict[str, Any], counts: dict[str, Any], done: list[int], stop: int | None) -> list[News]:
        """What happens before the tick `stop`, from where the last run ended."""
        ends = [
            len(columns["t"]) if stop is None else int(np.searchsorted(columns["t"], stop, "left"))
            for columns in (events, counts)
        ]
        e, c = (slice(begin, end) for begin, end in zip(done, ends, strict=True))
        done[:] = ends
        bodies = self.shard.bodies()
        of_gid = {gid: bodies[oid] for gid, oid in self._gids.items() if oid in bodies}
        body, here = _looked_up(events["gid"][e], of_gid)
        counted, known = _looked_up(counts["qid"][c], dict(self.shard.counted()))
        happenings = Happenings(events["t"][e][here], body, *(events[n][e][here] for n in ("on", "x", "y")))
        wake_at = None
        if self._pending is not None and self._first is not None:
            due = max(self._pending, self._first)
            if stop is None or due < stop:
                wake_at, self._pending = due, None
        return self.shard.run(happenings, Counts(counts["t"][c][known], counted, counts["count"][c][known]), wake_at)

    def _apply(self, c: int, commands: list[dict[str, Any]]) -> list[News]:
        """Alerts come and go at tick c; out: the end of those that were true and have no successor."""
        self._standing = None
        left: dict[str, bool] = {}
        for command in commands:
            name = command["name"]
            if command["comes"]:
                counted_by = {from_plain(constraint): qid for constraint, qid in command["counted_by"]}
                self.shard.create(name, from_plain(command["formula"]), counted_by, left.pop(name, False))
                self._pending = c if self._pending is None else max(c, self._pending)
            else:
                left[name] = self.shard.drop(name)
        return [(c, name, False) for name, told in left.items() if told]

    def _changes(self, news: list[News]) -> Changes:
        news.sort(key=lambda each: each[0])
        names = sorted({name for _, name, _ in news})
        number = {name: i for i, name in enumerate(names)}
        n = len(news)
        nothing = np.full(n, np.nan)
        return Changes(
            names,
            np.array([number[name] for _, name, _ in news], np.int32),
            np.array([t for t, _, _ in news], np.int64),
            np.array([1 if value else -1 for _, _, value in news], np.int8),
            pa.nulls(n, self._oid_type),
            nothing,
            nothing,
            nothing,
        )

    # ------------------------------------------------------------------------------------ save and load

    def save(self) -> dict[str, bytes]:
        """The alerts, and how things stand."""
        if self._standing is None:
            standing = self.shard.standing() | {"gids": [[gid, oid] for gid, oid in self._gids.items()]}
            self._standing = state.encode("alerts standing", VERSION, standing, {})
        meta = {"first": self._first, "pending": self._pending}
        return {"standing": self._standing, "columns": state.encode("alerts", VERSION, meta, self.shard.columns())}


def _merged(letters: list[Letter], kinds: dict[str, Any]) -> dict[str, Any]:
    """Columns of several letters in time order; what one letter says of one tick stays in its order."""
    columns = {
        name: np.concatenate([np.zeros(0, kind), *(each.arrays[name] for each in letters)])
        for name, kind in kinds.items()
    }
    order = np.argsort(columns["t"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def _looked_up(keys: I64, found: dict[int, int]) -> tuple[Any, Any]:
    """The numbers behind keys that are known, and which those are."""
    distinct, where = np.unique(keys, return_inverse=True)
    numbers = np.array([found.get(key, -1) for key in distinct.tolist()], np.int32)[where]
    known = np.flatnonzero(numbers >= 0)
    return numbers[known], known
