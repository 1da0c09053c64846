"""Motion patterns in ASSEMBLE: the changes of all buckets as they are; the lowest and highest out of all candidates.

In: letters of TRACK buckets. Out: changes. What one pattern left and another of the same name took up at the same tick
cancels out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import B1, F64, I8, I64, rows_of
from vedette.kernels.motion.tables import HIGHEST, LOWEST
from vedette.kernels.nearest import Candidates, Ids, pick
from vedette.pipeline import state
from vedette.pipeline.assemble import Changes
from vedette.pipeline.messages import Letter
from vedette.pipeline.rows import id_bytes, join
from vedette.pipeline.setup import Setup

VERSION = 1
COLUMNS = ("qid", "gid", "x", "y", "score")


class PatternAnswer:
    """The part of one query bucket."""

    def __init__(self, setup: Setup, oid_type: pa.DataType, sections: dict[str, bytes]) -> None:
        self._patterns: dict[int, dict[str, Any]] = {}
        self._standing: bytes | None = None
        none, floats = np.zeros(0, np.int64), np.zeros(0)
        self._table: dict[str, Any] = {"qid": none, "gid": none, "x": floats, "y": floats, "score": floats}
        self._oid = pa.array([], oid_type)
        self._chosen: B1 = np.zeros(0, np.bool_)
        if sections:
            self._load(sections)

    def step(self, letters: list[Letter], frontier: int) -> Changes:
        """What the buckets say of a batch."""
        commands = sorted((c for letter in letters for c in letter.meta["commands"]), key=lambda c: c["sequence"])
        for command in commands:
            self._standing = None
            if command["op"] == "create":
                self._patterns[command["qid"]] = command
        drops = {c["qid"]: c["c"] for c in commands if c["op"] == "drop"}
        changes = self._changes(letters, drops)
        for qid in drops:
            del self._patterns[qid]
        return changes

    def _changes(self, letters: list[Letter], drops: dict[int, int]) -> Changes:
        qids = np.array(sorted(self._patterns), np.int64)
        known = len(self._oid)
        table = {name: np.concatenate([self._table[name], *(le.arrays[name] for le in letters)]) for name in COLUMNS}
        oid = join([self._oid, *(letter.arrays["oid"] for letter in letters)])
        none = np.zeros(0, np.int64)
        t: I64 = np.concatenate([none, *(letter.arrays["t"] for letter in letters)])
        sign: I8 = np.concatenate([none.astype(np.int8), *(letter.arrays["sign"] for letter in letters)])
        row = np.arange(known, known + len(t))
        query = np.searchsorted(qids, table["qid"][row]).astype(np.int32)
        choice = np.array([self._patterns[q]["choice"] for q in qids.tolist()], np.int64)
        picked = choice[query] >= LOWEST if len(qids) else np.zeros(0, np.bool_)
        parts = [(query[~picked], t[~picked], sign[~picked], row[~picked])]
        parts.append(self._pick(qids, choice, query[picked], t[picked], sign[picked], row[picked], table, oid, drops))
        query, t, sign, row = (np.concatenate([part[i] for part in parts]) for i in range(4))
        order = np.argsort(t, kind="stable")
        order = order[self._net(qids[query[order]], t[order], sign[order], table["gid"][row[order]], drops)]
        query, t, sign, row = query[order], t[order], sign[order].astype(np.int8), row[order]
        value = np.where(sign > 0, table["score"][row], np.nan)
        names = [self._patterns[q]["name"] for q in qids.tolist()]
        return Changes(names, query, t, sign, oid.take(pa.array(row)), table["x"][row], table["y"][row], value)

    def _pick(
        self,
        qids: I64,
        choice: I64,
        query: Any,
        t: I64,
        sign: I8,
        row: I64,
        table: dict[str, Any],
        oid: pa.Array,
        drops: dict[int, int],
    ) -> tuple[Any, I64, I8, I64]:
        """The n first of all candidates; remembers the candidates."""
        known = len(self._oid)
        if not len(row) and not known:
            return query, t, sign, row
        score: F64 = np.where(choice[query] == HIGHEST, -table["score"][row], table["score"][row])
        order = np.lexsort((t, query))
        before = np.searchsorted(qids, table["qid"][:known]).astype(np.int32)
        was: F64 = np.where(choice[before] == HIGHEST, -table["score"][:known], table["score"][:known])
        candidates, picked = pick(
            query[order],
            t[order],
            table["gid"][row[order]],
            sign[order],
            score[order],
            row[order],
            Candidates(before, table["gid"][:known].copy(), was, np.arange(known), self._chosen),
            np.array([self._patterns[q]["n"] for q in qids.tolist()], np.int64),
            np.zeros(len(qids), np.bool_),
            _ids(oid),
            int(table["gid"].max(initial=-1)) + 1,
        )
        candidates = rows_of(candidates, ~np.isin(qids[candidates.query], list(drops)))
        self._table = {name: table[name][candidates.row] for name in COLUMNS}
        self._oid, self._chosen = oid.take(pa.array(candidates.row)), candidates.chosen
        return picked.query, picked.t, picked.sign, picked.row

    def _net(self, qid: I64, t: I64, sign: I8, gid: I64, drops: dict[int, int]) -> I64:
        """The rows that stay: who leaves a pattern and joins the one in its place does neither."""
        stays = np.ones(len(t), np.bool_)
        for old, c in drops.items():
            name = self._patterns[old]["name"]
            heirs = [q for q, command in self._patterns.items() if command["name"] == name and q != old]
            here = np.flatnonzero((t == c) & np.isin(qid, [old, *heirs]))
            left, joined = here[sign[here] < 0], here[sign[here] > 0]
            both = np.intersect1d(gid[left], gid[joined])
            stays[here[np.isin(gid[here], both)]] = False
        return np.flatnonzero(stays)

    # ------------------------------------------------------------------------------------ save and load

    def save(self) -> dict[str, bytes]:
        """The patterns, and the candidates of the lowest and highest."""
        if self._standing is None:
            meta = {"patterns": list(self._patterns.values())}
            self._standing = state.encode("patterns answered", VERSION, meta, {})
        arrays = {**self._table, "oid": self._oid, "chosen": self._chosen}
        return {"standing": self._standing, "columns": state.encode("pattern answers", VERSION, {}, arrays)}

    def _load(self, sections: dict[str, bytes]) -> None:
        self._standing = sections["standing"]
        meta, _ = state.decode("patterns answered", VERSION, self._standing)
        self._patterns = {command["qid"]: command for command in meta["patterns"]}
        _, arrays = state.decode("pattern answers", VERSION, sections["columns"])
        self._oid, self._chosen = arrays.pop("oid"), arrays.pop("chosen")
        self._table = arrays


def _ids(oid: pa.Array) -> Ids:
    if pa.types.is_integer(oid.type):
        return Ids(True, oid.to_numpy(zero_copy_only=False), np.zeros(1, np.int64), np.zeros(1, np.uint8))
    return Ids(False, np.zeros(1, np.int64), *id_bytes(oid))
