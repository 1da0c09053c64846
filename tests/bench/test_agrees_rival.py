"""The comparison with plain Spark SQL is fair: both tell the same changes."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import vedette as vd
from tests.runtime.spark.conftest import spark as spark  # noqa: PLC0414 (a fixture)

pytestmark = pytest.mark.xdist_group("spark")
BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the benchmarks, which are scripts and no package."""
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    from pyspark import cloudpickle

    _rival, _workload = import_module("_rival"), import_module("_workload")

    cloudpickle.register_pickle_by_value(_rival)  # type: ignore[no-untyped-call]
    yield _rival, _workload
    cloudpickle.unregister_pickle_by_value(_rival)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("per", ["object", "bucket"])
def test_agrees_plain_spark_sql_tells_the_same_changes(
    spark: SparkSession, bench: Any, tmp_path: Path, per: str
) -> None:
    rival, workload = bench
    load = workload.Workload(600, stationary=400)
    table = pa.concat_tables(islice(load.batches(), 12))
    for n in range(2):  # two micro-batches: the state counts
        pq.write_table(table.slice(n * 3600, 3600), tmp_path / f"{n}.parquet")
        os.utime(tmp_path / f"{n}.parquet", (1_000_000 + n, 1_000_000 + n))
    updates = spark.read.parquet(str(tmp_path))
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    ours = vd.Watch(queries=load.sql()).over(updates).select("query", "t", "sign", "oid").collect()
    files = spark.readStream.schema(updates.schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path))
    stream = rival.rival_changes(spark, files, load, per)
    query = stream.writeStream.format("memory").queryName("theirs").trigger(availableNow=True).start()
    query.awaitTermination()
    theirs = spark.table("theirs").collect()
    assert len(ours) > 20
    assert sorted(map(tuple, ours)) == sorted(map(tuple, theirs))
