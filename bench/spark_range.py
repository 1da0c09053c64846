"""`vedette bench spark-range`: the engine on Spark beside the same plan with empty kernels, and beside plain Spark SQL.

All in one run, on one machine, over the same files: updates/s at several sizes of a micro-batch, the ratio to the empty
plan (the ceiling), the ratio to what a user would write without us, and the latency floor of small micro-batches.
`--only plumbing` measures the empty plan alone.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from _machine import commit, load_average, machine
from _rival import rival_changes
from _spark import empty_over, read_batches, start, time_batches, write_batches
from _workload import Workload
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

import vedette as vd

DEFAULT_OUT = Path(__file__).resolve().parent.parent / "out" / "bench"


def main(
    objects: Annotated[int, typer.Option(min=10, help="Objects.")] = 100_000,
    queries: Annotated[int, typer.Option(min=1, help="Still rectangles.")] = 10_000,
    knn: Annotated[int, typer.Option(min=0, help="kNN queries, k = 10.")] = 1_000,
    sizes: Annotated[str, typer.Option(help="Updates in a micro-batch.")] = "200000,1000000",
    batches: Annotated[int, typer.Option(min=1, help="Timed micro-batches of each size.")] = 8,
    warm: Annotated[int, typer.Option(min=1, help="Micro-batches before the timed ones.")] = 8,
    latency_batches: Annotated[int, typer.Option(help="Timed micro-batches of 1,000 updates; 0: none.")] = 60,
    rival: Annotated[bool, typer.Option("--rival/--no-rival", help="Compare with plain Spark SQL.")] = True,
    rival_rows: Annotated[int, typer.Option(help="Updates in a micro-batch of that comparison.")] = 100_000,
    only: Annotated[Literal["all", "plumbing"], typer.Option(help="plumbing: the empty plan alone.")] = "all",
    cores: Annotated[int, typer.Option(min=1, help="Cores that Spark may use.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder of the JSON file.")] = DEFAULT_OUT,
    name: Annotated[str, typer.Option(hidden=True)] = "spark-range",
) -> None:
    """Updates per second of the engine on Spark, and of what it is compared with."""
    begun = datetime.now(UTC)
    result: dict[str, Any] = {
        "benchmark": name,
        "date": begun.isoformat(timespec="seconds"),
        "command": " ".join([f"vedette bench {name}", *sys.argv[1:]]),
        "commit": commit(),
        "machine": machine(),
        "load_before": load_average(),
        "cases": {},
    }
    console = Console(stderr=True, highlight=False)
    spark = start(cores)
    try:
        for size in (int(s) for s in sizes.split(",")):
            load = Workload(objects, queries, knn=knn, batch_rows=size)
            result["cases"][f"{size:,} updates"] = _case(spark, load, warm, batches, only == "plumbing", console)
        if latency_batches:
            load = Workload(min(objects, 1_000), min(queries, 100), knn=min(knn, 10), batch_rows=1_000)
            result["cases"]["latency"] = _case(spark, load, 20, latency_batches, only == "plumbing", console)
        if rival and only == "all":
            load = Workload(objects, queries, batch_rows=rival_rows)
            result["rival"] = _rival(spark, load, 2, 3, console)
    finally:
        spark.stop()
    result["load_after"] = load_average()
    show(result)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{begun.date().isoformat()}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


def _case(
    spark: SparkSession, load: Workload, warm: int, batches: int, plumbing: bool, console: Console
) -> dict[str, Any]:
    """The empty plan and the engine, one after the other, over the same files."""
    folder = Path(tempfile.mkdtemp(prefix="vedette-bench-"))
    try:
        write_batches(load, warm + batches, folder / "in")
        watch = vd.Watch(queries=load.sql())
        updates = read_batches(spark, folder / "in")
        case: dict[str, Any] = {"load": asdict(load), "load_average": load_average()}
        case["empty"] = time_batches(empty_over(watch, updates), folder, warm)
        _say(console, load, "empty plan", case["empty"])
        if not plumbing:
            case["engine"] = time_batches(watch.over(updates), folder, warm)
            _say(console, load, "engine", case["engine"])
            case["ratio"] = case["engine"]["updates_per_s"] / case["empty"]["updates_per_s"]
        return case
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _rival(spark: SparkSession, load: Workload, warm: int, batches: int, console: Console) -> dict[str, Any]:
    """Plain Spark SQL and the engine, rectangles only, over the same files; also whether both tell the same changes."""
    folder = Path(tempfile.mkdtemp(prefix="vedette-bench-"))
    try:
        write_batches(load, warm + batches, folder / "in")
        watch = vd.Watch(queries=load.sql())
        updates = read_batches(spark, folder / "in")
        case: dict[str, Any] = {"load": asdict(load)}
        case["engine"] = time_batches(watch.over(updates), folder, warm)
        _say(console, load, "engine", case["engine"])
        case["spark_sql"] = time_batches(rival_changes(spark, updates, load), folder, 1)
        _say(console, load, "Spark SQL", case["spark_sql"])
        case["ratio"] = case["engine"]["updates_per_s"] / case["spark_sql"]["updates_per_s"]
        return case
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _say(console: Console, load: Workload, what: str, figures: dict[str, Any]) -> None:
    console.print(f"{load.batch_rows:,} updates a batch, {what}: {figures['updates_per_s']:,.0f} updates/s")


def show(result: dict[str, Any]) -> None:
    """The figures as a table."""
    table = Table(title=f"{result['benchmark']}, {result['date'][:10]}", title_justify="left", box=None)
    for head in ("case", "what", "updates/s", "batch p50 s", "batch p99 s", "ratio"):
        table.add_column(head, justify="left" if head in ("case", "what") else "right")
    cases = dict(result["cases"])
    if "rival" in result:
        cases["against Spark SQL"] = result["rival"]
    for name, case in cases.items():
        for what in ("empty", "spark_sql", "engine"):
            if what in case:
                f = case[what]
                ratio = f"{case['ratio']:.2f}" if what == "engine" else ""
                rate = f"{f['updates_per_s']:,.0f}"
                table.add_row(name, what, rate, f"{f['batch_s_p50']:.3f}", f"{f['batch_s_p99']:.3f}", ratio)
    Console(width=120, highlight=False).print(table)


if __name__ == "__main__":
    typer.run(main)
