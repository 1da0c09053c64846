"""Changes as users see them: names instead of numbers, times as in the input, null where there is nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from vedette.columns import changes_schema
from vedette.pipeline.assemble import Changes
from vedette.pipeline.intake import Intake


def changes_table(part: Changes, intake: Intake) -> pa.Table:
    """The changes of one query bucket, in time order."""
    schema = changes_schema(intake.oid_type, intake.t_type)
    n = len(part.t)
    names = pa.DictionaryArray.from_arrays(pa.array(part.query, pa.int32()), pa.array(part.names, pa.string()))
    no_place = np.isnan(part.x)
    columns = [
        names.cast(pa.string()),
        intake.times(part.t),
        pa.array(part.sign),
        part.oid,
        pa.array(part.x, mask=no_place),
        pa.array(part.y, mask=no_place),
        pa.array(part.value, mask=np.isnan(part.value)),
        pa.nulls(n, schema.field("members").type),
    ]
    return pa.Table.from_arrays(columns, schema=schema)
