"""`vedette bench spark-range`: the engine on Spark beside the same plan with empty kernels, and beside plain Spark SQL.

All in one run, on one machine, over the same files: updates/s at several sizes of a micro-batch, the ratio to the empty
plan (the ceiling), the ratio to what a user would write without us, and the latency floor of small micro-batches.
`--only plumbing` measures the empty plan alone. The JSON file is written anew after every case.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from _machine import commit, load_average, machine
from _rival import Per, rival_changes
from _spark import FILES_A_BATCH, empty_over, read_batches, start, time_batches, write_batches
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
    latency_batches: Annotated[int, typer.Option(help="Timed micro-batches of 1,000 updates; 0: none.")] = 120,
    rival: Annotated[bool, typer.Option("--rival/--no-rival", help="Compare with plain Spark SQL.")] = True,
    rival_rows: Annotated[int, typer.Option(help="Updates in a micro-batch of that comparison.")] = 1_000_000,
    rival_batches: Annotated[int, typer.Option(help="Timed micro-batches of it with a pandas call per object.")] = 2,
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
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{begun.date().isoformat()}.json"

    def keep(case: str, figures: dict[str, Any]) -> None:
        """What is measured is on disk before the next case begins."""
        result["cases"][case] = figures
        result["load_after"] = load_average()
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")

    plumbing = only == "plumbing"
    spark = start(cores)
    try:
        for size in (int(s) for s in sizes.split(",") if s):
            load = Workload(objects, queries, knn=knn, batch_rows=size)
            keep(f"{size:,} updates", _case(spark, load, warm, batches, plumbing, console))
        if latency_batches:
            load = Workload(min(objects, 1_000), min(queries, 100), knn=min(knn, 10), batch_rows=1_000)
            keep("latency", _case(spark, load, 20, latency_batches, plumbing, console))
        if rival and not plumbing:
            load = Workload(objects, queries, batch_rows=rival_rows)
            with _input(load, warm + batches) as folder:
                case = _rivals(spark, load, folder, warm, console)
                keep("rectangles only", case)
                if rival_batches:
                    _slow_rival(spark, load, folder, rival_batches, case, console)
                    keep("rectangles only", case)
    finally:
        spark.stop()
    show(result)
    print(f"written to {path}")


@contextlib.contextmanager
def _input(load: Workload, batches: int) -> Iterator[Path]:
    """A folder with the files of a workload in its `in`, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="vedette-bench-"))
    try:
        write_batches(load, batches, folder / "in")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _case(
    spark: SparkSession, load: Workload, warm: int, batches: int, plumbing: bool, console: Console
) -> dict[str, Any]:
    """The empty plan and the engine, one after the other, over the same files."""
    with _input(load, warm + batches) as folder:
        watch = vd.Watch(queries=load.sql())
        updates = read_batches(spark, folder / "in")
        case: dict[str, Any] = {"load": asdict(load), "load_average": load_average()}
        case["empty"] = time_batches(empty_over(watch, updates), folder, warm)
        _say(console, load, "empty", case)
        if not plumbing:
            case["engine"] = time_batches(watch.over(updates), folder, warm)
            _say(console, load, "engine", case)
            case["ratio"] = {"empty": case["engine"]["updates_per_s"] / case["empty"]["updates_per_s"]}
        return case


def _rivals(spark: SparkSession, load: Workload, folder: Path, warm: int, console: Console) -> dict[str, Any]:
    """The engine, and plain Spark SQL with a pandas call per bucket of objects, over the same files."""
    updates = read_batches(spark, folder / "in")
    case: dict[str, Any] = {"load": asdict(load), "load_average": load_average(), "ratio": {}}
    case["engine"] = time_batches(vd.Watch(queries=load.sql()).over(updates), folder, warm)
    _say(console, load, "engine", case)
    _time_rival(spark, load, folder, "bucket", warm, case, console)
    return case


def _slow_rival(
    spark: SparkSession, load: Workload, folder: Path, batches: int, case: dict[str, Any], console: Console
) -> None:
    """Plain Spark SQL with a pandas call per object, over the first of the same files: one micro-batch to warm up."""
    for path in sorted((folder / "in").iterdir())[(1 + batches) * FILES_A_BATCH :]:
        path.unlink()
    _time_rival(spark, load, folder, "object", 1, case, console)


def _time_rival(
    spark: SparkSession, load: Workload, folder: Path, per: Per, warm: int, case: dict[str, Any], console: Console
) -> None:
    what = f"Spark SQL, per {per}"
    changes = rival_changes(spark, read_batches(spark, folder / "in"), load, per)
    case[what] = time_batches(changes, folder, warm)
    case["ratio"][what] = case["engine"]["updates_per_s"] / case[what]["updates_per_s"]
    _say(console, load, what, case)


def _say(console: Console, load: Workload, what: str, case: dict[str, Any]) -> None:
    console.print(f"{load.batch_rows:,} updates a batch, {what}: {case[what]['updates_per_s']:,.0f} updates/s")


def show(result: dict[str, Any]) -> None:
    """The figures as a table."""
    table = Table(title=f"{result['benchmark']}, {result['date'][:10]}", title_justify="left", box=None)
    for head in ("case", "what", "updates/s", "batch p50 s", "batch p99 s", "engine is"):
        table.add_column(head, justify="left" if head in ("case", "what") else "right")
    for name, case in result["cases"].items():
        for what, f in case.items():
            if isinstance(f, dict) and "updates_per_s" in f:
                ratio = f"{case['ratio'][what]:.2f} x" if what in case.get("ratio", {}) else ""
                rate = f"{f['updates_per_s']:,.0f}"
                table.add_row(name, what, rate, f"{f['batch_s_p50']:.3f}", f"{f['batch_s_p99']:.3f}", ratio)
    Console(width=120, highlight=False).print(table)


if __name__ == "__main__":
    typer.run(main)
