"""However the stream and the work are cut, saved and paged, motion patterns say the same."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vedette as vd
from tests import oracle
from tests.engine.drive import expect, play, table, watch_of
from tests.oracle.compare import read_changes
from tests.paged_stories import MEASURED, paged_story, small_pages
from tests.pattern_stories import pattern_stories
from tests.strategies import Story, Wanted
from tests.trigger_stories import one_in
from vedette.pipeline import state
from vedette.pipeline.cellar import MemoryCellar
from vedette.pipeline.patterns import memory, pages, saving

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
    """A few updates in memory, now more of them, now fewer; all others on pages of three."""
    story = data.draw(pattern_stories(kind, wanted=STREAM))
    saved = data.draw(st.sets(st.integers(0, len(story.batches))))
    resident = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    with small_pages():
        played = play_in_turn(story, saved, resident)
    oracle.assert_same_changes(played, expect(story))


def play_in_turn(story: Story, saved: set[int], resident: list[int]) -> list[oracle.Change]:
    """From each saved state on with another number of updates in memory."""
    turns = itertools.cycle(replace(story, resident_updates=count) for count in resident)
    watch = watch_of(next(turns))
    run, found = vd.local(watch), []
    for n, (rows, commands) in enumerate(story.batches):
        if n in saved:
            watch.resident_updates = next(turns).resident_updates
            run = vd.local(watch, state=run.save())
        for sql in commands:
            watch.add(sql)
        found += read_changes(run.feed(table(story, rows)))
    return [*found, *read_changes(run.finish())]


@KINDS
@pytest.mark.parametrize("saves", [False, True])
def test_pages_are_read_back(kind: str, saves: bool) -> None:
    """A longer stream of which hardly anything stays in memory: pages are opened again and again, and forgotten."""
    story = paged_story(kind, 5)
    with small_pages():
        played = play(story, buckets=2, saved_before=lambda n: saves and n % 2 == 1)
    assert played.totals["pattern_pages"] > 100
    assert {change.query for change in played.changes} == {f"m{n}" for n in range(len(MEASURED))}
    oracle.assert_same_changes(played.changes, expect(story))


@KINDS
def test_updates_are_written_once(kind: str) -> None:
    """Saved after every batch, updates that all stay in memory are put into pages once, and read from there."""
    story = paged_story(kind, 5)
    written: list[tuple[int, int]] = []
    put = MemoryCellar.put

    def counted(cellar: MemoryCellar, name: str, data: bytes) -> None:
        _, page = state.decode("page", pages.VERSION, data)
        written.extend(zip(page["object"].tolist(), page["t"].tolist(), strict=True))
        put(cellar, name, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "WRITTEN_AHEAD", 8)
        patch.setattr(pages, "PAGE_ROWS", 16)
        with patch.context() as counting:
            counting.setattr(MemoryCellar, "put", counted)
            run = vd.local(watch_of(story))
            for rows, _ in story.batches:
                run.feed(table(story, rows))
                run.save()
        (track,) = run._tracks
        _, columns = state.decode("patterns", saving.VERSION, track.save()["PATTERN/columns"])
        assert len(columns["updates.t"]) <= 8
        assert len(set(written)) == len(written) > 100
        played = play(story, saved_before=lambda n: True)
    assert played.totals["pattern_pages"] > 10
    oracle.assert_same_changes(played.changes, expect(story))
