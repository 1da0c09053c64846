"""`vedette bench alerts`: what thousands of formulas over location constraints cost, and what sharing saves.

The cases are those of the paper on decision diagrams over location constraints: 5,000 objects, formulas of 5 elementary
constraints of 4 objects each. A share of the constraints is repeated from other formulas, a share of them depends on
others. Timed is one update of every object, each at a tick of its own, on one core; rivals are the same kernels without
sharing, without links, without an order of the variables, and a scan in the place of the lattice. Writes one JSON file
and, with --plot, a picture.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from _alerts import Alone, Case, Unordered, combination_orders, formulas_of, memory_of, nobody, one_round, sets_of
from _machine import commit, load_average, machine
from rich.console import Console
from rich.table import Table

import vedette as vd
from vedette.families.lattice import Lattice
from vedette.pipeline.alerts.shard import Shard

DEFAULT_OUT = Path(__file__).resolve().parents[1] / "out" / "bench"
REPETITIONS = (0.0, 0.2, 0.4, 0.6, 0.8)
DEPENDENCIES = (0.0, 0.1, 0.25, 0.5)
LOADS = (4_000, 10_000)


@dataclass
class Found:
    """What one case gave: the best of some rounds, and counts of one of them."""

    case: str
    formulas: int
    repetition: float
    dependent: float
    ms: float
    kilobytes: float
    constraints: int
    nodes: int
    touched: int
    computed: int
    inferred: int
    walked: int
    registration_s: float


def measure(name: str, case: Case, rounds: int, infer: bool = True, shared: bool = True, ordered: bool = True) -> Found:
    """Register the formulas, then let every object move once, some times over."""
    shard = Shard(vd.planar(), infer=infer)
    if not ordered:
        shard.diagram = Unordered(shard._number_of)
    begun = time.perf_counter()
    for number, formula in enumerate(formulas_of(case)):
        shard.create(f"a{number}", formula if shared else Alone.copy_of(formula, number), {})
    shard.run(*nobody(), None)
    registration = time.perf_counter() - begun
    rng = np.random.default_rng(case.seed)
    x, y = rng.uniform(0, case.side, (2, case.objects))
    shard.run(*one_round(shard, x, y, 0), wake_at=0)
    best = float("inf")
    for n in range(rounds):
        x, y = x + rng.normal(0, 10, case.objects), y + rng.normal(0, 10, case.objects)
        events = one_round(shard, x, y, 1 + n * case.objects)
        shard.tally[:] = 0
        begun = time.process_time()  # as the paper does: what others do on the machine does not count
        shard.run(*events, None)
        best = min(best, time.process_time() - begun)
    touched, computed, inferred, _, walked = shard.tally.tolist()
    return Found(
        name, case.formulas, case.repetition, case.dependent, best * 1e3, memory_of(shard) / 1e3,
        len(shard.constraints.of), shard.diagram.size(), touched, computed, inferred, walked, registration,
    )  # fmt: skip


def lattice_or_scan(existing: int, added: int, seed: int) -> dict[str, float]:
    """Seconds to find all supersets and subsets of new sets, by the lattice and by looking at every set."""
    sets = sets_of(existing + added, seed)
    lattice = Lattice()
    begun = time.perf_counter()
    for objects in sets[:existing]:
        lattice.insert(objects)
    filled = time.perf_counter() - begun
    begun = time.perf_counter()
    by_lattice = [(lattice.supersets(objects), lattice.subsets(objects)) for objects in sets[existing:]]
    looked_up = time.perf_counter() - begun
    begun = time.perf_counter()
    for objects in sets[existing:]:
        lattice.insert(objects)
    inserted = time.perf_counter() - begun
    known = list(dict.fromkeys(sets[:existing]))
    begun = time.perf_counter()
    by_scan = [({s for s in known if s > o}, {s for s in known if s < o}) for o in sets[existing:]]
    scanned = time.perf_counter() - begun
    if by_scan != by_lattice:
        print("the lattice and the scan disagree", file=sys.stderr)
        raise typer.Exit(1)
    return {
        "existing": existing, "added": added, "lattice_s": looked_up, "scan_s": scanned, "insert_s": inserted,
        "fill_s": filled,
    }  # fmt: skip


def combinations(count: int, objects: int, repetition: float, rounds: int, seed: int) -> dict[str, float]:
    """Combinations of INSIDE and KNN terms in the whole engine: seconds for a tick in which all objects move."""
    watch = vd.Watch(queries=combination_orders(count, repetition, seed))
    run = vd.local(watch)
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0, 10_000, (2, objects))
    best = float("inf")
    for t in range(rounds + 3):
        batch = [{"oid": i, "t": t, "x": float(x[i]), "y": float(y[i])} for i in range(objects)]
        table = vd.runtime.local.to_table(batch)
        begun = time.perf_counter()
        run.feed(table)
        if t > 2:
            best = min(best, time.perf_counter() - begun)
        x, y = x + rng.normal(0, 10, objects), y + rng.normal(0, 10, objects)
    return {"count": count, "repetition": repetition, "ms": best * 1e3, "terms": len(run._tracks[0].catalogue._hidden)}


def main(
    objects: Annotated[int, typer.Option(min=10, help="Objects.")] = 5_000,
    rounds: Annotated[int, typer.Option(min=1, help="The best one counts.")] = 10,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 1,
    part: Annotated[int, typer.Option(min=1, help="Divides the number of formulas.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of all formulas: half a minute.")] = False,
    out: Annotated[Path, typer.Option(help="Folder of the JSON file.")] = DEFAULT_OUT,
    plot: Annotated[Path | None, typer.Option(help="Draw the figures into this PNG file.")] = None,
) -> None:
    """Time and memory by repetition and dependency, with and without what makes them less."""
    part = max(part, 10) if quick else part
    loads = [load // part for load in LOADS]
    most = loads[-1]
    before, found = load_average(), list[Found]()
    say: Callable[[str], None] = Console(stderr=True).print
    measure("warm-up", Case(50, objects, 0.0, 0.25, seed), 1)

    def case(formulas: int, repetition: float, dependent: float, kind: str = "diameter") -> Case:
        return Case(formulas, objects, repetition, dependent, seed, kind)

    for load in loads:
        for repetition in REPETITIONS:
            say(f"{load} formulas, {repetition:.0%} repeated")
            found.append(measure("shared", case(load, repetition, 0.0), rounds))
            found.append(measure("alone", case(load, repetition, 0.0), rounds, infer=False, shared=False))
        for dependent in DEPENDENCIES:
            say(f"{load} formulas, {dependent:.0%} dependent")
            found.append(measure("links", case(load, 0.0, dependent), rounds))
            found.append(measure("no links", case(load, 0.0, dependent), rounds, infer=False))
    for ordered in (True, False):
        found.append(measure("ordered" if ordered else "unordered", case(most, 0.4, 0.0), rounds, ordered=ordered))
    for kind in ("inside", "rknn"):
        for repetition in REPETITIONS:
            found.append(measure(kind, case(most, repetition, 0.0, kind), rounds))
    say("lattice")
    lattices = [lattice_or_scan(most * 5, 200, seed), lattice_or_scan(most, 200, seed)]
    say("combinations")
    combined = [combinations(500 // part, objects, r, rounds, seed) for r in REPETITIONS]
    result = {
        "benchmark": "alerts",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "load_before": before,
        "load_after": load_average(),
        "settings": {"objects": objects, "rounds": rounds, "seed": seed, "part": part},
        "cases": [asdict(each) for each in found],
        "lattice": lattices,
        "combinations": combined,
        "targets": targets(found, lattices, most),
    }
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"alerts-{datetime.now(UTC):%Y%m%dT%H%M%S}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    show(result)
    print(f"\nwritten to {path}")
    if plot is not None:
        from _alert_plots import draw

        draw(result, plot)
        print(f"drawn into {plot}")


def targets(found: list[Found], lattices: list[dict[str, float]], most: int) -> list[dict[str, Any]]:
    """What was promised, and what came of it."""

    def one(name: str, repetition: float = 0.0, dependent: float = 0.0) -> Found:
        return next(
            f for f in found
            if (f.case, f.formulas, f.repetition, f.dependent) == (name, most, repetition, dependent)
        )  # fmt: skip

    whole, half = one("shared"), one("shared", 0.6)
    with_links, without = one("links", dependent=0.5), one("no links", dependent=0.5)
    share = (without.computed - with_links.computed) / (0.5 * without.computed)
    return [
        {"target": "all formulas, every object once: less than 100 ms", "found": whole.ms, "met": whole.ms < 100},
        {
            "target": "time falls at least in proportion to repetition (60%: to 0.40)",
            "found": half.ms / whole.ms,
            "met": half.ms / whole.ms <= 0.4 * 1.05,
        },
        {"target": "links save half of the dependent evaluations", "found": share, "met": share >= 0.5},
        {
            "target": "the lattice finds dependencies 10x faster than a scan",
            "found": lattices[0]["scan_s"] / lattices[0]["lattice_s"],
            "met": lattices[0]["scan_s"] >= 10 * lattices[0]["lattice_s"],
        },
    ]


def show(result: dict[str, Any]) -> None:
    """The figures as tables."""
    console = Console(width=140)
    table = Table(title="One update of every object, one core", title_justify="left")
    for head in (
        "case",
        "formulas",
        "repeated",
        "dependent",
        "ms",
        "kB",
        "constraints",
        "nodes",
        "computed",
        "inferred",
        "walked",
        "registered in s",
    ):
        table.add_column(head, justify="left" if head == "case" else "right")
    for c in result["cases"]:
        table.add_row(
            c["case"], f"{c['formulas']:,}", f"{c['repetition']:.0%}", f"{c['dependent']:.0%}", f"{c['ms']:.1f}",
            f"{c['kilobytes']:,.0f}", f"{c['constraints']:,}", f"{c['nodes']:,}", f"{c['computed']:,}",
            f"{c['inferred']:,}", f"{c['walked']:,}", f"{c['registration_s']:.1f}",
        )  # fmt: skip
    console.print(table)
    for each in result["lattice"]:
        console.print(
            f"{each['added']} sets among {each['existing']:,}: lattice {each['lattice_s'] * 1e3:.1f} ms "
            f"(insertion {each['insert_s'] * 1e3:.1f} ms), scan {each['scan_s'] * 1e3:.1f} ms"
        )
    for each in result["combinations"]:
        console.print(
            f"{each['count']} combinations, {each['repetition']:.0%} repeated: "
            f"{each['terms']} terms, {each['ms']:.1f} ms a tick"
        )
    for each in result["targets"]:
        console.print(f"{'met    ' if each['met'] else 'NOT MET'} {each['target']}: {each['found']:.2f}")
    console.print(f"load {result['load_before']} before, {result['load_after']} after", highlight=False)


if __name__ == "__main__":
    typer.run(main)
