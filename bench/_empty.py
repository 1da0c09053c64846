"""Stations that do nothing: the same plan, the same parcels, no kernels. They show the ceiling of the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vedette.runtime.brief import Brief


class EmptyStation:
    """Passes every parcel on to the station of the same number, and keeps a little state."""

    is_final = False

    def __init__(self, brief: Brief, key: int) -> None:
        self.key = key
        self.batches = 0

    def load(self, sections: dict[str, bytes]) -> None:
        """Go on counting."""
        self.batches = int(sections["batches"])

    def save(self) -> dict[str, bytes]:
        """A number that changes with every batch, so that every batch is written."""
        return {"batches": str(self.batches).encode()}

    def step(self, parcels: Iterable[tuple[str, bytes]]) -> list[tuple[int, str, bytes]]:
        """All parcels as they are."""
        self.batches += 1
        return [(self.key, kind, payload) for kind, payload in parcels]


def empty(brief: Brief, key: int) -> Any:
    """Make one."""
    return EmptyStation(brief, key)
