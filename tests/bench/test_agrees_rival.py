"""The comparison with plain Spark SQL is fair: both tell the same changes."""

from __future__ import annotations

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


def test_agrees_plain_spark_sql_tells_the_same_changes(spark: SparkSession, bench: Any, tmp_path: Path) -> None:
    rival, workload = bench
    load = workload.Workload(600, stationary=400)
    table = pa.concat_tables(islice(load.batches(), 12))
    pq.write_table(table, tmp_path / "all.parquet")
    updates = spark.read.parquet(str(tmp_path))
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    ours = vd.Watch(queries=load.sql()).over(updates).select("query", "t", "sign", "oid").collect()
    stream = rival.rival_changes(spark, spark.readStream.schema(updates.schema).parquet(str(tmp_path)), load)
    query = stream.writeStream.format("memory").queryName("theirs").trigger(availableNow=True).start()
    query.awaitTermination()
    theirs = spark.table("theirs").collect()
    assert len(ours) > 20
    assert sorted(map(tuple, ours)) == sorted(map(tuple, theirs))
