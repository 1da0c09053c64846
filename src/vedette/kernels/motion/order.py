"""Updates by object, as far as that makes no difference.

Between two instants at which something can be due nothing is asked, so that only the order of each object's own updates
matters. What is known of an object is spread over many rows and sets: brought up once, it serves all of them.
"""

from __future__ import annotations

import numpy as np

from vedette.compiled import jit
from vedette.kernels.arrays import I32, I64

FEWEST = 0.25  # updates for each object that there may be; with fewer there is little to gain


@jit
def by_object(passed: I64, slot: I32, objects: int) -> I64:
    """The order in which to take updates: among those with the same `passed`, which never falls, by slot."""
    order = np.arange(len(passed))
    place = np.zeros(objects + 1, np.int64)
    first = 0
    while first < len(passed):
        stop = np.searchsorted(passed, passed[first], "right")
        if stop - first >= FEWEST * objects:
            place[:] = 0
            for i in range(first, stop):
                place[slot[i] + 1] += 1
            place[0] = first
            for o in range(objects):
                place[o + 1] += place[o]
            for i in range(first, stop):
                order[place[slot[i]]] = i
                place[slot[i]] += 1
        first = stop
    return order
