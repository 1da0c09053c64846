"""What the Spark benchmarks share: input on disk, a session, and the time of each micro-batch of a streaming query."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import _empty
import _rival
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _workload import Workload
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import vedette as vd
from vedette.runtime.brief import Brief
from vedette.runtime.spark import session
from vedette.runtime.spark.chain import intake_of, plan_brief, stages
from vedette.runtime.spark.keys import PARCELS
from vedette.runtime.spark.packing import updates_packer

FILES_A_BATCH = 2  # as many as there are cores, so that reading is no bottleneck


def start(cores: int) -> SparkSession:
    """A session as a user gets it from us."""
    for module in (_empty, _rival):  # workers do not have this folder on their path
        cloudpickle.register_pickle_by_value(module)
    settings = {"spark.log.level": "OFF", "spark.sql.streaming.numRecentProgressUpdates": "2000"}
    return session(f"local[{cores}]", settings, log=Path(os.devnull))


def write_batches(load: Workload, batches: int, folder: Path) -> None:
    """The workload as Parquet."""
    write_tables(islice(load.batches(), batches), folder)


def write_tables(tables: Iterable[pa.Table], folder: Path) -> None:
    """A table a micro-batch as Parquet, dated in order: Spark's file source goes by dates."""
    folder.mkdir(parents=True)
    for n, table in enumerate(tables):
        rows = -(-table.num_rows // FILES_A_BATCH)
        for part in range(FILES_A_BATCH):
            path = folder / f"{n:05d}-{part}.parquet"
            pq.write_table(table.slice(part * rows, rows), path, compression="snappy")
            when = 1_000_000 + n * FILES_A_BATCH + part
            os.utime(path, (when, when))


def read_batches(spark: SparkSession, folder: Path) -> DataFrame:
    """The files as a stream, one batch of the workload a micro-batch."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES_A_BATCH).parquet(str(folder))


def empty_over(watch: vd.Watch, updates: DataFrame) -> DataFrame:
    """The same plan with stations that do nothing."""
    brief: Brief = plan_brief(watch, intake_of(watch, updates), updates.sparkSession)
    packed = updates.mapInArrow(updates_packer(brief.without_orders()), PARCELS)
    return stages(brief, packed, _empty.empty)


def time_batches(query: DataFrame, folder: Path, warm: int) -> dict[str, Any]:
    """Run a streaming DataFrame over all input into nothing; the times of the micro-batches after the warm ones."""
    checkpoint = folder / "checkpoint"
    shutil.rmtree(checkpoint, ignore_errors=True)
    running = query.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    try:
        running.processAllAvailable()
        progress = list(running.recentProgress)
    finally:
        running.stop()
        shutil.rmtree(checkpoint, ignore_errors=True)
    batches = [p for p in progress if p["numInputRows"]]
    seconds = np.array([p["durationMs"]["triggerExecution"] / 1000 for p in batches])
    rows = np.array([p["numInputRows"] for p in batches])
    timed, counted = seconds[warm:], rows[warm:]
    return {
        "batches": len(timed),
        "updates_per_s": float(counted.sum() / timed.sum()),
        "updates_per_s_median": float(np.median(counted / timed)),
        "batch_s_p50": float(np.quantile(timed, 0.5)),
        "batch_s_p99": float(np.quantile(timed, 0.99)),
        "batch_s": [round(float(s), 3) for s in seconds],
        "state_bytes": int(sum(s["memoryUsedBytes"] for s in batches[-1]["stateOperators"])),
    }
