"""Drives the stations by hand, as badly as a cluster could: parts in any order, stations that forget and are restored.

In: a `Story`, how it is cut, and a source of chance. Out: a `Played`, as the local engine gives it.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tests.engine.drive import Played, table, watch_of
from tests.oracle.compare import read_changes
from tests.strategies import Story
from vedette.pipeline.intake import bind
from vedette.runtime.brief import Brief, brief_of
from vedette.runtime.stations import (
    CHANGES,
    LATE,
    METRICS,
    REFUSED,
    REJECTS,
    AnswerStation,
    Parcel,
    RegionStation,
    Sections,
    Station,
    TrackStation,
    changes_in,
    from_ipc,
    pack_commands,
    pack_end,
    pack_updates,
)

STAGES: tuple[type[Any], ...] = (TrackStation, RegionStation, AnswerStation)
COUNTS = ("updates", "late", "late_applied", "duplicates")


class Values(dict[str, bytes]):
    """What a state store holds of the cellar of a key, whatever becomes of stations; counts what is read."""

    reads = 0


class Visit:
    """The cellar as a station may use it in one step. Whoever uses it wrongly, or later, hears of it."""

    def __init__(self, values: Values) -> None:
        self._values: Values | None = values

    @property
    def values(self) -> Values:
        assert self._values is not None, "the step is over"
        return self._values

    def put(self, name: str, data: bytes) -> None:
        assert name not in self.values, f"{name} is put twice"
        self.values[name] = data

    def get(self, name: str) -> bytes:
        assert name in self.values, f"{name} is read and not there"
        self.values.reads += 1
        return self.values[name]

    def drop(self, name: str) -> None:
        assert name in self.values, f"{name} is dropped and not there"
        del self.values[name]

    def close(self) -> None:
        self._values = None


@dataclass
class Cluster:
    """Stations by stage and key, with the sections and the values of cellars that a state store would hold."""

    brief: Brief
    chance: random.Random
    forgets: float = 0.0
    stations: dict[tuple[int, int], Station] = field(default_factory=dict)
    store: dict[tuple[int, int], Sections] = field(default_factory=dict)
    cellars: dict[tuple[int, int], Values] = field(default_factory=lambda: defaultdict(Values))

    def batch(self, parcels: Iterable[Parcel]) -> dict[str, list[bytes]]:
        """One micro-batch through all stages; what comes out, by kind."""
        on_the_way = list(parcels)
        for stage in range(len(STAGES)):
            by_key: dict[int, list[tuple[str, bytes]]] = defaultdict(list)
            self.chance.shuffle(on_the_way)
            for key, kind, payload in on_the_way:
                by_key[key].append((kind, payload))
            on_the_way = [parcel for key in by_key for parcel in self._step(stage, key, by_key[key])]
        out: dict[str, list[bytes]] = defaultdict(list)
        for _, kind, payload in on_the_way:
            out[kind].append(payload)
        return out

    def _step(self, stage: int, key: int, parcels: list[tuple[str, bytes]]) -> list[Parcel]:
        place = (stage, key)
        if place not in self.stations or self.chance.random() < self.forgets:
            self.stations[place] = STAGES[stage](self.brief, key)
            if self.store.get(place):
                self.stations[place].load(self.store[place])
        station = self.stations[place]
        station.cellar = visit = Visit(self.cellars[place])
        out = station.step(parcels)
        self.store[place] = station.save()
        visit.close()
        if station.is_final:
            del self.stations[place]
        return out


def brief(story: Story, buckets: int, regions: int, queries: list[str] | None = None) -> Brief:
    """The brief of a story, perhaps with other queries."""
    from dataclasses import replace

    story = story if queries is None else replace(story, queries=queries)
    watch = watch_of(story)
    return brief_of(watch, bind(table(story, []).schema, watch.space, watch.columns), buckets, regions)


def play_by_hand(story: Story, chance: random.Random, *, buckets: int, regions: int, forgets: float = 0.5) -> Played:
    """All batches, each in several parts, then the end."""
    cluster = Cluster(brief(story, buckets, regions), chance, forgets)
    outs = []
    for rows, commands in story.batches:
        parcels: list[Parcel] = []
        parts = chance.randint(1, 3)
        for part in range(parts):
            parcels += pack_updates(cluster.brief, table(story, list(rows)[part::parts]), (part, 0))
        for n, sql in enumerate(commands):
            parcels += pack_commands(cluster.brief, [(f"{n:03d}", sql)])
        if chance.random() < 0.3:  # an end that more input follows is void
            cluster.batch(pack_end(cluster.brief))
        if not rows and chance.random() < 0.5:  # commands that come with an end are taken, the end is void all the same
            cluster.batch([*parcels, *pack_end(cluster.brief)])
            outs.append(cluster.batch([]))
            continue
        outs.append(cluster.batch(parcels))
    outs.append(cluster.batch(pack_end(cluster.brief)))
    return gathered(cluster.brief, outs)


def gathered(brief: Brief, outs: list[dict[str, list[bytes]]]) -> Played:
    """Everything that came out, as the local engine tells it."""
    intake = brief.intake
    assert not any(out[REFUSED] for out in outs)
    counts = [[json.loads(p) for p in out[METRICS]] for out in outs]
    totals: dict[str, Any] = {n: sum(c.get(n, 0) for batch in counts for c in batch) for n in COUNTS}
    feeds = [[c for p in out[CHANGES] for t in changes_in(p, intake) for c in read_changes(t)] for out in outs]
    feeds = [sorted(feed, key=lambda c: c.t) for feed in feeds]
    late = pa.concat_tables([intake.table(intake.empty()), *(from_ipc(p) for out in outs for p in out[LATE])])
    rejects = pa.concat_tables([from_ipc(p) for out in outs for p in out[REJECTS]] or [intake.source.empty_table()])
    totals |= {"changes": sum(map(len, feeds)), "rejects": rejects.num_rows, "batches": len(outs)}
    totals["frontier"] = max((c["frontier"] for batch in counts for c in batch if "frontier" in c), default=None)
    return Played(feeds, late, rejects, totals)
