"""What is done once in a while in a Python worker, so that the rest of the time it is fast.

Spark's workers collect garbage after every task, which looks at every object there is; with numba, pandas and Arrow
loaded that was 70% of a worker's time at small batches (three empty stages over 1,000 rows, two cores: 950 ms a batch
with it, 620 ms without). What has lived for a while will live on: it is put out of the collector's sight.
"""

from __future__ import annotations

import gc

_tasks = 0


def settle() -> None:
    """Call it in every task; it acts in the first, second, fourth, eighth... of a process."""
    global _tasks  # noqa: PLW0603 (one number a process)
    _tasks += 1
    if _tasks & (_tasks - 1) == 0:
        gc.collect()
        gc.freeze()
