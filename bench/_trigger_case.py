"""One set of triggers over the buoys, in a process of its own, on one core, so that no case sees the memory of another.

In: a JSON object on the command line: the statements, how many copies of the stream, how many batches a copy has.
Out: a JSON object on stdout. The first copy warms up (compilation, room in memory); each copy after it is a repetition.
The caller limits the libraries to one thread by their environment variables; the rest is done here.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from itertools import islice
from typing import Any

import pyarrow as pa
from _tao import Buoys

import vedette as vd


def run(sql: str, copies: int, parts: int) -> dict[str, Any]:
    """Feed the stream to the local engine; only `feed` is timed, Arrow tables in to Arrow tables of alerts out."""
    buoys = Buoys()
    begin = time.perf_counter()
    engine = vd.local(vd.Watch(space=vd.lonlat(), queries=sql))
    parse = time.perf_counter() - begin
    spent: list[tuple[float, float]] = []
    for batch in islice(buoys.batches(parts), copies * parts):
        wall, processor = time.perf_counter(), time.process_time()
        engine.feed(batch)
        spent.append((time.perf_counter() - wall, time.process_time() - processor))
    wall_s, processor_s = ([sum(s) for s in _by_copy(one, parts)] for one in zip(*spent, strict=True))
    events, totals = copies * buoys.rows, engine.totals
    return {
        "events": events,
        "events_per_s": buoys.rows / min(wall_s[1:]),
        "events_per_s_each": [buoys.rows / s for s in wall_s[1:]],
        "events_per_processor_s": buoys.rows / min(processor_s[1:]),
        "warm_up_s": wall_s[0],
        "parse_s": parse,
        "alerts": totals["alerts"],
        "alerts_per_event": totals["alerts"] / events,
        "peak_stored_events": totals["peak_stored_events"],
        "peak_stored_share": totals["peak_stored_events"] / events,
        "probed_per_event": totals["probed_events"] / events,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
    }


def _by_copy(seconds: tuple[float, ...], parts: int) -> list[tuple[float, ...]]:
    return [seconds[start : start + parts] for start in range(0, len(seconds), parts)]


def main(argument: str) -> None:
    """Run what the argument says and print the figures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pa.set_cpu_count(1)
    print(json.dumps(run(**json.loads(argument))))


if __name__ == "__main__":
    main(sys.argv[1])
