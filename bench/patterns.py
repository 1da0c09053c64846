"""`vedette bench patterns`: what motion patterns cost, incrementally and from scratch, by objects and by steps.

Objects drive on a generated road network and report every 10 s; 100 patterns are asked every 2 minutes over windows
that reach 20 minutes back. Patterns follow real trajectories, so that somebody matches. Measured are the loop of one
bucket on one core (taking updates in and asking, together), the first instant of all (the table of hits made from the
index), and a compiled pass over all windows at every instant. The answers of the two must be the same.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from _machine import commit, load_average, machine
from _scratch import lowest, matches

from vedette.generate import traffic
from vedette.kernels.motion.ranks import discover
from vedette.kernels.motion.tables import AGENDA, FREE, HITS, NEVER
from vedette.lang import parse
from vedette.model import Schema
from vedette.pipeline.patterns.book import Book
from vedette.pipeline.patterns.memory import Memory
from vedette.space import planar

HERE = Path(__file__).resolve().parent
DEFAULT_OUT = HERE.parent / "out" / "bench"
TICK_S, EVERY_S, REACH_S, STEPS = 10, 120, 1200, 4
LOWEST_N = 10


@dataclass
class Case:
    """One case."""

    kind: str  # binary or numerical
    objects: int
    predicates: int
    patterns: int


@dataclass
class Stream:
    """All updates, in time order, objects by small numbers."""

    t: Any
    o: Any
    x: Any
    y: Any
    objects: int


def main(
    patterns: Annotated[int, typer.Option(min=1, help="Patterns at once.")] = 100,
    quick: Annotated[bool, typer.Option("--quick", help="A twentieth of the objects.")] = False,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the JSON file and the picture.")] = DEFAULT_OUT,
) -> None:
    """Cost of a continuous step, of the first one, and from scratch; index points and raw reads."""
    share = 20 if quick else 1
    sizes = [n // share for n in (25_000, 50_000, 100_000, 150_000)]
    begun = datetime.now(UTC)
    result: dict[str, Any] = {
        "benchmark": "patterns",
        "date": begun.isoformat(timespec="seconds"),
        "command": " ".join(["vedette bench patterns", *sys.argv[1:]]),
        "commit": commit(),
        "machine": machine(),
        "load_before": load_average(),
        "cases": [],
    }
    for objects in sizes:
        stream = drive(objects, seed)
        steps = (1, 2, 5, 10) if objects == sizes[1] else (5,)
        wanted = [Case("binary", objects, n, patterns) for n in steps]
        wanted += [Case("numerical", objects, n, patterns) for n in ((1, 2, 3, 5) if objects == sizes[1] else (3,))]
        for case in wanted:
            found = asdict(case) | measure(case, stream, seed) | {"load": load_average()}
            result["cases"].append(found)
            print({k: (round(v, 4) if isinstance(v, float) else v) for k, v in found.items()}, file=sys.stderr)
    result["load_after"] = load_average()
    result["targets"] = targets(result["cases"])
    for target in result["targets"]:
        print(f"{'met   ' if target['met'] else 'missed'} {target['what']}: {target['got']:.1f} ({target['wanted']})")
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"patterns-{begun.date().isoformat()}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    draw(result, path.with_suffix(".png"))
    print(f"written to {path} and {path.with_suffix('.png')}")
    if not all(case["equal"] for case in result["cases"]):
        print("the incremental evaluation and that from scratch disagree", file=sys.stderr)
        raise typer.Exit(1)


def drive(objects: int, seed: int) -> Stream:
    """Traffic of so many objects at once."""
    ticks = (REACH_S + STEPS * EVERY_S) // TICK_S + 1
    tables = list(traffic(objects, ticks, seed=seed, step=TICK_S, ticks_per_table=20))
    columns = {name: np.concatenate([t[name].to_numpy() for t in tables]) for name in ("oid", "t", "x", "y")}
    _, number = np.unique(columns["oid"], return_inverse=True)
    return Stream(
        columns["t"].astype(np.int64), number.astype(np.int64), columns["x"], columns["y"], int(number.max()) + 1
    )


def questions(case: Case, stream: Stream, seed: int) -> tuple[list[str], list[Any]]:
    """The patterns as SQL, and as arrays: windows, quantifiers, boxes or points."""
    random = np.random.default_rng([seed, case.predicates])
    span = max(np.ptp(stream.x), np.ptp(stream.y))
    texts, arrays = [], []
    cuts = np.linspace(REACH_S, 0, case.predicates + 1).round().astype(int)
    begin = np.searchsorted(stream.t, REACH_S)
    for n in range(case.patterns):
        o = stream.o[random.integers(begin, begin + case.objects)]
        mine = np.flatnonzero(stream.o == o)
        mine = mine[stream.t[mine] <= REACH_S]
        steps, windows, always, places = [], [], [], []
        for k in range(case.predicates):
            a, b = int(cuts[k]), int(cuts[k + 1])
            within = mine[(stream.t[mine] >= REACH_S - a) & (stream.t[mine] <= REACH_S - b)]
            at = random.choice(within if len(within) else mine)
            x, y = stream.x[at] + random.normal(0, span / 500), stream.y[at] + random.normal(0, span / 500)
            windows.append((a, b))
            if case.kind == "binary":
                side = span * random.uniform(0.02, 0.06)
                box = (x - side / 2, y - side / 2, x + side / 2, y + side / 2)
                stays = k == case.predicates - 1 and n % 4 == 0 and case.predicates > 1
                always.append(int(stays))
                places.append(box)
                word = "ALWAYS" if stays else "SOMETIME"
                steps.append(f"INSIDE ({', '.join(repr(float(v)) for v in box)}) {word} BETWEEN {a} AND {b} AGO")
            else:
                always.append(0)
                places.append((x, y))
                steps.append(f"DIST ({float(x)!r}, {float(y)!r}) SOMETIME BETWEEN {a} AND {b} AGO")
        tail = f"LOWEST {LOWEST_N} " if case.kind == "numerical" else ""
        texts.append(f"CREATE PATTERN p{n} AS {' THEN '.join(steps)} {tail}EVERY {EVERY_S};")
        arrays.append((np.array(windows, np.int64), np.array(always, np.int64), np.array(places, np.float64)))
    return texts, arrays


def measure(case: Case, stream: Stream, seed: int) -> dict[str, Any]:
    """Feed the history, then a few steps of two minutes, each compared with an evaluation from scratch."""
    texts, arrays = questions(case, stream, seed)
    memory, book = Memory(), Book(planar(), Schema("long", "long"))
    memory.cap = 1 << 62  # what paging costs is another question
    for qid, statement in enumerate(parse("\n".join(texts), space=planar())):
        book.add(qid, statement.action.query, 0)  # type: ignore[union-attr]
    book.lay_grid(stream.x[: case.objects], stream.y[: case.objects])
    memory.set_tables(*book.tables(memory.patterns, memory.steps), 1)
    memory.make_room(stream.objects)
    answers: list[dict[int, float]] = [{} for _ in texts]
    # The history; then the first instant of all over it, which is asked once with an empty table of hits.
    feed(memory, stream, 0, np.searchsorted(stream.t, REACH_S, "right"), REACH_S, answers)
    initial = first_instant(memory, book, REACH_S)
    settle(answers, initial.pop("told"))
    spent, scratch, points, reads, changed, equal = [], [], [], [], [], True
    for step in range(1, STEPS + 1):
        tau = REACH_S + step * EVERY_S
        first, stop = np.searchsorted(stream.t, [tau - EVERY_S, tau], "right")
        memory.metrics()
        spent.append(feed(memory, stream, first, stop, tau + 1, answers))
        memory.settle(tau - REACH_S)
        found = memory.metrics()
        points.append(found["pattern_points"])
        reads.append(found["pattern_reads"])
        changed.append(int(stop - first))
        begin = time.perf_counter()
        wanted = [from_scratch(case, stream, stop, tau, *each) for each in arrays]
        scratch.append(time.perf_counter() - begin)
        for answer, want in zip(answers, wanted, strict=True):
            got = np.array(sorted(answer.values() if case.kind == "numerical" else answer), want.dtype)
            equal &= bool(len(got) == len(want) and np.allclose(got, want, rtol=1e-9))
    windows = sum(int(np.diff(np.searchsorted(stream.t, [tau - a, tau - b])).sum()) for w, _, _ in arrays for a, b in w)
    return {
        "initial_s": initial["seconds"],
        "initial_points": initial["points"],
        "initial_reads": initial["reads"],
        "continuous_s": float(np.median(spent)),
        "scratch_s": float(np.median(scratch)),
        "points": float(np.median(points)),
        "reads": float(np.median(reads)),
        "updates_in_windows": windows,
        "updates_in_step": changed[-1],
        "in_answers": sum(len(answer) for answer in answers),
        "rows_of_hits": int(memory.count[HITS]),
        "equal": equal,
    }


def feed(memory: Memory, stream: Stream, first: int, stop: int, end: int, answers: list[dict[int, float]]) -> float:
    """Take updates in and ask what is due before `end`; seconds."""
    part = slice(int(first), int(stop))
    n = part.stop - part.start
    slot, late, words = stream.o[part].astype(np.int32), np.zeros(n, np.bool_), np.zeros((n, 1), np.uint64)
    begin = time.perf_counter()
    told = memory.run(stream.t[part], slot, stream.x[part], stream.y[part], late, words, end)
    seconds = time.perf_counter() - begin
    settle(answers, told)
    return seconds


def settle(answers: list[dict[int, float]], told: list[Any]) -> None:
    """Apply changes."""
    for part in told:
        for s, o, sign, score in zip(part.pattern, part.object, part.sign, part.score, strict=True):
            if sign > 0:
                answers[s][int(o)] = float(score)
            else:
                answers[s].pop(int(o), None)


def first_instant(memory: Memory, book: Book, tau: int) -> dict[str, Any]:
    """The table of hits made anew from the index at tau."""
    members = [
        (int(memory.hits.pattern[h]), int(memory.hits.object[h]))
        for s in range(len(book.slots))
        for h in memory.members(s)
    ]
    memory.count[HITS], memory.count[FREE], memory.count[AGENDA] = 0, -1, 0
    memory.objects.row = -1
    memory.patterns.rows, memory.patterns.started = -1, NEVER
    memory.hits = memory.hits[:0].copy()
    memory._enlarge(1)
    leaves = np.zeros(len(members), memory.told.dtype).view(np.recarray)
    leaves.pattern, leaves.object, leaves.sign = [m[0] for m in members], [m[1] for m in members], -1
    memory.metrics()
    begin = time.perf_counter()
    for s in range(len(book.slots)):
        if memory.patterns[s].grows:
            memory.patterns.due[s] = tau
            continue
        memory.hits = np.concatenate((memory.hits, np.zeros(len(memory.objects), memory.hits.dtype))).view(np.recarray)
        old = int(memory.count[HITS])
        discover(memory.world(), s, tau)
        memory.hits.due[old : memory.count[HITS]] = tau
        memory.hits = memory.hits[: memory.count[HITS]].copy()
    memory._tidy_agenda()
    none = np.zeros(0, np.int64)
    told = memory.run(
        none, none.astype(np.int32), none * 0.0, none * 0.0, none > 0, np.zeros((0, 1), np.uint64), tau + 1
    )
    seconds = time.perf_counter() - begin
    found = memory.metrics()
    return {
        "seconds": seconds,
        "points": found["pattern_points_initial"] + found["pattern_points"],
        "reads": found["pattern_reads_initial"] + found["pattern_reads"],
        "told": [leaves, *told],
    }


def from_scratch(case: Case, stream: Stream, stop: int, tau: int, windows: Any, always: Any, places: Any) -> Any:
    """The answer of one pattern."""
    columns = stream.t[:stop], stream.o[:stop], stream.x[:stop], stream.y[:stop]
    if case.kind == "binary":
        return matches(*columns, tau, windows, always, places, stream.objects)
    return lowest(*columns, tau, windows, places, stream.objects, LOWEST_N)


def targets(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What we want, what we got: over all cases the worst."""
    found = []
    for kind in ("binary", "numerical"):
        some = [case for case in cases if case["kind"] == kind]
        speed = min(case["scratch_s"] / case["continuous_s"] for case in some)
        reads = min(case["updates_in_windows"] / max(1.0, case["reads"]) for case in some)
        found.append(
            _target(f"{kind}: a continuous step cheaper than from scratch, times", "at least 10", speed, speed >= 10)
        )
        found.append(
            _target(f"{kind}: raw reads fewer than updates in windows, times", "at least 10", reads, reads >= 10)
        )
    return found


def _target(what: str, wanted: str, got: float, met: bool) -> dict[str, Any]:
    return {"what": what, "wanted": wanted, "got": got, "met": met}


def draw(result: dict[str, Any], path: Path) -> None:
    """Time, index points and raw reads, by steps and by objects, as in figures 8 to 12 of the paper."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(18, 8), layout="constrained")
    cases = result["cases"]
    middle = sorted({case["objects"] for case in cases})[1]
    for row, kind in zip(axes, ("binary", "numerical"), strict=True):
        some = [case for case in cases if case["kind"] == kind]
        by_steps = [case for case in some if case["objects"] == middle]
        usual = 5 if kind == "binary" else 3
        by_objects = [case for case in some if case["predicates"] == usual]
        for two, by, label in ((row[:2], by_steps, "predicates"), (row[2:], by_objects, "objects")):
            across = [case[label] for case in by]
            for name, title in (
                ("scratch_s", "from scratch"),
                ("initial_s", "initial"),
                ("continuous_s", "continuous"),
            ):
                two[0].plot(across, [case[name] for case in by], "o-", label=title)
            for name, title in (
                ("updates_in_windows", "updates in the windows"),
                ("points", "index points, continuous"),
                ("initial_points", "index points, initial"),
                ("reads", "raw reads, continuous"),
                ("initial_reads", "raw reads, initial"),
            ):
                two[1].plot(across, [max(1.0, case[name]) for case in by], "o-", label=title)
            for axis, what in zip(two, ("seconds a step", "read a step"), strict=True):
                axis.set(xlabel=label, title=f"{kind}: {what}", yscale="log")
                axis.grid(True, alpha=0.3)
                axis.legend(fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    typer.run(main)
