"""Stories under motion patterns that measure, of which hardly any update stays in memory.

In: a kind of space, a seed. Out: a `Story` that keeps few updates in memory; `small_pages` cuts the others into pages
of three of which two are open at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.engine import seeded
from tests.strategies import Story
from vedette.pipeline.patterns import pages

LIMITS = (
    "DIST ({x}, {y}) BETWEEN 9 AND 3 AGO SCORE <= {d} EVERY 1",
    "DIST ({x}, {y}) ALWAYS BETWEEN 12 AND 5 AGO THEN INSIDE {box} BETWEEN 4 AND 0 AGO SCORE >= {d} EVERY 2",
    "DIST {near} BETWEEN 20 AND 1 AGO THEN DIST ({x}, {y}) ALWAYS BETWEEN 7 AND 2 AGO SCORE <= {e} EVERY 1",
)
MEASURED = (*seeded.EXTREMES, *LIMITS)


def paged_story(kind: str, seed: int, ticks: int = 90, resident_updates: int = 2) -> Story:
    """The stream of that seed under the patterns m0, m1... that measure."""
    story = seeded.story(kind, seed, ticks)
    regions = [sql for sql in story.queries if sql.startswith("CREATE REGION")]
    patterns = [f"CREATE PATTERN m{n} AS {each.format(**seeded.PLACE[kind])};" for n, each in enumerate(MEASURED)]
    return replace(story, queries=[*regions, *patterns], resident_updates=resident_updates)


@contextmanager
def small_pages() -> Iterator[None]:
    """In this process only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "PAGE_ROWS", 3)
        patch.setattr(pages, "OPEN_PAGES", 2)
        yield
