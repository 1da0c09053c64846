"""Changes as users see them: names instead of numbers, times as in the input, null where there is nothing.

In: the changes of query buckets and families. Out: Arrow tables, many times as large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from vedette.columns import changes_schema
from vedette.pipeline.assemble import Changes
from vedette.pipeline.intake import Intake

AT_ONCE = 1 << 16  # changes of a piece


def changes_table(parts: Sequence[Changes], intake: Intake) -> pa.Table:
    """Changes of query buckets and families in time order."""
    some = [part for part in parts if len(part.t)] or parts[:1]
    tables = [_table(part, intake) for part in some]
    if len(tables) == 1:
        return tables[0]
    order = np.argsort(np.concatenate([part.t for part in some]), kind="stable")
    return pa.concat_tables(tables).take(pa.array(order))


def changes_in_pieces(parts: Sequence[Changes], intake: Intake, at_once: int = AT_ONCE) -> Iterator[pa.Table]:
    """The same table in pieces, each of which is made when it is asked for."""
    some = [part for part in parts if len(part.t)]
    if len(some) != 1:
        yield changes_table(parts, intake)
        return
    for start in range(0, len(some[0].t), at_once):
        yield _table(some[0].part(start, start + at_once), intake)


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
        pa.nulls(len(part.t), kind) if part.members is None else part.members.lists(kind, intake.times),
    ]
    return pa.Table.from_arrays(columns, schema=schema)
