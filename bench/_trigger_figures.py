"""What `triggers.py` found, as tables and as a picture: rates and kept events by verbosity, number and length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Result = dict[str, Any]
AXES = {  # field of the set: (label, the others that must be as in the first point)
    "verbosity": ("alerts of a trigger per event", ("triggers", "days")),
    "triggers": ("triggers", ("verbosity", "days")),
    "days": ("days from first to last event", ("verbosity", "triggers")),
}


def show(result: Result) -> None:
    """Everything that one run found."""
    console = Console()
    console = console if console.is_terminal else Console(width=140)
    machine = result["machine"]
    console.print(
        f"\n{machine['cpu']}, one of {machine['cores']} cores, Python {machine['python']}; {result['date']}; "
        f"{result['settings']['events']:,} events; load {result['load_before']} before, {result['load_after']} after",
        highlight=False,
    )
    console.print(_rates(result))
    for name, title in (("spark", "The largest set on Spark"), ("rival", "A sequence of three, and Spark SQL")):
        if name in result:
            console.print(_plain(title, result[name]))
    table = _table("Targets (for the full sizes)", ("what", "wanted", "got", ""))
    for target in result["targets"]:
        got = f"{target['got']:,.0f}" if target["got"] > 1000 else f"{target['got']:.3f}"
        table.add_row(target["what"], target["wanted"], got, "met" if target["met"] else "missed")
    console.print(table)


def _rates(result: Result) -> Table:
    headings = ("triggers", "verbosity", "days", "strategy", "events/s", "each copy, k/s", "per processor s")
    table = _table(
        "Local engine, one core, Arrow in to Arrow out",
        (*headings, "alerts/event", "most kept", "% of stream", "probed/event", "load"),
    )
    for point in result["points"]:
        for name, case in point["strategies"].items():
            wanted = point["set"]
            table.add_row(
                str(wanted["triggers"]),
                f"{wanted['verbosity']:.1%}",
                str(wanted["days"]),
                name,
                f"{case['events_per_s']:,.0f}",
                " ".join(f"{rate / 1000:,.0f}" for rate in case["events_per_s_each"]),
                f"{case['events_per_processor_s']:,.0f}",
                f"{case['alerts_per_event']:.3f}",
                f"{case['peak_stored_events']:,}",
                f"{case['peak_stored_share']:.4%}",
                f"{case['probed_per_event']:,.1f}",
                f"{case['load_average']}",
            )
    return table


def _plain(title: str, figures: dict[str, Any]) -> Table:
    table = _table(title, ("", ""))
    for name, value in figures.items():
        if isinstance(value, float):
            table.add_row(name, f"{value:,.0f}" if value > 1000 else f"{value:.3f}")
        elif isinstance(value, int | bool | str):
            table.add_row(name, f"{value:,}" if type(value) is int else str(value))
    return table


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def draw(result: Result, path: Path) -> None:
    """Above events a second, below the most events kept; a column for each axis with more than a point."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    first = result["points"][0]["set"]
    lines = {
        axis: sorted(
            (p for p in result["points"] if all(p["set"][other] == first[other] for other in others)),
            key=lambda point: float(point["set"][axis]),
        )
        for axis, (_, others) in AXES.items()
    }
    several = {axis: line for axis, line in lines.items() if len(line) > 1}
    lines = several or dict([*lines.items()][:1])
    size = (4.2 * len(lines) + 0.6, 7)
    figure, panels = plt.subplots(2, len(lines), figsize=size, squeeze=False, sharey="row", layout="constrained")
    for column, (axis, line) in enumerate(lines.items()):
        at = [point["set"][axis] for point in line]
        for name in line[0]["strategies"]:
            cases = [point["strategies"][name] for point in line]
            panels[0, column].plot(at, [c["events_per_s"] for c in cases], marker="o", label=name)
            panels[1, column].plot(at, [100 * c["peak_stored_share"] for c in cases], marker="o", label=name)
        for panel in panels[:, column]:
            panel.set(xlabel=AXES[axis][0], xscale="log", yscale="log", xticks=at)
            panel.set_xticks([], minor=True)
            panel.set_xticklabels([f"{v:.1%}" if axis == "verbosity" else str(v) for v in at])
            panel.grid(alpha=0.3)
    panels[0, 0].set_ylabel("events/s, one core")
    panels[1, 0].set_ylabel("most events kept, % of the stream")
    panels[0, 0].legend(frameon=False)
    machine = result["machine"]
    title = (
        f"Triggers over {result['settings']['events']:,} readings, one core of {machine['cpu']}, {result['date'][:10]}"
    )
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=130)
    plt.close(figure)
