"""TRACK: the home of objects (PLACE*'s home and tracking server), one bucket of them by id.

In: rows, statements, and the times of the whole batch. Out: per region what it has to hear; late rows; rows too
far ahead.

It orders rows by the frontier, lets one row per object and tick win, keeps the last row of every object, and tells
each region of updates, departures, focal moves and balls (`dispatch`). Filters and measures are evaluated here,
once per distinct one.
Statements cut a batch into segments: everything before the tick of a statement is done before it acts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vedette.conditions import evaluate
from vedette.kernels.arrays import B1, F64, I32, I64, U64
from vedette.kernels.balls import Events
from vedette.kernels.ids import IdTable
from vedette.kernels.regions import Regions
from vedette.kernels.sweep import QueryMoves
from vedette.kernels.trace import FOREVER, Tracks, Trail, trace, winners
from vedette.lang import parse, print_statement
from vedette.model import Drop, Schema, Statement
from vedette.model.places import insides, with_insides
from vedette.pipeline import state
from vedette.pipeline.ball_index import BallIndex
from vedette.pipeline.catalogue import Catalogue, Change, Entry
from vedette.pipeline.cellar import Cellar, MemoryCellar
from vedette.pipeline.dispatch import Dispatch, Happenings, in_time_order, outcome_of
from vedette.pipeline.focals import FocalTable
from vedette.pipeline.last_rows import LastRows
from vedette.pipeline.messages import BEFORE_TIME, MoveColumns, RegionMessage, merge_columns
from vedette.pipeline.parts import Segment, TrackPart, families_in, family, sections_for, sections_of
from vedette.pipeline.planning import answer_command, drop_command, home_bucket, region_command
from vedette.pipeline.reverse import ReverseCircles
from vedette.pipeline.rows import Rows, attribute_rank, concat, id_bytes
from vedette.pipeline.setup import Setup
from vedette.space import Space

VERSION = 4


@dataclass
class Tracked:
    """What a step tells: messages by region, rows that came late, rows too far ahead, counts."""

    messages: list[RegionMessage]
    late: Rows
    ahead: Rows
    metrics: dict[str, int] = field(default_factory=dict)


@dataclass
class _Arrivals:
    """What the statements of a tick brought."""

    entries: list[Entry]
    needs_backfill: bool
    wakes_balls: bool


class Track:
    """One bucket of objects. `cellar`: where parts keep what need not be in memory; it is no part of the sections."""

    def __init__(self, setup: Setup, bucket: int, empty: Rows, cellar: Cellar | None = None) -> None:
        self.setup = setup
        self.bucket = bucket
        self.cellar: Cellar = MemoryCellar() if cellar is None else cellar
        self.frontier = BEFORE_TIME
        self.greatest = BEFORE_TIME
        self.catalogue = Catalogue(setup.space, setup.schema, setup.buckets)
        self._standing: bytes | None = None  # the catalogue as it was saved last, until a statement acts
        self._waiting: list[tuple[int, int, Statement]] = []
        self._sequence = 0
        self._ids = IdTable(numeric=setup.schema.oid == "long")
        self._some_unused = False
        self._tracks = Tracks(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.int32))
        self._scratch: I64 = np.zeros(0, np.int64)
        self._open, self._open_at, self._open_slot = empty, empty.t, np.zeros(0, np.int32)
        self._empty = empty
        self._last = LastRows(empty.attributes)
        self._balls = BallIndex(setup.wraps, setup.buckets, bucket)
        self._focals = FocalTable(setup, bucket)
        self._dispatch = Dispatch(setup)
        self._circles = ReverseCircles(setup, bucket)
        self._parts: dict[str, TrackPart] = {}
        self.first: int | None = None  # the first tick of the bucket's objects that was closed

    @property
    def tracks(self) -> Tracks:
        """The last applied position of every object, by slot."""
        return self._tracks

    # ------------------------------------------------------------------------------------------ step

    def step(self, rows: Rows, times: I64, statements: list[Statement], final: bool = False) -> Tracked:
        """Take in a batch. `times` are those of all buckets: the greatest, or with max_ahead all distinct ones."""
        before = self.frontier
        self._enqueue(statements)
        rows, ahead, times = self._not_ahead(rows, times)
        if len(times):
            self.greatest = max(self.greatest, int(times.max()))
        if self.greatest > BEFORE_TIME:
            self.frontier = self.greatest + 1 if final else max(before, self.greatest - self.setup.lateness)
        metrics = {"updates": len(rows), "ahead": len(ahead)}
        late = self._take_in(rows, before, metrics)
        messages = self._close(metrics)
        self._send(messages, metrics)
        self._release()
        return Tracked(messages, late, ahead, metrics)

    def waiting(self) -> list[tuple[int, Statement]]:
        """Statements that wait, with the ticks at which they will act, in the order in which they will."""
        return [(c, statement) for c, _, statement in self._waiting]

    def withdraw(self, texts: list[str]) -> None:
        """Forget statements that wait, by their canonical texts."""
        left = list(texts)
        stays = []
        for c, sequence, statement in self._waiting:
            text = print_statement(statement, self.setup.space)
            if text in left:
                left.remove(text)
            else:
                stays.append((c, sequence, statement))
        self._waiting = stays

    def cut(self, regions: Regions, landmarks: F64) -> None:
        """Space is cut like this; to be said before the first update, when no region has heard of anything yet."""
        self.setup = replace(self.setup, regions=regions, landmarks=landmarks)
        self._focals = FocalTable(self.setup, self.bucket)
        self._dispatch = Dispatch(self.setup)
        self._circles = ReverseCircles(self.setup, self.bucket)

    def _enqueue(self, statements: list[Statement]) -> None:
        for statement in statements:
            c = self.frontier if statement.at is None else max(statement.at, self.frontier)
            self._waiting.append((c, self._sequence, statement))
            self._sequence += 1
        self._waiting.sort(key=lambda w: w[:2])

    def _not_ahead(self, rows: Rows, times: I64) -> tuple[Rows, Rows, I64]:
        if self.setup.max_ahead is None or self.frontier == BEFORE_TIME:
            return rows, self._empty, times
        limit = self.frontier + self.setup.max_ahead
        ahead = rows.t > limit
        return rows.take(~ahead), rows.take(ahead), times[times <= limit]

    # -------------------------------------------------------------------------------- rows to open rows

    def _take_in(self, rows: Rows, before: int, metrics: dict[str, int]) -> Rows:
        """Put rows among the open ones; returns the late rows that have no effect."""
        is_late = rows.t < before
        late = self._empty
        if is_late.any():
            accepted, late = self._judge_late(rows.take(is_late), before, metrics)
            rows = rows.take(~is_late)
            self._add_open(accepted, np.full(len(accepted), before, np.int64))
        self._add_open(rows, rows.t)
        return late

    def _add_open(self, rows: Rows, at: I64) -> None:
        if len(rows) == 0:
            return
        slots = self._slots(rows)
        if len(self._open) == 0:
            self._open, self._open_at, self._open_slot = rows, at, slots
        else:
            self._open = concat([self._open, rows])
            self._open_at = np.concatenate((self._open_at, at))
            self._open_slot = np.concatenate((self._open_slot, slots))

    def _slots(self, rows: Rows) -> I32:
        slots = self._ids.add(*id_bytes(rows.oid))
        self._make_room()
        return slots

    def _make_room(self) -> None:
        """The tables by slot are as long as there are slots."""
        span = self._ids.span
        if span > len(self._tracks.t):
            room = max(span, 2 * len(self._tracks.t), 64)
            old, n = self._tracks, len(self._tracks.t)
            self._tracks = Tracks(np.zeros(room, np.int64), np.zeros(room), np.zeros(room), np.full(room, -1, np.int32))
            for name in Tracks._fields:
                getattr(self._tracks, name)[:n] = getattr(old, name)
            self._scratch = np.full(room, -1, np.int64)
        self._focals.make_room(len(self._tracks.t))

    def _no_moves(self) -> MoveColumns:
        none = np.zeros(0, np.int64)
        floats = np.zeros(0)
        words = np.zeros((0, (self.catalogue.filters.span + 63) // 64), np.uint64)
        values = np.zeros((0, self.catalogue.measures.span))
        names = self._empty.oid
        return MoveColumns(none, none, np.zeros(0, np.int8), floats, floats, words, values, none, names)

    def _judge_late(self, rows: Rows, before: int, metrics: dict[str, int]) -> tuple[Rows, Rows]:
        """Which late rows take effect at the earliest open tick, and which go out."""
        if self.setup.late == "drop":
            metrics["late"] = len(rows)
            return self._empty, rows
        slots = self._slots(rows)
        self._some_unused = True  # ids of rows that have no effect
        order = np.lexsort((attribute_rank(rows), rows.y, rows.x, -rows.t, slots))
        slot, t = slots[order], rows.t[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = slot[1:] != slot[:-1]
        repeat = np.zeros(len(order), np.bool_)
        repeat[1:] = ~first[1:] & (t[1:] == t[:-1])
        last = np.full(self._ids.span, BEFORE_TIME, np.int64)
        alive = np.flatnonzero(self._tracks.region[: self._ids.span] >= 0)
        last[alive] = self._tracks.t[alive]
        waiting = self._open_at != self._open.t
        np.maximum.at(last, self._open_slot[waiting], self._open.t[waiting])
        repeat |= t == last[slot]
        effect = first & ~repeat & (t > last[slot])
        if self.setup.timeout is not None:
            effect &= before - t < self.setup.timeout
        metrics["duplicates"] = int(repeat.sum())
        metrics["late"] = int((~repeat).sum())
        metrics["late_applied"] = int(effect.sum())
        return rows.take(order[effect]), rows.take(np.sort(order[~repeat & ~effect]))

    # ------------------------------------------------------------------------------ open rows to events

    def _close(self, metrics: dict[str, int]) -> list[RegionMessage]:
        """Apply all closed ticks, statement by statement."""
        rows, at, slots = self._open, self._open_at, self._open_slot
        if len(at) and np.any(at[1:] < at[:-1]):
            order = np.argsort(at, kind="stable")
            rows, at, slots = rows.take(order), at[order], slots[order]
        closed = int(np.searchsorted(at, self.frontier, "left"))
        keep, tied, repeats = self._winners(rows, at, slots, closed)
        if tied.any() and rows.attributes:
            rank = np.zeros(closed, np.int64)
            rank[tied] = attribute_rank(rows.take(np.flatnonzero(tied)))
            keep, _, _ = self._winners(rows, at, slots, closed, rank)
        metrics["duplicates"] = metrics.get("duplicates", 0) + repeats

        self._dispatch.open(self._no_moves())
        if closed and self.first is None:
            self.first = int(at[0])
        first = 0
        ticks = sorted({c for c, _, _ in self._waiting if c < self.frontier})
        for c, end in zip([None, *ticks], [*ticks, self.frontier], strict=True):
            stop = int(np.searchsorted(at[:closed], end, "left"))
            came = self._act(c) if c is not None else None
            if c is not None or stop > first or self.setup.timeout is not None:
                self._segment(rows, at, slots, keep, first, stop, c, end, came)
            first = stop
        self._waiting = [w for w in self._waiting if w[0] >= self.frontier]
        self._open, self._open_at, self._open_slot = (
            rows.take(np.arange(closed, len(rows))),
            at[closed:],
            slots[closed:],
        )
        return self._dispatch.close(self.frontier)

    def _winners(self, rows: Rows, at: I64, slots: I32, closed: int, rank: I64 | None = None) -> tuple[B1, B1, int]:
        ranks = np.zeros(closed, np.int64) if rank is None else rank
        return winners(
            at[:closed], rows.t[:closed], slots[:closed], rows.x[:closed], rows.y[:closed], ranks, self._scratch
        )

    # ------------------------------------------------------------------------------------- statements

    def _act(self, c: int) -> _Arrivals:
        """Statements of tick c act; regions and query buckets are told by the home bucket of each query."""
        self._standing = None
        filters, measures = self.catalogue.filters.ever_taken(), self.catalogue.measures.ever_taken()
        was_active = self._balls.is_active
        came: list[Entry] = []
        buckets = self.setup.buckets
        told = sorted((w for w in self._waiting if w[0] == c), key=lambda w: w[1])
        self.catalogue.begin()
        at_home: list[tuple[Change, Entry, int]] = []
        others: dict[str, list[tuple[Change, int]]] = {}
        for _, sequence, statement in told:
            for change in self.catalogue.apply(statement):
                entry = change.entry
                if not isinstance(entry, Entry):
                    others.setdefault(entry.query.kind, []).append((change, sequence))
                    continue
                if home_bucket(entry, self.setup.schema, buckets) == self.bucket:
                    at_home.append((change, entry, sequence))
                if change.comes:
                    came.append(entry)
                else:
                    came = [e for e in came if e.qid != entry.qid]
        self._focals.follow(self.catalogue.running(), self._ids)
        self._some_unused = True  # focal objects that nobody follows any more
        self._make_room()
        for change, entry, sequence in at_home:
            if change.comes:
                command = region_command(entry, c, sequence, buckets)
                answer = answer_command(entry, c, sequence, buckets, change.replaces)
                if entry.plan.figure.reverse and self.catalogue.is_there(entry):
                    self._circles.add(entry, self._focals.slot(entry.focal))
                nobody = entry.focal >= 0 and self._focals.slot(entry.focal) < 0  # no id of the stream can be this one
                if entry.plan.figure.k and not nobody and self.catalogue.is_there(entry):
                    slot = self._balls.add(entry, self._focals.slot(entry.focal))
                    self._dispatch.no_ball_known(slot)
            else:
                command = answer = drop_command(entry, c, sequence, buckets)
                self._balls.drop(entry.qid)
                self._circles.drop(entry.qid)
            self._dispatch.command(entry.qid, command, answer)
        for kind, changes in others.items():
            if kind not in self._parts:
                self._parts[kind] = family(kind).track(self, {})
            self._parts[kind].act(c, changes)
        new_columns = self.catalogue.filters.ever_taken() - filters or self.catalogue.measures.ever_taken() - measures
        return _Arrivals(came, bool(new_columns), self._balls.is_active and not was_active)

    # --------------------------------------------------------------------------------------- segments

    def _segment(
        self,
        rows: Rows,
        at: I64,
        slots: I32,
        keep: B1,
        first: int,
        stop: int,
        c: int | None,
        end: int,
        came: _Arrivals | None,
    ) -> None:
        """Rows first..stop, and timeouts before the tick `end`, after the statements of tick c."""
        parts: list[Happenings] = []
        focal_state = None
        standing = None
        if came is not None and c is not None:
            standing = self._circles.positions(self._tracks, c)
            focal_state = self._focals.positions(came.entries, self._tracks, c)
            if came.wakes_balls:
                alive = self._alive()
                words, _ = self._evaluate(self.last_rows(alive))
                self._balls.load_objects(
                    alive, self._tracks.x[alive], self._tracks.y[alive], words, len(self._tracks.t)
                )
            if came.needs_backfill:
                parts.append(self._backfill(c))
        timeout = FOREVER if self.setup.timeout is None else self.setup.timeout
        trail = trace(
            first, stop, keep, at, rows.t, slots, rows.x, rows.y, timeout, end, self.setup.regions, self._tracks
        )
        segment = rows.take(np.arange(first, stop))
        words, values = self._evaluate(segment)
        moved = trail.row >= 0
        index = trail.row - first
        if not moved.all():  # a timeout has no row: bits 0, values null
            index = np.where(moved, index, len(segment))
            words = np.concatenate((words, np.zeros((1, words.shape[1]), np.uint64)))
            values = np.concatenate((values, np.full((1, values.shape[1]), np.nan)))
        if not moved.all() or len(index) != len(words):
            words, values = words[index], values[index]
        self._remember(segment, trail.slot[moved], index[moved])
        parts.append(Happenings(trail.t, trail.slot, trail.old, trail.new, trail.x, trail.y, trail.row, words, values))
        happenings = in_time_order(parts, self.setup.timeout is not None)
        gid = happenings.slot.astype(np.int64) * self.setup.buckets + self.bucket
        focals = self._focals.moves(happenings.t, happenings.slot, gid, happenings.x, happenings.y, happenings.new >= 0)
        if focal_state is not None and len(focal_state.t):
            focals = merge_columns([focal_state, focals])
        self._move(happenings, rows.oid)
        self._dispatch.focals(focals, *self._focals.route(focals))
        balls = self._follow_balls(happenings, c)
        if balls is not None:
            self._dispatch.balls(balls, self._balls.qid)
        if self._circles.is_active:
            circles = self._circles.follow(happenings, gid, standing)
            self._dispatch.discs(circles, self._circles.qid, self._circles.known)
        if self._parts:
            self._tell_parts(trail, segment, first, at, c, end)

    def _move(self, happenings: Happenings, oids: pa.Array) -> None:
        """Regions in which queries stand hear of every event, others of where objects are at the end of the segment.

        With families only, which get letters, that is a handful of moves instead of millions that nobody looks at.
        """
        if not self.catalogue.is_watching:
            happenings = outcome_of(happenings, self._scratch)
        gid = happenings.slot.astype(np.int64) * self.setup.buckets + self.bucket
        self._dispatch.moves(happenings, gid, oids)

    def _tell_parts(self, trail: Trail, rows: Rows, first: int, at: I64, c: int | None, end: int) -> None:
        order = np.arange(len(trail.t)) if self.setup.timeout is None else np.argsort(trail.t, kind="stable")
        row = trail.row[order]
        is_row = row >= 0
        row = np.where(is_row, row - first, -1)
        late = np.append(at[first : first + len(rows)] != rows.t, False)  # the last one is that of timeouts
        where = trail.x[order], trail.y[order]
        segment = Segment(c, end, rows, trail.t[order], trail.slot[order], row, *where, late[row])
        for part in self._parts.values():
            part.follow(segment)

    def _send(self, messages: list[RegionMessage], metrics: dict[str, int]) -> None:
        """The letters of the families, each to its region; those to query buckets by way of one region."""
        for kind, part in self._parts.items():
            sent = part.close(self.frontier)
            for region, letter in sent.letters.items():
                messages[region].letters[kind] = letter
            for bucket, letter in sent.relays.items():
                messages[self.bucket % self.setup.regions.size].relays.append((bucket, kind, letter))
            for name, count in part.metrics.items():
                metrics[name] = metrics.get(name, 0) + count

    def _follow_balls(self, h: Happenings, c: int | None) -> QueryMoves | None:
        if not self._balls.is_active:
            return None
        events = Events(h.t, h.slot, h.new < 0, h.x, h.y, h.words)
        t = BEFORE_TIME if c is None else c
        span = len(self._tracks.t)
        return self._balls.follow(events, t, self._focals.of_slot, self._focals.span, span, h.words.shape[1])

    # ------------------------------------------------------------------------- attributes of last rows

    def _evaluate(self, rows: Rows) -> tuple[U64, F64]:
        """Filter bits and measures of rows."""
        filters, measures = self.catalogue.filters, self.catalogue.measures
        words = np.zeros((len(rows), (filters.span + 63) // 64), np.uint64)
        values = np.full((len(rows), measures.span), np.nan)
        if filters.items and len(rows):
            columns = rows.columns(self.setup.schema.time)
            for number, expr in filters.items.values():
                passed = evaluate(expr, columns, len(rows))
                words[:, number // 64] |= passed.astype(np.uint64) << np.uint64(number % 64)
        for name, (number, _) in measures.items.items():
            values[:, number] = _doubles(rows.attributes[name])
        return words, values

    def _alive(self) -> I32:
        return np.flatnonzero(self._tracks.region >= 0).astype(np.int32)

    def last_rows(self, slots: I32) -> Rows:
        """The last applied rows of these objects."""
        return Rows(
            self.ids_of(slots),
            self._tracks.t[slots],
            self._tracks.x[slots],
            self._tracks.y[slots],
            self._last.get(slots.astype(np.int64)),
        )

    def slot_of(self, key: bytes) -> int:
        """The slot of an id, which need not have been seen yet."""
        slot = int(self._ids.add(np.array([0, len(key)], np.int64), np.frombuffer(key or b"\0", np.uint8))[0])
        self._make_room()
        self._some_unused = True
        return slot

    def ids_of(self, slots: I32) -> pa.Array:
        """The ids of slots."""
        offsets, data = self._ids.bytes_of(slots)
        if self.setup.schema.oid == "long":
            return pa.array(data.view(np.int64))
        return pa.StringArray.from_buffers(len(slots), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data))

    def _backfill(self, c: int) -> Happenings:
        """All objects as they are, once more, because they carry something new: filter bits or measures."""
        slots = self._alive()
        words, values = self._evaluate(self.last_rows(slots))
        region = self._tracks.region[slots]
        t = np.full(len(slots), c, np.int64)
        row = np.full(len(slots), -1, np.int64)
        return Happenings(t, slots, region, region, self._tracks.x[slots], self._tracks.y[slots], row, words, values)

    def _remember(self, rows: Rows, slots: I32, index: I64) -> None:
        if not rows.attributes or len(slots) == 0:
            return
        self._scratch[slots] = index  # the last of equal slots stays
        touched = np.flatnonzero(self._scratch >= 0)
        where = pa.array(self._scratch[touched])
        self._last.put(touched, {name: column.take(where) for name, column in rows.attributes.items()})
        self._scratch[touched] = -1

    def _release(self) -> None:
        """Forget objects that are gone and wait for nothing, and numbers that no query uses."""
        for shared in (self.catalogue.filters, self.catalogue.measures, self.catalogue.focals):
            shared.forget_unused()
        if self.setup.timeout is None and not self._some_unused:
            return
        self._some_unused = False
        span = self._ids.span
        unused = self._ids.is_live(span) & (self._tracks.region[:span] < 0) & (self._focals.of_slot[:span] < 0)
        unused[self._open_slot] = False
        for part in self._parts.values():
            unused[part.pinned()] = False
        gone = np.flatnonzero(unused).astype(np.int32)
        self._ids.free(gone)
        self._last.drop(gone.astype(np.int64))

    # ------------------------------------------------------------------------------------ save and load

    def save(self) -> dict[str, bytes]:
        """Everything that the next step needs: "standing" is the same object until a statement acts.

        What lies in the cellar belongs to it; parts may put more there now.
        """
        if self._standing is None:
            self._standing = state.encode("track standing", VERSION, self.catalogue.dump(), {})
        slots = np.flatnonzero(self._ids.is_live(self._ids.span)).astype(np.int32)
        rows = self.last_rows(slots)
        space = self.setup.space
        meta = {
            "frontier": self.frontier,
            "greatest": self.greatest,
            "sequence": self._sequence,
            "first": self.first,
            "waiting": [[c, s, _dump(statement, space)] for c, s, statement in self._waiting],
        }
        arrays: dict[str, Any] = {
            "slot": slots,
            "free": self._ids.free_slots(),
            "oid": rows.oid,
            "t": rows.t,
            "x": rows.x,
            "y": rows.y,
            "region": self._tracks.region[slots],
            "open_oid": self._open.oid,
            "open_t": self._open.t,
            "open_x": self._open.x,
            "open_y": self._open.y,
            "open_at": self._open_at,
            "open_slot": self._open_slot,
            "ball_known": self._dispatch.balls_known(np.flatnonzero(self._balls.qid >= 0)),
            **self._balls.dump(self._alive()),
            **self._focals.dump(),
            **self._circles.dump(),
        }
        for name in rows.attributes:
            arrays["last." + name] = rows.attributes[name]
            arrays["open." + name] = self._open.attributes[name]
        columns = state.encode("track", VERSION, meta, arrays)
        return {"standing": self._standing, "columns": columns, **sections_of(self._parts)}

    @classmethod
    def load(
        cls, setup: Setup, bucket: int, empty: Rows, saved: dict[str, bytes], cellar: Cellar | None = None
    ) -> Track:
        """The bucket again, with the cellar that it had; nothing is read from that."""
        meta, a = state.decode("track", VERSION, saved["columns"])
        self = cls(setup, bucket, empty, cellar)
        self.frontier, self.greatest, self._sequence = meta["frontier"], meta["greatest"], meta["sequence"]
        self._waiting = [(c, s, _load(data, setup.space)) for c, s, data in meta["waiting"]]
        self._standing = saved["standing"]
        self.catalogue = _catalogue(self._standing, setup.space, setup.schema, setup.buckets).copy()
        slots = a["slot"]
        self._ids.restore(slots, *_compact(a["oid"]), a["free"])
        self._make_room()
        for name in ("t", "x", "y", "region"):
            getattr(self._tracks, name)[slots] = a[name]
        names = empty.attributes
        self._last.put(slots.astype(np.int64), {n: a["last." + n] for n in names})
        attributes = {n: a["open." + n] for n in names}
        self._open = Rows(a["open_oid"], a["open_t"], a["open_x"], a["open_y"], attributes)
        self._open_at, self._open_slot = a["open_at"], a["open_slot"]
        self._focals.load(a)
        self.first = meta["first"]
        alive = self._alive()
        self._balls.load(a, alive, self._tracks.x[alive], self._tracks.y[alive], len(self._tracks.t))
        self._dispatch.load_balls_known(a["ball_known"])
        self._circles.load(a)
        self._parts = {kind: family(kind).track(self, sections_for(kind, saved)) for kind in families_in(saved)}
        return self


@lru_cache(maxsize=16)
def _catalogue(standing: bytes, space: Space, schema: Schema, buckets: int) -> Catalogue:
    """A saved catalogue, to be copied: most states that are loaded in a process were saved with the same one."""
    return Catalogue.load(space, schema, state.decode("track standing", VERSION, standing)[0], buckets)


def _dump(statement: Statement, space: Space) -> list[Any]:
    """A statement that waits, as plain data: SQL with shapes by value, and the regions that it was written with."""
    action = statement.action
    if isinstance(action, Drop):
        return ["DROP", action.kind, action.name]
    return ["CREATE", print_statement(statement, space), [place.region for place in insides(action)]]


def _load(data: list[Any], space: Space) -> Statement:
    if data[0] == "DROP":
        return Statement(Drop(data[1], data[2]))
    statement = parse(data[1], space=space)[0]
    regions = iter(data[2])
    return replace(statement, action=with_insides(statement.action, lambda place: replace(place, region=next(regions))))


def _doubles(column: pa.Array) -> F64:
    values = column.to_numpy(zero_copy_only=False)
    return np.asarray(values, np.float64) if column.null_count == 0 else column.cast(pa.float64()).to_numpy(False)


def _compact(ids: pa.Array) -> tuple[I64, NDArray[np.uint8]]:
    offsets, data = id_bytes(ids)
    return offsets - offsets[0], data[offsets[0] : offsets[-1]]
