"""Triggers on Spark: the largest set, and a sequence of three beside a stream-stream self-join in Spark SQL.

No straw man: the join has equi-keys, which Spark asks for anyway: events are put into cells as wide as the distance and
as long as the time between two of them, the earlier one of a pair also into the eight around its own, each now and
next. Conditions on single events come before the joins, and watermarks with bounds on time let Spark forget. Both read
the same files and write into nothing while they are timed; then the alerts of both are compared one by one.

The largest set runs over ten micro-batches. The first five warm up (workers start, kernels are loaded, the JVM compiles
what is hot; the times of all are in the JSON file); the rate is that of the middle one of the other five.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from _machine import load_average
from _spark import read_batches, start, time_batches, write_tables
from _tao import Buoys, Draft, Set, calibrated, quantiles_of, threshold, written
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from rich.console import Console

import vedette as vd

EARTH_M = 6_371_008.8
WIDEST_LAT = 10  # of a buoy, either side of the equator; and none is within a cell of longitude 0
WARM, TIMED = 5, 5
RIVAL_WARM, RIVAL_TIMED = 1, 2
PLACE = ("ux", "uy", "uz", "cx", "cy", "ct")
THREE = 1  # the first sequence of three among the triggers


def measure(sql: str, copies: int, cores: int, seed: int, console: Console) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of each part, as soon as they are there."""
    buoys, spark = Buoys(), start(cores)
    try:
        load = load_average()
        with _input(
            pa.concat_tables(islice(buoys.batches(1), k * copies, (k + 1) * copies)) for k in range(WARM + TIMED)
        ) as folder:
            updates = read_batches(spark, folder / "in")
            watch = vd.Watch(space=vd.lonlat(), queries=sql)
            figures = time_batches(watch.over(updates), folder, WARM)
        rate = figures["updates_per_s_median"]
        console.print(f"Spark, {cores} cores: {rate:,.0f} events/s")
        yield (
            "spark",
            {
                "events_a_micro_batch": copies * buoys.rows,
                "cores": cores,
                "events_per_s": rate,
                "events_per_s_per_core": rate / cores,
                "load_before": load,
                "load_after": load_average(),
                **figures,
            },
        )
        draft, days = calibrated(Set(THREE + 1, seed=seed))[0][THREE], Set(1).days
        yield "rival", _rival(spark, buoys, draft, days, console)
    finally:
        spark.stop()


def _rival(spark: SparkSession, buoys: Buoys, draft: Draft, days: int, console: Console) -> dict[str, Any]:
    """The engine and the self-join, one after the other, a copy of the archive a micro-batch; then what they said."""
    quantiles = quantiles_of(buoys.archive)
    sql = written("three", draft, days, quantiles, None)
    watch = vd.Watch(space=vd.lonlat(), queries=sql)
    found: dict[str, Any] = {"trigger": sql, "events_a_micro_batch": buoys.rows, "load_before": load_average()}
    with _input(islice(buoys.batches(1), RIVAL_WARM + RIVAL_TIMED)) as folder:
        updates = read_batches(spark, folder / "in")
        for name, query in (("engine", watch.over(updates)), ("join", joined(updates, draft, days, quantiles))):
            seconds = time_batches(query, folder, RIVAL_WARM)["batch_s"][RIVAL_WARM:]
            found[f"{name}_s"] = seconds
            found[f"{name}_events_per_s"] = buoys.rows * len(seconds) / sum(seconds)
            console.print(f"a sequence of three, {name}: {found[f'{name}_events_per_s']:,.0f} events/s")
        found["ratio"] = found["engine_events_per_s"] / found["join_events_per_s"]
        ours, theirs = _ours(spark, watch, folder), _theirs(spark, updates, folder, draft, days, quantiles)
    found |= {"alerts": len(ours), "alerts_of_join": len(theirs), "equal": sorted(ours) == sorted(theirs)}
    return found | {"load_after": load_average()}


def joined(updates: DataFrame, draft: Draft, days: int, quantiles: dict[str, Any]) -> DataFrame:
    """(oid, time) of each event of the sequence."""
    most = max(1, days // 2)
    angle = draft.km * 1000 / EARTH_M
    chord2 = (2 * math.sin(angle / 2)) ** 2
    high = math.degrees(angle) * 1.001
    wide = math.degrees(math.asin(math.sin(angle) / math.cos(math.radians(WIDEST_LAT)))) * 1.001
    placed = (
        updates.withColumn("ux", sf.expr("cos(radians(lat)) * cos(radians(lon))"))
        .withColumn("uy", sf.expr("cos(radians(lat)) * sin(radians(lon))"))
        .withColumn("uz", sf.expr("sin(radians(lat))"))
        .withColumn("cx", sf.expr(f"int(floor(pmod(lon, 360) / {wide}))"))
        .withColumn("cy", sf.expr(f"int(floor(lat / {high}))"))
        .withColumn("ct", sf.expr(f"int(floor(unix_seconds(t) / {86400 * most}))"))
    )

    def events(variable: str, n: int) -> DataFrame:
        attribute, side, value = threshold(draft, n, quantiles)
        columns = [sf.col(name).alias(f"{variable}_{name}") for name in ("oid", "t", *PLACE)]
        some = placed.where(f"{attribute} {side} {value}").select(*columns)
        return some.withWatermark(f"{variable}_t", "1 day")

    def around(frame: DataFrame, v: str) -> DataFrame:
        for c in ("cx", "cy"):
            frame = frame.withColumn(f"{v}_{c}", sf.explode(sf.expr(f"sequence({v}_{c} - 1, {v}_{c} + 1)")))
        return frame.withColumn(f"{v}_ct", sf.explode(sf.expr(f"sequence({v}_ct, {v}_ct + 1)")))

    def pair(v: str, w: str) -> Any:
        least, longest = "interval 1 day", f"interval {most} days"
        apart = " + ".join(f"power({v}_{u} - {w}_{u}, 2)" for u in ("ux", "uy", "uz"))
        said = " AND ".join(f"{v}_{c} = {w}_{c}" for c in ("cx", "cy", "ct"))
        said += f" AND {w}_t >= {v}_t + {least} AND {w}_t <= {v}_t + {longest}"
        different = f" AND {v}_oid <> {w}_oid" if draft.apart else ""
        return sf.expr(f"{said} AND {apart} < {chord2!r}{different}")

    two = around(events("a", 0), "a").join(events("b", 1), pair("a", "b"))
    two = two.select("a_oid", sf.unix_millis("a_t").alias("a_ms"), *(f"b_{c}" for c in ("oid", "t", *PLACE)))
    three = around(two, "b").join(events("c", 2), pair("b", "c"))
    return three.select(
        "a_oid", "a_ms", "b_oid", sf.unix_millis("b_t").alias("b_ms"), "c_oid", sf.unix_millis("c_t").alias("c_ms")
    )


def _ours(spark: SparkSession, watch: vd.Watch, folder: Path) -> list[tuple[Any, ...]]:
    """The alerts of the engine over all files at once, with the end of the stream."""
    members = watch.over(spark.read.parquet(str(folder / "in"))).select(
        sf.expr("transform(members, m -> struct(m.oid, unix_millis(m.t) AS ms))").alias("events")
    )
    return [tuple(v for event in row.events for v in event) for row in members.collect()]


def _theirs(
    spark: SparkSession, updates: DataFrame, folder: Path, draft: Draft, days: int, quantiles: dict[str, Any]
) -> list[tuple[Any, ...]]:
    """The alerts of the self-join over the stream of the same files."""
    said, query = folder / "said", joined(updates, draft, days, quantiles)
    writer = query.writeStream.format("parquet").option("path", str(said))
    running = writer.option("checkpointLocation", str(folder / "said-checkpoint")).start()
    try:
        running.processAllAvailable()
    finally:
        running.stop()
    return [tuple(row) for row in spark.read.parquet(str(said)).collect()]


@contextlib.contextmanager
def _input(tables: Any) -> Iterator[Path]:
    """A folder with a table a micro-batch in its `in`, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="vedette-bench-"))
    try:
        write_tables(tables, folder / "in")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
