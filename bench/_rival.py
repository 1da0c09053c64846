"""What a user would write without us: a range join in Spark SQL, and state in pandas to turn answers into changes.

No straw man. Rectangles are listed by the grid cells they touch and joined by cell, an equi-join that Spark hashes and
broadcasts, with the exact test as a part of the join, so that rows outside of everything cost one row each. The state
is kept in one of two ways:

- ``object``: a group per object, its state the set of queries that it is in. The first thing that one writes; pandas is
  called once per object and micro-batch.
- ``bucket``: a group per bucket of objects, its state all pairs (object, query) of the bucket as one array. What one
  writes after having watched the first for a while; pandas is called once per bucket and micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pandas as pd
from _workload import Workload
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

CELLS = 128  # a side: cells somewhat smaller than the rectangles, of 1% of the side
BUCKETS = 8
CHANGES = "query string, t long, sign int, oid long"
NONE = -1  # stands for a query where an update is in none

Per = Literal["object", "bucket"]


def rival_changes(spark: SparkSession, updates: DataFrame, load: Workload, per: Per) -> DataFrame:
    """(query, t, sign, oid) of stationary rectangles over a stream in which each object reports once a tick."""
    boxes = pd.DataFrame(load.boxes(), columns=["x1", "y1", "x2", "y2"])
    boxes["query"] = np.arange(len(boxes))
    listed = (
        spark.createDataFrame(boxes)
        .withColumn("cx", sf.explode(sf.expr(f"sequence(int(x1 * {CELLS}), int(x2 * {CELLS}))")))
        .withColumn("cy", sf.explode(sf.expr(f"sequence(int(y1 * {CELLS}), int(y2 * {CELLS}))")))
    )
    placed = updates.withColumn("ux", sf.expr(f"int(x * {CELLS})")).withColumn("uy", sf.expr(f"int(y * {CELLS})"))
    inside = placed.join(
        sf.broadcast(listed),
        sf.expr("ux = cx AND uy = cy AND x >= x1 AND x <= x2 AND y >= y1 AND y <= y2"),
        "left_outer",
    ).select("oid", "t", sf.expr(f"coalesce(query, {NONE}) AS query"))
    if per == "object":
        return inside.groupBy("oid").applyInPandasWithState(
            _of_object, CHANGES, "members string", "append", "NoTimeout"
        )
    return (
        inside.withColumn("bucket", sf.expr(f"pmod(hash(oid), {BUCKETS})"))
        .groupBy("bucket")
        .applyInPandasWithState(_of_bucket, CHANGES, "pairs binary", "append", "NoTimeout")
    )


def _of_object(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    """One object: a set for each tick, and what differs from the set before."""
    members = set(map(int, state.get[0].split())) if state.exists else set()
    answers: dict[int, set[int]] = {}
    for frame in frames:
        for t, query in zip(frame["t"].tolist(), frame["query"].tolist(), strict=True):
            answers.setdefault(t, set()).add(query)
    out: list[tuple[str, int, int, int]] = []
    for t in sorted(answers):
        now = answers[t] - {NONE}
        out += [(f"q{query}", t, 1, key[0]) for query in now - members]
        out += [(f"q{query}", t, -1, key[0]) for query in members - now]
        members = now
    state.update((" ".join(map(str, members)),))  # an array cannot be state here: Spark's workers fail to read its type
    yield pd.DataFrame(out, columns=["query", "t", "sign", "oid"])


def _of_bucket(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    """Many objects: a sorted array of pairs for each tick, and what differs from the array before."""
    rows = pd.concat(list(frames))
    width = 1 << 20  # more than there are queries
    before = np.frombuffer(state.get[0], np.int64) if state.exists else np.empty(0, np.int64)
    out = []
    for t, tick in rows.groupby("t"):
        oid, query = tick["oid"].to_numpy(), tick["query"].to_numpy()
        now = np.unique((oid * width + query)[query != NONE])
        silent = ~np.isin(before // width, oid)
        joined = np.setdiff1d(now, before, assume_unique=True)
        left = np.setdiff1d(before[~silent], now, assume_unique=True)
        pairs = np.concatenate([joined, left])
        sign = np.repeat([1, -1], [len(joined), len(left)])
        out.append(pd.DataFrame({"query": pairs % width, "t": t, "sign": sign, "oid": pairs // width}))
        before = np.sort(np.concatenate([before[silent], now]))
    state.update((before.tobytes(),))
    changes = pd.concat(out)
    changes["query"] = "q" + changes["query"].astype(str)
    yield changes
