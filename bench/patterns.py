"""`vedette bench patterns`: what motion patterns cost, told ahead and from scratch, by steps, objects and history.

Objects drive on a generated road network and report every 10 s; 100 patterns are asked every 2 minutes over windows
that reach 40 minutes back. Patterns follow real trajectories, so that somebody matches. Measured is the loop of one
bucket on one core: taking in the updates of two minutes and asking all patterns, after the windows have been filled.
A step is the middle one of nine; the mean of all, with the times that tables grow, is in the JSON file, too.
Beside it all windows are evaluated from scratch at the same instants, in plain numpy and in one compiled pass
(`_scratch.py`); the answers must be the same.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from _machine import commit, load_average, machine
from _pattern_plots import WARM_UP, draw
from _scratch import lowest, lowest_in_numpy, matches, matches_in_numpy

from vedette.generate import traffic
from vedette.kernels.motion.tables import ROWS
from vedette.kernels.nearest import Ids
from vedette.lang import parse
from vedette.model import Schema
from vedette.pipeline.patterns.book import Book
from vedette.pipeline.patterns.memory import Memory
from vedette.space import planar

HERE = Path(__file__).resolve().parent
DEFAULT_OUT = HERE.parent / "out" / "bench"
TICK_S, EVERY_S, REACH_S, STEPS = 10, 120, 2400, 9
CHECKED = (2, 5, 8)  # the steps at which everything is evaluated from scratch, too
IN_NUMPY = 5  # patterns that plain numpy evaluates; its time is taken times as many as there are more
LOWEST_N = 10
BINARY, NUMERICAL = (1, 2, 5, 10), (1, 2, 3, 5)  # predicates
USUAL = {"binary": 5, "numerical": 3}


@dataclass
class Case:
    """One case."""

    kind: str  # binary or numerical
    objects: int
    predicates: int
    patterns: int
    reach_s: int = REACH_S


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
    """Cost of a step told ahead and from scratch; index points and raw reads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
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
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"patterns-{begun.date().isoformat()}.json"
    for reach_s, objects, cases in plan(20 if quick else 1, patterns):
        stream = drive(objects, reach_s, seed)
        for case in cases:
            load = load_average()
            found = asdict(case) | measure(case, stream, seed) | {"load": load}
            result["cases"].append(found)
            print({k: (round(v, 4) if isinstance(v, float) else v) for k, v in found.items()}, file=sys.stderr)
            result["load_after"], result["targets"] = load_average(), targets(result["cases"])
            path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for target in result["targets"]:
        print(f"{'met   ' if target['met'] else 'missed'} {target['what']}: {target['got']:.1f} ({target['wanted']})")
    draw(result["cases"], path.with_suffix(".png"))
    print(f"written to {path} and {path.with_suffix('.png')}")
    if not all(case["equal"] for case in result["cases"]):
        print("the evaluation ahead and that from scratch disagree", file=sys.stderr)
        raise typer.Exit(1)


def plan(share: int, patterns: int) -> list[tuple[int, int, list[Case]]]:
    """Streams (how far back windows reach, objects at once) with their cases; the first compiles what it can."""
    first = [Case(kind, WARM_UP, n, 10) for kind, n in USUAL.items()]
    streams = [(REACH_S, WARM_UP, first)]
    sizes = [n // share for n in (25_000, 50_000, 100_000, 150_000)]
    for objects in sizes:
        cases = [Case(kind, objects, n, patterns) for kind, n in USUAL.items()]
        if objects == sizes[1]:
            cases = [Case("binary", objects, n, patterns) for n in BINARY]
            cases += [Case("numerical", objects, n, patterns) for n in NUMERICAL]
        streams.append((REACH_S, objects, cases))
    for reach_s in (REACH_S // 2, 2 * REACH_S):
        cases = [Case(kind, sizes[0], n, patterns, reach_s) for kind, n in USUAL.items()]
        streams.append((reach_s, sizes[0], cases))
    return streams


def drive(objects: int, reach_s: int, seed: int) -> Stream:
    """Traffic of so many objects at once."""
    ticks = (reach_s + STEPS * EVERY_S) // TICK_S + 1
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
    cuts = np.linspace(case.reach_s, 0, case.predicates + 1).round().astype(int)
    begin = np.searchsorted(stream.t, case.reach_s)
    for n in range(case.patterns):
        o = stream.o[random.integers(begin, begin + case.objects)]
        mine = np.flatnonzero(stream.o == o)
        mine = mine[stream.t[mine] <= case.reach_s]
        steps, windows, always, places = [], [], [], []
        for k in range(case.predicates):
            a, b = int(cuts[k]), int(cuts[k + 1])
            within = mine[(stream.t[mine] >= case.reach_s - a) & (stream.t[mine] <= case.reach_s - b)]
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
    """Fill the windows, then a few steps of two minutes, some of them compared with an evaluation from scratch."""
    texts, arrays = questions(case, stream, seed)
    memory, book = Memory(), Book(planar(), Schema("long", "long"))
    memory.cap = 1 << 62  # what paging costs is another question
    for qid, statement in enumerate(parse("\n".join(texts), space=planar())):
        book.add(qid, statement.action.query, 0)  # type: ignore[union-attr]
    book.lay_grid()
    memory.set_tables(book.tables(memory.patterns), 1, book.reach)
    memory.make_room(stream.objects)
    memory.ids = Ids(True, np.arange(stream.objects), np.zeros(1, np.int64), np.zeros(1, np.uint8))
    answers: list[dict[int, float]] = [{} for _ in texts]
    filled = np.searchsorted(stream.t, case.reach_s, "right")
    fill_s = feed(memory, stream, 0, filled, case.reach_s + 1, answers)
    fill = memory.metrics()
    spent, points, reads, in_numpy, compiled, equal = [], [], [], [], [], True
    for step in range(STEPS):
        tau = case.reach_s + (step + 1) * EVERY_S
        first, stop = np.searchsorted(stream.t, [tau - EVERY_S, tau], "right")
        spent.append(feed(memory, stream, first, stop, tau + 1, answers))
        found = memory.metrics()
        points.append(found["pattern_points"])
        reads.append(found["pattern_reads"])
        if step in CHECKED:
            wanted, seconds = from_scratch(case, stream, stop, tau, arrays)
            compiled.append(seconds)
            others, seconds = from_scratch(case, stream, stop, tau, arrays[:IN_NUMPY], plain=True)
            in_numpy.append(seconds * len(arrays) / min(IN_NUMPY, len(arrays)))
            equal &= same(case, answers, wanted) and same(case, answers[:IN_NUMPY], others)
    windows = sum(int(np.diff(np.searchsorted(stream.t, [tau - a, tau - b])).sum()) for w, _, _ in arrays for a, b in w)
    return {
        "fill_s": fill_s,
        "fill_points": fill["pattern_points"] + fill["pattern_points_initial"],
        "fill_reads": fill["pattern_reads"] + fill["pattern_reads_initial"],
        "updates_in_fill": int(filled),
        "step_s": float(np.median(spent)),
        "step_mean_s": float(np.mean(spent)),
        "step_s_each": spent,
        "compiled_s": float(np.median(compiled)),
        "numpy_s": float(np.median(in_numpy)),
        "points": float(np.mean(points)),
        "reads": float(np.mean(reads)),
        "updates_in_windows": windows,
        "updates_in_step": int(stop - first),
        "in_answers": sum(len(answer) for answer in answers),
        "rows_of_hits": int(memory.count[ROWS]),
        "equal": bool(equal),
    }


def feed(memory: Memory, stream: Stream, first: int, stop: int, end: int, answers: list[dict[int, float]]) -> float:
    """Take updates in and ask what is due before `end`; seconds."""
    part = slice(int(first), int(stop))
    n = part.stop - part.start
    slot, late, words = stream.o[part].astype(np.int32), np.zeros(n, np.bool_), np.zeros((n, 1), np.uint64)
    begin = time.perf_counter()
    told = memory.run(stream.t[part], slot, stream.x[part], stream.y[part], late, words, end)
    seconds = time.perf_counter() - begin
    for changes in told:
        for s, o, sign, score in zip(changes.pattern, changes.object, changes.sign, changes.score, strict=True):
            if sign > 0:
                answers[s][int(o)] = float(score)
            else:
                answers[s].pop(int(o), None)
    return seconds


def from_scratch(
    case: Case, stream: Stream, stop: int, tau: int, arrays: list[Any], plain: bool = False
) -> tuple[list[Any], float]:
    """The answers of patterns, and the time that they took."""
    columns = stream.t[:stop], stream.o[:stop], stream.x[:stop], stream.y[:stop]
    begin = time.perf_counter()
    if case.kind == "binary":
        binary = matches_in_numpy if plain else matches
        found = [binary(*columns, tau, *each, stream.objects) for each in arrays]
    else:
        numerical = lowest_in_numpy if plain else lowest
        found = [numerical(*columns, tau, w, places, stream.objects, LOWEST_N) for w, _, places in arrays]
    return found, time.perf_counter() - begin


def same(case: Case, answers: list[dict[int, float]], wanted: list[Any]) -> bool:
    """Whether the answers are those."""
    for answer, want in zip(answers, wanted, strict=True):
        got = np.array(sorted(answer.values() if case.kind == "numerical" else answer), want.dtype)
        there = want[np.isfinite(want)]
        if len(got) != len(there) or not np.allclose(got, there, rtol=1e-9):
            return False
    return True


def targets(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What we want, what we got: over all cases the worst."""
    found = []
    for kind, usual in USUAL.items():
        some = [case for case in cases if case["kind"] == kind and case["objects"] != WARM_UP]
        for against in ("numpy", "compiled"):
            got = min((case[f"{against}_s"] / case["step_s"] for case in some), default=np.nan)
            what = f"{kind}: a step cheaper than from scratch, {against}, times"
            found.append(_target(what, "at least 10", got >= 10, got))
        got = min((case["updates_in_windows"] / max(1.0, case["reads"]) for case in some), default=np.nan)
        found.append(_target(f"{kind}: raw reads fewer than updates in windows, times", "at least 10", got >= 10, got))
        least = min((case["objects"] for case in some), default=0)
        history = {c["reach_s"]: c["step_s"] for c in some if (c["objects"], c["predicates"]) == (least, usual)}
        got = history.get(2 * REACH_S, np.nan) / history.get(REACH_S // 2, np.nan)
        found.append(_target(f"{kind}: a step over four times the history, times", "at most 2", got <= 2, got))
    return found


def _target(what: str, wanted: str, met: bool, got: float) -> dict[str, Any]:
    return {"what": what, "wanted": wanted, "got": float(got), "met": bool(met)}


if __name__ == "__main__":
    typer.run(main)
