"""Named values that lie outside of a stage's memory and of its sections: each is written once, read when it is needed.

In: names and bytes. Out: the bytes again. A value never changes; its name may be given anew only after it was dropped.
Where the values lie is the business of whoever runs the stage: in a dictionary, or in the state store of the stage's
key, where they outlive the stage. A stage that is restored from its sections finds its values in the same cellar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Cellar(Protocol):
    """Names are unique over all parts of a stage: a part begins its own with its family, such as "PATTERN/page.12"."""

    def put(self, name: str, data: bytes) -> None:
        """Keep a value under a name that is not taken."""

    def get(self, name: str) -> bytes:
        """The value of a name that was put and not dropped."""

    def drop(self, name: str) -> None:
        """Forget a value that was put."""


class MemoryCellar:
    """A dictionary: for one process, and for stages that nobody restores. Wrong names are errors of the caller."""

    def __init__(self, values: Mapping[str, bytes] | None = None) -> None:
        self.values = dict(values or {})

    def put(self, name: str, data: bytes) -> None:
        """Keep a value."""
        assert name not in self.values, f"{name} lies in the cellar already"
        self.values[name] = data

    def get(self, name: str) -> bytes:
        """A value."""
        assert name in self.values, f"there is no {name} in the cellar"
        return self.values[name]

    def drop(self, name: str) -> None:
        """Forget a value."""
        assert name in self.values, f"there is no {name} in the cellar"
        del self.values[name]


class Overlay:
    """A cellar as somebody sees it who may change nothing in it: what is put and dropped here stays here."""

    def __init__(self, below: Cellar) -> None:
        self._below = below
        self._above = MemoryCellar()
        self._dropped: set[str] = set()

    def put(self, name: str, data: bytes) -> None:
        """Keep a value as long as this overlay lives."""
        self._above.put(name, data)

    def get(self, name: str) -> bytes:
        """A value from here, or from below."""
        if name in self._above.values:
            return self._above.get(name)
        assert name not in self._dropped, f"{name} was dropped"
        return self._below.get(name)

    def drop(self, name: str) -> None:
        """Do without a value; below it stays."""
        if name in self._above.values:
            self._above.drop(name)
        else:
            assert name not in self._dropped, f"{name} was dropped"
            self._dropped.add(name)


class Door:
    """The way to a cellar that may be another one from step to step, for those who keep the way and not the cellar."""

    def __init__(self, cellar: Cellar) -> None:
        self.leads_to = cellar

    def put(self, name: str, data: bytes) -> None:
        """Keep a value."""
        self.leads_to.put(name, data)

    def get(self, name: str) -> bytes:
        """A value."""
        return self.leads_to.get(name)

    def drop(self, name: str) -> None:
        """Forget a value."""
        self.leads_to.drop(name)
