"""The stages in a plain loop in one process: for notebooks, tests, small streams, and the truth that Spark is held to.

In: batches as Arrow tables, pandas frames or lists of dictionaries. Out: Arrow tables of changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from vedette.columns import changes_schema
from vedette.errors import SourceError, StateError
from vedette.kernels.regions import Regions
from vedette.model import Statement
from vedette.orders import Orders
from vedette.pipeline import state
from vedette.pipeline.assemble import Assemble
from vedette.pipeline.cellar import MemoryCellar
from vedette.pipeline.intake import AHEAD, Intake, bind
from vedette.pipeline.messages import BEFORE_TIME
from vedette.pipeline.outcome import changes_table
from vedette.pipeline.participate import Participate
from vedette.pipeline.posting import Posted, amend, posted
from vedette.pipeline.rows import Rows, by_bucket, concat
from vedette.pipeline.setup import Setup, cut, landmarks_of
from vedette.pipeline.track import Track
from vedette.runtime.brief import setup_of

VERSION = 5
POSTED = ("text", "kind", "name")
SAMPLE = 20_000  # positions that the cut into regions follows

Batch: TypeAlias = pa.Table | pa.RecordBatch | Sequence[Mapping[str, Any]] | Any


@dataclass(frozen=True)
class Outcome:
    """What one batch gave: three tables, and how many rows of each kind there were."""

    changes: pa.Table
    late: pa.Table
    rejects: pa.Table
    metrics: dict[str, int]


def local(watch: Orders, state: bytes | None = None) -> LocalRun:
    """A run of a watch in this process; `state` goes on from `LocalRun.save`."""
    return LocalRun(watch, state)


class LocalRun:
    """A stream being watched. `feed` it batches, then `finish` it, if it ends."""

    def __init__(self, watch: Orders, saved: bytes | None = None) -> None:
        self.watch = watch
        self.last = _nothing_yet()
        self.totals: dict[str, Any] = dict.fromkeys(
            ("updates", "changes", "late", "late_applied", "duplicates", "rejects", "batches"), 0
        )
        self.totals["frontier"] = None
        self._buckets, self._cuts = watch.buckets or 1, watch.regions or 1
        self._seen = 0
        self._posted: list[Posted] = []
        self._amended: list[Statement] = []
        self._intake: Intake | None = None
        self._cellars: list[MemoryCellar] = []  # of the tracks
        self._tracks: list[Track] = []
        self._regions: list[Participate] = []
        self._answers: list[Assemble] = []
        if saved is not None:
            self._load(saved)

    # ------------------------------------------------------------------------------------------- use

    def feed(self, batch: Batch) -> pa.Table:
        """Take in a batch; returns the changes of the ticks that it closed, in time order."""
        table = to_table(batch)
        if self._intake is None:
            if table is None:
                return self._nothing()
            self._start(table)
        assert self._intake is not None
        rows, rejects = self._intake.read(self._intake.source.empty_table() if table is None else table)
        return self._step(rows, rejects, final=False)

    def finish(self) -> pa.Table:
        """The end of a bounded stream: closes every tick seen; returns the last changes."""
        if self._intake is None:
            return self._nothing()
        rows, rejects = self._intake.read(self._intake.source.empty_table())
        return self._step(rows, rejects, final=True)

    # ------------------------------------------------------------------------------------------ start

    def _start(self, table: pa.Table) -> None:
        """The first batch tells columns and types, and where to cut space."""
        watch = self.watch
        intake = bind(table.schema, watch.space, watch.columns)
        watch.bind(intake.schema)
        self._intake = intake
        rows, _ = intake.read(table)
        step = max(1, len(rows) // SAMPLE)
        x, y = rows.x[::step], rows.y[::step]
        regions = cut(x, y, watch.space, self._cuts)
        self._build(setup_of(watch, intake, self._buckets, regions, landmarks_of(x, y)))

    def _build(self, setup: Setup) -> None:
        assert self._intake is not None
        empty = self._intake.empty()
        kind = self._intake.oid_type
        self._cellars = [MemoryCellar() for _ in range(setup.buckets)]
        self._tracks = [Track(setup, b, empty, cellar) for b, cellar in enumerate(self._cellars)]
        self._regions = [Participate(setup, r, kind) for r in range(setup.regions.size)]
        self._answers = [Assemble(setup, kind) for _ in range(setup.buckets)]

    # ------------------------------------------------------------------------------------------- step

    def _step(self, rows: Rows, rejects: pa.Table, final: bool) -> pa.Table:
        intake = self._intake
        assert intake is not None
        new = self.watch.statements[self._seen :]
        self._seen += len(new)
        self._posted += posted(new, self.watch.space)
        statements, self._amended = [*self._amended, *new], []
        setup = self._tracks[0].setup
        times = np.unique(rows.t) if setup.max_ahead is not None else rows.t.max(keepdims=True) if len(rows) else rows.t
        tracked = [
            track.step(part, times, statements, final)
            for track, part in zip(self._tracks, by_bucket(rows, setup.buckets), strict=True)
        ]
        answers = [region.step([t.messages[r] for t in tracked]) for r, region in enumerate(self._regions)]
        parts = [assemble.step([a[b] for a in answers]) for b, assemble in enumerate(self._answers)]
        changes = changes_table([part for each in parts for part in each], intake)
        late = intake.table(concat([t.late for t in tracked]))
        ahead = [intake.as_input(t.ahead, AHEAD) for t in tracked if len(t.ahead)]
        rejects = pa.concat_tables([rejects, *ahead])
        frontier = self._tracks[0].frontier
        self.watch.now = None if frontier == BEFORE_TIME else frontier
        metrics = dict.fromkeys(("updates", "late", "late_applied", "duplicates"), 0)
        for counts in (*(t.metrics for t in tracked), *(region.metrics for region in self._regions)):
            for name, count in counts.items():
                metrics[name] = metrics.get(name, 0) + count
        metrics.pop("ahead")  # these are among the rejects
        metrics |= {"changes": changes.num_rows, "rejects": rejects.num_rows, "batches": 1}
        for name, count in metrics.items():
            self.totals[name] = self.totals.get(name, 0) + count
        self.totals["frontier"] = self.watch.now
        self.last = Outcome(changes, late, rejects, metrics)
        return changes

    def _nothing(self) -> pa.Table:
        self.last = _nothing_yet()
        return self.last.changes

    # ------------------------------------------------------------------------------------ save and load

    def save(self) -> bytes:
        """Everything that a later run needs to go on as if nothing had happened."""
        intake = self._intake
        if intake is None:
            return state.encode("local", VERSION, {"started": False, "seen": self._seen, "totals": self.totals}, {})
        setup = self._tracks[0].setup
        regions = setup.regions
        meta = {
            "started": True,
            "seen": self._seen,
            "totals": self.totals,
            "buckets": self._buckets,
            "regions": regions.size,
            "space": self.watch.space.kind,
        }
        stages: Sequence[Track | Participate | Assemble] = [*self._tracks, *self._regions, *self._answers]
        saved = [stage.save() for stage in stages]
        meta["sections"] = [list(sections) for sections in saved]
        meta["cellars"] = [list(cellar.values) for cellar in self._cellars]
        arrays: dict[str, Any] = {
            "source": pa.array([intake.source.serialize().to_pybytes()], pa.binary()),
            "axis": regions.axis,
            "cut": regions.cut,
            "child": regions.child,
            "landmarks": setup.landmarks,
            **{f"posted.{n}": pa.array([getattr(p, n) for p in self._posted], pa.string()) for n in POSTED},
            "stages": pa.array([data for sections in saved for data in sections.values()], pa.large_binary()),
            "cellars": pa.array(
                [data for cellar in self._cellars for data in cellar.values.values()], pa.large_binary()
            ),
        }
        return state.encode("local", VERSION, meta, arrays)

    def _load(self, saved: bytes) -> None:
        meta, a = state.decode("local", VERSION, saved)
        self._seen, self.totals = meta["seen"], meta["totals"]
        self.watch.now = self.totals["frontier"]
        if not meta["started"]:
            return
        now = {"buckets": self._buckets, "regions": self._cuts, "space": self.watch.space.kind}
        for option, value in now.items():
            if meta[option] != value:
                raise StateError(f"the saved run has {option} = {meta[option]}, this one {value}; they cannot differ")
        intake = bind(pa.ipc.read_schema(pa.py_buffer(a["source"][0].as_py())), self.watch.space, self.watch.columns)
        self._intake = intake
        self.watch.bind(intake.schema)
        regions = Regions(meta["regions"], a["axis"], a["cut"], a["child"])
        setup = setup_of(self.watch, intake, self._buckets, regions, a["landmarks"])
        values = (each.as_py() for each in a["cellars"])
        self._cellars = [MemoryCellar({name: next(values) for name in names}) for names in meta["cellars"]]
        sections = (each.as_py() for each in a["stages"])
        stages = [{name: next(sections) for name in names} for names in meta["sections"]]
        empty, kind, b = intake.empty(), intake.oid_type, setup.buckets
        self._tracks = [Track.load(setup, i, empty, stages[i], self._cellars[i]) for i in range(b)]
        rest = stages[b:]
        self._regions = [Participate.load(setup, r, kind, rest[r]) for r in range(meta["regions"])]
        self._answers = [Assemble.load(setup, kind, s) for s in rest[meta["regions"] :]]
        self._amend([Posted(*p) for p in zip(*(a[f"posted.{n}"].to_pylist() for n in POSTED), strict=True)])

    def _amend(self, before: list[Posted]) -> None:
        """Go on with other statements than before: what differs is posted with the next batch."""
        watch = self.watch
        self._posted = posted(watch.statements[: self._seen], watch.space)
        if self._posted == before:
            return
        amendment = amend(before, watch.statements, watch.space)
        for track in self._tracks:
            track.withdraw(amendment.withdrawn)
        self._amended, self._seen = amendment.statements, len(watch.statements)
        self._posted = posted(watch.statements, watch.space)


def _nothing_yet() -> Outcome:
    """Nothing was seen yet, so not even the types are known."""
    empty = pa.table({})
    return Outcome(changes_schema(pa.string(), pa.int64()).empty_table(), empty, empty, {})


def to_table(batch: Batch) -> pa.Table | None:
    """Arrow, pandas or dictionaries as a table; None for an empty list."""
    if isinstance(batch, pa.Table):
        return batch
    if isinstance(batch, pa.RecordBatch):
        return pa.Table.from_batches([batch])
    if hasattr(batch, "to_arrow"):
        return batch.to_arrow()
    if hasattr(batch, "iloc"):
        return pa.Table.from_pandas(batch, preserve_index=False)
    if isinstance(batch, Sequence) and all(isinstance(row, Mapping) for row in batch):
        return _from_dicts(batch) if batch else None
    raise SourceError(
        f"cannot read {type(batch).__name__} as a batch: "
        "expected a pyarrow Table, a pandas DataFrame or a list of dictionaries"
    )


def _from_dicts(batch: Sequence[Mapping[str, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for row in batch for name in row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in batch]
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # mixed types: let the intake sort them out
            columns[name] = pa.array([None if v is None else str(v) for v in values])
    return pa.table(columns)
