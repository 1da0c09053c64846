"""Updates that left memory are in the state store: read back by the same query, and by one that goes on after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests import oracle
from tests.engine.drive import play
from tests.paged_stories import paged_story
from tests.runtime.spark.drive import play_in_two

pytestmark = pytest.mark.xdist_group("spark")


def test_recovers_pages_with_another_number_of_updates_in_memory(spark: SparkSession, tmp_path: Path) -> None:
    """The second start keeps one update in memory and reads pages of the first, which keeps three."""
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    story = paged_story("planar", 8, ticks=63)
    here = play(story)
    half = len(story.batches) // 2
    first = replace(story, batches=story.batches[:half], resident_updates=3)
    second = replace(story, batches=story.batches[half:], resident_updates=1)
    there = play_in_two(spark, (first, second), tmp_path, buckets=2)
    assert there.totals["pattern_pages"] > 20
    for feed, same in zip(there.feeds, here.feeds[:-1], strict=True):  # the last one is the finish
        oracle.assert_same_changes(feed, same)
    assert there.totals["updates"] == here.totals["updates"]
