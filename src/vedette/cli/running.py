"""`vedette run`: a source, an engine and a sink, with progress while it works and a summary at the end.

In: checked options. Out: DIR/changes, DIR/late, DIR/rejects. The one place that chooses an engine is `run_job`.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from vedette.cli.options import read_queries
from vedette.cli.terminal import note, out
from vedette.cli.view import View, print_summary
from vedette.columns import LAT, LON, X, Y
from vedette.connectors import Checkpoint, FileSource, PartFiles, Piece, read_table, replay
from vedette.connectors.files import peek_columns
from vedette.connectors.protocol import Run
from vedette.errors import ConfigError, VedetteError
from vedette.lang import parse
from vedette.orders import RESIDENT_UPDATES
from vedette.pipeline.intake import bind
from vedette.runtime.local import local
from vedette.space import Space, lonlat, planar
from vedette.watch import Watch

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
    regions: int | None = None
    buckets: int | None = None
    resident_updates: int = RESIDENT_UPDATES
    batch_files: int = 1
    batch_rows: int | None = None
    checkpoint: Path | None = None
    engine: Literal["local", "spark"] = "spark"
    master: str | None = None
    commands: Path | None = None
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

    checkpoint = Checkpoint(job.checkpoint, _settings(job, source)) if job.checkpoint else None
    if checkpoint and job.overwrite:
        checkpoint.forget()
    resumes = checkpoint is not None and checkpoint.exists()
    if checkpoint and resumes:
        checkpoint.load(source.identity)
    sink = PartFiles(job.output, job.format, fresh=not resumes, overwrite=job.overwrite)
    if resumes and not sink.has_part(0) and _has_begun(job, checkpoint):
        raise ConfigError(
            f"the checkpoint {job.checkpoint} counts micro-batches whose parts are not in {job.output}; "
            "give the same --output, or start over with --overwrite"
        )
    watch = _watch(job, space, text, tables)
    view = View(source, job.quiet)
    run = _run_local if job.engine == "local" else _run_spark
    with view.progress:
        run(job, watch, source, sink, checkpoint, view)
    for said in dict.fromkeys(source.notes):
        note(said)
    print_summary(out(), view, job.output)


def _has_begun(job: Job, checkpoint: Checkpoint | None) -> bool:
    if job.engine == "local":
        return checkpoint is not None and checkpoint.batches > 0
    return job.checkpoint is not None and (job.checkpoint / "totals.json").exists()


def _watch(job: Job, space: Space, text: str, tables: dict[str, Any]) -> Watch:
    return Watch(
        space=space,
        queries=text + "\n",  # a line break tells SQL from a path
        lateness=job.lateness,
        timeout=job.timeout,
        late=job.late,
        max_ahead=job.max_ahead,
        regions=job.regions,
        buckets=job.buckets,
        resident_updates=job.resident_updates,
        tables=tables,
        columns=job.columns,
    )


def _run_local(
    job: Job, watch: Watch, source: FileSource, sink: PartFiles, checkpoint: Checkpoint | None, view: View
) -> None:
    if job.commands is not None:
        raise ConfigError("--commands is for --engine spark; the local engine takes all statements from the file")
    if checkpoint and checkpoint.batches:
        note(f"going on after micro-batch {checkpoint.batches - 1} of {checkpoint.path}")

    def told(piece: Piece | None, run: Run) -> None:
        assert run.last is not None
        number = piece.number if piece else run.totals["batches"] - 1
        files = piece.position[0] if piece else len(source.files)
        view.update(number, files, run.last, run.totals, piece.table.num_rows if piece else 0)

    replay(source, lambda state: local(watch, state=state), sink, checkpoint, told)


def _run_spark(
    job: Job, watch: Watch, source: FileSource, sink: PartFiles, checkpoint: Checkpoint | None, view: View
) -> None:
    if job.batch_rows is not None:
        raise ConfigError("--batch-rows is for --engine local; on Spark it is so many files: --batch-files")
    from vedette.runtime.spark.bounded import Delivery, run_bounded
    from vedette.runtime.spark.session import is_active, parallelism, session

    view.progress.update(view.task, description="starting Spark")
    log = Path(tempfile.gettempdir()) / f"vedette-spark-{os.getpid()}.log"
    is_ours = not is_active()
    spark = session(job.master, {"spark.log.level": "ERROR"}, log=log)
    kept = checkpoint.counts if checkpoint else {}
    watch.buckets = watch.buckets or kept.get("buckets") or parallelism(spark)
    watch.regions = watch.regions or kept.get("regions") or parallelism(spark)
    if checkpoint:
        checkpoint.pin({"buckets": watch.buckets, "regions": watch.regions}, source.identity)

    def deliver(delivery: Delivery) -> None:
        outcome = delivery.outcome
        sink.write(delivery.number, outcome, is_end=delivery.is_final)
        source.notes.extend(delivery.notes)
        for refused in delivery.refused:
            note(f"a command was refused:\n{refused['reason']}")
        seen = outcome.metrics["updates"] + outcome.metrics["rejects"]
        files = min(len(source.files), delivery.totals["batches"] * job.batch_files)
        view.update(delivery.number, files, outcome, delivery.totals, seen)

    try:
        with tempfile.TemporaryDirectory(prefix="vedette-") as temporary:
            folder = checkpoint.folder if checkpoint else Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            run_bounded(spark, watch, source, folder, deliver, batch_files=job.batch_files, commands=job.commands)
    except (VedetteError, KeyboardInterrupt):
        log.unlink(missing_ok=True)
        raise
    except Exception:
        note(f"Spark's own messages are in {log}")
        raise
    else:
        log.unlink(missing_ok=True)
    finally:
        if is_ours:
            spark.stop()


def _settings(job: Job, source: FileSource) -> dict[str, Any]:
    """What must be the same for a run to go on from its checkpoint."""
    kept = ("engine", "format", "space", "bounds", "lateness", "timeout", "late", "max_ahead", "columns")
    told = {name: value for name, value in asdict(job).items() if name in kept}
    told["bounds"] = list(job.bounds) if job.bounds else None
    for name in ("regions", "buckets"):
        count = getattr(job, name) or (1 if job.engine == "local" else None)
        if count is not None:
            told[name] = count
    if job.engine == "spark":
        told["commands"] = job.commands is not None  # a stream of them comes and goes with the checkpoint
    told["tables"] = {name: str(path) for name, path in sorted(job.tables.items())}
    told["output"] = str(job.output.resolve())
    told["schema"] = [f"{f.name} {f.type}" for f in source.schema]
    return told
