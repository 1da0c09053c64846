"""What a query family may add to each stage: its parts, and the registry of them.

A family that is more than a shape and a filter has up to three parts. The one in TRACK hears of statements and of what
happened to the objects of its bucket, and writes letters; the one in PARTICIPATE reads the letters of all buckets to
its region (or shard, which goes by the same numbers), and writes to query buckets; the one in ASSEMBLE reads those and
tells changes. A letter of TRACK may also go to a query bucket straight: it is relayed by a region. A part exists only
once its family is in use, and is then called with every batch, so that it hears of every frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa

from vedette.kernels.arrays import B1, F64, I32, I64
from vedette.kernels.trace import Tracks
from vedette.pipeline.catalogue import Catalogue, Change
from vedette.pipeline.cellar import Cellar
from vedette.pipeline.messages import Letter
from vedette.pipeline.rows import Rows
from vedette.pipeline.setup import Setup

if TYPE_CHECKING:
    from vedette.pipeline.assemble import Changes

P = TypeVar("P")


@dataclass
class Segment:
    """What happened to a bucket's objects from the tick c (None: the start of the batch) to before the tick `end`.

    Events in time order; `row` points into `rows`, -1 for a timeout (whose place is the last known one). `is_late`: the
    row was late and takes effect at a tick that is not its own.
    """

    c: int | None
    end: int
    rows: Rows
    t: I64
    slot: I32
    row: I64
    x: F64
    y: F64
    is_late: B1


@dataclass
class Sent:
    """The letters of a step: by region, and by query bucket."""

    letters: dict[int, Letter] = field(default_factory=dict)
    relays: dict[int, Letter] = field(default_factory=dict)


class Home(Protocol):
    """The TRACK bucket as its parts see it."""

    setup: Setup
    bucket: int
    catalogue: Catalogue
    cellar: Cellar  # of the whole bucket; `TrackPart.save` may still put values into it
    first: int | None  # the first tick of the bucket's objects that was closed

    @property
    def tracks(self) -> Tracks:
        """The last applied position of every object, by slot."""

    def slot_of(self, key: bytes) -> int:
        """The slot of an id (`planning.focal_bytes`), which need not have been seen yet; `pinned` keeps it."""

    def ids_of(self, slots: I32) -> pa.Array:
        """The ids of slots."""

    def last_rows(self, slots: I32) -> Rows:
        """The last applied rows of objects."""


class TrackPart(Protocol):
    """A family in TRACK. `metrics`: counts of the last step, to be added up over batches, buckets and regions."""

    metrics: Mapping[str, int]

    def act(self, c: int, changes: list[tuple[Change, int]]) -> None:
        """Queries of the family come and go at the start of tick c; each with the sequence of its statement."""

    def follow(self, segment: Segment) -> None:
        """What happened next."""

    def close(self, frontier: int) -> Sent:
        """The end of a step: all ticks before the frontier are closed."""

    def pinned(self) -> I32:
        """Slots whose objects must keep them, although they are gone or not there yet."""

    def save(self) -> dict[str, bytes]:
        """Sections; one that did not change is the same object as before."""


class RegionPart(Protocol):
    """A family in PARTICIPATE."""

    metrics: Mapping[str, int]

    def step(self, letters: list[Letter], frontier: int) -> dict[int, Letter]:
        """Take in what the buckets wrote (in the order of buckets); letters by query bucket."""

    def save(self) -> dict[str, bytes]:
        """Sections; one that did not change is the same object as before."""


class AnswerPart(Protocol):
    """A family in ASSEMBLE."""

    def step(self, letters: list[Letter], frontier: int) -> Changes:
        """Take in what the regions wrote or relayed; the changes."""

    def save(self) -> dict[str, bytes]:
        """Sections; one that did not change is the same object as before."""


@dataclass(frozen=True)
class Family:
    """How the parts of a family are made; `sections` is empty for a part that begins, else what `save` gave."""

    track: Callable[[Home, dict[str, bytes]], TrackPart]
    region: Callable[[Setup, int, pa.DataType, dict[str, bytes]], RegionPart] | None
    answer: Callable[[Setup, pa.DataType, dict[str, bytes]], AnswerPart]


def family(kind: str) -> Family:
    """The family of a kind of statement; what is not used is not even imported."""
    if kind == "PATTERN":
        from vedette.pipeline.patterns.answer import PatternAnswer
        from vedette.pipeline.patterns.track import PatternTrack

        return Family(PatternTrack, None, PatternAnswer)
    if kind == "TRIGGER":
        from vedette.pipeline.triggers.answers import TriggerAnswers
        from vedette.pipeline.triggers.shard import TriggerShard
        from vedette.pipeline.triggers.track import TriggerTrack

        return Family(TriggerTrack, TriggerShard, TriggerAnswers)
    if kind == "ALERT":
        from vedette.pipeline.alerts.answers import AlertAnswers
        from vedette.pipeline.alerts.track import AlertTrack

        return Family(AlertTrack, None, AlertAnswers)
    raise KeyError(kind)


def sections_of(parts: Mapping[str, TrackPart | RegionPart | AnswerPart]) -> dict[str, bytes]:
    """The sections of all parts, by family and name."""
    return {f"{kind}/{name}": data for kind, part in parts.items() for name, data in part.save().items()}


def families_in(sections: Iterable[str]) -> list[str]:
    """The families that have saved something."""
    return sorted({name.partition("/")[0] for name in sections if "/" in name})


def sections_for(kind: str, sections: Mapping[str, bytes]) -> dict[str, bytes]:
    """The sections of one family, by name."""
    return {name.partition("/")[2]: data for name, data in sections.items() if name.startswith(kind + "/")}
