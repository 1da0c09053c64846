"""Values of the sides of comparisons as coarse keys: what is equal has equal keys, what is less no greater one.

In: Arrow columns without regard to nulls. Out: int64 keys. Kernels compare keys only; whoever is about to tell an alert
compares the values themselves.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from vedette.conditions import evaluate
from vedette.families.triggers import EQUAL
from vedette.kernels.arrays import B1, I64
from vedette.kernels.events.texts import beginnings, hashes
from vedette.model import Binary, Column
from vedette.pipeline.rows import id_bytes


def keys_of(values: pa.Array, use: str) -> I64:
    """A key for each value."""
    if pa.types.is_string(values.type):
        offsets, data = id_bytes(values.fill_null(""))
        return hashes(offsets, data) if use == EQUAL else beginnings(offsets, data)
    if pa.types.is_boolean(values.type):
        return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False)).astype(np.int64)
    if pa.types.is_timestamp(values.type):
        return np.asarray(values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False))
    floats = np.asarray(values.fill_null(0).to_numpy(zero_copy_only=False)).astype(np.float64) + 0.0
    bits = floats.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def holds(op: str, left: pa.Array, right: pa.Array, left_is_oid: bool, right_is_oid: bool) -> B1:
    """Which pairs of values satisfy a comparison, by the rules of conditions. Ids match other columns as text."""
    one, other = "a", "b"
    if left_is_oid != right_is_oid:
        one, other = ("oid", "b") if left_is_oid else ("a", "oid")
    return evaluate(Binary(op, Column(one), Column(other)), {one: left, other: right}, len(left))


def known(values: pa.Array) -> B1:
    """Which rows have a value."""
    return np.asarray(pc.is_valid(values).to_numpy(zero_copy_only=False))
