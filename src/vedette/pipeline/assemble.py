"""ASSEMBLE: the home of queries (PLACE*'s querying server), one bucket of them by name.

In: messages of all regions. Out: the changes of the answers. A batch of deltas passes through

    net ─► k nearest ─► DWELL / GRACE ─► aggregate ─► changes

where each query takes only the steps that it asks for. Rows of the batch and of the state stand in one table of
positions; the steps hand on row numbers, so that ids, places and values are looked up once, at the end.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vedette.families.diagram import SharedDiagram
from vedette.kernels.arrays import F64, I8, I32, I64, rows_of, widened
from vedette.kernels.combine import Combinations, Joined, combine
from vedette.kernels.dwell import Pairs, Reports, delay
from vedette.kernels.exact import LIMBS
from vedette.kernels.ids import IdTable
from vedette.kernels.nearest import Candidates, Ids, pick
from vedette.kernels.netting import by_query, net
from vedette.kernels.totals import COUNT, Members, Totals, tally
from vedette.model.formula import distinct
from vedette.model.plain import from_plain
from vedette.pipeline import state
from vedette.pipeline.messages import BEFORE_TIME, AnswerMessage, DeltaColumns, Letter, ReportColumns, merge_columns
from vedette.pipeline.parts import AnswerPart, families_in, family, sections_for, sections_of
from vedette.pipeline.planning import OF_X, OF_Y
from vedette.pipeline.rows import id_bytes, join
from vedette.pipeline.setup import Setup
from vedette.pipeline.tuples import Tuples

VERSION = 3


@dataclass
class Changes:
    """Changes of answers in time order; row -1: no object. `names` are taken by `query`."""

    names: list[str]
    query: I32
    t: I64
    sign: I8
    oid: pa.Array
    x: F64
    y: F64
    value: F64
    members: Tuples | None = None  # None: nobody has any

    def part(self, start: int, stop: int) -> Changes:
        """Some that follow each other."""
        some = slice(start, stop)
        columns = {n: getattr(self, n)[some] for n in ("query", "t", "sign", "oid", "x", "y", "value")}
        members = None if self.members is None else self.members.part(start, stop)
        return replace(self, members=members, **columns)


@dataclass
class _Places:
    """The table that row numbers point into."""

    gid: I64
    x: F64
    y: F64
    values: F64
    oid: pa.Array

    def take(self, rows: I64) -> _Places:
        return _Places(self.gid[rows], self.x[rows], self.y[rows], self.values[rows], self.oid.take(pa.array(rows)))


@dataclass
class _Steps:
    """Changes of membership on their way: query index, tick, sign, row."""

    query: I32
    t: I64
    sign: I8
    row: I64

    def where(self, which: NDArray[Any]) -> _Steps:
        return _Steps(self.query[which], self.t[which], self.sign[which], self.row[which])


class _Registry:
    """The queries as columns in order of their qids; `end` is the tick of a drop, `dropped` whether there is one."""

    def __init__(self, commands: list[dict[str, Any]]) -> None:
        self.names = [c["name"] for c in commands]
        self.qid = _column(commands, "qid", np.int64)
        self.c = _column(commands, "c", np.int64)
        self.k = _column(commands, "k", np.int64)
        self.function = _column(commands, "function", np.int8)
        self.measure = _column(commands, "measure", np.int64)
        self.dwell = _column(commands, "dwell", np.int64)
        self.grace = _column(commands, "grace", np.int64)
        self.hidden = _column(commands, "hidden", np.bool_)
        self.is_term = self.hidden & (self.function < 0)
        formulas = {c["qid"]: from_plain(c["formula"]) for c in commands if c["formula"] is not None}
        self.combinations = _Combinations(formulas, self.qid) if formulas else None
        self.delayed = (self.dwell > 0) | (self.grace > 0)
        self.valued = self.function > COUNT
        self.dropped = np.zeros(len(commands), np.bool_)
        self.end = np.zeros(len(commands), np.int64)

    def keeps_moves(self) -> NDArray[np.bool_]:
        """Which queries must hear of members that merely moved."""
        return (self.k > 0) | self.is_term | (self.valued & ~self.delayed)

    def copy(self) -> _Registry:
        """The same queries, for batches of its own."""
        other = copy(self)
        other.dropped, other.end = self.dropped.copy(), self.end.copy()
        return other

    def begin(self, drops: dict[int, int], frontier: int) -> None:
        """A batch that ends at the frontier, and in which some queries go."""
        self.end[:] = frontier
        if drops:
            gone = self.index(np.array(list(drops), np.int64))
            self.dropped[gone] = True
            self.end[gone] = list(drops.values())

    def __len__(self) -> int:
        return len(self.qid)

    def index(self, qid: I64) -> I32:
        return np.searchsorted(self.qid, qid).astype(np.int32)


class Assemble:
    """One bucket of queries."""

    def __init__(self, setup: Setup, oid_type: pa.DataType) -> None:
        self.setup = setup
        self._oid_type = oid_type
        self._parts: dict[str, AnswerPart] = {}
        self._queries: dict[int, dict[str, Any]] = {}
        self._registry: _Registry | None = None  # columns of the queries, made anew when some come or go
        self._standing: bytes | None = None  # the queries as they were saved last, until a command comes
        none = np.zeros(0, np.int64)
        floats = np.zeros(0)
        self._places = _Places(none, floats, floats, np.zeros((0, 0)), pa.array([], oid_type))
        self._candidates = (none, Candidates(np.zeros(0, np.int32), none, floats, none, np.zeros(0, np.bool_)))
        no_bits = np.zeros(0, np.bool_)
        self._pairs = (none, Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), no_bits, no_bits, none, none))
        self._members = (none, Members(np.zeros(0, np.int32), np.zeros(0, np.int32), floats, none))
        self._totals = (
            none,
            Totals(none, np.zeros((0, LIMBS), np.int64), np.zeros((0, 2), np.int64), floats, np.zeros(0, np.int32)),
        )
        self._told_row: I64 = none
        self._joined = (none, Joined(np.zeros(0, np.int32), none, none))

    # ------------------------------------------------------------------------------------------ step

    def step(self, messages: list[AnswerMessage]) -> list[Changes]:
        """Take in what all regions say of a batch; returns the changes, those of each family in time order."""
        letters: dict[str, list[Letter]] = {}
        for message in messages:
            for kind, letter in message.letters:
                letters.setdefault(kind, []).append(letter)
        for kind in sorted(letters.keys() - self._parts.keys()):
            self._add_part(kind, {})
        frontier = max(m.frontier for m in messages)
        changes, counts = self._step(messages)
        if counts is not None:
            letters.setdefault("ALERT", []).append(counts)
        parts = [part.step(letters.get(kind, []), frontier) for kind, part in self._parts.items()]
        return [changes, *parts]

    def _add_part(self, kind: str, sections: dict[str, bytes]) -> None:
        self._parts[kind] = family(kind).answer(self.setup, self._oid_type, sections)

    def _step(self, messages: list[AnswerMessage]) -> tuple[Changes, Letter | None]:
        """The changes of ranges and nearest neighbours; what hidden queries counted, for alerts."""
        deltas: DeltaColumns = merge_columns([m.deltas for m in messages])
        reports: ReportColumns = merge_columns([m.reports for m in messages])
        frontier = max(m.frontier for m in messages)
        commands = sorted(
            (c for m in messages for c in m.commands), key=lambda c: (c["c"], c["sequence"], c["op"] == "create")
        )
        drops: dict[int, int] = {}
        created = [c["qid"] for c in commands if c["op"] == "create"]
        heirs: dict[int, int] = {}
        current = {c["name"]: q for q, c in self._queries.items()} if commands else {}
        for command in commands:
            if command["op"] == "drop":
                drops[command["qid"]] = command["c"]
                continue
            if command["replaces"] and command["c"] > BEFORE_TIME:  # before time nobody knew a value
                heirs[command["qid"]] = current[command["name"]]
            current[command["name"]] = command["qid"]
            self._queries[command["qid"]] = command
        if commands:
            self._standing = None
        if commands or self._registry is None:
            self._registry = _Registry([self._queries[q] for q in sorted(self._queries)])
        queries = self._registry
        queries.begin(drops, frontier)

        first_delta = len(self._places.gid)
        first_report = first_delta + len(deltas.t)
        self._extend_places(deltas, reports)
        index = queries.index(deltas.qid)
        rows, signs = net(index, deltas.t, deltas.gid, deltas.sign, deltas.d2, len(queries), queries.keeps_moves())
        steps = _Steps(index[rows], deltas.t[rows], signs, rows + first_delta)

        tracked = bool((queries.valued | queries.delayed).any())
        code = self._codes() if tracked else np.zeros(len(self._places.gid), np.int32)
        ids = self._ids()
        steps = self._nearest(queries, steps, deltas.d2[rows], ids)
        if queries.combinations is not None:
            steps = self._combined(queries, queries.combinations, steps, created)
        steps = self._delayed(queries, steps, code, reports, first_report)
        changes = self._emit(queries, steps, code, heirs, ids)
        self._settle(queries)
        for qid in drops:
            del self._queries[qid]
            self._registry = None
        return _told_apart(queries, changes)

    def _extend_places(self, deltas: DeltaColumns, reports: ReportColumns) -> None:
        width = max(self._places.values.shape[1], deltas.values.shape[1], reports.values.shape[1])
        parts: list[_Places | DeltaColumns | ReportColumns] = [self._places, deltas, reports]
        self._places = _Places(
            np.concatenate([p.gid for p in parts]),
            np.concatenate([p.x for p in parts]),
            np.concatenate([p.y for p in parts]),
            np.concatenate([widened(p.values, width) for p in parts]),
            join([p.oid for p in parts]),
        )

    def _codes(self) -> I32:
        """A number for each distinct id among the rows."""
        return IdTable().add_as_they_come(*id_bytes(self._places.oid))

    def _ids(self) -> Ids:
        oid = self._places.oid
        if pa.types.is_integer(oid.type):
            longs = oid.to_numpy(zero_copy_only=False)
            return Ids(True, longs, np.zeros(1, np.int64), np.zeros(1, np.uint8))
        return Ids(False, np.zeros(1, np.int64), *id_bytes(oid))

    # ----------------------------------------------------------------------------------------- steps

    def _nearest(self, queries: _Registry, steps: _Steps, d2: F64, ids: Ids) -> _Steps:
        """Replace the candidates of kNN queries by those that join and leave the k nearest."""
        if not (queries.k > 0).any():
            return steps
        of_knn = queries.k[steps.query] > 0
        some = steps.where(of_knn)
        qids, known = self._candidates
        gids = int(max(self._places.gid.max(initial=-1), known.gid.max(initial=-1))) + 1
        candidates, picked = pick(
            some.query,
            some.t,
            self._places.gid[some.row],
            some.sign,
            d2[of_knn],
            some.row,
            known._replace(query=queries.index(qids)),
            queries.k,
            queries.is_term | (queries.valued & ~queries.delayed),
            ids,
            gids,
        )
        self._candidates = (queries.qid[candidates.query], candidates)
        return _in_query_order([steps.where(~of_knn), _Steps(*picked)], len(queries))

    def _combined(self, queries: _Registry, combinations: _Combinations, steps: _Steps, created: list[int]) -> _Steps:
        """Replace the members of terms by those of the queries that are made of them."""
        of_term = queries.is_term[steps.query]
        some = steps.where(of_term)
        qids, known = self._joined
        known = known._replace(query=queries.index(qids))
        known = rows_of(known, np.argsort(known.query, kind="stable"))
        gid = self._places.gid[some.row]
        made = _Steps(
            *combine(
                some.query,
                some.t,
                gid,
                some.sign,
                some.row,
                known,
                combinations.columns(queries, created),
                combinations.table,
                len(queries),
            )
        )
        self._joined = self._still_joined(queries, some, gid, known)
        made = made.where(np.lexsort((made.t, made.query)))
        return _in_query_order([steps.where(~of_term), made], len(queries))

    def _still_joined(self, queries: _Registry, steps: _Steps, gid: I64, before: Joined) -> tuple[I64, Joined]:
        """The members of terms after these steps, each with the row that tells where it was last."""
        query = np.concatenate((before.query, steps.query))
        gids = np.concatenate((before.gid, gid))
        row = np.concatenate((before.row, steps.row))
        sign = np.concatenate((np.ones(len(before.query), np.int64), steps.sign))
        order = np.lexsort((gids, query))  # stable: members of before first, then in time order
        query, gids, row, sign = query[order], gids[order], row[order], sign[order]
        begins = np.ones(len(query), np.bool_)
        begins[1:] = (query[1:] != query[:-1]) | (gids[1:] != gids[:-1])
        first = np.flatnonzero(begins)
        if len(first) == 0:
            return queries.qid[query], Joined(query, gids, row)
        last = np.append(first[1:], len(query)) - 1
        stays = last[np.add.reduceat(sign, first) > 0]
        return queries.qid[query[stays]], Joined(query[stays], gids[stays], row[stays])

    def _delayed(
        self, queries: _Registry, steps: _Steps, code: I32, reports: ReportColumns, first_report: int
    ) -> _Steps:
        """Replace the members of queries with DWELL or GRACE by those that join and leave after their time."""
        if not queries.delayed.any():
            return steps
        of_delayed = queries.delayed[steps.query]
        some = steps.where(of_delayed & (steps.sign != 0))
        some = some.where(np.lexsort((some.t, code[some.row], some.query)))
        qids, known = self._pairs
        known = known._replace(query=queries.index(qids), code=code[known.row])
        order = np.lexsort((known.code, known.query))
        known = rows_of(known, order)
        codes = int(code.max(initial=-1)) + 1
        report_code = code[first_report:]
        report_order = np.lexsort((reports.t, report_code))
        start = np.zeros(codes + 1, np.int64)
        np.cumsum(np.bincount(report_code, minlength=codes), out=start[1:])
        pairs, late = delay(
            some.query,
            code[some.row],
            some.t,
            some.sign,
            some.row,
            known,
            Reports(start, reports.t[report_order], report_order + first_report),
            queries.dwell,
            queries.grace,
            queries.valued,
            queries.end,
            queries.dropped,
        )
        self._pairs = (queries.qid[pairs.query], pairs)
        late_steps = _Steps(late.query, late.t, late.sign, late.row)
        late_steps = late_steps.where(np.lexsort((late_steps.t, late_steps.query)))
        return _in_query_order([steps.where(~of_delayed), late_steps], len(queries))

    def _emit(self, queries: _Registry, steps: _Steps, code: I32, heirs: dict[int, int], ids: Ids) -> Changes:
        """Objects as they are, aggregates as new values."""
        counted = queries.function[steps.query] >= 0
        objects = steps.where(~counted)
        objects = self._net_replaced(queries, objects)
        query, t, sign, row = objects.query, objects.t, objects.sign, objects.row
        value = np.full(len(t), np.nan)
        if (queries.function >= 0).any():
            some = steps.where(counted & ~(queries.dropped[steps.query] & (steps.t >= queries.end[steps.query])))
            news = self._tally(queries, some, code, heirs, ids)
            query = np.concatenate((query, news.query))
            t = np.concatenate((t, news.t))
            sign = np.concatenate((sign, np.zeros(len(news.t), np.int8)))
            row = np.concatenate((row, news.row))
            value = np.concatenate((value, news.value))
        order = np.argsort(t, kind="stable")
        query, t, sign, row, value = query[order], t[order], sign[order], row[order], value[order]
        named = row >= 0
        where = np.where(named, row, 0)
        places = self._places
        if named.all():
            x, y, oid = places.x[row], places.y[row], places.oid.take(pa.array(row))
        else:
            x = np.where(named, places.x[where] if len(places.x) else np.nan, np.nan)
            y = np.where(named, places.y[where] if len(places.y) else np.nan, np.nan)
            oid = places.oid.take(pa.array(row, mask=~named))
        return Changes(queries.names, query, t, sign, oid, x, y, value)

    def _net_replaced(self, queries: _Registry, steps: _Steps) -> _Steps:
        """The net difference where one query took another's place in the same tick."""
        taken = {(queries.names[i], int(queries.end[i])) for i in np.flatnonzero(queries.dropped)}
        both = {(queries.names[i], int(queries.c[i])) for i in range(len(queries))} & taken if taken else set()
        if not both:
            return steps
        gone = np.zeros(len(steps.t), np.bool_)
        for name, c in both:
            of_name = np.array([n == name for n in queries.names], np.bool_)
            rows = np.flatnonzero(of_name[steps.query] & (steps.t == c))
            oid = self._places.oid.take(pa.array(steps.row[rows]))
            number = oid.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
            total = np.bincount(number, steps.sign[rows].astype(np.float64))
            left = total.copy()
            for i in range(len(rows)):  # one tick of one name; a row stays if its sign is still owed
                sign = float(steps.sign[rows[i]])
                if sign * left[number[i]] > 0:
                    left[number[i]] -= sign
                else:
                    gone[rows[i]] = True
        return steps.where(~gone)

    def _tally(self, queries: _Registry, steps: _Steps, code: I32, heirs: dict[int, int], ids: Ids) -> Any:
        measure = queries.measure[steps.query]
        value = np.full(len(steps.t), np.nan)
        shipped = measure >= 0
        value[shipped] = self._places.values[steps.row[shipped], measure[shipped]]
        value[measure == OF_X] = self._places.x[steps.row[measure == OF_X]]
        value[measure == OF_Y] = self._places.y[steps.row[measure == OF_Y]]
        told_before, _ = self._totals
        totals = self._aligned_totals(queries, code)
        heir = np.full(len(queries), -1, np.int32)
        for qid, old in heirs.items():
            mine, theirs = queries.index(np.array([qid, old]))
            if queries.function[mine] >= 0 and queries.function[theirs] >= 0:
                heir[mine] = theirs
        qids, members = self._members
        members, news = tally(
            steps.query,
            steps.t,
            code[steps.row],
            steps.sign,
            steps.row,
            value,
            queries.function,
            members._replace(query=queries.index(qids), code=code[members.row]),
            totals,
            np.where(queries.dropped & (queries.end <= queries.c), BEFORE_TIME, queries.c),
            heir,
            int(code.max(initial=-1)) + 1,
            ids,
        )
        self._members = (queries.qid[members.query], members)
        self._totals = (queries.qid, totals)
        told_row = np.full(len(queries), -1, np.int64)
        told_row[queries.index(told_before)] = self._told_row
        for mine in np.flatnonzero(heir >= 0):
            told_row[mine] = told_row[heir[mine]]
        told_row[news.query] = news.row  # in (query, t) order, so the last one stays
        self._told_row = told_row
        return news

    def _aligned_totals(self, queries: _Registry, code: I32) -> Totals:
        """The totals by the present query indices, with room for new queries: COUNT starts at 0, the others at null."""
        qids, old = self._totals
        n = len(queries)
        where = queries.index(qids)
        totals = Totals(
            np.zeros(n, np.int64),
            np.zeros((n, LIMBS), np.int64),
            np.zeros((n, 2), np.int64),
            np.where(queries.function == COUNT, 0.0, np.nan),
            np.full(n, -1, np.int32),
        )
        for new_array, old_array in zip(totals[:4], old[:4], strict=True):
            new_array[where] = old_array
        named = self._told_row >= 0
        totals.told_code[where[named]] = code[self._told_row[named]]
        return totals

    # ----------------------------------------------------------------------------------------- state

    def _settle(self, queries: _Registry) -> None:
        """Forget what belongs to dropped queries, and keep only the rows that something points to."""
        live = queries.qid[~queries.dropped]
        qids, candidates = self._candidates
        stays = np.isin(qids, live)
        self._candidates = (qids[stays], rows_of(candidates, stays))
        qids, pairs = self._pairs
        stays = np.isin(qids, live)
        self._pairs = (qids[stays], rows_of(pairs, stays))
        qids, members = self._members
        stays = np.isin(qids, live)
        self._members = (qids[stays], rows_of(members, stays))
        qids, totals = self._totals
        counted = np.isin(qids, queries.qid[~queries.dropped & (queries.function >= 0)])
        self._totals = (qids[counted], rows_of(totals, counted))
        self._told_row = self._told_row[counted]

        qids, joined = self._joined
        stays = np.isin(qids, live)
        self._joined = (qids[stays], rows_of(joined, stays))
        refs = [self._candidates[1].row, self._pairs[1].row, self._members[1].row, self._told_row, self._joined[1].row]
        used = np.unique(np.concatenate(refs))
        used = used[used >= 0]
        self._places = self._places.take(used)
        self._candidates = (self._candidates[0], self._candidates[1]._replace(row=np.searchsorted(used, refs[0])))
        self._pairs = (self._pairs[0], self._pairs[1]._replace(row=np.searchsorted(used, refs[1])))
        self._members = (self._members[0], self._members[1]._replace(row=np.searchsorted(used, refs[2])))
        self._told_row = np.where(self._told_row >= 0, np.searchsorted(used, self._told_row), -1)
        self._joined = (self._joined[0], self._joined[1]._replace(row=np.searchsorted(used, refs[4])))

    def save(self) -> dict[str, bytes]:
        """Everything that the next step needs; "standing" is the same object until a command comes."""
        if self._standing is None:
            self._standing = state.encode("assemble standing", VERSION, {"queries": list(self._queries.values())}, {})
        arrays: dict[str, Any] = {f"places.{n}": getattr(self._places, n) for n in ("gid", "x", "y", "values", "oid")}
        for name in ("candidates", "pairs", "members", "totals", "joined"):
            qids, columns = getattr(self, "_" + name)
            arrays[f"{name}.qid"] = qids
            arrays.update({f"{name}.{field}": getattr(columns, field) for field in columns._fields})
        arrays["told_row"] = self._told_row
        columns = state.encode("assemble", VERSION, {}, arrays)
        return {"standing": self._standing, "columns": columns, **sections_of(self._parts)}

    @classmethod
    def load(cls, setup: Setup, oid_type: pa.DataType, saved: dict[str, bytes]) -> Assemble:
        """The bucket again."""
        _, a = state.decode("assemble", VERSION, saved["columns"])
        self = cls(setup, oid_type)
        self._standing = saved["standing"]
        queries, registry = _queries(self._standing)
        self._queries, self._registry = dict(queries), registry.copy()
        self._places = _Places(*(a[f"places.{n}"] for n in ("gid", "x", "y", "values", "oid")))
        kinds: dict[str, Any] = {
            "candidates": Candidates,
            "pairs": Pairs,
            "members": Members,
            "totals": Totals,
            "joined": Joined,
        }
        for name, kind in kinds.items():
            columns = kind(*(a[f"{name}.{field}"] for field in kind._fields))
            setattr(self, "_" + name, (a[f"{name}.qid"], columns))
        self._told_row = a["told_row"]
        for kind in families_in(saved):
            self._add_part(kind, sections_for(kind, saved))
        return self


@lru_cache(maxsize=16)
def _queries(standing: bytes) -> tuple[dict[int, dict[str, Any]], _Registry]:
    """The saved queries, to be copied: most states that are loaded in a process have the same ones."""
    meta, _ = state.decode("assemble standing", VERSION, standing)
    queries = {c["qid"]: c for c in meta["queries"]}
    return queries, _Registry([queries[q] for q in sorted(queries)])


class _Combinations:
    """The combinations of a bucket: their formulas over the numbers of their terms, in one diagram."""

    def __init__(self, formulas: dict[int, Any], qid: I64) -> None:
        number = {q: i for i, q in enumerate(qid.tolist())}
        diagram = SharedDiagram(number.__getitem__)
        for q, formula in formulas.items():
            diagram.add(q, formula)
        diagram.settle(np.zeros(len(qid), np.int64))
        self.table = diagram.table
        self._query = np.array([number[q] for q in formulas], np.int32)
        terms = [[number[t] for t in distinct(formula)] for formula in formulas.values()]
        self._start = np.cumsum([0, *map(len, terms)]).astype(np.int64)
        self._term = np.array([t for each in terms for t in each], np.int32)
        self._edge = np.array([diagram.edges[q] for q in formulas], np.int64)

    def columns(self, queries: _Registry, created: list[int]) -> Combinations:
        """As kernels take them; which ones came with this batch."""
        q = self._query
        fresh = np.isin(queries.qid[q], np.array(created, np.int64))
        keeps = (queries.valued & ~queries.delayed)[q]
        return Combinations(
            q, self._start, self._term, self._edge, queries.c[q], queries.end[q], fresh, queries.dropped[q], keeps
        )


def _told_apart(queries: _Registry, changes: Changes) -> tuple[Changes, Letter | None]:
    """What users hear, and what hidden queries counted."""
    hidden = queries.hidden[changes.query]
    if not hidden.any():
        return changes, None
    index = changes.query[hidden]
    counts = {"t": changes.t[hidden], "qid": queries.qid[index], "count": changes.value[hidden].astype(np.int64)}
    shown = np.flatnonzero(~hidden)
    rest = {n: getattr(changes, n)[shown] for n in ("query", "t", "sign", "x", "y", "value")}
    return replace(changes, oid=changes.oid.take(pa.array(shown)), **rest), Letter({}, counts)


def _column(commands: list[dict[str, Any]], name: str, kind: Any) -> NDArray[Any]:
    return np.array([c[name] for c in commands], kind)


def _in_query_order(parts: list[_Steps], queries: int) -> _Steps:
    """Parts that are each in (query, t) order and share no query, as one in that order."""
    both = _Steps(*(np.concatenate([getattr(p, f) for p in parts]) for f in _Steps.__dataclass_fields__))
    return both.where(by_query(both.query, queries))
