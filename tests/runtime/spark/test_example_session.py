"""Sessions: ours suits, the user's is left as it is and told of; keys fall where they should."""

from __future__ import annotations

import os
import warnings

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import vedette as vd
from vedette.runtime.spark import session
from vedette.runtime.spark.keys import key_values
from vedette.runtime.spark.session import PARTITIONS, STATE_STORE, check_session, parallelism

pytestmark = pytest.mark.xdist_group("spark")


def test_example_the_active_session_is_taken_as_it_is(spark: SparkSession) -> None:
    assert session("local[7]") is spark
    assert str(spark.conf.get(STATE_STORE)).endswith("RocksDBStateStoreProvider")
    assert os.environ["PYSPARK_PYTHON"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spark.conf.set(PARTITIONS, "2")
        check_session(spark)


def test_example_settings_that_matter_are_named(spark: SparkSession) -> None:
    other = spark.newSession()
    other.conf.set(STATE_STORE, "org.example.Store")
    other.conf.set(PARTITIONS, "200")
    with pytest.warns(UserWarning, match="set ") as told:
        check_session(other)
    assert [STATE_STORE in str(w.message) for w in told] == [True, False]
    assert f"200 on {parallelism(spark)} cores" in str(told[1].message)
    assert other.conf.get(PARTITIONS) == "200"


@pytest.mark.parametrize("partitions", [1, 2, 3, 8])
def test_agrees_station_i_is_in_partition_i(spark: SparkSession, partitions: int) -> None:
    rows = [(i, value) for i, value in enumerate(key_values()[:24])]
    frame = spark.createDataFrame(rows, "i int, key int").repartition(partitions, "key")
    found = {row["i"]: row["p"] for row in frame.select("i", sf.spark_partition_id().alias("p")).collect()}
    assert found == {i: i % partitions for i in range(24)}


def test_example_wrong_queries_and_columns_are_told_before_anything_runs(spark: SparkSession) -> None:
    updates = spark.createDataFrame([("a", 1, 1.0, 1.0)], "id string, t long, x double, y double")
    with pytest.raises(vd.SourceError, match="no column 'oid'"):
        vd.Watch(queries="CREATE QUERY q AS SELECT oid FROM objects INSIDE (0, 0, 1, 1);").over(updates)
    watch = vd.Watch(queries="CREATE QUERY q AS SELECT oid FROM objects WHERE spede > 1 INSIDE (0, 0, 1, 1);")
    with pytest.raises(vd.QueryError, match="spede"):
        watch.over(updates.withColumnRenamed("id", "oid"))
    with pytest.raises(vd.ConfigError, match="commands come to a stream"):
        vd.Watch().over(updates.withColumnRenamed("id", "oid"), commands=updates)
