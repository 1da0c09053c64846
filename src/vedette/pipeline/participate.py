"""PARTICIPATE: one region of space with its objects and the queries that reach into it (PLACE*'s participating server).

In: messages of all TRACK buckets. Out: per query bucket who joined, left and moved, in time order.

All ranges and kNN balls share one grid and one pass over the moves (`kernels.sweep`). Queries come and go
between passes: a new one is a shape that is switched on at its tick, a dropped one is switched off, and the
same code that follows moving queries tells who joins and who leaves by that.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import F64, I32, I64, all_enlarged, each, enlarged, rows_of, widened
from vedette.kernels.grid import Grid, fit, share_outside
from vedette.kernels.plane import (
    Lists,
    Queries,
    build_lists,
    cover_sizes,
    empty_objects,
    empty_queries,
    still_lists,
)
from vedette.kernels.regions import touched_by
from vedette.kernels.shapes import DISC, NO_EDGES, PARAMETERS, POLYGON, Edges
from vedette.kernels.sweep import UPSERT, Moves, QueryMoves, Slots, sweep, units_of
from vedette.pipeline import state
from vedette.pipeline.messages import (
    AnswerMessage,
    DeltaColumns,
    FocalColumns,
    Letter,
    MoveColumns,
    RegionMessage,
    ReportColumns,
    merge_columns,
    no_reports,
)
from vedette.pipeline.names import Names
from vedette.pipeline.parts import RegionPart, families_in, family, sections_for, sections_of
from vedette.pipeline.setup import Setup
from vedette.space import disc_box

VERSION = 2
FEW_ENTRIES = 4_000_000  # list entries of still queries that are always affordable


class _Standing(NamedTuple):
    """What is known of the queries of a region by the commands alone, in the slots 0, 1, ..."""

    queries: Queries
    reach: F64
    qid: I64
    home: I64
    by_qid: tuple[I64, I32]
    slot_of: dict[int, int]
    delayed: dict[int, int]
    followers: dict[int, list[int]]
    edges: Edges


class Participate:
    """One region."""

    def __init__(self, setup: Setup, region: int, oid_type: pa.DataType) -> None:
        self.setup = setup
        self.region = region
        self._oid_type = oid_type
        self._wraps = setup.wraps
        self._grid: Grid = fit(np.zeros(0), np.zeros(0), 1)
        self._objects = empty_objects(1, 0, 0)
        self._slots = Slots(
            np.full(0, -1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int64)
        )
        self._names = Names(oid_type)
        self._queries = empty_queries(1)
        self._edges: Edges = NO_EDGES
        self._lists: Lists = build_lists(self._grid, self._objects, self._queries, self._wraps)
        self._standing: bytes | None = None  # the queries as they were saved last, until a command comes
        self.metrics: dict[str, int] = {}  # what the families counted in the last step
        self._parts: dict[str, RegionPart] = {}
        self._delayed: dict[int, int] = {}  # by qid, the query bucket of each query with DWELL or GRACE anywhere
        self._slot_of: dict[int, int] = {}
        self._qid: I64 = np.full(1, -1, np.int64)
        self._home: I64 = np.full(1, -1, np.int64)
        self._by_qid: tuple[I64, I32] | None = None
        self._free_queries: list[int] = []
        self._reach: F64 = np.zeros((1, 2))
        self._followers: dict[int, list[int]] = {}
        self._focals = FocalColumns(
            np.zeros(0, np.int64),
            np.zeros(0, np.int32),
            np.zeros(0, np.int64),
            np.zeros(0),
            np.zeros(0),
            np.zeros(0, np.bool_),
        )

    # ------------------------------------------------------------------------------------------ step

    def step(self, messages: list[RegionMessage]) -> list[AnswerMessage]:
        """Take in what all buckets say of a batch; returns a message for each query bucket."""
        columns: MoveColumns = merge_columns([m.moves for m in messages])
        focals: FocalColumns = merge_columns([m.focals for m in messages])
        balls = merge_columns([m.balls for m in messages])
        commands = sorted(
            (c for m in messages for c in m.commands), key=lambda c: (c["c"], c["sequence"], c["op"] == "create")
        )
        moves = self._admit(columns)
        if commands:
            self._standing = None
        for command in commands:
            if command["op"] == "create":
                self._reserve(command)
        reports = self._reports(columns, moves.ref)
        self._refit_if_needed(columns)
        slots = self._find(balls.qid)
        here = np.flatnonzero(slots >= 0)
        ball_moves = QueryMoves(balls.t[here], slots[here], balls.on[here], balls.p[here], balls.skip[here])

        deltas = []
        done = [0, 0, 0]
        for c, group in groupby(commands, key=lambda command: command["c"]):
            deltas.append(self._sweep_until(moves, ball_moves, focals, done, c))
            deltas.append(self._apply(c, list(group)))
        deltas.append(self._sweep_until(moves, ball_moves, focals, done, None))
        answers = self._answers(messages, deltas, reports)
        for command in commands:
            if command["op"] == "drop":
                self._forget(command["qid"])
        if any(command["op"] == "drop" for command in commands):
            self._sweep_edges()
        self._read_letters(messages, answers)
        return answers

    def _read_letters(self, messages: list[RegionMessage], answers: list[AnswerMessage]) -> None:
        """The families read what is for them, and write to query buckets; what is only to be passed on goes first."""
        letters: dict[str, list[Letter]] = {}
        for message in messages:
            for bucket, kind, letter in message.relays:
                answers[bucket].letters.append((kind, letter))
            for kind, letter in message.letters.items():
                letters.setdefault(kind, []).append(letter)
        for kind in sorted(letters.keys() - self._parts.keys()):
            self._add_part(kind, {})
        self.metrics = {}
        frontier = max(m.frontier for m in messages)
        for kind, part in self._parts.items():
            for bucket, letter in part.step(letters.get(kind, []), frontier).items():
                answers[bucket].letters.append((kind, letter))
            for name, count in part.metrics.items():
                self.metrics[name] = self.metrics.get(name, 0) + count

    def _add_part(self, kind: str, sections: dict[str, bytes]) -> None:
        make = family(kind).region
        assert make is not None, f"{kind} has no part here, but was written to"
        self._parts[kind] = make(self.setup, self.region, self._oid_type, sections)

    def _sweep_until(
        self, moves: Moves, balls: QueryMoves, focals: FocalColumns, done: list[int], tick: int | None
    ) -> tuple[I64, F64]:
        """Everything up to and including a tick, from where the last sweep ended."""
        stops = [
            len(times) if tick is None else int(np.searchsorted(times, tick, "right"))
            for times in (moves.t, balls.t, focals.t)
        ]
        (i, b, f), (i_end, b_end, f_end) = done, stops
        done[:] = stops
        if (i, b, f) == (i_end, b_end, f_end):
            return self._nothing()
        some_focals = FocalColumns(*(getattr(focals, n)[f:f_end] for n in FocalColumns.__dataclass_fields__))
        return self._sweep(rows_of(moves, slice(i, i_end)), rows_of(balls, slice(b, b_end)), self._follow(some_focals))

    def _sweep(self, moves: Moves, balls: QueryMoves, focals: QueryMoves) -> tuple[I64, F64]:
        self._lists, deltas = sweep(
            moves,
            balls,
            focals,
            self._grid,
            self._objects,
            self._queries,
            self._lists,
            self._slots,
            self._edges,
            self._wraps,
        )
        return deltas.ints, deltas.floats

    def _nothing(self) -> tuple[I64, F64]:
        return np.zeros((0, 5), np.int64), np.zeros((0, 3 + self._objects.values.shape[1]))

    # --------------------------------------------------------------------------------------- objects

    def _admit(self, columns: MoveColumns) -> Moves:
        """Make room for the objects that come, and know their ids."""
        arriving = len(columns.names)
        words, values = columns.words.shape[1], columns.values.shape[1]
        free = int(self._slots.free_count[0])
        room = len(self._objects.cell)
        if arriving > free or words > self._objects.words.shape[1] or values > self._objects.values.shape[1]:
            new_room = max(2 * room, room + arriving - free) if arriving > free else room
            objects = all_enlarged(self._objects, new_room)
            self._objects = objects._replace(
                words=widened(objects.words, words), values=widened(objects.values, values)
            )
            fresh = np.arange(new_room - 2, room - 2, -1, dtype=np.int32)  # the last slot is the sweep's scratch room
            free_slots = np.zeros(new_room, np.int32)
            free_slots[:free] = self._slots.free[:free]
            free_slots[free : free + len(fresh)] = fresh
            self._slots.free_count[0] = free + len(fresh)
            self._slots = self._slots._replace(ref=enlarged(self._slots.ref, new_room), free=free_slots)
        top = int(columns.gid.max()) + 1 if len(columns.gid) else 0
        if top > len(self._slots.of_gid):
            self._slots = self._slots._replace(
                of_gid=enlarged(self._slots.of_gid, max(top, 2 * len(self._slots.of_gid)))
            )
        first = self._names.append(columns.names)
        return Moves(
            columns.t,
            columns.gid,
            columns.op,
            columns.x,
            columns.y,
            widened(columns.words, self._objects.words.shape[1]),
            widened(columns.values, self._objects.values.shape[1]),
            columns.name + first,
        )

    def _live(self) -> int:
        """How many objects there are."""
        return len(self._objects.cell) - 1 - int(self._slots.free_count[0])

    def _refit_if_needed(self, columns: MoveColumns) -> None:
        """A grid that suits how many objects and queries there are, and where."""
        count = self._live() + len(columns.names)
        still = len(self._slot_of)
        # Queries that move look at all objects of their cells, still ones only cost an update its list of queries.
        per_cell = 8 if self._followers or len(self._lists.node_query) or self._lists.counts[0] else 64
        side = int(np.clip(np.sqrt(max(count / per_cell, 2 * still, 1)), 1, 1024))
        if not (
            side > 2 * self._grid.rows
            or 3 * side < self._grid.rows
            or share_outside(self._grid, columns.x, columns.y) > 0.2
        ):
            return
        live = self._objects.cell >= 0
        xs = np.concatenate((self._objects.x[live], columns.x))
        ys = np.concatenate((self._objects.y[live], columns.y))
        grid = fit(xs, ys, side)
        while side > 8 and cover_sizes(grid, self._queries, self._wraps) > max(FEW_ENTRIES, 64 * still):
            side //= 2
            grid = fit(xs, ys, side)
        self._grid = grid
        self._lists = build_lists(self._grid, self._objects, self._queries, self._wraps)

    # --------------------------------------------------------------------------------------- queries

    def _reserve(self, command: dict[str, Any]) -> None:
        """A slot for a query to come, still switched off; none if its shape can never reach this region."""
        if command["reports"]:
            self._delayed[command["qid"]] = command["bucket"]
        if command["combined"]:
            return
        figure_is_still = command["focal"] < 0 and not command["ball"]
        p = command["p"]
        if figure_is_still:
            x1, y1, x2, y2 = disc_box(p[0], p[1], p[2], self._wraps) if command["kind"] == DISC else p[:4]
            everything = command["kind"] == DISC and p[2] == np.inf
            if not everything and not touched_by(self.setup.regions, x1, y1, x2, y2, self._wraps)[self.region]:
                return
        if not self._free_queries:
            room = len(self._qid)
            more = 2 * room + 1
            self._queries = all_enlarged(self._queries, more)
            self._qid = enlarged(self._qid, more)
            self._home = enlarged(self._home, more)
            self._reach = enlarged(self._reach, more)
            self._lists = self._lists._replace(
                wide=enlarged(self._lists.wide, more), wide_at=enlarged(self._lists.wide_at, more)
            )
            self._free_queries = list(range(more - 2, room - 2, -1))  # the last slot is the sweep's scratch room
        slot = self._free_queries.pop()
        q = self._queries
        q.kind[slot], q.on[slot], q.still[slot] = command["kind"], False, figure_is_still
        q.moves[slot], q.filter[slot], q.skip[slot] = command["moves"], command["filter"], -1
        q.p[slot] = 0.0
        if command["kind"] == POLYGON:
            q.part[slot] = len(self._edges.start) - 1
            self._add_edges(np.array(command["edges"], np.float64).reshape(-1, 4))
        if command["focal"] >= 0 and not command["ball"]:
            self._reach[slot] = (p[0], p[-1])
        self._qid[slot], self._home[slot] = command["qid"], command["bucket"]
        self._slot_of[command["qid"]] = slot
        self._by_qid = None

    def _find(self, qid: I64) -> I32:
        """The slots of queries, -1 where this region has nothing of them."""
        if self._by_qid is None:
            order = np.argsort(self._qid, kind="stable").astype(np.int32)
            order = order[self._qid[order] >= 0]
            self._by_qid = (self._qid[order], order)
        qids, slots = self._by_qid
        if len(qids) == 0:
            return np.full(len(qid), -1, np.int32)
        at = np.minimum(np.searchsorted(qids, qid), len(qids) - 1)
        return np.where(qids[at] == qid, slots[at], -1).astype(np.int32)

    def _add_edges(self, edges: F64) -> None:
        e = self._edges
        self._edges = Edges(
            np.append(e.start, e.start[-1] + len(edges)),
            *(np.concatenate((old, new)) for old, new in zip(e[1:], np.ascontiguousarray(edges.T), strict=True)),
        )

    def _sweep_edges(self) -> None:
        """Forget the edges of polygons that are gone, once they outweigh the others."""
        polygons = np.flatnonzero((self._qid >= 0) & (self._queries.kind == POLYGON))
        start, part = self._edges.start, self._queries.part
        length = start[part[polygons] + 1] - start[part[polygons]]
        if len(self._edges.ax) > 2 * int(length.sum()) + 4096:
            self._edges = _edges_of(self._edges, part[polygons])
            part[polygons] = np.arange(len(polygons))

    def _forget(self, qid: int) -> None:
        self._delayed.pop(qid, None)
        slot = self._slot_of.pop(qid, None)
        if slot is not None:
            self._by_qid = None
            self._qid[slot] = -1
            self._free_queries.append(slot)

    def _apply(self, c: int, commands: list[dict[str, Any]]) -> tuple[I64, F64]:
        """Switch queries off and on at tick c, after everything that moved in it."""
        rows: list[tuple[int, bool, list[float], int]] = []
        touches_still = False
        for command in commands:
            slot = self._slot_of.get(command["qid"])
            if slot is None:
                continue
            touches_still |= bool(self._queries.still[slot])
            if command["op"] == "drop":
                rows.append((slot, False, list(self._queries.p[slot]), -1))
                for slots in self._followers.values():
                    if slot in slots:
                        slots.remove(slot)
                continue
            p = command["p"]
            if self._queries.still[slot]:
                rows.append((slot, True, [*p, *[0.0] * (PARAMETERS - len(p))], -1))
            elif command["focal"] >= 0 and not command["ball"]:
                f = command["focal"]
                self._followers.setdefault(f, []).append(slot)
                if f < len(self._focals.t) and self._focals.on[f] and self._focals.t[f] == c:
                    figure = self._figures(self._focals, np.array([f]), np.array([slot], np.int32))
                    rows.append((slot, True, list(figure.p[0]), int(figure.skip[0])))
        if not rows:
            return self._nothing()
        moves = QueryMoves(
            np.full(len(rows), c, np.int64),
            np.array([r[0] for r in rows], np.int32),
            np.array([r[1] for r in rows], np.bool_),
            np.array([r[2] for r in rows], np.float64),
            np.array([r[3] for r in rows], np.int64),
        )
        none = self._admit(self._no_moves())
        deltas = self._sweep(none, _no_query_moves(), moves)
        if touches_still:
            start, entries, boxes = still_lists(self._grid, self._queries, self._wraps)
            self._lists = self._lists._replace(still_start=start, still_query=entries, still_box=boxes)
        return deltas

    def _no_moves(self) -> MoveColumns:
        none, floats = np.zeros(0, np.int64), np.zeros(0)
        words = np.zeros((0, self._objects.words.shape[1]), np.uint64)
        values = np.zeros((0, self._objects.values.shape[1]))
        return MoveColumns(
            none, none, np.zeros(0, np.int8), floats, floats, words, values, none, pa.array([], self._oid_type)
        )

    # ---------------------------------------------------------------------------------------- focals

    def _follow(self, focals: FocalColumns) -> QueryMoves:
        """Moves of focal objects as moves of the ranges that follow them."""
        if len(focals.t) == 0:
            return _no_query_moves()
        number = focals.focal
        self._place_focals(focals)
        counts_by_focal = np.zeros(len(self._focals.focal), np.int64)
        for f, slots in self._followers.items():
            counts_by_focal[f] = len(slots)
        flat = np.array([s for f in sorted(self._followers) for s in self._followers[f]], np.int32)
        start = np.cumsum(counts_by_focal) - counts_by_focal
        counts = counts_by_focal[number]
        row = np.repeat(np.arange(len(number)), counts)
        if len(row) == 0:
            return _no_query_moves()
        offset = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._figures(focals, row, flat[start[number[row]] + offset])

    def _place_focals(self, focals: FocalColumns) -> None:
        """Remember where focal objects are, for queries that come in this batch.

        TRACK tells where the focal of a new query is at its tick, to each region that it can matter to. An older place
        is no use: the object may have gone on unheard of, or the number may be another object's by now.
        """
        top = max(int(focals.focal.max(initial=-1)), max(self._followers, default=-1)) + 1
        f = self._focals
        if top > len(f.focal):
            self._focals = f = FocalColumns(
                *(enlarged(getattr(f, n), top) for n in ("t", "focal", "gid", "x", "y", "on"))
            )
        number, back = np.unique(focals.focal[::-1], return_index=True)
        last = len(focals.focal) - 1 - back
        f.t[number], f.gid[number], f.on[number] = focals.t[last], focals.gid[last], focals.on[last]
        f.x[number], f.y[number] = focals.x[last], focals.y[last]

    def _figures(self, focals: FocalColumns, row: I64, slot: I32) -> QueryMoves:
        """The shapes around focal positions: rows of `focals`, each for one query slot."""
        x, y = focals.x[row], focals.y[row]
        half_w, half_h = self._reach[slot, 0], self._reach[slot, 1]
        is_disc = self._queries.kind[slot] == DISC
        p = np.zeros((len(row), PARAMETERS))
        p[:, 0] = np.where(is_disc, x, x - half_w)
        p[:, 1] = np.where(is_disc, y, y - half_h)
        p[:, 2] = np.where(is_disc, half_w, x + half_w)  # a disc's reach is its squared distance
        p[:, 3] = np.where(is_disc, 0.0, y + half_h)
        if self._wraps and is_disc.any():
            p[is_disc, 3:6] = units_of(x[is_disc], y[is_disc])
        return QueryMoves(focals.t[row], slot, focals.on[row], p, focals.gid[row])

    # --------------------------------------------------------------------------------------- answers

    def _answers(
        self, messages: list[RegionMessage], deltas: list[tuple[I64, F64]], reports: ReportColumns
    ) -> list[AnswerMessage]:
        """Deltas, reports and commands by query bucket."""
        width = 3 + self._objects.values.shape[1]
        ints = np.concatenate([d[0] for d in deltas])
        floats = np.concatenate([widened(d[1], width) for d in deltas])
        oids = self._names.get(ints[:, 4])
        delayed = set(self._delayed.values())
        answers = []
        for b in range(self.setup.buckets):
            some, more, some_oids = ints, floats, oids
            if self.setup.buckets > 1:
                i = np.flatnonzero(self._home[ints[:, 1]] == b)
                some, more, some_oids = ints[i], floats[i], oids.take(pa.array(i))
            columns = DeltaColumns(
                some[:, 0],
                self._qid[some[:, 1]],
                some[:, 2],
                some[:, 3].astype(np.int8),
                more[:, 0],
                more[:, 1],
                more[:, 2],
                more[:, 3:],
                some_oids,
            )
            answers.append(
                AnswerMessage(
                    columns,
                    reports if b in delayed else no_reports(width - 3, self._oid_type),
                    [c for m in messages for c in m.answers if c["bucket"] == b],
                    max(m.frontier for m in messages),
                )
            )
        if self._names.is_worth_sweeping(self._live()):
            used = np.flatnonzero(self._objects.cell >= 0)
            self._names.sweep(self._slots.ref[used])
            self._slots.ref[used] = np.arange(len(used))
        return answers

    def _reports(self, columns: MoveColumns, ref: I64) -> ReportColumns:
        """Where the region's objects are, if a query with DWELL or GRACE anywhere must know."""
        width = self._objects.values.shape[1]
        if not self._delayed:
            return no_reports(width, self._oid_type)
        i = np.flatnonzero(columns.op == UPSERT)
        gid = columns.gid[i]
        named = columns.name >= 0
        refs = np.zeros(len(self._slots.of_gid), np.int64)
        slot = self._slots.of_gid[gid]
        refs[gid[slot >= 0]] = self._slots.ref[slot[slot >= 0]]
        refs[columns.gid[named]] = ref[named]  # the same id, whichever way it is known
        return ReportColumns(
            columns.t[i], gid, columns.x[i], columns.y[i], widened(columns.values, width)[i], self._names.get(refs[gid])
        )

    # ------------------------------------------------------------------------------------ save and load

    def save(self) -> dict[str, bytes]:
        """Objects and queries; "standing" is the same object until a command comes. Lists are made anew."""
        slots = np.flatnonzero(self._qid >= 0)
        if self._standing is None:
            self._standing = self._save_standing(slots)
        used = np.flatnonzero(self._objects.cell >= 0)
        moving = slots[~self._queries.still[slots]]
        meta = {"grid": list(self._grid)}
        arrays: dict[str, Any] = {
            "gid": self._objects.gid[used],
            "oid": self._names.get(self._slots.ref[used]),
            "x": self._objects.x[used],
            "y": self._objects.y[used],
            "words": self._objects.words[used],
            "values": self._objects.values[used],
            "p": self._queries.p[moving],
            "on": self._queries.on[moving],
            "skip": self._queries.skip[moving],
            "box": self._queries.box[moving],
        }
        columns = state.encode("participate", VERSION, meta, arrays)
        return {"standing": self._standing, "columns": columns, **sections_of(self._parts)}

    def _save_standing(self, slots: I64) -> bytes:
        q = self._queries
        polygons = q.kind[slots] == POLYGON
        part = np.where(polygons, np.cumsum(polygons) - 1, 0).astype(np.int32)
        following = [(f, s) for f, followers in self._followers.items() for s in followers]
        still = slots[q.still[slots]]
        arrays: dict[str, Any] = {
            "kind": q.kind[slots],
            "part": part,
            "filter": q.filter[slots],
            "moves": q.moves[slots],
            "still": q.still[slots],
            "still_p": q.p[still],
            "still_on": q.on[still],
            "still_box": q.box[still],
            "reach": self._reach[slots],
            "qid": self._qid[slots],
            "home": self._home[slots],
            "delayed": np.array(list(self._delayed.items()), np.int64).reshape(-1, 2),
            "follower_focal": np.array([f for f, _ in following], np.int64),
            "follower_slot": np.searchsorted(slots, np.array([s for _, s in following], np.int64)),
        }
        edges = _edges_of(self._edges, q.part[slots[polygons]])
        arrays.update({"edges." + name: getattr(edges, name) for name in Edges._fields})
        return state.encode("participate standing", VERSION, {}, arrays)

    @classmethod
    def load(cls, setup: Setup, region: int, oid_type: pa.DataType, saved: dict[str, bytes]) -> Participate:
        """The region again."""
        meta, a = state.decode("participate", VERSION, saved["columns"])
        self = cls(setup, region, oid_type)
        self._standing = saved["standing"]
        self._load_standing(_standing(self._standing))
        q = self._queries
        moving = np.flatnonzero((self._qid >= 0) & ~q.still)
        q.p[moving], q.on[moving], q.skip[moving], q.box[moving] = a["p"], a["on"], a["skip"], a["box"]
        self._load_objects(a)
        self._grid = Grid(*meta["grid"])
        self._lists = build_lists(self._grid, self._objects, self._queries, self._wraps)
        for kind in families_in(saved):
            self._add_part(kind, sections_for(kind, saved))
        return self

    def _load_standing(self, known: _Standing) -> None:
        self._queries = each(np.copy, known.queries)
        self._reach, self._qid, self._home = known.reach.copy(), known.qid.copy(), known.home.copy()
        self._by_qid = known.by_qid
        self._slot_of, self._delayed = dict(known.slot_of), dict(known.delayed)
        self._followers = {f: list(slots) for f, slots in known.followers.items()}
        self._edges = known.edges

    def _load_objects(self, a: dict[str, Any]) -> None:
        """The objects in slots 0, 1, ...; whoever makes the lists links them."""
        gid = a["gid"]
        n = len(gid)
        self._objects = empty_objects(n + 1, a["words"].shape[1], a["values"].shape[1])
        objects = self._objects
        for name in ("gid", "x", "y", "words", "values"):
            getattr(objects, name)[:n] = a[name]
        objects.cell[:n] = 0
        if self._wraps:
            objects.ux[:n], objects.uy[:n], objects.uz[:n] = units_of(a["x"], a["y"]).T
        of_gid = np.full(int(gid.max(initial=-1)) + 1, -1, np.int32)
        of_gid[gid] = np.arange(n, dtype=np.int32)
        self._slots = Slots(of_gid, np.arange(n + 1), np.zeros(n + 1, np.int32), np.zeros(1, np.int64))
        self._names.append(a["oid"])


@lru_cache(maxsize=16)
def _standing(data: bytes) -> _Standing:
    """The saved queries of a region, to be copied: most states that are loaded in a process have the same ones."""
    _, a = state.decode("participate standing", VERSION, data)
    n = len(a["qid"])
    queries = empty_queries(n + 1)  # the last slot is the sweep's scratch room
    for name in ("kind", "part", "filter", "moves", "still"):
        getattr(queries, name)[:n] = a[name]
    still = np.flatnonzero(a["still"])
    queries.p[still], queries.on[still], queries.box[still] = a["still_p"], a["still_on"], a["still_box"]
    order = np.argsort(a["qid"], kind="stable").astype(np.int32)
    followers: dict[int, list[int]] = {}
    for f, slot in zip(a["follower_focal"].tolist(), a["follower_slot"].tolist(), strict=True):
        followers.setdefault(f, []).append(slot)
    return _Standing(
        queries,
        enlarged(a["reach"], n + 1),
        enlarged(a["qid"], n + 1),
        enlarged(a["home"], n + 1),
        (a["qid"][order], order),
        dict(zip(a["qid"].tolist(), range(n), strict=True)),
        dict(a["delayed"].tolist()),
        followers,
        Edges(*(a["edges." + name] for name in Edges._fields)),
    )


def _edges_of(edges: Edges, parts: I32) -> Edges:
    """The edges of these polygons, one polygon after the other."""
    first, length = edges.start[parts], edges.start[parts + 1] - edges.start[parts]
    start = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(length, out=start[1:])
    where = np.arange(start[-1]) + np.repeat(first - start[:-1], length)
    return Edges(start, *(column[where] for column in edges[1:]))


def _no_query_moves() -> QueryMoves:
    return QueryMoves(
        np.zeros(0, np.int64),
        np.zeros(0, np.int32),
        np.zeros(0, np.bool_),
        np.zeros((0, PARAMETERS)),
        np.zeros(0, np.int64),
    )
