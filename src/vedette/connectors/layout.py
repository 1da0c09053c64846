"""Which column is which, and the types that the first file pins for all that follow.

In: the first rows of a stream. Out: `Layout`, and tables cut to it: same columns, same types, same order.
Invariant: a later file can lose cells (they become null and are noted), never change the layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from vedette.columns import LAT, LON, OID, T, X, Y
from vedette.connectors.cells import DOUBLE, LONG, NAIVE, STRING, Cast, cast_text, guess_attribute, guess_id, guess_time
from vedette.errors import SourceError

ALIASES: dict[str, tuple[str, ...]] = {
    OID: ("id", "mmsi", "icao24", "object_id", "objectid", "vehicle_id", "vessel_id", "taxi_id", "device_id", "user_id",
          "trip_id", "track_id", "name", "callsign"),
    T: ("time", "timestamp", "ts", "datetime", "date_time", "basedatetime", "event_time", "date", "utc"),
    X: ("lon", "longitude", "lng", "long", "easting", "east", "pos_x", "px"),
    Y: ("lat", "latitude", "northing", "north", "pos_y", "py"),
    LON: ("longitude", "lng", "long", "x"),
    LAT: ("latitude", "y"),
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """The pinned schema, and the input's name of each of oid, t, x, y (lon, lat are x, y here)."""

    schema: pa.Schema
    roles: dict[str, str]


def find_roles(found: Sequence[str], columns: Mapping[str, str], is_lonlat: bool, where: str) -> dict[str, str]:
    """The input's names of oid, t, x and y, or a SourceError that lists what is there and what to write."""
    lower: dict[str, str] = {}
    for name in found:
        if name.lower() in lower:
            raise SourceError(f"{where}: the columns {lower[name.lower()]!r} and {name!r} have the same name")
        lower[name.lower()] = name
    wanted = {ours.lower(): theirs for ours, theirs in columns.items()}
    for ours, theirs in wanted.items():
        if theirs.lower() not in lower:
            listed = ", ".join(found) or "none"
            raise SourceError(f"{where}: --map {ours}={theirs}: no column {theirs!r}; found {listed}")
    taken = {theirs.lower() for theirs in wanted.values()}
    roles: dict[str, str] = {}
    missing: list[str] = []
    for role, names in ((OID, (OID,)), (T, (T,)), (X, (LON, X)), (Y, (LAT, Y))):
        choices = names if is_lonlat else names[-1:]
        mapped = [lower[wanted[name].lower()] for name in choices if name in wanted]
        named = [lower[name] for name in choices if name in lower and name not in taken]
        if mapped or named:
            roles[role] = (mapped + named)[0]
        else:
            missing.append(choices[0])
    if missing:
        raise SourceError(_explain_missing(missing, lower, set(roles.values()), where, is_lonlat))
    return roles


def _explain_missing(missing: list[str], lower: dict[str, str], used: set[str], where: str, is_lonlat: bool) -> str:
    text = f"{where}: no column {', '.join(missing)}; found {', '.join(lower.values()) or 'none'}"
    guesses = []
    for role in missing:
        free = (lower[alias] for alias in ALIASES[role] if alias in lower and lower[alias] not in used)
        guesses.append(f"{role}={next(free, '...')}")
    text += f"\n    hint: name the columns with --map {','.join(guesses)}"
    if not is_lonlat and {LON, LAT} <= lower.keys() and {X, Y} <= set(missing):
        text += ", or use --space lonlat for longitudes and latitudes"
    return text


def pin(sample: pa.Table, roles: Mapping[str, str], where: str, widen: bool = False) -> tuple[Layout, list[str]]:
    """The layout of a stream whose first rows are these, and notes on columns that cannot be attributes.

    `widen`: for formats that do not declare types, attributes of whole numbers become doubles and ISO times timestamps.
    """
    by_name = {name: role for role, name in roles.items()}
    fields, notes = [], []
    for field in sample.schema:
        kind = _pin_column(sample[field.name], by_name.get(field.name), f"{where}: column {field.name}")
        if kind is None:
            what = "neither number, text, truth value nor time"
            notes.append(f"{where}: column {field.name} ({field.type}) is left out: {what}")
        else:
            if widen and field.name not in by_name:
                kind = _widened(sample[field.name], kind)
            fields.append(pa.field(field.name, kind))
    return Layout(pa.schema(fields), dict(roles)), notes


def _widened(column: pa.ChunkedArray, kind: pa.DataType) -> pa.DataType:
    if kind == LONG:
        ends = pc.min_max(column).as_py()
        is_exact = (ends["min"] or 0) >= -(2**53) and (ends["max"] or 0) <= 2**53
        return DOUBLE if is_exact else LONG
    if kind == STRING:
        guess = guess_attribute(column.cast(STRING))
        return guess if pt.is_timestamp(guess) else STRING
    return kind


def _pin_column(column: pa.ChunkedArray, role: str | None, where: str) -> pa.DataType | None:
    """The type that a column keeps from now on; None where it cannot be read as an attribute."""
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    if (_is_text(kind) and role is not None) or pt.is_null(kind):
        cells = column.cast(STRING)
        if role == OID:
            return guess_id(cells) if pt.is_null(kind) else STRING
        if role == T:
            return guess_time(cells, where)
        return DOUBLE if role else STRING
    simple = _simplified(kind)
    if role in (X, Y):
        if simple is None or not (pt.is_integer(simple) or pt.is_floating(simple)):
            raise SourceError(f"{where}: a coordinate must be a number, found {kind}")
        return DOUBLE
    if role == OID and pt.is_floating(kind):
        return LONG
    if role == T:
        if pt.is_floating(kind):
            if 2 * _whole_numbers(column).lost > len(column):
                raise SourceError(f"{where}: most times have a fraction; use whole numbers (of any unit) or timestamps")
            return LONG
        if simple is None or not (pt.is_integer(simple) or pt.is_timestamp(simple)):
            raise SourceError(f"{where}: a time must be a whole number or a timestamp, found {kind}")
    if role is not None and simple is None:
        raise SourceError(f"{where}: an id must be a number or text, found {kind}")
    return simple


def _simplified(kind: pa.DataType) -> pa.DataType | None:
    """Widths do not matter to anyone: every number is a long or a double, every text a string."""
    if pt.is_boolean(kind) or pt.is_timestamp(kind):
        return kind
    if pt.is_integer(kind):
        return LONG
    if pt.is_floating(kind) or pt.is_decimal(kind):
        return DOUBLE
    if _is_text(kind):
        return STRING
    return NAIVE if pt.is_date(kind) else None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def pin_text(sample: pa.Table, roles: Mapping[str, str], where: str) -> Layout:
    """The layout of a stream that came as text: types are guessed from the cells of the first rows."""
    by_name = {name: role for role, name in roles.items()}
    fields = []
    for name in sample.column_names:
        role, cells = by_name.get(name), sample[name]
        if role == OID:
            kind = guess_id(cells)
        elif role == T:
            kind = guess_time(cells, f"{where}: column {name}")
        else:
            kind = DOUBLE if role else guess_attribute(cells)
        fields.append(pa.field(name, kind))
    return Layout(pa.schema(fields), dict(roles))


def conform(table: pa.Table, layout: Layout, where: str, may_omit: bool = False) -> tuple[pa.Table, list[str]]:
    """The table in the pinned layout, and notes on what was lost. `may_omit`: absent columns are nothing special."""
    lower = {name.lower(): name for name in table.column_names}
    columns, notes = [], []
    for field in layout.schema:
        name = lower.pop(field.name.lower(), None)
        if name is None:
            if field.name in layout.roles.values() and not may_omit:
                listed = ", ".join(table.column_names)
                raise SourceError(f"{where}: no column {field.name}, which the first file has; found {listed}")
            if not may_omit:
                notes.append(f"{where}: no column {field.name}; read as null")
            columns.append(pa.chunked_array([pa.nulls(table.num_rows, field.type)]))
            continue
        cast = _cast(table[name], field.type, f"{where}: column {name}")
        columns.append(cast.column)
        if cast.lost:
            cells = "cell does" if cast.lost == 1 else "cells do"
            what = f"{cast.lost} {cells} not parse as {field.type}"
            notes.append(f"{where}: {what} in column {name}, such as {cast.example!r}")
    return pa.table(columns, schema=layout.schema), notes


def _cast(column: pa.ChunkedArray, to: pa.DataType, where: str) -> Cast:
    if pt.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.type == to:
        return Cast(column)
    if _is_text(column.type):
        return cast_text(column.cast(STRING), to)
    if pt.is_floating(column.type) and to == LONG:
        return _whole_numbers(column)
    if pt.is_timestamp(to) != pt.is_temporal(column.type):
        raise SourceError(f"{where}: holds {column.type}, where the first file has {to}")
    try:
        return Cast(column.cast(to, safe=not pt.is_floating(to)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return cast_text(column.cast(STRING), to)


def _whole_numbers(column: pa.ChunkedArray) -> Cast:
    """Doubles as longs; fractions, infinities and what is out of range become null."""
    fits = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**63))
    cast = pc.if_else(fits, column, pa.scalar(None, column.type)).cast(LONG, safe=False)
    bad = column.filter(pc.and_(pc.is_null(cast), pc.invert(pc.is_null(column, nan_is_null=True))))
    return Cast(cast, len(bad), str(bad[0].as_py()) if len(bad) else "")
