"""What a user would write without us: a range join in Spark SQL, and state per object to turn answers into changes.

Not a straw man: rectangles are listed by the grid cells they touch and joined by cell (an equi-join that Spark hashes
and broadcasts) before the exact test; the state of an object is the set of queries that it is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from _workload import Workload
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

CELLS = 128  # a side: cells somewhat smaller than the rectangles, of 1% of the side


def rival_changes(spark: SparkSession, updates: DataFrame, load: Workload) -> DataFrame:
    """(query, t, sign, oid) of stationary rectangles over a stream in which each object reports once a tick."""
    boxes = pd.DataFrame(load.boxes(), columns=["x1", "y1", "x2", "y2"])
    boxes["query"] = [f"q{i}" for i in range(len(boxes))]
    listed = (
        spark.createDataFrame(boxes)
        .withColumn("cx", sf.explode(sf.expr(f"sequence(int(x1 * {CELLS}), int(x2 * {CELLS}))")))
        .withColumn("cy", sf.explode(sf.expr(f"sequence(int(y1 * {CELLS}), int(y2 * {CELLS}))")))
    )
    placed = updates.withColumn("cx", sf.expr(f"int(x * {CELLS})")).withColumn("cy", sf.expr(f"int(y * {CELLS})"))
    inside = (
        placed.join(sf.broadcast(listed), ["cx", "cy"], "left_outer")
        .withColumn("hit", sf.expr("x >= x1 AND x <= x2 AND y >= y1 AND y <= y2"))
        .select("oid", "t", sf.expr("CASE WHEN hit THEN query END AS query"))
    )
    return inside.groupBy("oid").applyInPandasWithState(
        _changes, "query string, t long, sign int, oid long", "members string, last long", "append", "NoTimeout"
    )


def _changes(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    members = set(state.get[0].split()) if state.exists else set()
    rows = pd.concat(list(frames))
    out: list[tuple[str, int, int, int]] = []
    for t, group in rows.groupby("t"):
        now = set(group["query"].dropna())
        out += [(query, t, 1, key[0]) for query in now - members] + [(query, t, -1, key[0]) for query in members - now]
        members = now
    state.update((" ".join(members), int(rows["t"].max())))
    yield pd.DataFrame(out, columns=["query", "t", "sign", "oid"])
