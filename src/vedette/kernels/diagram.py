"""Shared decision diagrams as arrays: is a formula true?

In: nodes (variable, edge if false, edge if true) and the truth of the variables. Out: truth. An edge is twice the
number of a node, plus one where the meaning is turned round; node 0 is TRUE.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import inline
from vedette.kernels.arrays import B1, I32, I64

TRUE, FALSE = 0, 1


class Diagram(NamedTuple):
    """Nodes in columns."""

    variable: I32
    low: I64
    high: I64


NO_NODES = Diagram(np.full(1, -1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.int64))


@inline
def walk(diagram: Diagram, edge: int, value: B1) -> bool:
    """Follow the values from an edge down to the leaf."""
    turned = edge & 1
    node = edge >> 1
    while node > 0:
        edge = diagram.high[node] if value[diagram.variable[node]] else diagram.low[node]
        turned ^= edge & 1
        node = edge >> 1
    return turned == 0
