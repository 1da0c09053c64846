"""Motion patterns in TRACK: all objects of a bucket, and every instant at which a pattern is asked.

In: patterns that come and go, events. Out: letters to query buckets: changes of answers as they are, and for the lowest
and highest the candidates of this bucket. Instants are asked when the frontier has passed them, whatever batch brings
the updates behind them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from vedette.kernels.arrays import I32, I64
from vedette.kernels.motion.tables import CHANGE, LONG_AGO, Table, records
from vedette.kernels.nearest import Ids
from vedette.model import Pattern
from vedette.pipeline.catalogue import Change
from vedette.pipeline.messages import Letter
from vedette.pipeline.parts import Home, Segment, Sent
from vedette.pipeline.patterns.book import Book
from vedette.pipeline.patterns.memory import Memory
from vedette.pipeline.patterns.saving import dump, dump_standing, load
from vedette.pipeline.rows import id_bytes
from vedette.pipeline.setup import bucket_of


class PatternTrack:
    """The part of one bucket."""

    def __init__(self, home: Home, sections: dict[str, bytes]) -> None:
        self.home = home
        self.metrics: Mapping[str, int] = {}
        self.book = Book(home.setup.space, home.setup.schema)
        self.memory = self._new_memory()
        self._told: list[tuple[int, Table]] = []  # by qid
        self._commands: dict[int, list[dict[str, Any]]] = {}  # by query bucket
        self._bucket: dict[int, int] = {}  # the query bucket, by qid
        self._leaving: list[Table] = []  # members of patterns that go at the tick of the next segment
        self._span = 0  # slots that were seen
        self._frontier = LONG_AGO
        self._counted: Counter[str] = Counter()  # in this step
        self._standing: bytes | None = None  # the patterns as they were saved last, until some come or go
        if sections:
            self._standing = sections["standing"]
            self._span = load(self.book, self.memory, sections)
            self._bucket = {each.qid: self._bucket_of(each.pattern.name) for _, each in self.book.standing()}

    # ------------------------------------------------------------------------------------------- use

    def act(self, c: int, changes: list[tuple[Change, int]]) -> None:
        """Patterns come and go at the start of tick c: the instants before are asked with those that stood before."""
        self._advance(c)
        for change, sequence in changes:
            pattern = change.entry.query
            assert isinstance(pattern, Pattern)
            if change.comes:
                self.book.add(change.entry.qid, pattern, max(c, LONG_AGO))
            else:
                self._farewell(change.entry.qid, c)
            self._command(change, c, sequence)
        self._standing = None
        if self.book.standing():
            self._set_tables()
        else:
            self._forget_everything()

    def follow(self, segment: Segment) -> None:
        """What happened; timeouts do not matter here."""
        is_row = segment.row >= 0
        for left in self._leaving:
            _moved(left, segment)
        self._leaving = []
        if not is_row.any() or not self.book.standing():
            self._advance(segment.end)
            return
        x, y, slot = segment.x[is_row], segment.y[is_row], segment.slot[is_row]
        self._span = max(self._span, int(slot.max()) + 1)
        self.memory.make_room(self._span)
        words = self.book.words(segment.rows)[segment.row[is_row]]
        if self.book.picks:
            self._learn_ids()
        told = self.memory.run(segment.t[is_row], slot, x, y, segment.is_late[is_row], words, segment.end)
        self._note(told)

    def close(self, frontier: int) -> Sent:
        """The letters of the step."""
        self._advance(frontier)
        self._frontier = frontier
        self._count()
        self.metrics, self._counted = self._counted, Counter()
        return self._letters()

    def pinned(self) -> I32:
        """Objects of which something is known."""
        return self.memory.release(max(LONG_AGO, self._frontier - self.book.horizon))

    def save(self) -> dict[str, bytes]:
        """The patterns, and everything else but the pages of updates, which are in the cellar."""
        if self._standing is None:
            self._standing = dump_standing(self.book)
        return {"standing": self._standing, "columns": dump(self.book, self.memory)}

    # ----------------------------------------------------------------------------------------- steps

    def _new_memory(self) -> Memory:
        return Memory(self.home.cellar, self.home.setup.resident_updates)

    def _advance(self, end: int) -> None:
        """All instants before `end`."""
        if self.memory.areas is None:
            return
        none = np.zeros(0, np.int64)
        floats = np.zeros(0)
        words = np.zeros((0, self.memory.words.shape[1]), np.uint64)
        if self.book.picks and len(self.memory.ids.offsets) <= self._span:
            self._learn_ids()
        told = self.memory.run(none, none.astype(np.int32), floats, floats, np.zeros(0, np.bool_), words, end)
        self._note(told)

    def _note(self, told: list[Table]) -> None:
        for part in told:
            for s in np.unique(part.pattern).tolist():
                standing = self.book.slots[s]
                assert standing is not None
                self._told.append((standing.qid, part[part.pattern == s]))

    def _farewell(self, qid: int, c: int) -> None:
        """A pattern goes: its members leave, where they are now."""
        s, memory = self.book.drop(qid), self.memory
        if memory.areas is None or s >= len(memory.patterns) - 1:
            return  # it came at the same tick, or nobody has moved yet
        objects = memory.members(s)
        told = records(CHANGE, len(objects))
        told.t, told.sign, told.score, told.object = c, -1, np.nan, objects
        told.x, told.y = memory.objects.x[objects], memory.objects.y[objects]
        self._told.append((qid, told))
        self._leaving.append(told)
        memory.forget_pattern(s)

    def _command(self, change: Change, c: int, sequence: int) -> None:
        """The home bucket of a pattern's name tells its query bucket."""
        name = change.entry.query.name
        bucket = self._bucket[change.entry.qid] = self._bucket_of(name)
        if bucket != self.home.bucket:
            return
        command: dict[str, Any] = {"op": "drop", "c": c, "sequence": sequence, "qid": change.entry.qid}
        if change.comes:
            standing = next(each for _, each in self.book.standing() if each.qid == change.entry.qid)
            command |= {"op": "create", "name": name, "choice": standing.plan.choice, "n": standing.plan.n}
        self._commands.setdefault(bucket, []).append(command)

    def _bucket_of(self, name: str) -> int:
        return bucket_of(name.encode(), self.home.setup.buckets)

    def _set_tables(self) -> None:
        memory, book = self.memory, self.book
        book.lay_grid()
        memory.set_tables(book.tables(memory.patterns), book.words_wide, book.reach)
        memory.begin_anew()

    def _count(self) -> None:
        for name, count in self.memory.metrics().items():
            self._counted[name] += count

    def _forget_everything(self) -> None:
        """No pattern stands: nothing is known of anybody any more, and no instant is asked."""
        self._count()
        self.memory.pages.clear()
        self.book, self.memory = Book(self.home.setup.space, self.home.setup.schema), self._new_memory()

    def _learn_ids(self) -> None:
        """Ids by slot, to settle ties."""
        offsets, data = id_bytes(self.home.ids_of(np.arange(self._span, dtype=np.int32)))
        is_long = self.home.setup.schema.oid == "long"
        data = np.ascontiguousarray(data[offsets[0] : offsets[-1]]) if self._span else np.zeros(8, np.uint8)
        longs: I64 = data.view(np.int64) if is_long else np.zeros(1, np.int64)
        self.memory.ids = Ids(is_long, longs.copy(), offsets - offsets[0], data.copy())

    # --------------------------------------------------------------------------------------- letters

    def _letters(self) -> Sent:
        """What the query buckets hear: commands of patterns that are at home here, and what changed."""
        buckets = self.home.setup.buckets
        by_bucket: dict[int, list[tuple[int, Table]]] = {bucket: [] for bucket in self._commands}
        for qid, part in self._told:
            by_bucket.setdefault(self._bucket[qid], []).append((qid, part))
        sent = Sent()
        told: Table
        for bucket, parts in sorted(by_bucket.items()):
            told = np.concatenate([records(CHANGE, 0), *(part for _, part in parts)]).view(np.recarray)
            qids = np.repeat([number for number, _ in parts], [len(part) for _, part in parts]).astype(np.int64)
            order = np.argsort(told.t, kind="stable")
            told, qids = told[order], qids[order]
            slots = told.object.astype(np.int32)
            arrays: dict[str, Any] = {name: np.ascontiguousarray(told[name]) for name in ("t", "x", "y", "score")}
            arrays |= {
                "qid": qids,
                "sign": told.sign.astype(np.int8),
                "gid": slots.astype(np.int64) * buckets + self.home.bucket,
                "oid": self.home.ids_of(slots),
            }
            sent.relays[bucket] = Letter({"commands": self._commands.get(bucket, [])}, arrays)
        gone = self._bucket.keys() - {each.qid for _, each in self.book.standing()}
        self._told, self._commands = [], {}
        for number in gone:
            del self._bucket[number]
        return sent


def _moved(told: Table, segment: Segment) -> None:
    """Who leaves at a tick leaves from where the tick takes it."""
    now = np.flatnonzero((segment.t == segment.c) & (segment.row >= 0))
    order = now[np.argsort(segment.slot[now], kind="stable")]
    if len(order) and len(told):
        at = order[np.minimum(np.searchsorted(segment.slot[order], told.object), len(order) - 1)]
        moves = segment.slot[at] == told.object
        told.x[moves], told.y[moves] = segment.x[at[moves]], segment.y[at[moves]]
