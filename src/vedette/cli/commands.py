"""The commands and their options. Each parses what was typed, calls the library and prints."""

from __future__ import annotations

import sys
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from vedette.cli.options import parse_map, parse_numbers, parse_span, parse_tables
from vedette.cli.terminal import out, told

app = typer.Typer(
    name="vedette",
    help="Standing queries over things that move: say once what you want to know, hear only what changed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with [bold]vedette demo[/bold], a story of a minute.",
)

SpaceName = Literal["planar", "lonlat"]
SpaceOption = Annotated[
    SpaceName | None,
    typer.Option("--space", help="What coordinates mean. [default: lonlat if the input has lon and lat, else planar]"),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option("--map", help="What the columns are called: --map oid=mmsi,t=ts", metavar="NAME=COLUMN,..."),
]
TableOption = Annotated[
    list[str] | None,
    typer.Option("--table", help="A table that queries join, from a file; may be repeated.", metavar="NAME=PATH"),
]
QueriesArgument = Annotated[Path, typer.Argument(help="A file of Vedette SQL.", metavar="QUERIES.sql")]


def main() -> int:
    """The entry point: run the command that was typed, give the exit code."""
    code = app(standalone_mode=True)
    return int(code or 0)


def _print_version(asked: bool) -> None:
    if asked:
        try:
            typer.echo(f"vedette {version('vedette')}")
        except PackageNotFoundError:
            typer.echo("vedette (not installed)")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command(epilog="vedette run fences.sql --input 'positions/*.parquet' --output out --lateness 30s --timeout 10min")
@told
def run(
    queries: QueriesArgument,
    source: Annotated[
        str, typer.Option("--input", help="File, glob or folder of .parquet, .csv, .json, .jsonl, .ndjson.")
    ],
    output: Annotated[Path, typer.Option(help="Folder for changes, late and rejects.", metavar="DIR")],
    kind: Annotated[Literal["parquet", "csv", "json"], typer.Option("--format", help="Of the output.")] = "parquet",
    space: SpaceOption = None,
    bounds: Annotated[
        str | None, typer.Option(help="Where most positions are; only for speed.", metavar="X0,Y0,X1,Y1")
    ] = None,
    lateness: Annotated[str, typer.Option(help="How much disorder to wait for: 30s, 5min, or units of t.")] = "0s",
    timeout: Annotated[str, typer.Option(help="An object that is silent for so long is gone.")] = "none",
    late: Annotated[
        Literal["apply", "drop"], typer.Option(help="Late rows: the newest takes effect, or none does.")
    ] = "apply",
    max_ahead: Annotated[str, typer.Option(help="Reject rows further than this in the future.")] = "none",
    regions: Annotated[
        int | None, typer.Option(help="Parts into which space is cut; if left out one a core, local: 1.", min=1)
    ] = None,
    buckets: Annotated[
        int | None, typer.Option(help="Parts into which objects and queries are cut; if left out as above.", min=1)
    ] = None,
    resident_updates: Annotated[
        int,
        typer.Option(help="Updates in memory, in each bucket, for patterns with DIST; older ones lie in state.", min=1),
    ] = 1 << 20,
    batch_files: Annotated[int, typer.Option(help="Files in a micro-batch.", min=1)] = 1,
    batch_rows: Annotated[
        int | None, typer.Option(help="Cut micro-batches at so many rows (local engine).", min=1)
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Remember where the run stands; the same command goes on there.", metavar="DIR")
    ] = None,
    engine: Annotated[
        Literal["spark", "local"], typer.Option(help="local: in this process, without Spark. Same changes from both.")
    ] = "spark",
    master: Annotated[
        str | None, typer.Option(help="Spark master, such as spark://host:7077; if left out this machine.")
    ] = None,
    commands: Annotated[
        Path | None, typer.Option(help="Folder of SQL files, taken as commands while the run goes on.", metavar="DIR")
    ] = None,
    renames: MapOption = None,
    table: TableOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace earlier output, start over.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Read all of PATH as a stream, one micro-batch after another, and write what changed in every answer.

    Bad rows go to DIR/rejects with a reason and rows that are too late to DIR/late. Nothing stops the run but input
    that cannot be read at all.
    """
    from vedette.cli.running import Job, run_job

    if master is not None and engine == "local":
        raise typer.BadParameter("--master is for --engine spark")
    wait = parse_span(lateness)
    run_job(
        Job(
            queries, source, output, kind, space, _bounds(bounds), 0 if wait is None else wait, parse_span(timeout),
            late, parse_span(max_ahead), regions, buckets, resident_updates, batch_files, batch_rows, checkpoint,
            engine, master, commands, parse_map(renames or ()), parse_tables(table or ()), overwrite, quiet,
        )
    )  # fmt: skip


def _bounds(text: str | None) -> tuple[float, float, float, float] | None:
    numbers = parse_numbers(text, 4, "x0,y0,x1,y1, such as --bounds 0,0,1000,1000")
    return None if numbers is None else (numbers[0], numbers[1], numbers[2], numbers[3])


@app.command(epilog="vedette check fences.sql --space lonlat --input positions.parquet")
@told
def check(
    queries: QueriesArgument,
    space: SpaceOption = None,
    source: Annotated[
        str | None, typer.Option("--input", help="Input whose columns the queries must fit.", metavar="PATH")
    ] = None,
    renames: MapOption = None,
    table: TableOption = None,
) -> None:
    """Say everything that is wrong with a file of queries, with line, column and caret; exit code 1 if anything is."""
    from vedette.cli.asking import read_statements

    statements, _, _ = read_statements(queries, space, source, parse_map(renames or ()), parse_tables(table or ()))
    from vedette.cli.words import standing_of

    count = len(standing_of(statements))
    message = f"OK: {len(statements)} {_plural('statement', len(statements))}, {count} {_plural('query', count)}"
    out().print(Text(message, style="green"))


def _plural(word: str, count: int) -> str:
    return word if count == 1 else {"query": "queries"}.get(word, word + "s")


@app.command(epilog="vedette explain fences.sql --space lonlat")
@told
def explain(
    queries: QueriesArgument,
    space: SpaceOption = None,
    source: Annotated[
        str | None, typer.Option("--input", help="Input whose columns the queries must fit.", metavar="PATH")
    ] = None,
    renames: MapOption = None,
    table: TableOption = None,
    graphs: Annotated[
        Path | None,
        typer.Option("--graphs", help="Draw the graph of each trigger, and the diagram of all alerts.", metavar="DIR"),
    ] = None,
    regions: Annotated[
        int | None, typer.Option(help="Say where each trigger is matched with so many regions; needs --input.", min=1)
    ] = None,
) -> None:
    """Show for each query what was understood, and which conditions several queries share."""
    from vedette.cli.asking import draw_graphs, print_explanation, read_statements

    columns = parse_map(renames or ())
    statements, where, schema = read_statements(queries, space, source, columns, parse_tables(table or ()))
    places = {}
    if regions is not None:
        if source is None:
            raise typer.BadParameter("--regions needs --input: where things are decides how space is cut")
        from vedette.cli.places import places_of

        places = places_of(statements, where, source, columns, regions)
    print_explanation(out(), statements, where, schema, places, regions or 1)
    for path in draw_graphs(statements, graphs, where, schema) if graphs is not None else ():
        out().print(f"drawn: {path}", soft_wrap=True)


@app.command(
    epilog="vedette generate --objects 100000 --ticks 100 --out traffic --ticks-per-file 10 --lonlat 4.9,52.37"
)
@told
def generate(
    out_folder: Annotated[Path, typer.Option("--out", "--output", help="Folder for the files.", metavar="DIR")],
    objects: Annotated[int, typer.Option(help="Objects under way at the beginning.", min=1)] = 1000,
    ticks: Annotated[int, typer.Option(help="How many ticks.", min=1)] = 100,
    rate: Annotated[
        int | None, typer.Option(help="New objects a tick. [default: as many as have arrived]", min=0)
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.", min=0)] = 0,
    step: Annotated[int, typer.Option(help="Seconds from tick to tick.", min=1)] = 10,
    ticks_per_file: Annotated[int, typer.Option(help="Ticks in a file.", min=1)] = 10,
    time: Annotated[
        Literal["long", "timestamp"], typer.Option(help="t as seconds from the beginning, or as timestamps.")
    ] = "long",
    start: Annotated[datetime | None, typer.Option(help="First timestamp (UTC).")] = None,
    ids: Annotated[Literal["long", "text"], typer.Option(help="Ids as numbers, or as text such as car-17.")] = "long",
    lonlat: Annotated[
        str | None, typer.Option(help="Put the middle of the network there; columns lon, lat.", metavar="LON,LAT")
    ] = None,
    nodes: Annotated[Path | None, typer.Option(help="CSV of node_id, x, y instead of the built-in city.")] = None,
    edges: Annotated[Path | None, typer.Option(help="CSV of src, dst, class (0 is the fastest).")] = None,
    kind: Annotated[Literal["parquet", "csv", "json"], typer.Option("--format", help="Of the files.")] = "parquet",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace earlier part files.")] = False,
) -> None:
    """Write the traffic of a city: objects that appear, drive along the streets, and arrive.

    Columns oid, t, x, y (or lon, lat), class, speed, event (new, move, end). Rows are in order of time.
    """
    from vedette.cli.asking import generate_files
    from vedette.generate import city, read_network, traffic

    if (nodes is None) != (edges is None):
        raise typer.BadParameter("--nodes and --edges go together")
    place = parse_numbers(lonlat, 2, "lon,lat, such as --lonlat 4.9,52.37")
    network = read_network(nodes, edges) if nodes and edges else city(seed)
    extra = {"start": start} if start else {}
    tables = traffic(
        objects, ticks, rate=rate, seed=seed, network=network, step=step, time=time, ids=ids,
        lonlat=None if place is None else (place[0], place[1]), ticks_per_table=ticks_per_file, **extra,
    )  # fmt: skip
    generate_files(tables, out_folder, kind, ticks, ticks_per_file, overwrite)


@app.command(epilog="vedette demo --fast")
@told
def demo(
    out_folder: Annotated[
        Path, typer.Option("--out", "--output", help="Folder for the results.", metavar="DIR")
    ] = Path("vedette-demo"),
    fast: Annotated[bool, typer.Option("--fast", help="A few seconds instead of a minute.")] = False,
    seed: Annotated[int, typer.Option(help="Another seed, another city.", min=0)] = 7,
) -> None:
    """A story of a minute: a city wakes up, eight queries watch it, and a map shows who crossed which fence."""
    from vedette.demo import tell_story

    tell_story(out_folder, fast=fast or not sys.stdout.isatty(), seed=seed)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True}, epilog="vedette bench range")
@told
def bench(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name of a file in bench/.")],
) -> None:
    """Run one of the benchmarks in the bench/ folder of the source tree; what follows the name goes to it."""
    from vedette.cli.asking import run_benchmark

    raise typer.Exit(run_benchmark(name, context.args))
