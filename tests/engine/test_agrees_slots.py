"""Objects that come and go under motion patterns: their numbers go to others, and what is kept does not grow."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

import vedette as vd
from tests import oracle
from tests.engine import seeded
from tests.engine.drive import expect, play, table, watch_of
from tests.oracle.compare import read_changes
from tests.strategies import Raw, Story
from vedette.kernels.motion.tables import AGENDA, BASE, BOXES, ROWS, SETS, SPAN_TOP, SPANS, UPDATES
from vedette.pipeline.patterns import memory
from vedette.pipeline.patterns.memory import Memory
from vedette.pipeline.patterns.track import PatternTrack
from vedette.pipeline.track import Track

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
LIVE, TIMEOUT = 6, 3  # objects at once; ticks
BATCH = 28


def passing_by(kind: str, seed: int, ticks: int, come_back: bool = True) -> Story:
    """A few objects at once, each for some ticks, then others take their places; some come back much later."""
    chance = random.Random(seed)
    x, y = ("x", "y") if kind == "planar" else ("lon", "lat")
    origin = (0.0, 0.0) if kind == "planar" else (177.0, -2.0)
    rows: list[Raw] = []
    ids = iter(range(10**9))
    here: dict[str, int] = {}
    for t in range(ticks):
        while len(here) < LIVE:
            n = next(ids)
            oid = f"o{chance.randrange(n + 1) if come_back and chance.random() < 0.2 else n}"
            here[oid] = t + chance.randrange(2, 12)
        for oid, until in list(here.items()):
            if t >= until:
                del here[oid]
            if chance.random() < 0.6:
                place = [start + chance.choice([chance.randrange(7), chance.uniform(0, 6)]) for start in origin]
                row = {"oid": oid, "t": t, x: place[0], y: place[1], "load": chance.randrange(4)}
                rows.append(row | {"speed": chance.choice([None, chance.random()]), "type": None, "ok": None})
    rows.sort(key=lambda row: row["t"] + chance.randrange(3))
    regions = [sql for sql in seeded.story(kind, seed, ticks=1).queries if sql.startswith("CREATE REGION")]
    # whoever satisfies a first step without a window is remembered for ever
    forgetful = [each for each in seeded.PATTERNS if " BETWEEN " in each.split(" THEN ")[0]]
    patterns = [f"CREATE PATTERN p{n} AS {each.format(**seeded.PLACE[kind])};" for n, each in enumerate(forgetful)]
    batches: list[tuple[list[Raw], list[str]]] = [(rows[n : n + BATCH], []) for n in range(0, len(rows), BATCH)]
    return Story(kind=kind, queries=[*regions, *patterns], batches=batches, lateness=1, timeout=TIMEOUT)


def tracks(run: vd.LocalRun) -> list[Track]:
    return run._tracks


def memory_of(track: Track) -> Memory:
    (part,) = track._parts.values()
    assert isinstance(part, PatternTrack)
    return part.memory


@pytest.fixture
def eager() -> Iterator[None]:
    """What has passed is forgotten as soon as there is any of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "SWEEP_SLACK", 0)
        yield


@KINDS
@pytest.mark.parametrize(("seed", "buckets"), [(1, 1), (2, 2), (3, 3)])
def test_slots_that_are_given_to_others(eager: None, kind: str, seed: int, buckets: int) -> None:
    """With a timeout slots are given away, without one never: patterns do not mind timeouts, so both say the same."""
    story = passing_by(kind, seed, ticks=150)
    others = len({row["oid"] for rows, _ in story.batches for row in rows})
    for timeout, is_reused in ((TIMEOUT, True), (None, False)):
        run = vd.local(watch_of(replace(story, timeout=timeout), buckets, regions=2))
        told = [run.feed(table(story, rows)) for rows, _ in story.batches]
        changes = [change for part in (*told, run.finish()) for change in read_changes(part)]
        oracle.assert_same_changes(changes, expect(story))
        slots = sum(track._ids.span for track in tracks(run))
        assert slots < others / 2 if is_reused else slots == others


@KINDS
def test_slots_given_to_others_in_saved_state(eager: None, kind: str) -> None:
    story = passing_by(kind, 4, ticks=150)
    played = play(story, buckets=2, saved_before=lambda n: n % 3 == 1)
    oracle.assert_same_changes(played.changes, expect(story))


@KINDS
def test_bounded_state(kind: str) -> None:
    """All that is kept is as large in the middle of a long stream as at its end, although all objects are others."""
    story = passing_by(kind, 5, ticks=3000, come_back=False)
    run, sizes = vd.local(watch_of(story)), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "SWEEP_SLACK", 64)
        for rows, _ in story.batches:
            run.feed(table(story, rows))
            (track,) = tracks(run)
            sizes.append(size_of(track))
    quarter = len(sizes) // 4
    middle = {name: max(size[name] for size in sizes[quarter : 2 * quarter]) for name in sizes[0]}
    end = {name: max(size[name] for size in sizes[-quarter:]) for name in sizes[0]}
    assert all(middle.values())
    assert {name: n for name, n in end.items() if n > 1.25 * middle[name]} == {}


def size_of(track: Track) -> dict[str, int]:
    """How much of everything there is, and how much room is held for it."""
    memory, found = memory_of(track), {"slots": track._ids.span}
    cells = {"rows": ROWS, "sets": SETS, "spans": SPANS, "numbers of spans": SPAN_TOP, "boxes": BOXES, "agenda": AGENDA}
    found |= {name: int(memory.count[cell]) for name, cell in cells.items()}
    found["updates"] = int(memory.count[UPDATES] - memory.count[BASE])
    names = ("rows", "sets", "spans", "boxes", "updates", "agenda", "told", "places", "objects", "words", "times")
    found |= {f"room for {name}": len(getattr(memory, name)) for name in names}
    return found | {"bytes saved": sum(map(len, track.save().values()))}
