"""What a source, an engine's run and a sink have to offer so that `replay` can join them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

Position: TypeAlias = tuple[int, int]  # files used up, and micro-batches taken from the group of files after them


@dataclass(frozen=True)
class Piece:
    """One micro-batch: its number from 0, its rows, and the position of the stream behind it."""

    number: int
    table: pa.Table
    position: Position


class Source(Protocol):
    """A bounded, replayable stream: the same pieces in the same order every time."""

    @property
    def identity(self) -> dict[str, Any]:
        """What must not change between two runs that share a checkpoint; plain JSON values."""

    def pieces(self, number: int = 0, position: Position = (0, 0)) -> Iterator[Piece]:
        """All pieces from a position on, numbered from `number`."""


class Outcome(Protocol):
    """What one micro-batch brought forth."""

    @property
    def changes(self) -> pa.Table:
        """Who joined, who left, what value is new."""

    @property
    def late(self) -> pa.Table:
        """Rows that came too late to take effect."""

    @property
    def rejects(self) -> pa.Table:
        """Rows that are no updates, with a reason."""


class Run(Protocol):
    """An engine at work: `vedette.local(watch)` is one."""

    @property
    def last(self) -> Outcome | None:
        """What the last `feed` or `finish` brought forth; None before the first."""

    @property
    def totals(self) -> dict[str, Any]:
        """Counts since the beginning, and the frontier."""

    def feed(self, batch: pa.Table) -> pa.Table:
        """Take a micro-batch in, give its changes."""

    def finish(self) -> pa.Table:
        """Close everything seen, give the changes."""

    def save(self) -> bytes:
        """All that is needed to go on."""


class Sink(Protocol):
    """Keeps outcomes by the number of their micro-batch; writing a number again replaces it."""

    def write(self, number: int, outcome: Outcome, *, is_end: bool = False) -> None:
        """Keep the three tables of a micro-batch; those of the end of the input are void once anything follows."""

    def trim(self, count: int) -> None:
        """Forget every number from `count` on."""
