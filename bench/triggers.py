"""`vedette bench triggers`: events a second and events kept in memory, by verbosity, number and length of triggers.

The stream is the TAO archive of buoys, six times one after the other, which is a million events (see _tao.py). Every
set of triggers runs with every strategy, each in a process of its own (see _trigger_case.py); then the largest set on
Spark, and a sequence of three beside a stream-stream self-join in Spark SQL (see _trigger_spark.py). The JSON file is
written anew after every case. Exits with 1 if strategies disagree about the number of alerts, or the join about one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from _machine import commit, load_average, machine
from _tao import Buoys, Set, calibrated, data_file, quantiles_of, text
from _trigger_figures import draw, show
from rich.console import Console

HERE = Path(__file__).resolve().parent
DEFAULT_OUT = HERE.parent / "out" / "bench"
STRATEGIES = ("CELLS", "DOMAINS", "TIGHT", "LOOSE")  # the first is the default
BASE = Set(5)
VERBOSITIES, NUMBERS, DAYS = (0.001, 0.01, 0.05), (5, 25, 100), (6, 12, 24, 48)
PARTS = 2  # batches of a copy
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main(
    copies: Annotated[int | None, typer.Option(min=2, help="Copies of the archive, 178,080 events each.")] = None,
    most: Annotated[int | None, typer.Option(min=5, help="Triggers of the largest set.")] = None,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="2 copies, 5 and 25 triggers.")] = False,
    spark: Annotated[bool, typer.Option("--spark/--no-spark", help="On Spark, and against Spark SQL.")] = True,
    cores: Annotated[int, typer.Option(min=1, help="Cores that Spark may use.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder of the JSON file and the picture.")] = DEFAULT_OUT,
) -> None:
    """Triggers over a million readings of buoys."""
    if not data_file().is_file():
        message = f"the stream is not here: {data_file()}; set VEDETTE_DATA to the folder that holds {data_file().name}"
        print(message, file=sys.stderr)
        raise typer.Exit(2)
    copies, most = copies or (2 if quick else 6), most or (25 if quick else 100)
    begun = datetime.now(UTC)
    result: dict[str, Any] = {
        "benchmark": "triggers",
        "date": begun.isoformat(timespec="seconds"),
        "command": " ".join(["vedette bench triggers", *sys.argv[1:]]),
        "settings": {"copies": copies, "events": copies * Buoys().rows, "seed": seed, "most": most},
        "commit": commit(),
        "machine": machine(),
        "load_before": load_average(),
        "points": [],
    }
    console = Console(stderr=True, highlight=False)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"triggers-{begun.date().isoformat()}.json"

    def keep() -> None:
        """What is measured is on disk before the next case begins."""
        result["load_after"] = load_average()
        result["targets"] = targets(result)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")

    for point in points(most, quick, seed, console):
        result["points"].append(point)
        for strategy in STRATEGIES:
            load = load_average()
            figures = _case(point["sql"][strategy], copies)
            point["strategies"][strategy] = {"load_average": load, **figures}
            said = f"{figures['events_per_s']:,.0f} events/s, {figures['peak_stored_events']:,} events kept"
            console.print(f"{_name(point)}, {strategy}: {said}")
            keep()
    if spark:
        from _trigger_spark import measure

        largest = max(result["points"], key=lambda point: point["set"]["triggers"])
        for name, figures in measure(largest["sql"]["CELLS"], copies, cores, seed, console):
            result[name] = figures
            keep()
    show(result)
    draw(result, path.with_suffix(".png"))
    print(f"written to {path}")
    disagreeing = [_name(p) for p in result["points"] if len({s["alerts"] for s in p["strategies"].values()}) > 1]
    if disagreeing:
        print(f"strategies disagree about the number of alerts: {', '.join(disagreeing)}", file=sys.stderr)
        raise typer.Exit(1)
    if "rival" in result and not result["rival"]["equal"]:
        print("the engine and Spark SQL give different alerts", file=sys.stderr)
        raise typer.Exit(1)


def points(most: int, quick: bool, seed: int, console: Console) -> list[dict[str, Any]]:
    """The sets of triggers to run, each with its statements for every strategy. The first is on every axis."""
    numbers = [n for n in NUMBERS if n < most] + [most]
    sets = [Set(BASE.triggers, seed=seed)]
    if not quick:
        sets += [Set(BASE.triggers, v, seed=seed) for v in VERBOSITIES if v != BASE.verbosity]
        sets += [Set(BASE.triggers, days=d, seed=seed) for d in DAYS if d != BASE.days]
    sets += [Set(n, seed=seed) for n in numbers if n != BASE.triggers]
    quantiles = quantiles_of(Buoys().archive)
    console.print(f"calibrating {most} triggers")
    many = calibrated(Set(most, seed=seed))
    found = []
    for wanted in sets:
        is_part = (wanted.verbosity, wanted.days) == (BASE.verbosity, BASE.days)
        drafts, verbosities = many if is_part else calibrated(wanted)
        drafts, verbosities = drafts[: wanted.triggers], verbosities[: wanted.triggers]
        sql = {strategy: text(drafts, wanted.days, quantiles, strategy) for strategy in STRATEGIES}
        found.append({"set": asdict(wanted), "calibrated": verbosities, "sql": sql, "strategies": {}})
    return found


def targets(result: dict[str, Any]) -> list[dict[str, Any]]:
    """What we want, what we got. The sizes of the full run are meant; with others the figures are only figures."""
    told: list[dict[str, Any]] = []
    done = [p for p in result["points"] if len(p["strategies"]) == len(STRATEGIES)]
    if done:
        largest = max(done, key=lambda point: point["set"]["triggers"])
        number, rate = largest["set"]["triggers"], largest["strategies"]["CELLS"]["events_per_s"]
        told.append(_target(f"{number} triggers, one core: events/s", "at least 150,000", rate, rate >= 150_000))
        kept = max(point["strategies"]["TIGHT"]["peak_stored_share"] for point in done)
        told.append(_target("TIGHT: most events kept, % of the stream", "below 1", 100 * kept, kept < 0.01))
    if "spark" in result:
        ratio = result["spark"]["events_per_s_per_core"] / rate
        told.append(_target("on Spark, per core, to local", "at least 0.5", ratio, ratio >= 0.5))
    return told


def _target(what: str, wanted: str, got: float, met: bool) -> dict[str, Any]:
    return {"what": what, "wanted": wanted, "got": got, "met": met}


def _name(point: dict[str, Any]) -> str:
    wanted = point["set"]
    return f"{wanted['triggers']} triggers, {wanted['verbosity']:.1%} each, {wanted['days']} days"


def _case(sql: str, copies: int) -> dict[str, Any]:
    asked = json.dumps({"sql": sql, "copies": copies, "parts": PARTS})
    command = [sys.executable, str(HERE / "_trigger_case.py"), asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise typer.Exit(done.returncode)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


if __name__ == "__main__":
    typer.run(main)
