"""Results of `vedette bench range` as tables and as a picture: `vedette bench compare RESULT... [--plot GROWTH.png]`.

In: one or more JSON files. Out: for one file its full tables, for several the cases side by side; a PNG of the growth.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

Result = dict[str, Any]
GROWTH = {  # panel title: (x axis, field of the load, line label: cases from few to many)
    "More queries": ("stationary rectangles", "stationary", {"": ("queries / 10", "stationary", "queries x 5")}),
    "More objects": (
        "objects",
        "objects",
        {
            "batches of equal size": ("objects / 10", "stationary", "objects x 10"),
            "a tick a batch": ("objects / 10, a tick a batch", "stationary", "objects x 10, a tick a batch"),
        },
    ),
}


def main(
    results: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON files of the benchmark.")],
    plot: Annotated[Path | None, typer.Option(help="Draw the growth into this PNG file.")] = None,
) -> None:
    """Print the tables of results, side by side if there are several."""
    loaded = [json.loads(path.read_text(encoding="utf-8")) for path in results]
    names = [path.stem for path in results]
    console = _console()
    if len(loaded) == 1:
        show(loaded[0], console)
    else:
        side_by_side(loaded, names, console)
    if plot is not None:
        draw(loaded, names, plot)
        console.print(f"drawn into {plot}", soft_wrap=True)


# ------------------------------------------------------------------------------------------------ tables


def show(result: Result, console: Console | None = None) -> None:
    """Everything that one run found."""
    console = console or _console()
    machine, repetitions = result["machine"], result["settings"]["repetitions"]
    console.print(
        f"\n{machine['cpu']}, one of {machine['cores']} cores, Python {machine['python']}, "
        f"numba {machine['packages']['numba']}; {result['date']}; "
        f"load {result['load_before']} before, {result['load_after']} after; best of {repetitions}",
        highlight=False,
    )
    console.print(_rates(result))
    console.print(_costs(result))
    if result["naive"] is not None:
        console.print(_naive(result))
    console.print(_targets(result))


def _console() -> Console:
    """As wide as the terminal; wide enough for every table where there is none."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


def _rates(result: Result) -> Table:
    headings = ("case", "objects", "queries", "updates/s", "µs/update", "each repetition, k/s", "changes/update")
    table = _table("Local engine, one core, Arrow in to Arrow out", headings)
    for name, case in result["cases"].items():
        table.add_row(
            name,
            f"{case['load']['objects']:,}",
            f"{_queries(case['load']):,}",
            f"{case['updates_per_s']:,.0f}",
            f"{case['us_per_update']:.3f}",
            " ".join(f"{rate / 1000:,.0f}" for rate in case["updates_per_s_each"]),
            f"{case['changes_per_update']:.3f}",
        )
    return table


def _costs(result: Result) -> Table:
    table = _table(
        "Memory, and what is not timed", ("case", "rows a batch", "peak MB", "at start", "parse s", "warm-up s")
    )
    for name, case in result["cases"].items():
        load = case["load"]
        table.add_row(
            name,
            f"{load['batch_rows'] or load['objects']:,}",
            f"{case['peak_mb']:,.0f}",
            f"{case['baseline_mb']:,.0f}",
            f"{case['parse_s']:.2f}",
            f"{sum(case['warm_up_s']):.2f}",
        )
    return table


def _naive(result: Result) -> Table:
    naive, ticks = result["naive"], result["naive"]["ticks"]
    title = f"Plain numpy on the mix: {ticks} ticks, every query, nothing scaled"
    table = _table(title, ("queries", "s a tick", "updates/s", "engine / numpy"))
    for family, seconds in naive["seconds"].items():
        ratio = f"{naive['ratio'][family]:.1f}x" if family in naive["ratio"] else ""
        table.add_row(family, f"{seconds / ticks:.3f}", f"{naive['updates'] / seconds:,.0f}", ratio)
    total = sum(naive["seconds"].values())
    table.add_row("mix", f"{total / ticks:.3f}", f"{naive['updates_per_s']:,.0f}", f"{naive['ratio']['mix']:.1f}x")
    verdict = "the same" if naive["equal"] else "DIFFERENT"
    table.caption = f"{naive['compared_changes']:,} changes compared with the engine's: {verdict}"
    return table


def _targets(result: Result) -> Table:
    table = _table("Targets (for the full sizes)", ("what", "wanted", "got", ""))
    for target in result["targets"]:
        got = f"{target['got']:,.0f}" if target["got"] > 1000 else f"{target['got']:.2f}x"
        table.add_row(target["what"], target["wanted"], got, "met" if target["met"] else "missed")
    return table


def side_by_side(results: list[Result], names: list[str], console: Console) -> None:
    """Updates per second of every case in every result, and how the last compares with the first."""
    table = _table("Updates/s", ("case", *names, "last / first"))
    for case in results[0]["cases"]:
        rates = [result["cases"].get(case, {}).get("updates_per_s") for result in results]
        ratio = f"{rates[-1] / rates[0]:.2f}x" if rates[-1] is not None else ""
        table.add_row(case, *("" if rate is None else f"{rate:,.0f}" for rate in rates), ratio)
    console.print(table)
    for name, result in zip(names, results, strict=True):
        machine = result["machine"]
        console.print(f"{name}: {machine['cpu']}, {machine['cores']} cores, {result['date']}", highlight=False)


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left")
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left", no_wrap=i == 0)
    return table


def _queries(load: dict[str, Any]) -> int:
    return int(load["stationary"] + load["moving"] + load["knn"] + load["knn_moving"])


# ------------------------------------------------------------------------------------------------ picture


def draw(results: list[Result], names: list[str], path: Path) -> None:
    """Time per update over queries and over objects: a line for the best repetition, a dot for each one."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(GROWTH), figsize=(11, 4.4), sharey=True, layout="constrained")
    for axes, (title, (label, field, lines)) in zip(panels, GROWTH.items(), strict=True):
        for number, (result, name) in enumerate(zip(results, names, strict=True)):
            for style, (line, order) in zip(("-", "--"), lines.items(), strict=False):
                cases = [result["cases"][case] for case in order]
                size = [case["load"][field] for case in cases]
                text = ", ".join(part for part in (name if len(results) > 1 else "", line) if part)
                color = f"C{number}"
                axes.plot(size, [c["us_per_update"] for c in cases], style, marker="o", color=color, label=text or None)
                for at, case in zip(size, cases, strict=True):
                    each = [1e6 / rate for rate in case["updates_per_s_each"]]
                    axes.plot([at] * len(each), each, ".", color=color, alpha=0.4, markersize=4)
                    if number == 0 and style == "-":
                        note = f"{case['changes_per_update']:.2g} changes per update"
                        paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.5}
                        above = {"xytext": (0, 9), "textcoords": "offset points", "ha": "center", "va": "bottom"}
                        axes.annotate(note, (at, max(each)), fontsize=7, color="0.35", bbox=paper, **above)
        axes.set(title=title, xlabel=label, xscale="log", ylabel="µs per update, one core" if axes is panels[0] else "")
        axes.margins(x=0.18, y=0.12)
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
    panels[0].set_ylim(bottom=0)
    machine = results[0]["machine"]
    figure.suptitle(f"Local engine on one core of {machine['cpu']}, {results[0]['date'][:10]}", fontsize=10)
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    typer.run(main)
