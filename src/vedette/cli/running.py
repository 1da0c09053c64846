"""`vedette run`: a source, an engine and a sink, with progress while it works and a summary at the end.

In: checked options. Out: DIR/changes, DIR/late, DIR/rejects. The one place that chooses an engine is `_engine`.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow.types as pt
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from vedette.cli.options import read_queries
from vedette.cli.terminal import err, note, out
from vedette.columns import LAT, LON, T, X, Y
from vedette.conditions import format_timestamp
from vedette.connectors import Checkpoint, FileSource, PartFiles, Piece, read_table, replay
from vedette.connectors.files import peek_columns
from vedette.connectors.protocol import Run
from vedette.errors import ConfigError
from vedette.lang import parse
from vedette.pipeline.intake import bind
from vedette.space import Space, lonlat, planar

Bounds = tuple[float, float, float, float]


@dataclass(frozen=True)
class Job:
    """Everything that `vedette run` was told."""

    queries: Path
    input: str
    output: Path
    format: Literal["parquet", "csv", "json"] = "parquet"
    space: Literal["planar", "lonlat"] | None = None
    bounds: Bounds | None = None
    lateness: int | str = 0
    timeout: int | str | None = None
    late: Literal["apply", "drop"] = "apply"
    max_ahead: int | str | None = None
    regions: int = 1
    buckets: int = 1
    batch_files: int = 1
    batch_rows: int | None = None
    checkpoint: Path | None = None
    engine: Literal["local", "spark"] = "local"
    columns: dict[str, str] = field(default_factory=dict)
    tables: dict[str, Path] = field(default_factory=dict)
    overwrite: bool = False
    quiet: bool = False


def open_space(
    kind: Literal["planar", "lonlat"] | None, bounds: Bounds | None, path: str | None, columns: dict[str, str]
) -> Space:
    """The space asked for; else lon/lat where the input has lon and lat and no x and y, else planar."""
    if kind is None and path is not None:
        names = {name.lower() for name in peek_columns(path)} | columns.keys()
        kind = "lonlat" if {LON, LAT} <= names and not {X, Y} <= names else "planar"
    return lonlat(bounds) if kind == "lonlat" else planar(bounds)


def run_job(job: Job) -> None:
    """Drain the input into the output, and print the summary."""
    text = read_queries(job.queries)
    space = open_space(job.space, job.bounds, job.input, job.columns)
    source = FileSource(
        job.input,
        batch_files=job.batch_files,
        batch_rows=job.batch_rows,
        columns=job.columns,
        is_lonlat=space.is_lonlat,
    )
    tables = {name: read_table(path) for name, path in job.tables.items()}
    schema = bind(source.schema, space, job.columns).schema
    parse(text, space=space, schema=schema, tables=tables, filename=str(job.queries))
    start = _engine(job, space, text, tables)

    checkpoint = Checkpoint(job.checkpoint, _settings(job, text, source)) if job.checkpoint else None
    if checkpoint and job.overwrite:
        checkpoint.forget()
    resumes = checkpoint is not None and checkpoint.exists()
    if checkpoint and resumes:
        checkpoint.load(source.identity)
    sink = PartFiles(job.output, job.format, fresh=not resumes, overwrite=job.overwrite)
    if checkpoint and checkpoint.batches:
        if not sink.has_part(0):
            raise ConfigError(
                f"the checkpoint counts {checkpoint.batches} micro-batches, but their parts are not in {job.output}; "
                "give the same --output, or start over with --overwrite"
            )
        note(f"going on after micro-batch {checkpoint.batches - 1} of {checkpoint.path}")

    view = _View(source, job.quiet)
    with view.progress:
        run = replay(source, start, sink, checkpoint, view.update)
    for said in source.notes:
        note(said)
    print_summary(out(), run, view, job.output)


def _engine(job: Job, space: Space, text: str, tables: dict[str, Any]) -> Callable[[bytes | None], Run]:
    """A way to start the engine that was asked for, from a saved state or from nothing."""
    if job.engine == "spark":
        raise ConfigError("this version has no Spark engine yet; use --engine local, which gives the same changes")
    import vedette as vd

    watch = vd.Watch(
        space=space,
        queries=text + "\n",  # a line break tells SQL from a path
        lateness=job.lateness,
        timeout=job.timeout,
        late=job.late,
        max_ahead=job.max_ahead,
        regions=job.regions,
        buckets=job.buckets,
        tables=tables,
        columns=job.columns,
    )
    return lambda state: vd.local(watch, state=state)


def _settings(job: Job, text: str, source: FileSource) -> dict[str, Any]:
    """What must be the same for a run to go on from its checkpoint."""
    kept = ("format", "space", "bounds", "lateness", "timeout", "late", "max_ahead", "regions", "buckets", "columns")
    told = {name: value for name, value in asdict(job).items() if name in kept}
    told["bounds"] = list(job.bounds) if job.bounds else None
    told["queries"] = hashlib.sha256(text.encode()).hexdigest()
    told["tables"] = {name: str(path) for name, path in sorted(job.tables.items())}
    told["output"] = str(job.output.resolve())
    told["schema"] = [f"{f.name} {f.type}" for f in source.schema]
    return told


class _View:
    """Progress on stderr, and the counts that the summary shows."""

    def __init__(self, source: FileSource, quiet: bool) -> None:
        self.is_timestamp = pt.is_timestamp(source.schema.field(source.layout.roles[T]).type)
        self.files, self.began = len(source.files), time.monotonic()
        self.rows, self.signs = 0, Counter[tuple[str, int]]()
        console = err()
        self.progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed}/{task.total} files"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self.task = self.progress.add_task("reading", total=self.files)

    def update(self, piece: Piece | None, run: Run) -> None:
        """After each micro-batch, and (piece None) after the end."""
        if run.last is not None:
            counts = run.last.changes.group_by(["query", "sign"]).aggregate([([], "count_all")])
            for row in counts.to_pylist():
                self.signs[row["query"], row["sign"]] += row["count_all"]
        if piece is None:
            return
        self.rows += piece.table.num_rows
        totals = run.totals
        speed = self.rows / max(1e-9, time.monotonic() - self.began)
        words = (
            f"batch {piece.number}  {speed:,.0f} rows/s  frontier {self.moment(totals.get('frontier'))}  "
            f"changes {totals['changes']:,}  late {totals['late']:,}  rejects {totals['rejects']:,}"
        )
        self.progress.update(self.task, description=words, completed=piece.position[0])

    def moment(self, t: int | None) -> str:
        """A tick as people write it."""
        if t is None:
            return "none"
        return format_timestamp(t) if self.is_timestamp else f"{t}"


def print_summary(console: Console, run: Run, view: _View, output: Path) -> None:
    """Totals, and what each query brought forth."""
    totals, seconds = run.totals, time.monotonic() - view.began
    table = Table(title="Run", title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    for name in ("batches", "updates", "changes", "late", "late_applied", "duplicates", "rejects"):
        table.add_row(name.replace("_", " "), f"{totals.get(name, 0):,}")
    table.add_row("frontier", view.moment(totals.get("frontier")))
    table.add_row("seconds", f"{seconds:.1f}")
    table.add_row("rows a second", f"{view.rows / max(seconds, 1e-9):,.0f}")
    console.print(table)
    names = sorted({name for name, _ in view.signs}, key=lambda n: (-_changes(view.signs, n), n))
    if names:
        answers = Table(title="\nChanges by query", title_justify="left", box=None, padding=(0, 2, 0, 0))
        answers.add_column("query")
        for head in ("joined", "left", "new values"):
            answers.add_column(head, justify="right")
        for name in names[:20]:
            answers.add_row(name, *(f"{view.signs[name, sign]:,}" for sign in (1, -1, 0)))
        console.print(answers)
        if len(names) > 20:
            console.print(f"... and {len(names) - 20} more queries")
    console.print(f"\nwritten to {output}/changes, {output}/late, {output}/rejects", soft_wrap=True)


def _changes(signs: Counter[tuple[str, int]], name: str) -> int:
    return sum(signs[name, sign] for sign in (1, -1, 0))
