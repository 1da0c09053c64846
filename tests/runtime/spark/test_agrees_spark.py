"""Spark says what the local engine says, row for row: over random streams, however the work is cut."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests import oracle
from tests.engine.drive import play, table, watch_of
from tests.engine.seeded import story as seeded
from tests.oracle.compare import read_changes
from tests.runtime.spark.drive import play_on_spark
from tests.strategies import EVERYTHING, Story, stories
from tests.trigger_stories import TRIGGERS, trigger_stories

pytestmark = pytest.mark.xdist_group("spark")
KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])


def whole(story: Story) -> Story:
    """Without batches that bring nothing: Spark has no such batches."""
    return replace(story, batches=[(rows, commands) for rows, commands in story.batches if rows or commands])


def assert_agrees(spark: SparkSession, story: Story, partitions: int, buckets: int, regions: int) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    here = play(story)
    with tempfile.TemporaryDirectory() as folder:
        there = play_on_spark(spark, story, Path(folder), buckets=buckets, regions=regions)
    for feed, same in zip(there.feeds, here.feeds[:-1], strict=True):  # the last one is the finish
        oracle.assert_same_changes(feed, same)
    assert there.late.num_rows == here.late.num_rows
    assert there.rejects.num_rows == here.rejects.num_rows
    for name in ("updates", "late", "late_applied", "rejects"):  # duplicates are counted when a tick closes
        assert there.totals[name] == here.totals[name]


@KINDS
@settings(max_examples=4, phases=[Phase.generate])  # each takes seconds, and shrinking many of them
@given(data=st.data())
def test_agrees_random_streams(spark: SparkSession, kind: str, data: st.DataObject) -> None:
    story = whole(data.draw(stories(kind, EVERYTHING).filter(lambda s: len(whole(s).batches) > 1)))
    partitions = data.draw(st.sampled_from([1, 2]))
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    assert_agrees(spark, story, partitions, buckets, regions)


@KINDS
@settings(max_examples=3, phases=[Phase.generate])
@given(data=st.data())
def test_agrees_random_triggers(spark: SparkSession, kind: str, data: st.DataObject) -> None:
    wanted = TRIGGERS.but(disorder=True, mess=True, commands=True, min_rows=24, max_queries=5)
    story = whole(data.draw(trigger_stories(kind, wanted).filter(lambda s: len(whole(s).batches) > 1)))
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    assert_agrees(spark, story, 2, buckets, regions)


@pytest.mark.parametrize(("kind", "partitions", "buckets", "regions"), [("planar", 8, 3, 5), ("lonlat", 2, 5, 8)])
def test_agrees_every_query_form(spark: SparkSession, kind: str, partitions: int, buckets: int, regions: int) -> None:
    assert_agrees(spark, seeded(kind, 7), partitions, buckets, regions)


@KINDS
def test_agrees_a_table_that_is_all_there(spark: SparkSession, kind: str) -> None:
    story = seeded(kind, 11)
    rows = [row for batch, _ in story.batches for row in batch]
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    updates = spark.createDataFrame(table(story, rows)).repartition(3)
    assert not updates.isStreaming
    found = watch_of(story, buckets=3, regions=2).over(updates).orderBy("t")
    here = play(replace(story, batches=[(rows, [])]))
    oracle.assert_same_changes(read_changes(found.toArrow()), here.changes)


def test_agrees_types_of_the_input(spark: SparkSession) -> None:
    """Ids and times come out as they went in; the columns are those of the change stream."""
    rows = [(1, "2026-01-01 00:00:00", 1.0, 1.0), (1, "2026-01-01 00:00:05", 9.0, 9.0)]
    updates = spark.createDataFrame(rows, "oid int, t string, x float, y double")
    watch = watch_of(Story(kind="planar", queries=["CREATE QUERY q AS SELECT oid FROM objects INSIDE (0, 0, 2, 2);"]))
    for kind, told in (("timestamp", "timestamp"), ("timestamp_ntz", "timestamp_ntz"), ("string", "timestamp")):
        found = watch.over(updates.withColumn("t", updates["t"].cast(kind)))
        assert found.dtypes[:4] == [("query", "string"), ("t", told), ("sign", "tinyint"), ("oid", "bigint")]
        assert [(str(r["t"]), r["sign"]) for r in sorted(found.collect(), key=lambda r: r["t"])] == [
            ("2026-01-01 00:00:00", 1),
            ("2026-01-01 00:00:05", -1),
        ]
    assert pa.types.is_timestamp(found.toArrow().schema.field("t").type)
