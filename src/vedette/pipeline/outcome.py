"""Changes as users see them: names instead of numbers, times as in the input, null where there is nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from vedette.columns import changes_schema
from vedette.pipeline.assemble import Changes
from vedette.pipeline.intake import Intake


def changes_table(parts: Sequence[Changes], intake: Intake) -> pa.Table:
    """Changes of query buckets and families in time order."""
    some = [part for part in parts if len(part.t)] or parts[:1]
    tables = [_table(part, intake) for part in some]
    if len(tables) == 1:
        return tables[0]
    order = np.argsort(np.concatenate([part.t for part in some]), kind="stable")
    return pa.concat_tables(tables).take(pa.array(order))


def _table(part: Changes, intake: Intake) -> pa.Table:
    schema = changes_schema(intake.oid_type, intake.t_type)
    names = pa.DictionaryArray.from_arrays(pa.array(part.query, pa.int32()), pa.array(part.names, pa.string()))
    no_place = np.isnan(part.x)
    kind = schema.field("members").type
    columns = [
        names.cast(pa.string()),
        intake.times(part.t),
        pa.array(part.sign),
        part.oid,
        pa.array(part.x, mask=no_place),
        pa.array(part.y, mask=no_place),
        pa.array(part.value, mask=np.isnan(part.value)),
        pa.nulls(len(part.t), kind) if part.members is None else _members(part.members, kind, intake),
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _members(members: pa.Array, kind: pa.DataType, intake: Intake) -> pa.Array:
    """The same lists with times as in the input."""
    events = members.values
    fields = [
        intake.times(events.field(f.name).to_numpy()) if f.name == "t" else events.field(f.name)
        for f in kind.value_type
    ]
    structs = pa.StructArray.from_arrays(fields, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(members.offsets, structs, type=kind)
