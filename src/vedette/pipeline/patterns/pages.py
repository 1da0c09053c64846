"""Updates beyond memory, in pages that never change: each is written once, and read back when a visit asks for it.

In: updates in time order. Out: pages of updates by (cell, object, time), so that what lies near each other in space and
time stands on the same page; and the updates of one visit again. A page is bytes until it is asked for; a few are kept
open. Where the bytes lie is the business of whoever runs the stage: a page may be a value that is fetched when it is
called (`Fetch`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from vedette.kernels.arrays import I64
from vedette.kernels.motion.tables import LONG_AGO, UPDATE, Table, records
from vedette.pipeline import state

VERSION = 1
PAGE_ROWS = 8192
OPEN_PAGES = 64
FIELDS = ("t", "x", "y", "object", "cell")
# Of the directory, a row a page: its number; the first and last time; the first and last (cell, object).
NUMBER, FIRST_T, LAST_T, FIRST_CELL, FIRST_OBJECT, LAST_CELL, LAST_OBJECT = range(7)

Fetch: TypeAlias = Callable[[], bytes]


class Pages:
    """All pages of a bucket, and the directory to them."""

    def __init__(self) -> None:
        self.directory: I64 = np.zeros((0, 7), np.int64)
        self.data: dict[int, bytes] = {}
        self.fetched = 0  # how often a page was opened
        self._next = 0
        self._open: OrderedDict[int, Table] = OrderedDict()

    @property
    def last_t(self) -> int:
        """The time of the newest update in pages; LONG_AGO without any."""
        return int(self.directory[:, LAST_T].max(initial=LONG_AGO))

    def put(self, updates: Table) -> None:
        """Write updates to new pages."""
        updates = updates[np.lexsort((updates.t, updates.object, updates.cell))]
        for start in range(0, len(updates), PAGE_ROWS):
            page = updates[start : start + PAGE_ROWS]
            self.data[self._next] = state.encode(
                "page", VERSION, {}, {name: np.ascontiguousarray(page[name]) for name in FIELDS}
            )
            ends = (page.cell[0], page.object[0], page.cell[-1], page.object[-1])
            row = np.array([[self._next, page.t.min(), page.t.max(), *ends]], np.int64)
            self.directory = np.concatenate((self.directory, row))
            self._next += 1

    def of_visit(self, visit: Any, low: int) -> Table:
        """The updates of a visit from `low` on, in time order."""
        d = self.directory
        low = max(low, int(visit.begin))
        asked = (d[:, LAST_T] >= low) & (d[:, FIRST_T] <= visit.end)
        o, cell = visit.object, visit.cell
        asked &= (d[:, FIRST_CELL] < cell) | ((d[:, FIRST_CELL] == cell) & (d[:, FIRST_OBJECT] <= o))
        asked &= (d[:, LAST_CELL] > cell) | ((d[:, LAST_CELL] == cell) & (d[:, LAST_OBJECT] >= o))
        found = [records(UPDATE, 0)]
        for number in d[asked, NUMBER].tolist():
            page = self._opened(number)
            found.append(page[(page.object == o) & (page.cell == cell) & (page.t >= low) & (page.t <= visit.end)])
        some = np.concatenate(found).view(np.recarray)
        return some[np.argsort(some.t, kind="stable")]

    def all(self) -> Table:
        """Every update, in time order."""
        found = [records(UPDATE, 0), *(self._opened(number) for number in self.directory[:, NUMBER].tolist())]
        everything = np.concatenate(found).view(np.recarray)
        return everything[np.argsort(everything.t, kind="stable")]

    def forget(self, horizon: int) -> None:
        """Drop pages of which nobody can ask any more."""
        gone = self.directory[:, LAST_T] < horizon
        if gone.any():
            for number in self.directory[gone, NUMBER].tolist():
                del self.data[number]
                self._open.pop(number, None)
            self.directory = self.directory[~gone]

    def clear(self) -> None:
        """Drop all pages."""
        self.forget(np.iinfo(np.int64).max)

    def _opened(self, number: int) -> Table:
        if number not in self._open:
            self.fetched += 1
            _, arrays = state.decode("page", VERSION, self.data[number])
            page = records(UPDATE, len(arrays["t"]))
            for name in FIELDS:
                page[name] = arrays[name]
            self._open[number] = page
            while len(self._open) > OPEN_PAGES:
                self._open.popitem(last=False)
        self._open.move_to_end(number)
        return self._open[number]

    def sections(self) -> dict[str, bytes]:
        """The pages, each a section of its own."""
        return {f"page.{number}": self.data[number] for number in self.directory[:, NUMBER].tolist()}

    def dump(self) -> tuple[int, I64]:
        """The directory, and the number of the next page."""
        return self._next, self.directory

    def load(self, following: int, directory: I64, sections: dict[str, bytes]) -> None:
        """The pages again; they stay bytes."""
        self._next, self.directory = following, directory
        self.data = {number: sections[f"page.{number}"] for number in directory[:, NUMBER].tolist()}
