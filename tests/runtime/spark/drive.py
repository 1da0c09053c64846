"""Plays a story on Spark: a file per batch for the updates and one for the commands, taken in step.

In: a `Story`, a folder, and how the work is cut. Out: a `Played`, as the local engine gives it (without the finish,
which a stream does not have).
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from tests.engine.drive import Played, schema, table, watch_of
from tests.oracle.compare import read_changes
from tests.strategies import Story
from vedette.columns import changes_schema

COMMANDS = pa.schema([("seq", pa.int64()), ("sql", pa.string())])
COUNTS = ("updates", "late", "late_applied", "duplicates")


def lay_out(story: Story, folder: Path) -> None:
    """A file of updates and a file of commands for each batch, dated in their order."""
    for n, (rows, commands) in enumerate(story.batches):
        numbered = [{"seq": i, "sql": sql} for i, sql in enumerate(commands)]
        for kind, contents in (
            ("updates", table(story, rows)),
            ("commands", pa.Table.from_pylist(numbered, COMMANDS)),
        ):
            path = folder / kind / f"{n:04d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(contents, path)
            os.utime(path, (1_000_000 + n, 1_000_000 + n))


def in_step(spark: SparkSession, folder: Path, kind: str) -> DataFrame:
    """The files of one kind as a stream, one a batch."""
    columns = spark.read.parquet(str(folder / kind)).schema
    return spark.readStream.schema(columns).option("maxFilesPerTrigger", 1).parquet(str(folder / kind))


def play_on_spark(spark: SparkSession, story: Story, folder: Path, *, buckets: int, regions: int) -> Played:
    """All batches through one streaming query."""
    lay_out(story, folder)
    return _played(story, go_on(spark, story, folder, buckets=buckets, regions=regions))


def play_in_two(spark: SparkSession, stories: tuple[Story, Story], folder: Path, *, buckets: int) -> Played:
    """The batches of the first, then those of the second with whatever else differs, over one checkpoint."""
    first, second = stories
    lay_out(first, folder)
    batches = go_on(spark, first, folder, buckets=buckets, regions=1)
    lay_out(replace(second, batches=[*first.batches, *second.batches]), folder)
    batches += go_on(spark, second, folder, buckets=buckets, regions=1)
    return _played(second, batches)


def go_on(spark: SparkSession, story: Story, folder: Path, *, buckets: int, regions: int) -> list[list[dict[str, Any]]]:
    """What comes out of the batches that lie there and were not taken yet, by batch."""
    watch = watch_of(story, buckets, regions)
    tagged: dict[int, list[Any]] = {}

    def keep(frame: DataFrame, number: int) -> None:
        tagged[number] = frame.toArrow().to_pylist()

    outputs = watch.outputs(in_step(spark, folder, "updates"), in_step(spark, folder, "commands"))
    query = outputs.writeStream.foreachBatch(keep).option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return [tagged[n] for n in sorted(tagged)]


def _played(story: Story, batches: list[list[dict[str, Any]]]) -> Played:
    oid, t = schema(story).field("oid").type, schema(story).field("t").type
    columns = changes_schema(oid, t)
    by_kind: dict[str, list[list[dict[str, Any]]]] = defaultdict(list)
    for rows in batches:
        for kind in ("change", "late", "reject", "refused", "metrics"):
            by_kind[kind].append([row for row in rows if row["kind"] == kind])
    assert not any(by_kind["refused"])
    feeds = []
    for rows in by_kind["change"]:
        plain = [{name: row[name] for name in columns.names} for row in rows]
        feeds.append(sorted(read_changes(pa.Table.from_pylist(plain, columns)), key=lambda c: c.t))
    late = [json.loads(row["row"]) for rows in by_kind["late"] for row in rows]
    rejects = [{**json.loads(row["row"]), "reason": row["reason"]} for rows in by_kind["reject"] for row in rows]
    counts = [dict(row["metrics"]) for rows in by_kind["metrics"] for row in rows]
    totals: dict[str, Any] = {name: sum(c.get(name, 0) for c in counts) for name in (*COUNTS, "pattern_pages")}
    totals |= {"changes": sum(map(len, feeds)), "rejects": len(rejects), "batches": len(batches)}
    totals["frontier"] = max((c["frontier"] for c in counts if "frontier" in c), default=None)
    return Played(feeds, pa.Table.from_pylist(late), pa.Table.from_pylist(rejects), totals)
