"""The patterns of a bucket and its memory as sections, and back.

"standing": the patterns as SQL; "columns": everything that updates change, the directory of pages included. Cells and
areas are worked out anew; the agenda is filled from what rows and patterns are due at. Pages lie in the cellar.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.kernels.grid import Grid
from vedette.kernels.motion.beats import Seats
from vedette.kernels.motion.tables import (
    BASE,
    BOX,
    BOXES,
    LONG_AGO,
    OBJECT,
    PAGED_T,
    PATTERN,
    ROW,
    ROWS,
    SEATS,
    SET,
    SETS,
    SPAN,
    SPAN_TOP,
    UPDATE,
    Table,
    records,
    with_room,
)
from vedette.lang import parse, print_query
from vedette.model import Create, Pattern
from vedette.pipeline import state
from vedette.pipeline.patterns.book import FOUND, Book
from vedette.pipeline.patterns.memory import Memory

VERSION = 4


def dump_standing(book: Book) -> bytes:
    """The patterns and where they stand."""
    bits: dict[Any, int] = dict(book.bits)
    patterns = [
        [s, each.qid, print_query(each.pattern, book.space), each.since, each.index, bits.get(each.plan.condition)]
        for s, each in book.standing()
    ]
    return state.encode("patterns standing", VERSION, {"slots": len(book.slots), "patterns": patterns}, {})


def dump(book: Book, memory: Memory) -> bytes:
    """Everything else, but for the pages."""
    base, updates = memory.write_ahead()
    count = memory.count.copy()
    count[BASE], count[PAGED_T] = base, memory.pages.last_t
    following, directory = memory.pages.dump()
    slots = np.flatnonzero(memory.objects.last > LONG_AGO).astype(np.int32)
    meta = {
        "grid": None if book.grid is None else list(book.grid),
        "is_set": memory.areas is not None,
        "span": len(memory.objects),
        "following": following,
    }
    seats = {name: column[: count[SEATS]] for name, column in memory.seats._asdict().items()}
    del seats["at"]  # that is in `object`
    ring = seats.pop("ring")  # nearly all of it is zero
    arrays: dict[str, Any] = {
        "count": count,
        "slots": slots,
        "words": memory.words[slots],
        "directory": directory,
        **_columns("objects", memory.objects[slots]),
        **_columns("rows", memory.rows[: count[ROWS]]),
        **_columns("sets", memory.sets[: count[SETS]]),
        **_columns("spans", memory.spans[: count[SPAN_TOP]]),
        **_columns("boxes", memory.boxes[: count[BOXES]]),
        **_columns("updates", updates),
        **{f"seats.{name}": column for name, column in seats.items()},
        "ring.at": np.flatnonzero(ring),
        "ring.bits": ring[ring != 0],
        **{f"beats.{name}": np.ascontiguousarray(memory.beats.beat[name]) for name in ("due", "is_new")},
        **{f"patterns.{name}": np.ascontiguousarray(memory.patterns[name]) for name in FOUND},
    }
    return state.encode("patterns", VERSION, meta, arrays)


def load(book: Book, memory: Memory, sections: dict[str, bytes]) -> int:
    """Fill both; how many slots were seen."""
    standing, _ = state.decode("patterns standing", VERSION, sections["standing"])
    book.slots = [None] * standing["slots"]
    for s, qid, sql, since, index, bit in standing["patterns"]:
        action = parse(sql, space=book.space)[0].action
        assert isinstance(action, Create)
        assert isinstance(action.query, Pattern)
        book.put(s, qid, action.query, since, index, bit)
    meta, a = state.decode("patterns", VERSION, sections["columns"])
    book.grid = None if meta["grid"] is None else Grid(*meta["grid"])
    memory.count[:] = a["count"]
    memory.pages.load(meta["following"], a["directory"])
    memory.written = int(memory.count[BASE])
    memory.rows, memory.sets, memory.spans = _table(ROW, "rows", a), _table(SET, "sets", a), _table(SPAN, "spans", a)
    memory.boxes, memory.updates = _table(BOX, "boxes", a), _table(UPDATE, "updates", a)
    memory.make_room(meta["span"])
    slots, words = a["slots"], a["words"]
    memory.objects[slots] = _table(OBJECT, "objects", a)[: len(slots)]
    memory.words = np.zeros((len(memory.objects), words.shape[1]), np.uint64)
    memory.words[slots] = words
    if meta["is_set"]:
        patterns = records(PATTERN, len(a["patterns.due"]))
        for name in FOUND:
            patterns[name] = a[f"patterns.{name}"]
        book.note_listed()
        memory.set_tables(book.tables(patterns), book.words_wide, book.reach)
        for name in ("due", "is_new"):
            memory.beats.beat[name] = a[f"beats.{name}"]
        taken = {name: a[f"seats.{name}"] for name in Seats._fields if name not in ("at", "ring")}
        ring = np.zeros((len(taken["object"]), memory.seats.ring.shape[1]), np.uint64)
        ring.ravel()[a["ring.at"]] = a["ring.bits"]
        memory.seats = Seats(at=memory.seats.at, ring=ring, **taken)
        memory.seats.at[memory.seats.object] = np.arange(len(memory.seats.object))
        memory.count[SEATS] = len(memory.seats.object)
        memory.restored()
    return int(meta["span"])


def _columns(prefix: str, table: Table) -> dict[str, Any]:
    return {f"{prefix}.{name}": np.ascontiguousarray(table[name]) for name in table.dtype.names or ()}


def _table(kind: Any, prefix: str, arrays: dict[str, Any]) -> Table:
    n = len(arrays[f"{prefix}.{kind.names[0]}"])
    table = with_room(records(kind, 64), n)
    for name in kind.names:
        table[name][:n] = arrays[f"{prefix}.{name}"]
    return table
