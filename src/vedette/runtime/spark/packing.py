"""DataFrames to parcels and back: what happens before the first stage and after the last.

In and out: iterators of Arrow record batches, as `mapInArrow` has them. A parcel on its way is a row (key, kind,
payload), so the JVM moves a few large rows instead of millions of small ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from vedette.columns import REASON, T, X, Y, changes_schema
from vedette.pipeline.intake import Intake
from vedette.runtime.brief import Brief
from vedette.runtime.spark.keys import key_values
from vedette.runtime.spark.worker import settle
from vedette.runtime.stations import (
    CHANGES,
    LATE,
    METRICS,
    REFUSED,
    REJECTS,
    Parcel,
    changes_in,
    from_ipc,
    pack_commands,
    pack_updates,
)

Batches: TypeAlias = Iterator[pa.RecordBatch]

PARCEL_SCHEMA = pa.schema([("key", pa.int32()), ("kind", pa.string()), ("payload", pa.binary())])
ROWS_A_PARCEL = 1_000_000
TAGS = {CHANGES: "change", LATE: "late", REJECTS: "reject", REFUSED: "refused", METRICS: "metrics"}


def updates_packer(brief: Brief) -> Callable[[Batches], Batches]:
    """The function that packs a task's share of the updates."""

    def pack(batches: Batches) -> Batches:
        task = TaskContext.get()
        part = 0 if task is None else task.partitionId()
        for number, table in enumerate(gathered(batches)):
            yield parcels_batch(pack_updates(brief, table, (part, number)))
        settle()

    return pack


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Small record batches as few large tables."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        held.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_A_PARCEL:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)


def commands_packer(brief: Brief) -> Callable[[Batches], Batches]:
    """The function that packs a task's share of the commands: rows of seq and sql, as text."""

    def pack(batches: Batches) -> Batches:
        commands = [
            (seq or "", sql)
            for batch in batches
            for seq, sql in zip(batch["seq"].to_pylist(), batch["sql"].to_pylist(), strict=True)
            if sql is not None and sql.strip()
        ]
        if commands:
            yield parcels_batch(pack_commands(brief, commands))

    return pack


def parcels_batch(parcels: Iterable[Parcel]) -> pa.RecordBatch:
    """Parcels as rows, each with the key value that Spark spreads evenly."""
    values = key_values()
    rows = [(values[key], kind, payload) for key, kind, payload in parcels]
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    arrays = [pa.array(column, f.type) for column, f in zip(columns, PARCEL_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PARCEL_SCHEMA)


def _payloads(batches: Batches) -> Iterator[tuple[str, bytes]]:
    for batch in batches:
        yield from zip(batch["kind"].to_pylist(), batch["payload"].to_pylist(), strict=True)


def changes_unpacker(intake: Intake) -> Callable[[Batches], Batches]:
    """The function that makes rows of change parcels."""

    def unpack(batches: Batches) -> Batches:
        for kind, payload in _payloads(batches):
            if kind == CHANGES:
                for table in changes_in(payload, intake):
                    yield from table.to_batches()
        settle()

    return unpack


def outputs_schema(intake: Intake) -> pa.Schema:
    """Columns of the tagged rows: those of changes, and what the other kinds have to say."""
    extra = [(REASON, pa.string()), ("row", pa.string()), ("metrics", pa.map_(pa.string(), pa.int64()))]
    changes = changes_schema(intake.oid_type, intake.t_type)
    return pa.schema([("kind", pa.string()), *changes, *extra])


def outputs_unpacker(intake: Intake) -> Callable[[Batches], Batches]:
    """The function that makes tagged rows of all parcels."""
    schema = outputs_schema(intake)

    def unpack(batches: Batches) -> Batches:
        for kind, payload in _payloads(batches):
            for columns in _columns(kind, payload, intake):
                rows = len(next(iter(columns.values())))
                columns["kind"] = pa.array([TAGS[kind]] * rows, pa.string())
                yield pa.RecordBatch.from_arrays(
                    [_whole(columns[f.name], f.type) if f.name in columns else pa.nulls(rows, f.type) for f in schema],
                    schema=schema,
                )
        settle()

    return unpack


def _columns(kind: str, payload: bytes, intake: Intake) -> Iterator[dict[str, Any]]:
    """What a parcel has to say, as columns of tagged rows; changes in pieces."""
    if kind == METRICS:
        counts = json.loads(payload)
        yield {"metrics": pa.array([list(counts.items())], pa.map_(pa.string(), pa.int64()))}
    elif kind == REFUSED:
        refused = json.loads(payload)
        yield {"row": pa.array([r["sql"] for r in refused]), REASON: pa.array([r["reason"] for r in refused])}
    elif kind == CHANGES:
        for table in changes_in(payload, intake):
            yield {name: table[name] for name in table.column_names}
    elif kind in TAGS:
        table = from_ipc(payload)
        columns = {name: table[name] for name in table.column_names}
        texts = pa.array([json.dumps(row, default=str) for row in table.drop_columns(_reasons(table)).to_pylist()])
        if kind == LATE:
            yield {name: columns[name] for name in ("oid", T, X, Y)} | {"row": texts}
        else:
            yield {REASON: columns[REASON], "row": texts}


def _reasons(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name == REASON]


def _whole(column: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    return column if column.type == kind else pc.cast(column, kind)
