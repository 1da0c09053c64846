"""Stations by hand: amended orders, refused commands, another cut, and a state that follows what is alive."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

import vedette as vd
from tests.engine.drive import table
from tests.oracle.compare import read_changes
from tests.runtime.by_hand import Cluster, brief
from tests.strategies import Raw, Story
from vedette.runtime.stations import CHANGES, REFUSED, changes_in, pack_commands, pack_updates

STORY = Story(queries=["CREATE QUERY q AS SELECT oid FROM objects INSIDE (0, 0, 10, 10);"])


def row(oid: str, t: int, x: float, y: float = 5.0) -> Raw:
    return {"oid": oid, "t": t, "x": x, "y": y, "speed": None, "load": None, "type": None, "ok": None}


def batch(cluster: Cluster, story: Story, *rows: Raw, commands: tuple[str, ...] = ()) -> dict[str, list[bytes]]:
    parcels = list(pack_updates(cluster.brief, table(story, rows), (0, 0)))
    if commands:
        parcels += pack_commands(cluster.brief, [(f"{n}", sql) for n, sql in enumerate(commands)])
    return cluster.batch(parcels)


def changes(out: dict[str, list[bytes]]) -> list[tuple[str, int, int, object]]:
    tables = [t for p in out[CHANGES] for t in changes_in(p, brief(STORY, 1, 1).intake)]
    return sorted((c.query, c.t, c.sign, c.oid) for t in tables for c in read_changes(t))


def test_example_other_orders_after_a_restart_take_the_place_of_the_old_ones() -> None:
    first = Cluster(brief(STORY, 2, 2), random.Random(1))
    batch(first, STORY, row("a", 0, 5), row("b", 0, 50))
    batch(first, STORY, row("a", 1, 5))
    other = brief(STORY, 2, 2, ["CREATE QUERY r AS SELECT oid FROM objects INSIDE (40, 0, 60, 10);"])
    second = Cluster(other, random.Random(2), store=first.store)
    assert changes(batch(second, STORY, row("a", 2, 6))) == [("q", 1, -1, "a"), ("r", 1, 1, "b")]
    assert changes(batch(second, STORY, row("a", 9, 6))) == []


def test_example_a_bad_command_is_refused_once_and_stops_nothing() -> None:
    cluster = Cluster(brief(STORY, 3, 2), random.Random(1))
    out = batch(cluster, STORY, row("a", 0, 5), commands=("DROP QUERY nobody;", "DROP QUERY q;"))
    (refused,) = [each for payload in out[REFUSED] for each in json.loads(payload)]
    assert refused["sql"] == "DROP QUERY nobody;"
    assert "there is no query nobody" in refused["reason"]
    assert changes(batch(cluster, STORY, row("a", 1, 5))) == []


def test_example_another_lateness_is_refused() -> None:
    first = Cluster(brief(STORY, 1, 1), random.Random(1))
    batch(first, STORY, row("a", 0, 5))
    second = Cluster(brief(replace(STORY, lateness=3), 1, 1), random.Random(1), store=first.store)
    with pytest.raises(vd.StateError, match="lateness = 0, this run has lateness = 3"):
        batch(second, STORY, row("a", 1, 5))


@pytest.mark.parametrize(("buckets", "regions", "told"), [(3, 2, "buckets = 2, .* buckets = 3"), (2, 4, "regions=2")])
def test_example_another_cut_is_refused(buckets: int, regions: int, told: str) -> None:
    first = Cluster(brief(STORY, 2, 2), random.Random(1))
    batch(first, STORY, row("a", 0, 5))
    second = Cluster(brief(STORY, buckets, regions), random.Random(1), store=first.store)
    with pytest.raises(vd.StateError, match=told):
        batch(second, STORY, row("a", 1, 5))


def test_oracle_the_state_follows_what_is_alive() -> None:
    """A steady stream of objects that come and go: after 500 batches the state is as large as after 100."""
    queries = [
        *STORY.queries,
        "CREATE QUERY near AS SELECT oid FROM objects KNN (5, 5, 5);",
        "CREATE QUERY stay AS SELECT COUNT(*) FROM objects INSIDE CIRCLE (50, 5, 30) DWELL 2 GRACE 3;",
        "CREATE QUERY most AS SELECT MAX(speed) FROM objects WHERE speed > 1 INSIDE (0, 0, 70, 10);",
    ]
    story = replace(STORY, queries=queries, timeout=4, lateness=1)
    chance = random.Random(3)
    cluster = Cluster(brief(story, 2, 3), chance, forgets=0.1)
    sizes = []
    for t in range(500):
        rows = [row(f"object-{t}-{n}", t, chance.uniform(0, 100)) for n in range(20)]  # each is heard of twice
        rows += [row(f"object-{t - 1}-{n}", t, chance.uniform(0, 100)) for n in range(20)] if t else []
        batch(cluster, story, *rows)
        sizes.append(sum(len(data) for sections in cluster.store.values() for data in sections.values()))
    early, late = sum(sizes[90:110]) / 20, sum(sizes[480:]) / 20
    assert abs(late / early - 1) < 0.1
