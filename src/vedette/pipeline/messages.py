"""What stages say to each other: columns, in time order, plus a few commands.

`RegionMessage` goes from a TRACK bucket to a region, `AnswerMessage` from a region to a query bucket. What the parts of
a family (`parts`) say to each other goes along as letters. Commands are small dictionaries of plain data
({"op": "create" | "drop", "c": tick, "sequence": n, "qid": ...}), because queries come and go rarely.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import B1, F64, I8, I32, I64, U64, widened
from vedette.kernels.shapes import PARAMETERS
from vedette.pipeline.rows import join

BEFORE_TIME = int(np.iinfo(np.int64).min)  # the tick of what is registered before the first update


@dataclass
class MoveColumns:
    """Objects that appear, move or leave. `name` points into `names` where the object is new to the region, else -1."""

    t: I64
    gid: I64
    op: I8
    x: F64
    y: F64
    words: U64
    values: F64
    name: I64
    names: pa.Array


@dataclass
class FocalColumns:
    """Focal objects that move (on) or vanish (off); once per region, not per query."""

    t: I64
    focal: I32
    gid: I64
    x: F64
    y: F64
    on: B1


@dataclass
class BallColumns:
    """Balls of kNN queries: parameters of a disc, the gid that does not count, or off."""

    t: I64
    qid: I64
    p: F64
    skip: I64
    on: B1


@dataclass
class Letter:
    """What a family's part in one stage says to its part in the next: plain data, and named columns."""

    meta: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)


@dataclass
class RegionMessage:
    """From one bucket to one region. `relays` are letters to query buckets that the region only passes on."""

    moves: MoveColumns
    focals: FocalColumns
    balls: BallColumns
    commands: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)  # commands to pass on to the query buckets
    frontier: int = BEFORE_TIME
    letters: dict[str, Letter] = field(default_factory=dict)  # by family
    relays: list[tuple[int, str, Letter]] = field(default_factory=list)  # query bucket, family, letter


@dataclass
class DeltaColumns:
    """Objects that joined (+1), left (-1) or moved within (0) a shape."""

    t: I64
    qid: I64
    gid: I64
    sign: I8
    x: F64
    y: F64
    d2: F64
    values: F64
    oid: pa.Array


@dataclass
class ReportColumns:
    """Where objects are, for queries that must know it of objects outside, too."""

    t: I64
    gid: I64
    x: F64
    y: F64
    values: F64
    oid: pa.Array


@dataclass
class AnswerMessage:
    """From one region to one query bucket."""

    deltas: DeltaColumns
    reports: ReportColumns
    commands: list[dict[str, Any]] = field(default_factory=list)
    frontier: int = BEFORE_TIME
    letters: list[tuple[str, Letter]] = field(default_factory=list)  # family, letter


def no_focals() -> FocalColumns:
    """Nothing moved."""
    return FocalColumns(_i64(), np.zeros(0, np.int32), _i64(), _f64(), _f64(), np.zeros(0, np.bool_))


def no_balls() -> BallColumns:
    """No ball changed."""
    return BallColumns(_i64(), _i64(), np.zeros((0, PARAMETERS)), _i64(), np.zeros(0, np.bool_))


def no_reports(values: int, names: pa.DataType) -> ReportColumns:
    """Nothing to report."""
    return ReportColumns(_i64(), _i64(), _f64(), _f64(), np.zeros((0, values)), pa.array([], names))


def merge_columns(parts: list[Any]) -> Any:
    """Columns of several senders in time order (order among equal times is free)."""
    parts = [p for p in parts if len(p.t)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    kind = type(parts[0])
    columns: dict[str, Any] = {}
    for name in parts[0].__dataclass_fields__:
        arrays = [getattr(p, name) for p in parts]
        if isinstance(arrays[0], pa.Array):
            columns[name] = join(arrays)
        elif arrays[0].ndim == 2:
            columns[name] = np.concatenate([widened(a, max(b.shape[1] for b in arrays)) for a in arrays])
        else:
            columns[name] = np.concatenate(arrays)
    if kind is MoveColumns:
        shift = np.repeat(np.cumsum([0] + [len(p.names) for p in parts[:-1]]), [len(p.t) for p in parts])
        columns["name"] = np.where(columns["name"] >= 0, columns["name"] + shift, -1)
    order = np.argsort(columns["t"], kind="stable")
    for name, column in columns.items():
        if name != "names":
            columns[name] = column.take(pa.array(order)) if isinstance(column, pa.Array) else column[order]
    return kind(**columns)


def _i64() -> I64:
    return np.zeros(0, np.int64)


def _f64() -> F64:
    return np.zeros(0)
