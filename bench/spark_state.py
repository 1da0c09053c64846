"""`vedette bench spark-state`: the size of the state on Spark over many micro-batches of objects that come and go.

Every object is heard of for a few ticks and then times out, so that as many come as go. Printed is what the state
stores hold (the bytes of all pages, told by the state data source) after 100 micro-batches and at the end.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from _spark import read_batches, start, write_tables
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import vedette as vd

QUERIES = """
CREATE QUERY box AS SELECT oid FROM objects INSIDE (0.2, 0.2, 0.7, 0.7);
CREATE QUERY near AS SELECT oid FROM objects KNN (10, 0.5, 0.5);
CREATE QUERY stay AS SELECT COUNT(*) FROM objects INSIDE CIRCLE (0.5, 0.5, 0.3) DWELL 2 GRACE 2;
"""


def main(
    batches: Annotated[int, typer.Option(help="Micro-batches.")] = 500,
    arriving: Annotated[int, typer.Option(help="Objects that come in each.")] = 200,
    life: Annotated[int, typer.Option(help="Ticks in which an object is heard of.")] = 5,
    cores: Annotated[int, typer.Option(help="Cores that Spark may use.")] = 2,
) -> None:
    """State after 100 micro-batches and at the end."""
    folder = Path(tempfile.mkdtemp(prefix="vedette-bench-"))
    spark = start(cores)
    try:
        random = np.random.default_rng(1)
        write_tables((_tick(t, arriving, life, random) for t in range(batches)), folder / "in")
        watch = vd.Watch(queries=QUERIES, timeout=3)
        updates = read_batches(spark, folder / "in")
        query = watch.over(updates).writeStream.format("noop").option("checkpointLocation", str(folder / "ck")).start()
        sizes = {}
        try:
            while query.isActive and (not sizes or max(sizes) < batches - 1):
                query.awaitTermination(5)
                done = query.lastProgress["batchId"] if query.lastProgress else -1
                if done >= 100:
                    sizes[done] = _bytes(spark, folder / "ck")
        finally:
            query.stop()
        first, last = min(sizes), max(sizes)
        print(f"after batch {first}: {sizes[first]:,} bytes; after batch {last}: {sizes[last]:,} bytes; ", end="")
        print(f"ratio {sizes[last] / sizes[first]:.3f}")
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _tick(t: int, arriving: int, life: int, random: np.random.Generator) -> pa.Table:
    oid = np.arange(max(0, t - life + 1) * arriving, (t + 1) * arriving)
    n = len(oid)
    return pa.table({"oid": oid, "t": np.full(n, t), "x": random.random(n), "y": random.random(n)})


def _bytes(spark: SparkSession, checkpoint: Path) -> int:
    """All pages of all stages, as committed."""
    total = 0
    for operator in range(3):
        pages = (
            spark.read.format("statestore")
            .options(path=str(checkpoint), operatorId=operator, stateVarName="pages")
            .load()
            .select(sf.sum(sf.length("user_map_value.page")))
        )
        total += pages.first()[0] or 0
    return total


if __name__ == "__main__":
    typer.run(main)
