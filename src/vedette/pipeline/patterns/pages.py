"""Updates beyond memory, in pages that never change: each is written once, and read back when a box asks for it.

In: updates, those of each object in time order. Out: pages of updates by (object, time), so that what an object did in
a while stands on one page; and the updates behind some boxes again. The pages lie in the cellar of the bucket; here are
the directory to them and a few pages that were opened lately.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from vedette.kernels.arrays import I64
from vedette.kernels.motion.tables import LONG_AGO, UPDATE, Recalled, Table, records
from vedette.pipeline import state
from vedette.pipeline.cellar import Cellar

VERSION = 1
PAGE_ROWS = 8192
OPEN_PAGES = 64
FIELDS = ("t", "x", "y", "object")
# Of the directory, a row a page: its number; the first and last time; the first and last object.
NUMBER, FIRST_T, LAST_T, FIRST_OBJECT, LAST_OBJECT = range(5)


class Pages:
    """All pages of a bucket, and the directory to them."""

    def __init__(self, cellar: Cellar) -> None:
        self._cellar = cellar
        self.directory: I64 = np.zeros((0, 5), np.int64)
        self.fetched = 0  # how often a page was opened
        self._next = 0
        self._open: OrderedDict[int, Table] = OrderedDict()

    @property
    def last_t(self) -> int:
        """The time of the newest update in pages; LONG_AGO without any."""
        return int(self.directory[:, LAST_T].max(initial=LONG_AGO))

    def put(self, updates: Table) -> None:
        """Write updates to new pages."""
        updates = updates[np.lexsort((updates.t, updates.object))]
        for start in range(0, len(updates), PAGE_ROWS):
            page = updates[start : start + PAGE_ROWS]
            columns: state.Arrays = {name: np.ascontiguousarray(page[name]) for name in FIELDS}
            self._cellar.put(_name(self._next), state.encode("page", VERSION, {}, columns))
            ends = (page.object[0], page.object[-1])
            row = np.array([[self._next, page.t.min(), page.t.max(), *ends]], np.int64)
            self.directory = np.concatenate((self.directory, row))
            self._next += 1

    def of_boxes(self, boxes: Table) -> Recalled:
        """The updates behind each of some boxes, in time order; each page is opened once."""
        d, found = self.directory, [records(UPDATE, 0)]
        numbers = [np.zeros(0, np.int64)]
        order = np.lexsort((boxes.begin, boxes.object))
        objects, begin, end = boxes.object[order].astype(np.int64), boxes.begin[order], boxes.end[order]
        for number, first_t, last_t, first_object, last_object in d.tolist():
            some = slice(*np.searchsorted(objects, [first_object, last_object + 1]))
            if not ((begin[some] <= last_t) & (end[some] >= first_t)).any():
                continue
            page = self._opened(number)
            # Boxes of an object do not overlap: the one that an update may belong to is the last that has begun.
            at = _last_begun(objects, begin, page.object, page.t)
            mine = (at >= 0) & (objects[at] == page.object) & (page.t <= end[at])
            found.append(page[mine])
            numbers.append(order[at[mine]])
        updates, number = np.concatenate(found).view(np.recarray), np.concatenate(numbers)
        in_order = np.lexsort((updates.t, number))
        start = np.concatenate(([0], np.cumsum(np.bincount(number, minlength=len(boxes)))))
        columns = (np.ascontiguousarray(updates[name][in_order]) for name in ("t", "x", "y"))
        return Recalled(start.astype(np.int64), *columns)

    def forget(self, horizon: int) -> None:
        """Drop pages of which nobody can ask any more."""
        gone = self.directory[:, LAST_T] < horizon
        if gone.any():
            for number in self.directory[gone, NUMBER].tolist():
                self._cellar.drop(_name(number))
                self._open.pop(number, None)
            self.directory = self.directory[~gone]

    def clear(self) -> None:
        """Drop all pages."""
        self.forget(np.iinfo(np.int64).max)

    def _opened(self, number: int) -> Table:
        if number not in self._open:
            self.fetched += 1
            _, arrays = state.decode("page", VERSION, self._cellar.get(_name(number)))
            page = records(UPDATE, len(arrays["t"]))
            for name in FIELDS:
                page[name] = arrays[name]
            self._open[number] = page
            while len(self._open) > OPEN_PAGES:
                self._open.popitem(last=False)
        self._open.move_to_end(number)
        return self._open[number]

    def dump(self) -> tuple[int, I64]:
        """The directory, and the number of the next page."""
        return self._next, self.directory

    def load(self, following: int, directory: I64) -> None:
        """The directory again; the pages stay where they are."""
        self._next, self.directory = following, directory


def _name(number: int) -> str:
    """What a page is called in the cellar."""
    return f"PATTERN/page.{number}"


def _last_begun(objects: I64, begin: I64, of: I64, t: I64) -> I64:
    """For each (of, t) the last of the boxes, sorted by (object, begin), that is not behind it."""
    order = np.lexsort(
        (np.repeat([1, 0], [len(of), len(objects)]), *(np.concatenate(p) for p in ((t, begin), (of, objects))))
    )
    is_box = order >= len(of)
    last = np.cumsum(is_box) - 1
    found = np.empty(len(of), np.int64)
    found[order[~is_box]] = last[~is_box]
    return found
