"""The cellar of a key in Spark's state store: values in pieces beside the pages of the sections, read one by one.

In: the map of pages of the processor that runs now, for the key whose batch it works on. A value's first piece begins
with the length of the value, so that nothing else has to be kept of it.
Invariant: what a step puts and drops is committed with the sections that it leaves behind, or not at all. All of them
are changes of one version of the state store, which Spark commits when the task is done and drops when it fails; a
batch that is run again begins with the version before. So nothing has to be undone here. A station that was kept in
memory by a task whose version was not the one that counts is not used again: its token is not in the store.
"""

from __future__ import annotations

from typing import Any, Protocol

from vedette.errors import StateError

HEAD_BYTES = 8


class Pages(Protocol):
    """What is used of Spark's MapState: from name to binary."""

    def getValue(self, key: tuple[str]) -> Any: ...  # noqa: D102, N802 (Spark's names)

    def containsKey(self, key: tuple[str]) -> bool: ...  # noqa: D102, N802

    def updateValue(self, key: tuple[str], value: tuple[bytes]) -> None: ...  # noqa: D102, N802

    def removeKey(self, key: tuple[str]) -> None: ...  # noqa: D102, N802


class StoreCellar:
    """For one step of one key. `has_changed` tells whether anything was put or dropped."""

    def __init__(self, pages: Pages, piece_bytes: int) -> None:
        self.has_changed = False
        self._open: Pages | None = pages
        self._piece_bytes = piece_bytes

    @property
    def _pages(self) -> Pages:
        assert self._open is not None, "the step is over"
        return self._open

    def put(self, name: str, data: bytes) -> None:
        """Write a value."""
        self.has_changed = True
        told = len(data).to_bytes(HEAD_BYTES, "little") + data
        for i, start in enumerate(range(0, len(told), self._piece_bytes)):
            self._pages.updateValue(_key(name, i), (told[start : start + self._piece_bytes],))

    def get(self, name: str) -> bytes:
        """Read a value."""
        pieces: list[bytes] = []
        found, wanted = 0, HEAD_BYTES
        while found < wanted:
            piece = self._pages.getValue(_key(name, len(pieces)))
            if piece is None:
                raise StateError(f"the state is incomplete ({name}: {found} of {wanted} bytes, with its length)")
            pieces.append(bytes(piece[0]))
            found += len(pieces[-1])
            wanted = HEAD_BYTES + int.from_bytes(pieces[0][:HEAD_BYTES], "little")
        return b"".join(pieces)[HEAD_BYTES:]

    def drop(self, name: str) -> None:
        """Remove a value, without reading it."""
        self.has_changed = True
        i = 0
        while self._pages.containsKey(_key(name, i)):
            self._pages.removeKey(_key(name, i))
            i += 1

    def close(self) -> None:
        """The step is over: a station that is kept holds nothing of its task."""
        self._open = None


def _key(name: str, piece: int) -> tuple[str]:
    """No section is called like this: names of sections are words, or a family's words behind its name."""
    return (f"cellar/{name}/{piece}",)
