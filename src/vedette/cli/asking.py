"""What `check`, `explain`, `generate` and `bench` do once their options are understood."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from vedette.cli.options import read_queries
from vedette.cli.running import open_space
from vedette.cli.terminal import err, out
from vedette.cli.words import describe, describe_action, find_shared, queries_of, standing_of, units
from vedette.conditions import format_timestamp
from vedette.connectors import FileSource, read_table
from vedette.connectors.parts import Format, write_file
from vedette.errors import ConfigError
from vedette.lang import parse, print_statement
from vedette.model import Alert, Create, Pattern, Query, Schema, Standing, Statement, Trigger
from vedette.pipeline.intake import bind
from vedette.space import Space

if TYPE_CHECKING:
    from vedette.pipeline.triggers.shards import Place


def read_statements(
    queries: Path,
    kind: Literal["planar", "lonlat"] | None,
    path: str | None,
    columns: dict[str, str],
    tables: dict[str, Path],
) -> tuple[list[Statement], Space, Schema | None]:
    """The checked statements of a file, the space they live in, and the stream if an input was named."""
    text = read_queries(queries)
    space = open_space(kind, None, path, columns)
    schema = None
    if path is not None:
        source = FileSource(path, columns=columns, is_lonlat=space.is_lonlat)
        schema = bind(source.schema, space, columns).schema
    joined = {name: read_table(file) for name, file in tables.items()}
    return parse(text, space=space, schema=schema, tables=joined, filename=str(queries)), space, schema


def print_explanation(
    console: Console,
    statements: list[Statement],
    space: Space,
    schema: Schema | None = None,
    places: Mapping[str, Place] | None = None,
    regions: int = 1,
) -> None:
    """Each statement in its canonical form and in words, then what is shared; `places` of triggers, if asked for."""
    console.print(Text(units(space), style="dim"))
    for statement in statements:
        console.print()
        title = describe_action(statement, space)
        if statement.at is not None:
            at = format_timestamp(statement.at) if statement.at_is_timestamp else str(statement.at)
            title += f", from t = {at} on"
        console.print(Text(title, style="bold"), soft_wrap=True)
        sql = print_statement(statement, space)
        if console.is_terminal:
            console.print(Syntax(sql, "sql", word_wrap=True, background_color="default", padding=(0, 2)))
        else:  # as it is, so that it can be pasted
            console.print(Text("  " + sql), soft_wrap=True)
        if isinstance(statement.action, Create):
            words = Table(box=None, show_header=False, padding=(0, 2))
            words.add_column(style="cyan", no_wrap=True)
            words.add_column()
            for topic, line in _lines(statement.action.query, space, schema, places or {}, regions):
                words.add_row(topic, line)
            console.print(words)
    alerts = [query for query in standing_of(statements) if isinstance(query, Alert)]
    if alerts:
        from vedette.cli.sharing import print_sharing

        print_sharing(console, alerts, space)
    _print_shared(console, statements, space)


def _lines(
    query: Standing, space: Space, schema: Schema | None, places: Mapping[str, Place], regions: int
) -> list[tuple[str, str]]:
    """What was understood of a standing query, in the words of its kind."""
    if isinstance(query, Query):
        return describe(query, space)
    if isinstance(query, Trigger):
        from vedette.cli.graphs import describe_trigger

        return describe_trigger(query, space, schema, places.get(query.name), regions)
    if isinstance(query, Pattern):
        from vedette.cli.motion import describe_pattern

        return describe_pattern(query, space, schema)
    if isinstance(query, Alert):
        from vedette.cli.sharing import describe_alert

        return describe_alert(query, space)
    raise TypeError(f"no words for {query.kind}")


def draw_graphs(statements: list[Statement], folder: Path, space: Space, schema: Schema | None) -> list[Path]:
    """A picture of every trigger's constraint graph, and one of the diagram that all alerts share."""
    from vedette.cli.draw import draw_trigger
    from vedette.cli.sharing import draw_diagram

    triggers = [query for query in standing_of(statements) if isinstance(query, Trigger)]
    drawn = [draw_trigger(folder / f"{trigger.name}.svg", trigger, space, schema) for trigger in triggers]
    alerts = [query for query in standing_of(statements) if isinstance(query, Alert)]
    diagram = draw_diagram(folder / "alerts.svg", alerts, space) if alerts else None
    return drawn if diagram is None else [*drawn, diagram]


def _print_shared(console: Console, statements: list[Statement], space: Space) -> None:
    queries = queries_of(statements)
    shared = find_shared(queries, space)
    console.print()
    if not shared:
        console.print(f"No condition is shared by two of the {len(queries)} queries.")
        return
    table = Table(title="Shared conditions: each is evaluated once", title_justify="left")
    for head, options in (("kind", {}), ("condition", {"overflow": "fold"}), ("queries", {"overflow": "fold"})):
        table.add_column(head, **options)  # type: ignore[arg-type]
    for each in shared:
        names = ", ".join(each.queries[:8]) + (", ..." if len(each.queries) > 8 else "")
        table.add_row(each.kind, Text(each.condition), f"{len(each.queries)}: {names}")
    console.print(table)


def generate_files(
    tables: Iterator[pa.Table], folder: Path, kind: Format, ticks: int, ticks_per_file: int, overwrite: bool
) -> None:
    """Write the tables as part files, with a progress bar on stderr."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file; --out needs a folder")
    present = sorted(folder.glob("part-*")) if folder.exists() else []
    if present and not overwrite:
        raise ConfigError(f"{folder} holds part files already; choose another --out, or replace them with --overwrite")
    for part in present:
        part.unlink()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror}") from error
    rows = files = 0
    console = err()
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} ticks"),
        TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal,
    ) as progress:  # fmt: skip
        task = progress.add_task("finding routes", total=ticks)
        for number, table in enumerate(tables):
            write_file(folder / f"part-{number:05d}.{kind}", table, kind)
            rows, files = rows + table.num_rows, number + 1
            done = min(ticks, files * ticks_per_file)
            progress.update(task, completed=done, description=f"{rows:,} rows")
    out().print(f"{rows:,} rows of {ticks} ticks in {files} files in {folder}", soft_wrap=True)


def run_benchmark(name: str, arguments: list[str]) -> int:
    """Run bench/NAME.py of the source tree (the working folder, or where this package was checked out)."""
    roots = (Path.cwd(), Path(__file__).resolve().parents[3])
    folder = next((root / "bench" for root in roots if (root / "bench").is_dir()), None)
    if folder is None:
        raise ConfigError("benchmarks are part of the source tree; run this command in a checkout of it")
    script = folder / (name.replace("-", "_") + ".py")
    if not script.stem.isidentifier() or not script.is_file():
        known = ", ".join(sorted(p.stem.replace("_", "-") for p in folder.glob("*.py") if p.stem[0] != "_")) or "none"
        raise ConfigError(f"there is no benchmark {name!r}; known: {known}")
    return subprocess.run([sys.executable, str(script), *arguments], check=False).returncode
