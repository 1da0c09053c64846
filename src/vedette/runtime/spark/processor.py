"""A station as a stateful processor: parcels in, parcels out, state in pages.

The state of a key is a few named sections of bytes, cut into pages; after a batch only pages that differ are written.
Decoding a state is dear, so a worker keeps the stations it has worked with. Spark may give the next batch of a key to
any worker, run a batch again, or run it twice: a kept station is used only if its token, drawn anew at every write, is
the one in the state store. What a station keeps in its cellar lies beside the pages, and is neither read when the
station is restored nor kept with it.

Spark opens a processor in a driver process of its own too, once per stage and start, only to ask for its state
variables. So the brief travels closed, and what brings the kernels along is loaded at the first batch.
"""

from __future__ import annotations

import json
import pickle
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from vedette.errors import StateError
from vedette.runtime.spark.cellar import StoreCellar
from vedette.runtime.spark.keys import key_values
from vedette.runtime.spark.worker import settle

if TYPE_CHECKING:
    import pandas as pd

    from vedette.runtime.brief import Brief
    from vedette.runtime.stations import Parcel, Sections, Station

FORMAT = 1
PAGE_BYTES = 512 * 1024
FRAME_BYTES = 64 * 1024 * 1024  # Arrow's binary columns end at 2 GB
IDLE_S = 900  # a worker forgets stations that it has not been asked for in so long

STAGES = ("track", "participate", "assemble")


def stations() -> dict[str, Callable[[Brief, int], Station]]:
    """What makes a station of each stage."""
    from vedette.runtime.stations import AnswerStation, RegionStation, TrackStation

    return dict(zip(STAGES, (TrackStation, RegionStation, AnswerStation), strict=True))


@dataclass
class _Kept:
    """A station as it was after a write."""

    token: str
    station: Station
    sections: Sections
    used: float


_kept: dict[tuple[str, str, int], _Kept] = {}  # by run, stage and key, in each worker process


class StageProcessor(StatefulProcessor):
    """All keys of one stage; `make` makes its stations."""

    def __init__(self, stage: str, brief: Brief, make: Callable[[Brief, int], Station] | None = None) -> None:
        self.stage, self.make = stage, make
        self._closed = pickle.dumps(brief)

    @cached_property
    def brief(self) -> Brief:
        """What the stations are told."""
        opened: Brief = pickle.loads(self._closed)
        return opened

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Two state variables: what there is, and the pages."""
        self._head = handle.getValueState("head", "head string")
        self._pages = handle.getMapState("pages", "name string", "page binary")

    def close(self) -> None:
        """The end of a task; nothing is held open."""
        settle()

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803 (Spark's names)
        """A batch of one key."""
        number = _numbers()[int(key[0])]
        parcels = [pair for frame in rows for pair in zip(frame["kind"], frame["payload"], strict=True)]
        name = (self.brief.run, self.stage, number)
        kept = self._take(name, number)
        cellar = StoreCellar(self._pages, PAGE_BYTES)  # a kept station has one of a task that is over
        kept.station.cellar = cellar
        out = kept.station.step(parcels)
        self._keep(name, kept, cellar)
        cellar.close()
        yield from frames(out)

    def _take(self, name: tuple[str, str, int], number: int) -> _Kept:
        """The station of a key as the state store has it. It is taken out of the cache: a step that fails spoils it."""
        kept = _kept.pop(name, None)
        found = self._head.get() if self._head.exists() else None
        head: dict[str, Any] = (
            {"token": "", "format": FORMAT, "sections": {}} if found is None else json.loads(found[0])
        )
        if kept is not None and kept.token == head["token"]:
            return kept
        if head["format"] != FORMAT:
            raise StateError(
                f"the checkpoint is of format {head['format']}, this version reads format {FORMAT}; "
                "start from an empty checkpoint, or use the version that wrote it"
            )
        sections = {section: self._read(section, length) for section, length in head["sections"].items()}
        station = (self.make or stations()[self.stage])(self.brief, number)
        if sections:
            station.load(sections)
        return _Kept(head["token"], station, sections, 0.0)

    def _keep(self, name: tuple[str, str, int], kept: _Kept, cellar: StoreCellar) -> None:
        sections = kept.station.save()
        changed = [self._write(s, kept.sections.get(s), data) for s, data in sections.items()]
        changed += [self._write(s, data, b"") for s, data in kept.sections.items() if s not in sections]
        if any(changed) or cellar.has_changed or not kept.token:
            kept.token = uuid.uuid4().hex
            lengths = {section: len(data) for section, data in sections.items()}
            self._head.update((json.dumps({"token": kept.token, "format": FORMAT, "sections": lengths}),))
        if kept.station.is_final:  # it has gone beyond what was written
            return
        kept.sections, kept.used = sections, time.monotonic()
        for other in [n for n, k in _kept.items() if k.used < kept.used - IDLE_S]:
            del _kept[other]
        _kept[name] = kept

    def _read(self, section: str, length: int) -> bytes:
        pages = [self._pages.getValue((f"{section}/{i}",)) for i in range(_count(length))]
        data = b"".join(page[0] for page in pages if page is not None)
        if len(data) != length:
            raise StateError(f"the state of {self.stage} is incomplete ({section}: {len(data)} of {length} bytes)")
        return data

    def _write(self, section: str, old: bytes | None, new: bytes) -> bool:
        """Write the pages that differ; tells whether any did."""
        if old is new:
            return False
        old = old or b""
        changed = len(old) != len(new)
        for i in range(_count(len(new))):
            page = slice(i * PAGE_BYTES, (i + 1) * PAGE_BYTES)
            if old[page] != new[page]:
                self._pages.updateValue((f"{section}/{i}",), (new[page],))
                changed = True
        for i in range(_count(len(new)), _count(len(old))):
            self._pages.removeKey((f"{section}/{i}",))
        return changed


def frames(parcels: list[Parcel]) -> Iterator[pd.DataFrame]:
    """Parcels as pandas frames of bounded size."""
    values = key_values()
    start = size = 0
    for i, (_, _, payload) in enumerate(parcels):
        if size and size + len(payload) > FRAME_BYTES:
            yield _frame(parcels[start:i], values)
            start, size = i, 0
        size += len(payload)
    if start < len(parcels):
        yield _frame(parcels[start:], values)


def _frame(parcels: list[Parcel], values: tuple[int, ...]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    keys, kinds, payloads = zip(*parcels, strict=True)
    return pd.DataFrame(
        {"key": np.array([values[k] for k in keys], np.int32), "kind": list(kinds), "payload": list(payloads)}
    )


def _count(length: int) -> int:
    return -(-length // PAGE_BYTES)


_number_of: dict[int, int] = {}


def _numbers() -> dict[int, int]:
    """Station numbers by key value."""
    if not _number_of:
        _number_of.update({value: number for number, value in enumerate(key_values())})
    return _number_of
