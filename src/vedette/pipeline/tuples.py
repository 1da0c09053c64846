"""The tuples of events that changes tell of: each event once, however many tuples it is in.

In: events, and for each member of a tuple its event and the variable that it stands for. Out: lists as users see them.
Those repeat an event for every tuple that it is in, so they are made as late as can be: this is what travels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vedette.columns import OID, T, X, Y
from vedette.kernels.arrays import F64, I64


@dataclass
class Tuples:
    """The members of tuple i are those from `offsets[i]` to `offsets[i + 1]`.

    By member: `variable` points into `words`, `event` into the columns of events.
    """

    offsets: I64
    variable: NDArray[Any]
    event: NDArray[Any]
    words: pa.Array
    oid: pa.Array
    t: I64
    x: F64
    y: F64

    def part(self, start: int, stop: int) -> Tuples:
        """Some that follow each other."""
        offsets = self.offsets[start : stop + 1]
        some = slice(offsets[0], offsets[-1])
        return replace(self, offsets=offsets - offsets[0], variable=self.variable[some], event=self.event[some])

    def lists(self, kind: pa.DataType, times: Callable[[I64], pa.Array]) -> pa.ListArray:
        """Lists of `columns.members_type`; `times` says what times look like."""
        at = self.event
        columns = {"variable": self.words.take(pa.array(self.variable)), OID: self.oid.take(pa.array(at))}
        columns |= {T: times(self.t[at]), X: pa.array(self.x[at]), Y: pa.array(self.y[at])}
        fields = list(kind.value_type)
        structs = pa.StructArray.from_arrays([columns[f.name] for f in fields], fields=fields)
        return pa.ListArray.from_arrays(pa.array(self.offsets.astype(np.int32)), structs, type=kind)
