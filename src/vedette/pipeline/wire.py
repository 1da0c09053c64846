"""What stages say to each other, as bytes: rows, messages to regions and query buckets, changes, each one Arrow value.

In: the records of `messages`, `rows` and `assemble`. Out: bytes, and the same records again. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from vedette.kernels.arrays import F64, I64
from vedette.kernels.regions import Regions
from vedette.pipeline import state
from vedette.pipeline.assemble import Changes
from vedette.pipeline.messages import (
    AnswerMessage,
    BallColumns,
    DeltaColumns,
    FocalColumns,
    Letter,
    MoveColumns,
    RegionMessage,
    ReportColumns,
)
from vedette.pipeline.rows import Rows
from vedette.pipeline.tuples import Tuples

VERSION = 2
FLOATS = ("x", "y", "value")  # of a change, NaN where there is nothing


@dataclass
class Arrival:
    """Rows for one bucket, from one part of the input; what all buckets must know of the part comes along.

    `origin` orders the parts of a batch, whatever order they arrive in. `times`: the greatest, or with max_ahead all
    distinct ones. `sample`: some positions, a row each.
    """

    rows: Rows
    times: I64
    origin: list[int] = field(default_factory=list)
    sample: F64 = field(default_factory=lambda: np.zeros((0, 2)))


def write_arrival(arrival: Arrival) -> bytes:
    """An arrival as bytes."""
    rows = arrival.rows
    arrays: state.Arrays = {"oid": rows.oid, "t": rows.t, "x": rows.x, "y": rows.y}
    arrays |= {"a." + name: column for name, column in rows.attributes.items()}
    arrays |= {"times": arrival.times, "sample": arrival.sample}
    return state.encode("arrival", VERSION, {"origin": arrival.origin}, arrays)


def read_arrival(data: bytes) -> Arrival:
    """The arrival again."""
    meta, a = state.decode("arrival", VERSION, data)
    attributes = {name[2:]: column for name, column in a.items() if name.startswith("a.")}
    return Arrival(Rows(a["oid"], a["t"], a["x"], a["y"], attributes), a["times"], meta["origin"], a["sample"])


@dataclass
class RegionPost:
    """A region message on its way: who sends it, how space is cut, and whether it is the last one of all."""

    message: RegionMessage
    sender: int
    regions: Regions
    final: bool


def write_region(post: RegionPost) -> bytes:
    """A region message as bytes."""
    message, cut = post.message, post.regions
    meta = {
        "sender": post.sender,
        "final": post.final,
        "size": cut.size,
        "commands": message.commands,
        "answers": message.answers,
        "frontier": message.frontier,
        "letters": list(message.letters),
        "relays": [[bucket, family] for bucket, family, _ in message.relays],
    }
    arrays: state.Arrays = {"axis": cut.axis, "cut": cut.cut, "child": cut.child}
    for name in ("moves", "focals", "balls"):
        arrays |= _columns(name, getattr(message, name))
    arrays["letters"] = _written(message.letters.values())
    arrays["relays"] = _written(letter for _, _, letter in message.relays)
    return state.encode("region", VERSION, meta, arrays)


def read_region(data: bytes) -> RegionPost:
    """The region message again."""
    meta, a = state.decode("region", VERSION, data)
    message = RegionMessage(
        _record(MoveColumns, "moves", a),
        _record(FocalColumns, "focals", a),
        _record(BallColumns, "balls", a),
        meta["commands"],
        meta["answers"],
        meta["frontier"],
        dict(zip(meta["letters"], _read(a["letters"]), strict=True)),
        [(bucket, family, letter) for (bucket, family), letter in zip(meta["relays"], _read(a["relays"]), strict=True)],
    )
    return RegionPost(
        message, meta["sender"], Regions(meta["size"], a["axis"], a["cut"], a["child"]), bool(meta["final"])
    )


@dataclass
class AnswerPost:
    """An answer message on its way."""

    message: AnswerMessage
    sender: int
    final: bool


def write_answer(post: AnswerPost) -> bytes:
    """An answer message as bytes."""
    message = post.message
    meta = {
        "sender": post.sender,
        "final": post.final,
        "commands": message.commands,
        "frontier": message.frontier,
        "letters": [family for family, _ in message.letters],
    }
    arrays = _columns("deltas", message.deltas) | _columns("reports", message.reports)
    arrays["letters"] = _written(letter for _, letter in message.letters)
    return state.encode("answer", VERSION, meta, arrays)


def read_answer(data: bytes) -> AnswerPost:
    """The answer message again."""
    meta, a = state.decode("answer", VERSION, data)
    message = AnswerMessage(
        _record(DeltaColumns, "deltas", a),
        _record(ReportColumns, "reports", a),
        meta["commands"],
        meta["frontier"],
        list(zip(meta["letters"], _read(a["letters"]), strict=True)),
    )
    return AnswerPost(message, meta["sender"], bool(meta["final"]))


def write_changes(parts: Sequence[Changes]) -> bytes:
    """Changes of query buckets and families as bytes; columns in which nobody says anything stay at home."""
    arrays: state.Arrays = {}
    for n, part in enumerate(parts):
        said: state.Arrays = {"query": part.query, "t": part.t, "sign": part.sign}
        if part.oid.null_count < len(part.oid):
            said["oid"] = part.oid
        said |= {name: column for name in FLOATS if not np.isnan(column := getattr(part, name)).all()}
        if part.members is not None:
            said |= _columns("members", part.members)
        arrays |= {f"{n}.{name}": column for name, column in said.items()}
    return state.encode("changes", VERSION, {"names": [part.names for part in parts]}, arrays)


def read_changes(data: bytes, oid_type: pa.DataType) -> list[Changes]:
    """The changes again."""
    meta, a = state.decode("changes", VERSION, data)
    parts = []
    for n, names in enumerate(meta["names"]):
        query, t, sign = (a[f"{n}.{name}"] for name in ("query", "t", "sign"))
        oid = a[f"{n}.oid"] if f"{n}.oid" in a else pa.nulls(len(t), oid_type)
        x, y, value = (a[f"{n}.{name}"] if f"{n}.{name}" in a else np.full(len(t), np.nan) for name in FLOATS)
        members = _record(Tuples, f"{n}.members", a) if f"{n}.members.offsets" in a else None
        parts.append(Changes(names, query, t, sign, oid, x, y, value, members))
    return parts


def _written(letters: Iterable[Letter]) -> pa.Array:
    return pa.array([state.encode("letter", VERSION, each.meta, each.arrays) for each in letters], pa.large_binary())


def _read(written: pa.Array) -> list[Letter]:
    return [Letter(*state.decode("letter", VERSION, each.as_py())) for each in written]


def _columns(prefix: str, record: Any) -> state.Arrays:
    return {f"{prefix}.{name}": getattr(record, name) for name in record.__dataclass_fields__}


def _record(kind: Any, prefix: str, arrays: dict[str, Any]) -> Any:
    return kind(**{name: arrays[f"{prefix}.{name}"] for name in kind.__dataclass_fields__})
