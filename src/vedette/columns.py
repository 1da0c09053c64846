"""The only place where a column name or type of a table that users see is spelled."""

from __future__ import annotations

import pyarrow as pa

OID, T, X, Y = "oid", "t", "x", "y"
LON, LAT = "lon", "lat"
REASON = "reason"


def members_type(oid: pa.DataType, t: pa.DataType) -> pa.DataType:
    """The events behind a trigger's alert, in variable order."""
    return pa.list_(
        pa.struct(
            [
                ("variable", pa.string()),
                (OID, oid),
                (T, t),
                (X, pa.float64()),
                (Y, pa.float64()),
            ]
        )
    )


def changes_schema(oid: pa.DataType, t: pa.DataType) -> pa.Schema:
    """One row per change of an answer; sign +1 joins, -1 leaves, 0 new value."""
    return pa.schema(
        [
            ("query", pa.string()),
            (T, t),
            ("sign", pa.int8()),
            (OID, oid),
            (X, pa.float64()),
            (Y, pa.float64()),
            ("value", pa.float64()),
            ("members", members_type(oid, t)),
        ]
    )
