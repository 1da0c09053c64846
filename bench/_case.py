"""One case in a process of its own, on one core, so that no case sees the memory or the caches of another.

In: a JSON object on the command line (what to run, a workload, ticks, repetitions). Out: a JSON object on stdout.
The caller limits the libraries to one thread by their environment variables; the rest is done here.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from _naive import Naive
from _workload import I64, Workload

import vedette as vd

WARM_TICKS = 3  # compilation, the first answers, and the first tick that only tells what changed


def run_engine(load: Workload, ticks: int, repetitions: int) -> dict[str, Any]:
    """Feed the stream to the local engine; only `feed` is timed, Arrow tables in to Arrow tables out."""
    baseline = _peak_mb()
    sql = load.sql()
    begin = time.perf_counter()
    run = vd.local(vd.Watch(queries=sql))
    parse = time.perf_counter() - begin
    stream = load.batches()
    rows = load.batch_rows or load.objects
    warm_batches = max(WARM_TICKS, math.ceil(WARM_TICKS * load.objects / rows))
    warm = [_feed(run, batch)[0] for batch in islice(stream, warm_batches)]
    per_repetition = max(1, round(ticks * load.objects / rows))
    seconds: list[list[float]] = []
    updates = changes = 0
    for _ in range(repetitions):
        seconds.append([])
        for batch in islice(stream, per_repetition):
            spent, told = _feed(run, batch)
            seconds[-1].append(spent)
            updates, changes = updates + batch.num_rows, changes + told
    each = updates // repetitions
    rates = [each / sum(s) for s in seconds]
    return {
        "updates_per_s": max(rates),
        "us_per_update": 1e6 / max(rates),
        "updates_per_s_each": rates,
        "updates_each": each,
        "changes_per_update": changes / updates,
        "batches_each": per_repetition,
        "batch_s": seconds,
        "parse_s": parse,
        "warm_up_s": warm,
        "baseline_mb": baseline,
        "peak_mb": _peak_mb(),
    }


def run_naive(load: Workload, ticks: int) -> dict[str, Any]:
    """Time the naive evaluation of `ticks` ticks; from the first tick to the last its changes must be the engine's."""
    naive = Naive(load)
    run = vd.local(vd.Watch(queries=load.sql()))
    expected, told = [], []
    for t, ((x, y), batch) in enumerate(islice(zip(load.ticks(), load.batches(), strict=False), ticks + 1)):
        changes = np.array(naive.tick(x, y), np.int64).reshape(-1, 3)
        expected.append(np.insert(changes, 0, t, axis=1))
        if t == 0:
            naive.seconds = dict.fromkeys(naive.seconds, 0.0)  # the first answers are not changes: not timed
        told.append(run.feed(batch))
    told.append(run.finish())
    want, got = _sorted_rows(np.vstack(expected)), _sorted_rows(_engine_rows(pa.concat_tables(told), load))
    seconds = {family: spent for family, spent in naive.seconds.items() if getattr(load, family)}
    return {
        "ticks": ticks,
        "updates": load.objects * ticks,
        "seconds": seconds,
        "updates_per_s": load.objects * ticks / sum(seconds.values()),
        "equal": bool(np.array_equal(want, got)),
        "compared_changes": len(want),
    }


def _feed(run: vd.LocalRun, batch: pa.Table) -> tuple[float, int]:
    begin = time.perf_counter()
    changes = run.feed(batch)
    return time.perf_counter() - begin, changes.num_rows


def _engine_rows(changes: pa.Table, load: Workload) -> I64:
    """Changes as rows (t, query number, object number, sign)."""
    query = pc.cast(pc.utf8_slice_codeunits(changes["query"], 1), pa.int64())
    number = pc.index_in(changes["oid"], load.oids())
    return np.column_stack([c.to_numpy().astype(np.int64) for c in (changes["t"], query, number, changes["sign"])])


def _sorted_rows(rows: I64) -> I64:
    return rows[np.lexsort(rows.T[::-1])]


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes, on macOS bytes
    return float(peak / 2**20 if sys.platform == "darwin" else peak / 2**10)


def main(argument: str) -> None:
    """Run what the argument says and print the figures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pa.set_cpu_count(1)
    asked = json.loads(argument)
    load = Workload(**asked["load"])
    figures = (
        run_naive(load, asked["ticks"])
        if asked["what"] == "naive"
        else run_engine(load, asked["ticks"], asked["repetitions"])
    )
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1])
