"""However the stream and the work are cut, saved and paged, motion patterns say the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.engine import seeded
from tests.engine.drive import expect, play
from tests.pattern_stories import pattern_stories
from tests.strategies import Story, Wanted
from tests.trigger_stories import one_in
from vedette.pipeline.patterns import memory, pages

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
STREAM = Wanted(timeouts=True, commands=True, timestamps=True, max_rows=40)


@KINDS
@one_in(6)
@given(data=st.data())
def test_any_buckets_regions_and_saves(kind: str, data: st.DataObject) -> None:
    story = data.draw(pattern_stories(kind, wanted=STREAM))
    buckets, regions = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    saved = data.draw(st.sets(st.integers(0, len(story.batches))))
    played = play(story, buckets=buckets, regions=regions, saved_before=saved.__contains__)
    oracle.assert_same_changes(played.changes, expect(story))


def in_one_batch(story: Story) -> Story:
    flat = sorted((row for rows, _ in story.batches for row in rows), key=lambda row: row["t"])
    return replace(story, batches=[(flat, [])], lateness=0)


@KINDS
@one_in(6)
@given(data=st.data())
def test_any_batches(kind: str, data: st.DataObject) -> None:
    story = data.draw(pattern_stories(kind, wanted=STREAM.but(commands=False)))
    oracle.assert_same_changes(play(story).changes, play(in_one_batch(story)).changes)


@KINDS
@one_in(6)
@given(data=st.data())
def test_updates_in_pages(kind: str, data: st.DataObject) -> None:
    """Two updates in memory, all others on pages of three."""
    story = data.draw(pattern_stories(kind, wanted=STREAM))
    saved = data.draw(st.sets(st.integers(0, len(story.batches))))
    with small_memory():
        played = play(story, saved_before=saved.__contains__)
    oracle.assert_same_changes(played.changes, expect(story))


LIMITS = (
    "DIST ({x}, {y}) BETWEEN 9 AND 3 AGO SCORE <= {d} EVERY 1",
    "DIST ({x}, {y}) ALWAYS BETWEEN 12 AND 5 AGO THEN INSIDE {box} BETWEEN 4 AND 0 AGO SCORE >= {d} EVERY 2",
    "DIST {near} BETWEEN 20 AND 1 AGO THEN DIST ({x}, {y}) ALWAYS BETWEEN 7 AND 2 AGO SCORE <= {e} EVERY 1",
)


@KINDS
@pytest.mark.parametrize("saves", [False, True])
def test_pages_are_read_back(kind: str, saves: bool) -> None:
    """A longer stream of which hardly anything stays in memory: pages are opened again and again, and forgotten."""
    story = seeded.story(kind, 5, ticks=90)
    patterns = [each.format(**seeded.PLACE[kind]) for each in (*seeded.EXTREMES, *LIMITS)]
    regions = [sql for sql in story.queries if sql.startswith("CREATE REGION")]
    queries = [*regions, *(f"CREATE PATTERN m{n} AS {each};" for n, each in enumerate(patterns))]
    story = replace(story, queries=queries)
    with small_memory():
        played = play(story, buckets=2, saved_before=lambda n: saves and n % 2 == 1)
    assert played.totals["pattern_pages"] > 100
    assert {change.query for change in played.changes} == {f"m{n}" for n in range(len(patterns))}
    oracle.assert_same_changes(played.changes, expect(story))


@contextmanager
def small_memory() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "CAP", 2)
        patch.setattr(pages, "PAGE_ROWS", 3)
        patch.setattr(pages, "OPEN_PAGES", 2)
        yield
