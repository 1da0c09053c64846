"""What `triggers.py` measures: a stream of buoys, and triggers that fire about as often as they are told to.

The stream is the TAO archive (daily readings of 78 buoys, many of them null) one copy after the other, each later by
the length of the archive. The triggers are templates with random attributes and distances; their thresholds are
quantiles, moved until one copy of the stream gives the wanted number of alerts. The seed decides everything.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import vedette as vd

FILE = "tao.parquet"
ATTRIBUTES = ("zon_winds", "mer_winds", "humidity", "air_temp", "sst")
TEMPLATES = ("two", "three", "set", "same buoy", "four", "about the same time", "three", "pair and one")
ROUNDS, CLOSE = 8, 0.15  # of calibration: at most so many, or until the logarithm is that close
LEAST, MOST = 2e-4, 0.95  # share of readings that a threshold lets through
GAP_DAYS = 400  # between copies: no trigger spans two of them


def data_file() -> Path:
    """Where the archive should be: VEDETTE_DATA, or ../shared/data beside the repository, as for the tests."""
    folder = os.environ.get("VEDETTE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(folder) / FILE


class Buoys:
    """The stream without end. `rows`: how many a copy has."""

    def __init__(self) -> None:
        self.archive = pq.read_table(data_file()).replace_schema_metadata(None)
        t = self.archive["t"].cast(pa.timestamp("ms", "UTC"))
        self.archive = self.archive.set_column(self.archive.schema.get_field_index("t"), "t", t)
        self.rows = self.archive.num_rows
        self.length = pc.max(t).as_py() - pc.min(t).as_py() + np.timedelta64(GAP_DAYS, "D").item()

    def copy(self, number: int) -> pa.Table:
        """The archive, `number` lengths later."""
        t = pc.add(self.archive["t"], pa.scalar(number * self.length, pa.duration("ms")))
        return self.archive.set_column(self.archive.schema.get_field_index("t"), "t", t)

    def batches(self, parts: int) -> Iterator[pa.Table]:
        """Copies one after the other, each in so many batches."""
        rows = -(-self.rows // parts)
        number = 0
        while True:
            table = self.copy(number).combine_chunks()
            yield from (table.slice(start, rows) for start in range(0, self.rows, rows))
            number += 1


@dataclass(frozen=True)
class Set:
    """How many triggers, alerts of each per event, and days from the first to the last event of a tuple."""

    triggers: int
    verbosity: float = 0.01
    days: int = 12
    seed: int = 1


@dataclass(frozen=True)
class Draft:
    """A trigger whose thresholds are not fixed yet: for each variable an attribute and a side; `share` gets through."""

    template: str
    watched: tuple[tuple[str, str], ...]
    km: int
    apart: bool
    share: float = 0.015

    @property
    def events(self) -> int:
        """Of a tuple."""
        return {"two": 2, "same buoy": 2, "about the same time": 2, "four": 4}.get(self.template, 3)


def drafts(wanted: Set) -> list[Draft]:
    """The first n of a bigger set are the n of a smaller one."""
    found = []
    for n in range(wanted.triggers):
        random = np.random.default_rng([wanted.seed, n])
        sides = random.integers(2, size=len(ATTRIBUTES))  # of an attribute the same for all events: high, then high
        watched = tuple((ATTRIBUTES[a], "<>"[sides[a]]) for a in random.integers(len(ATTRIBUTES), size=4))
        km, apart = int(random.integers(4, 16)) * 100, bool(random.integers(2))
        found.append(Draft(TEMPLATES[n % len(TEMPLATES)], watched, km, apart))
    return found


def threshold(draft: Draft, n: int, quantiles: dict[str, Any]) -> tuple[str, str, float]:
    """What the condition on the n-th event compares."""
    attribute, side = draft.watched[n]
    at = draft.share if side == "<" else 1 - draft.share
    return attribute, side, round(float(np.interp(at, *quantiles[attribute])), 4)


def written(name: str, draft: Draft, days: int, quantiles: dict[str, Any], strategy: str | None) -> str:
    """The statement."""

    def over(variable: str, n: int) -> str:
        attribute, side, value = threshold(draft, n, quantiles)
        return f"{variable}.{attribute} {side} {value}"

    def steps(variables: str) -> list[str]:
        most = max(1, days // (len(variables) - 1))
        said = [over(v, n) for n, v in enumerate(variables)]
        for a, b in pairwise(variables):
            said.append(f"{b}.t - {a}.t IN [1 D, {most} D] AND DISTANCE({a}, {b}) < {draft.km} KM")
            said += [f"{a}.oid <> {b}.oid"] if draft.apart else []
        return said

    near = f"< {draft.km} KM"
    match draft.template:
        case "two" | "three" | "four":
            names = "abcd"[: draft.events]
            said = steps(names)
            events = ", ".join(f"E AS {v}" for v in names)
        case "set":
            events = "3 E AS v"
            said = [over("v", 0), f"SPAN(v) <= {days} D", f"DISTANCE(v, v) {near}", "v.oid <> v.oid"]
        case "same buoy":
            events = "E AS a, E AS b"
            said = [over("a", 0), over("b", 1), "a.oid = b.oid", f"a BEFORE b WITHIN {days} D"]
        case "about the same time":
            events, half = "E AS a, E AS b", max(1, days // 2)
            said = [over("a", 0), over("b", 1), f"b.t - a.t IN [-{half} D, {half} D]", f"DISTANCE(a, b) {near}"]
        case _:
            events, half = "2 E AS v, E AS w", max(1, days // 2)
            said = [over("v", 0), over("w", 1), f"SPAN(v) <= {half} D", f"DISTANCE(v, v) {near}"]
            said += [f"w.t - v.t IN [1 D, {half} D]", f"DISTANCE(v, w) {near}"]
    using = f" USING {strategy}" if strategy else ""
    return f"CREATE TRIGGER {name} FOR {events} WHEN {' AND '.join(said)}{using};"


def quantiles_of(table: pa.Table) -> dict[str, Any]:
    """By attribute: levels and the values at them."""
    levels = np.linspace(0, 1, 2001)
    return {name: (levels, np.nanquantile(table[name].to_numpy(), levels)) for name in ATTRIBUTES}


def calibrated(wanted: Set) -> tuple[list[Draft], list[float]]:
    """Drafts with such shares that each gives about `verbosity` alerts per event, and what each of them gives.

    More of the readings, more alerts: halved between what was too little and what was too much, once both are known.
    """
    buoys = Buoys()
    table, quantiles = buoys.copy(0), quantiles_of(buoys.archive)
    found = drafts(wanted)
    bounds = [[LEAST, MOST] for _ in found]
    best = [(math.inf, draft, 0.0) for draft in found]
    for _ in range(ROUNDS):
        open_ = [n for n in range(len(found)) if best[n][0] > CLOSE]
        if not open_:
            break
        sql = "\n".join(written(f"q{n}", found[n], wanted.days, quantiles, None) for n in open_)
        run = vd.local(vd.Watch(space=vd.lonlat(), queries=sql))
        told = pc.value_counts(pa.concat_tables([run.feed(table), run.finish()])["query"]).to_pylist()
        alerts = {each["values"]: each["counts"] for each in told}
        for n in open_:
            draft = found[n]
            ratio = wanted.verbosity * buoys.rows / max(alerts.get(f"q{n}", 0), 0.5)
            best[n] = min(best[n], (abs(math.log(ratio)), draft, wanted.verbosity / ratio), key=lambda b: b[0])
            bounds[n][ratio < 1] = draft.share
            share = draft.share * min(max(ratio ** (1 / draft.events), 0.4), 1.6)
            low, high = bounds[n]
            found[n] = replace(draft, share=share if low < share < high else math.sqrt(low * high))
    return [draft for _, draft, _ in best], [verbosity for *_, verbosity in best]


def text(found: list[Draft], days: int, quantiles: dict[str, Any], strategy: str | None) -> str:
    """All statements."""
    return "\n".join(written(f"q{n}", draft, days, quantiles, strategy) for n, draft in enumerate(found))
