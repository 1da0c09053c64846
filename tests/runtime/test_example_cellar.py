"""Stations by hand over a store: pages of updates are read when they are asked for, and go when their time is over."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests import oracle
from tests.engine.drive import expect, table
from tests.oracle.compare import read_changes
from tests.paged_stories import paged_story, small_pages
from tests.runtime.by_hand import Cluster, brief
from tests.strategies import Raw, Story
from vedette.pipeline import state
from vedette.pipeline.patterns import saving
from vedette.pipeline.patterns.pages import NUMBER
from vedette.runtime.stations import CHANGES, Sections, changes_in, pack_commands, pack_end, pack_updates

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
TRACK = 0
NEAREST = "CREATE PATTERN p AS DIST (0, 0) BETWEEN {a} AND {b} AGO LOWEST 1 EVERY 1;"


def row(oid: str, t: int, x: float) -> Raw:
    return {"oid": oid, "t": t, "x": x, "y": 0.0, "speed": None, "load": None, "type": None, "ok": None}


def batch(cluster: Cluster, story: Story, rows: list[Raw]) -> list[oracle.Change]:
    return changes(cluster, cluster.batch(pack_updates(cluster.brief, table(story, rows), (0, 0))))


def changes(cluster: Cluster, out: dict[str, list[bytes]]) -> list[oracle.Change]:
    """Those of a batch, in time order."""
    tables = (t for payload in out[CHANGES] for t in changes_in(payload, cluster.brief.intake))
    found = [change for t in tables for change in read_changes(t)]
    return sorted(found, key=lambda c: (c.t, c.query, str(c.oid), c.sign))


def in_directory(sections: Sections) -> set[str]:
    """The pages that a saved bucket speaks of."""
    _, arrays = state.decode("patterns", saving.VERSION, sections["PATTERN/columns"])
    return {f"PATTERN/page.{number}" for number in arrays["directory"][:, NUMBER].tolist()}


def assert_in_step(cluster: Cluster) -> None:
    """In each cellar lie exactly the pages that the sections of its key speak of."""
    for place, sections in cluster.store.items():
        speaks = place[0] == TRACK and "PATTERN/columns" in sections
        assert set(cluster.cellars[place]) == (in_directory(sections) if speaks else set())


def test_example_a_restored_station_reads_what_is_asked_for() -> None:
    """Objects at 1, 2, 3... from the point, long ago; whoever is nearest at an instant is measured, and nobody else."""
    story = Story(queries=[NEAREST.format(a=100, b=50)], resident_updates=1)
    cluster = Cluster(brief(story, 1, 1), random.Random(1), forgets=1.0)
    objects = [f"o{n:02d}" for n in range(30)]
    with small_pages():
        for t in range(4):
            batch(cluster, story, [row(oid, t, n + 1.0) for n, oid in enumerate(objects)])
        cellar = cluster.cellars[TRACK, 0]
        assert len(cellar) >= 30
        assert cellar.reads == 0
        for t in range(4, 50):
            assert batch(cluster, story, [row("late", t, 999.0)]) == []
        assert cellar.reads == 0  # 46 times it was restored, and no instant has reached the pages
        told = batch(cluster, story, [row("late", 51, 999.0)])
        assert [(c.t, c.oid, c.value) for c in told] == [(50, "o00", 1.0)]
        assert 0 < cellar.reads < len(cellar) / 2  # boxes settle most objects
    assert_in_step(cluster)


@KINDS
def test_agrees_a_store_that_does_not_grow(kind: str) -> None:
    """A long stream: pages whose times nobody can ask for any more are dropped, and sections stay small."""
    story = paged_story(kind, 4, ticks=400)
    cluster = Cluster(brief(story, 2, 1), random.Random(2), forgets=0.3)
    told, pages, sizes, most = [], [], [], 0
    with small_pages():
        for rows, _ in story.batches:
            told += batch(cluster, story, rows)
            assert_in_step(cluster)
            pages.append(sum(map(len, cluster.cellars.values())))
            sizes.append(sum(len(data) for values in cluster.cellars.values() for data in values.values()))
            most = max(
                [most, *(int(name.rpartition(".")[2]) for values in cluster.cellars.values() for name in values)]
            )
        told += changes(cluster, cluster.batch(pack_end(cluster.brief)))
        assert_in_step(cluster)
    quarter = len(pages) // 4
    for each in (pages, sizes):
        assert 0 < max(each[-quarter:]) <= 1.25 * max(each[quarter : 2 * quarter])
    assert most > 4 * max(pages)  # many more have been written
    oracle.assert_same_changes(told, expect(story))


def test_example_what_the_end_writes_and_drops_is_not_kept() -> None:
    """The end closes ticks: it drops old pages and writes new ones. More input follows, and nothing of that was."""
    story = Story(queries=[NEAREST.format(a=3, b=1)], lateness=9, resident_updates=1)
    rows = [[row(f"o{n}", t, abs(10.0 * n - t)) for n in range(4)] for t in range(40)]
    with small_pages():
        ended, other = (Cluster(brief(story, 1, 1), random.Random(3), forgets=0.0) for _ in range(2))
        closed = 0
        for t, each in enumerate(rows):
            assert batch(ended, story, each) == batch(other, story, each)
            if t > 12 and t % 4 == 0:
                assert ended.cellars[TRACK, 0]
                closed += len(changes(ended, ended.batch(pack_end(ended.brief))))
                assert_in_step(ended)
    assert closed


def test_example_patterns_that_go_leave_no_pages() -> None:
    story = Story(queries=[NEAREST.format(a=9, b=1)], resident_updates=1)
    cluster = Cluster(brief(story, 1, 1), random.Random(4), forgets=0.5)
    with small_pages():
        for t in range(8):
            batch(cluster, story, [row("a", t, 1.0), row("b", t, float(t))])
        assert cluster.cellars[TRACK, 0]
        cluster.batch(pack_commands(cluster.brief, [("0", "DROP PATTERN p;")]))
        batch(cluster, story, [row("a", 8, 1.0)])
        batch(cluster, story, [row("a", 9, 1.0)])
        assert not cluster.cellars[TRACK, 0]
        cluster.batch(pack_commands(cluster.brief, [("1", story.queries[0])]))
        for t in range(10, 18):  # pages with the numbers of those that went
            batch(cluster, story, [row("a", t, 1.0), row("b", t, float(t))])
    assert cluster.cellars[TRACK, 0]
    assert_in_step(cluster)


def test_example_another_number_of_updates_after_a_restart() -> None:
    """It is not pinned: each process may give another one."""
    story = paged_story("planar", 6, ticks=60)
    cluster, told = Cluster(brief(story, 2, 1), random.Random(5)), []
    with small_pages():
        for n, (rows, _) in enumerate(story.batches):
            one = replace(story, resident_updates=(1, 5, 2, 1 << 20, 3)[n % 5])
            cluster = Cluster(brief(one, 2, 1), random.Random(n), store=cluster.store, cellars=cluster.cellars)
            told += batch(cluster, story, rows)
            assert_in_step(cluster)
        told += changes(cluster, cluster.batch(pack_end(cluster.brief)))
    oracle.assert_same_changes(told, expect(story))
