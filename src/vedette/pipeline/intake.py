"""What comes from outside becomes rows: columns found by name, types made uniform, bad rows set aside.

In: Arrow tables as users have them. Out: normalised rows, and the rows that are none with the reason. The first
table pins the columns and their types; later tables may lack attributes (null then) or bring more (ignored).
Bad data never raises; a table without the needed columns does, because then nothing can be right.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from vedette.columns import LAT, LON, OID, REASON, T, X, Y
from vedette.errors import SourceError
from vedette.model import AttributeType, Schema
from vedette.pipeline.rows import Rows
from vedette.space import Space

_KINDS: dict[AttributeType, pa.DataType] = {
    "bool": pa.bool_(),
    "long": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
}
_MICROSECONDS = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Intake:
    """The pinned reading of an input: which column is what, and of which type."""

    space: Space
    source: pa.Schema
    oid: str
    t: str
    x: str
    y: str
    schema: Schema

    @property
    def oid_type(self) -> pa.DataType:
        """Type of ids in the outputs."""
        return pa.int64() if self.schema.oid == "long" else pa.string()

    @property
    def t_type(self) -> pa.DataType:
        """Type of times in the outputs: as in the input."""
        kind = self.source.field(self.t).type
        if self.schema.time == "long":
            return pa.int64()
        return kind if pa.types.is_timestamp(kind) else _MICROSECONDS

    def read(self, table: pa.Table) -> tuple[Rows, pa.Table]:
        """Rows, and the rejects: the input's columns as they came, with a reason."""
        table = self._aligned(table)
        n = table.num_rows
        reason = np.zeros(n, np.int8)
        oid, bad = _ids(_whole(table[self.oid]), self.schema.oid)
        reason[bad] = 1
        t, bad = self._times(_whole(table[self.t]))
        reason[bad & (reason == 0)] = 2
        x, bad_x = _numbers(_whole(table[self.x]))
        y, bad_y = _numbers(_whole(table[self.y]))
        reason[(bad_x | bad_y) & (reason == 0)] = 3
        if self.space.is_lonlat:
            reason[(reason == 0) & ~((y >= -90.0) & (y <= 90.0))] = 4
            with np.errstate(invalid="ignore"):
                x = np.fmod(x, 360.0)  # exact, and so are the subtractions below
            x = np.where(x >= 180.0, x - 360.0, np.where(x < -180.0, x + 360.0, x))
        x, y = x + 0.0, y + 0.0  # -0.0 would be equal to 0.0, yet print otherwise
        attributes = {name: _attribute(_whole(table[column]), kind) for name, column, kind in self._attributes(table)}
        rows = Rows(oid, t, x, y, attributes)
        if not reason.any():
            return rows, table.slice(0, 0).append_column(REASON, pa.array([], pa.string()))
        bad = reason > 0
        rejects = table.filter(pa.array(bad)).append_column(REASON, pa.array(REASONS).take(pa.array(reason[bad])))
        return rows.take(~bad), rejects

    def as_input(self, rows: Rows, reason: str) -> pa.Table:
        """Normalised rows as they may have looked in the input, for the rejects."""
        columns = {self.oid: rows.oid, self.x: pa.array(rows.x), self.y: pa.array(rows.y), self.t: self.times(rows.t)}
        for name, column, _ in self._attributes(self.source):
            columns[column] = rows.attributes[name]
        arrays = [
            _cast(columns[f.name], f.type) if f.name in columns else pa.nulls(len(rows), f.type) for f in self.source
        ]
        table = pa.Table.from_arrays(arrays, schema=self.source)
        return table.append_column(REASON, pa.array([reason] * len(rows), pa.string()))

    def times(self, t: NDArray[np.int64]) -> pa.Array:
        """Internal times as the input has them."""
        if self.schema.time == "long":
            return pa.array(t, pa.int64())
        return _cast(pa.array(t, pa.int64()).cast(_MICROSECONDS), self.t_type)

    def table(self, rows: Rows) -> pa.Table:
        """Normalised rows as a table for people."""
        columns = {OID: rows.oid, T: self.times(rows.t), X: rows.x, Y: rows.y}
        return pa.table(columns | rows.attributes)

    def empty(self) -> Rows:
        """No rows, of the right types."""
        return self.read(self.source.empty_table())[0]

    def _aligned(self, table: pa.Table) -> pa.Table:
        by_name = {name.lower(): name for name in table.schema.names}
        arrays = []
        for f in self.source:
            name = f.name if f.name in table.schema.names else by_name.get(f.name.lower())
            if name is None:
                if f.name in (self.oid, self.t, self.x, self.y):
                    raise SourceError(
                        f"a later part of the input has no column {f.name!r}; it has {table.schema.names}"
                    )
                arrays.append(pa.nulls(table.num_rows, f.type))
            else:
                column = table[name]
                arrays.append(column if column.type == f.type else _cast(_whole(column), f.type))
        return pa.Table.from_arrays(arrays, schema=self.source)

    def _attributes(self, table: pa.Table | pa.Schema) -> list[tuple[str, str, AttributeType]]:
        kinds = dict(self.schema.attributes)
        used = {self.oid, self.t, self.x, self.y}
        schema = table if isinstance(table, pa.Schema) else table.schema
        first: dict[str, str] = {}  # of two columns whose names differ in case only, the first counts
        for column in schema.names:
            first.setdefault(column.lower(), column)
        return [(n, c, kinds[n]) for n, c in first.items() if c not in used and n in kinds]

    def _times(self, column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if self.schema.time == "timestamp":
            stamps = _stamps(column)
            return _filled(stamps.cast(pa.int64()), 0), _null_mask(stamps)
        longs = _cast(column, pa.int64())
        return _filled(longs, 0), _null_mask(longs)


REASONS = [
    "",
    "id is null or not a valid id",
    "time is null or not a valid time",
    "coordinate is null or not finite",
    "latitude is outside [-90, 90]",
]
AHEAD = "time is more than max_ahead ahead of the frontier"


def bind(source: pa.Schema, space: Space, columns: Mapping[str, str] | None = None) -> Intake:
    """Find the columns of an input. `columns` maps our names to the input's where they differ."""
    renamed = {ours.lower(): theirs for ours, theirs in (columns or {}).items()}
    if unknown := set(renamed) - {OID, T, X, Y, LON, LAT}:
        raise SourceError(f"cannot rename {sorted(unknown)}: only oid, t, x, y (or lon, lat) can be mapped")
    by_name: dict[str, str] = {}
    for name in source.names:
        by_name.setdefault(name.lower(), name)

    def find(*names: str) -> str:
        for name in names:
            if name in renamed:
                if renamed[name].lower() not in by_name:
                    raise SourceError(f"{name}={renamed[name]}: the input has no such column; it has {source.names}")
                return by_name[renamed[name].lower()]
        for name in names:
            if name in by_name:
                return by_name[name]
        wish = " or ".join(repr(n) for n in names)
        close = difflib.get_close_matches(names[0], by_name, 1, 0.5)
        example = by_name[close[0]] if close else "COLUMN"
        raise SourceError(
            f"the input has no column {wish}; it has {source.names}. "
            f"Say which one it is: --map {names[0]}={example}, or columns={{{names[0]!r}: {example!r}}}"
        )

    oid, t = find(OID), find(T)
    x, y = (find(LON, X), find(LAT, Y)) if space.is_lonlat else (find(X), find(Y))
    attributes = []
    for f in source:
        if f.name in (oid, t, x, y) or by_name[f.name.lower()] != f.name:
            continue
        if (kind := _attribute_kind(f.type)) is not None:
            attributes.append((f.name.lower(), kind))
    schema = Schema(_id_kind(source.field(oid)), _time_kind(source.field(t)), tuple(attributes))
    return Intake(space, source, oid, t, x, y, schema)


def _id_kind(field: pa.Field) -> Any:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "long"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return "string"
    raise SourceError(f"column {field.name!r} cannot be an id: it is {field.type}, expected string or long")


def _time_kind(field: pa.Field) -> Any:
    kind = field.type
    if (
        pa.types.is_timestamp(kind)
        or pa.types.is_date(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
    ):
        return "timestamp"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "long"
    raise SourceError(f"column {field.name!r} cannot be a time: it is {field.type}, expected timestamp or long")


def _attribute_kind(kind: pa.DataType) -> AttributeType | None:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "long"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "double"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return "string"
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return "timestamp"
    return None


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast what can be cast; what cannot becomes null."""
    if column.type == kind:
        return column
    if pa.types.is_floating(column.type) and pa.types.is_integer(kind):
        values = column.to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            good = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2.0**63)
        return pa.array(np.where(good, values, 0).astype(np.int64), mask=~good).cast(kind)
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(column.type):
        if column.type.tz is None and kind.tz is not None:
            column = column.cast(pa.timestamp(column.type.unit)).view(pa.timestamp(column.type.unit, kind.tz))
        elif column.type.tz is not None and kind.tz is None:
            column = column.view(pa.timestamp(column.type.unit))
        try:
            return pc.cast(column, kind, safe=False)
        except pa.ArrowInvalid:
            return pa.nulls(len(column), kind)
    try:
        return pc.cast(column, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    if pa.types.is_decimal(column.type):
        return pc.cast(column, kind, safe=False)
    return _cast_cells(column, kind)


def _stamps(column: pa.Array) -> pa.Array:
    """Times as timestamps; text with an offset, or without one, which is UTC."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return _cast(column, _MICROSECONDS)
    naive = pa.timestamp("us")
    for kind in (_MICROSECONDS, naive):
        with contextlib.suppress(pa.ArrowInvalid):
            return _cast(pc.cast(column, kind), _MICROSECONDS)
    return pc.coalesce(_cast_cells(column, _MICROSECONDS), _cast(_cast_cells(column, naive), _MICROSECONDS))


def _cast_cells(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The slow way for a column with bad cells: halve until a part casts as a whole, or is one bad cell."""
    if len(column) == 1:
        return pa.nulls(1, kind)
    half = len(column) // 2
    parts = []
    for part in (column.slice(0, half), column.slice(half)):
        try:
            parts.append(pc.cast(part, kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            parts.append(_cast_cells(part, kind))
    return pa.concat_arrays(parts)


def _null_mask(column: pa.Array) -> NDArray[np.bool_]:
    if column.null_count == 0:
        return np.zeros(len(column), np.bool_)
    mask: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return mask


def _filled(column: pa.Array, value: Any) -> NDArray[Any]:
    if column.null_count:
        column = column.fill_null(value)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _ids(column: pa.Array, kind: str) -> tuple[pa.Array, NDArray[np.bool_]]:
    ids = _cast(column, pa.int64() if kind == "long" else pa.string())
    bad = _null_mask(ids)
    if bad.any():
        ids = ids.fill_null(0 if kind == "long" else "")
    return ids, bad


def _numbers(column: pa.Array) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values = _filled(_cast(column, pa.float64()), np.nan).astype(np.float64, copy=False)
    return values, ~np.isfinite(values)


def _attribute(column: pa.Array, kind: AttributeType) -> pa.Array:
    target = _KINDS[kind]
    column = _cast(column, target)
    if kind == "double":  # NaN is what pandas writes for null
        values = column.to_numpy(zero_copy_only=False)
        nan = np.isnan(values)
        if nan.sum() > column.null_count:
            return pa.array(values, mask=nan)
    return column
