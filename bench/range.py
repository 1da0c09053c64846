"""`vedette bench range`: how many updates a second range and kNN queries let through on one core, and how that grows.

Runs each case in a process of its own (see _case.py), prints tables, and writes one JSON file that compare.py reads.
Exits with 1 if the engine and the naive evaluation disagree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from _machine import commit, load_average, machine
from _workload import Workload
from compare import show
from rich.console import Console

HERE = Path(__file__).resolve().parent
DEFAULT_OUT = HERE.parent / "out" / "bench"
FULL = {"objects": 100_000, "ticks": 10, "queries": 10_000, "moving": 1_000, "knn": 1_000, "repetitions": 3}
QUICK = {"objects": 10_000, "ticks": 3, "queries": 1_000, "moving": 100, "knn": 100, "repetitions": 1}
LEAST_TICKS = 3
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main(
    objects: Annotated[
        int | None, typer.Option(min=10, help="Objects; growth goes from a tenth to ten times it.")
    ] = None,
    ticks: Annotated[int | None, typer.Option(min=1, help="Timed ticks per repetition.")] = None,
    queries: Annotated[
        int | None, typer.Option(min=10, help="Still rectangles; growth goes from a tenth to five times it.")
    ] = None,
    moving: Annotated[int | None, typer.Option(min=0, help="Rectangles that move with an object.")] = None,
    knn: Annotated[int | None, typer.Option(min=0, help="kNN queries, k = 10.")] = None,
    repetitions: Annotated[int | None, typer.Option(min=1, help="The best one counts; all are kept.")] = None,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of everything: half a minute.")] = False,
    naive: Annotated[bool, typer.Option("--naive/--no-naive", help="Compare with plain numpy.")] = True,
    out: Annotated[Path, typer.Option(help="Folder of the JSON file.")] = DEFAULT_OUT,
) -> None:
    """Updates per second, memory and growth of the local engine on one core."""
    given = {
        "objects": objects,
        "ticks": ticks,
        "queries": queries,
        "moving": moving,
        "knn": knn,
        "repetitions": repetitions,
    }
    sizes = (QUICK if quick else FULL) | {name: value for name, value in given.items() if value is not None}
    begun = datetime.now(UTC)
    result: dict[str, Any] = {
        "benchmark": "range",
        "date": begun.isoformat(timespec="seconds"),
        "command": " ".join(["vedette bench range", *sys.argv[1:]]),
        "settings": sizes | {"seed": seed},
        "commit": commit(),
        "machine": machine(),
        "load_before": load_average(),
    }
    result |= measure(sizes, seed, naive, Console(stderr=True))
    result["load_after"] = load_average()
    result["targets"] = targets(result["cases"])
    show(result)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"range-{begun.date().isoformat()}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")
    if result["naive"] is not None and not result["naive"]["equal"]:
        print("the engine and the naive evaluation give different changes", file=sys.stderr)
        raise typer.Exit(1)


def plan(sizes: dict[str, int], seed: int) -> dict[str, Workload]:
    """The cases by name. The first two are the ones that count; the others vary one thing each."""
    n, q = sizes["objects"], sizes["queries"]
    still = Workload(n, q, seed=seed)
    mix = replace(still, moving=sizes["moving"], knn=sizes["knn"])
    return {
        "stationary": still,
        "mix": mix,
        "mix, kNN around objects": replace(mix, knn=0, knn_moving=sizes["knn"]),
        "stationary, string ids": replace(still, ids="string"),
        "queries / 10": replace(still, stationary=q // 10),
        "queries x 5": replace(still, stationary=q * 5),
        "objects / 10": replace(still, objects=n // 10, batch_rows=n),
        "objects x 10": replace(still, objects=n * 10, batch_rows=n),
        "objects / 10, a tick a batch": replace(still, objects=n // 10),
        "objects x 10, a tick a batch": replace(still, objects=n * 10),
    }


def measure(sizes: dict[str, int], seed: int, naive: bool, console: Console) -> dict[str, Any]:
    """Run all cases one after the other; each gives its workload and its figures."""
    loads = plan(sizes, seed)
    cases: dict[str, Any] = {}
    for name, load in loads.items():
        # The same number of updates everywhere, so that small cases are not noise and big ones do not take forever.
        ticks = max(min(sizes["ticks"], LEAST_TICKS), sizes["ticks"] * sizes["objects"] // load.objects)
        figures = _run("engine", load, ticks, sizes["repetitions"])
        cases[name] = {"load": asdict(load), "ticks": ticks, "load_average": load_average(), **figures}
        console.print(f"{name}: {figures['updates_per_s']:,.0f} updates/s", highlight=False)
    compared: dict[str, Any] | None = None
    if naive:
        compared = _run("naive", loads["mix"], sizes["ticks"], 1)
        still = compared["updates"] / compared["seconds"]["stationary"]
        compared["ratio"] = {
            "stationary": cases["stationary"]["updates_per_s"] / still,
            "mix": cases["mix"]["updates_per_s"] / compared["updates_per_s"],
        }
    return {"cases": cases, "naive": compared}


def targets(cases: dict[str, Any]) -> list[dict[str, Any]]:
    """What we want, what we got. The sizes of the full run are meant; with others the figures are only figures."""
    cost = {name: case["us_per_update"] for name, case in cases.items()}
    rate, one = cases["stationary"]["updates_per_s"], cost["stationary"]
    queries = one / cost["queries / 10"]
    objects = {
        "n/10 to n objects, equal batches: time per update": one / cost["objects / 10"],
        "n to 10n objects, equal batches: time per update": cost["objects x 10"] / one,
        "n/10 to n objects, a tick a batch: time per update": one / cost["objects / 10, a tick a batch"],
        "n to 10n objects, a tick a batch: time per update": cost["objects x 10, a tick a batch"] / one,
    }
    wanted = "changes by < 1.5x"  # up or down: a cost that falls this much says that small batches are dear
    return [
        _target("stationary rectangles: updates/s", "at least 500,000", rate, rate >= 500_000),
        _target("q/10 to q queries: time per update", "at most 2x", queries, queries <= 2),
        *(_target(what, wanted, ratio, 1 / 1.5 < ratio < 1.5) for what, ratio in objects.items()),
    ]


def _target(what: str, wanted: str, got: float, met: bool) -> dict[str, Any]:
    return {"what": what, "wanted": wanted, "got": got, "met": met}


def _run(what: str, load: Workload, ticks: int, repetitions: int) -> dict[str, Any]:
    asked = json.dumps({"what": what, "load": asdict(load), "ticks": ticks, "repetitions": repetitions})
    command = [sys.executable, str(HERE / "_case.py"), asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise typer.Exit(done.returncode)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


if __name__ == "__main__":
    typer.run(main)
