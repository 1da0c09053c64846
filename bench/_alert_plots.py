"""The figures of `vedette bench alerts`: time and memory by repetition and dependency, order, lattice, other terms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BLUE, ORANGE, GREY = "#1f6fd0", "#c8700f", "#888888"


def draw(result: dict[str, Any], path: Path) -> None:
    """Six panels in one picture, as the paper's figures 9 to 14."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(4, 2, figsize=(11, 15))
    cases = result["cases"]
    loads = sorted({c["formulas"] for c in cases})
    for column, (field, unit) in enumerate((("ms", "ms for all objects once"), ("kilobytes", "kB of arrays"))):
        panel = axes[0][column]
        for load in loads:
            _line(panel, cases, "shared", load, "repetition", field, f"{load:,} shared", BLUE)
            _line(panel, cases, "alone", load, "repetition", field, f"{load:,} each on its own", ORANGE)
        _dress(panel, "repeated constraints", unit, "9: repetition")
        panel = axes[1][column]
        for load in loads:
            _line(panel, cases, "links", load, "dependent", field, f"{load:,} with links", BLUE)
            _line(panel, cases, "no links", load, "dependent", field, f"{load:,} without", ORANGE)
        _dress(panel, "dependent constraints", unit, "10: dependency")
    _bars(axes[2][0], cases, ("ordered", "unordered"), "nodes", "diagram nodes, 40% repeated", "11: order of variables")
    lattice = result["lattice"]
    names = [f"{each['existing']:,} sets" for each in lattice]
    for shift, field, label, colour in ((-0.2, "lattice_s", "lattice", BLUE), (0.2, "scan_s", "scan", ORANGE)):
        places = [i + shift for i in range(len(lattice))]
        axes[2][1].bar(places, [each[field] * 1e3 for each in lattice], 0.4, label=label, color=colour)
    axes[2][1].set_xticks(range(len(lattice)), names)
    axes[2][1].set_yscale("log")
    _dress(axes[2][1], "", f"ms to look {lattice[0]['added']} sets up", "12: lattice")
    for kind, colour in (("inside", BLUE), ("rknn", ORANGE)):
        _line(axes[3][0], cases, kind, loads[-1], "repetition", "ms", kind.upper(), colour)
    _dress(axes[3][0], "repeated constraints", "ms for all objects once", "13: INSIDE and RKNN in alerts")
    combined = result["combinations"]
    axes[3][1].plot([c["repetition"] for c in combined], [c["ms"] for c in combined], "o-", color=BLUE, label="a tick")
    _dress(axes[3][1], "repeated terms", "ms for all objects once", f"14: {combined[0]['count']} combinations, engine")
    machine = result["machine"]
    figure.suptitle(f"{machine['cpu']}, one core; {result['date']}; load {result['load_before']}", fontsize=9)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _line(panel: Any, cases: list[Any], name: str, load: int, by: str, field: str, label: str, colour: str) -> None:
    some = [c for c in cases if c["case"] == name and c["formulas"] == load]
    style = "o-" if load == max(c["formulas"] for c in cases) else "o--"
    panel.plot([c[by] for c in some], [c[field] for c in some], style, label=label, color=colour)


def _bars(panel: Any, cases: list[Any], names: tuple[str, ...], field: str, unit: str, title: str) -> None:
    values = [next(c for c in cases if c["case"] == name)[field] for name in names]
    panel.bar(names, values, 0.5, color=(BLUE, ORANGE))
    panel.set_ylabel(unit)
    panel.set_title(title)


def _dress(panel: Any, x: str, y: str, title: str) -> None:
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    panel.set_ylim(bottom=None if panel.get_yscale() == "log" else 0)
    panel.set_title(title)
    panel.legend(fontsize=8)
    panel.grid(color=GREY, alpha=0.25)
