"""Draws the closed constraint graph of a trigger: events as nodes, what holds between them on the edges.

In: a trigger. Out: an SVG or PNG file. What the user wrote is drawn solid, what follows from it dashed.
"""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import shorten
from typing import Any

from vedette.cli.graphs import has_units, plan_of, span
from vedette.families.triggers import TriggerPlan
from vedette.lang import print_expr
from vedette.model import Schema, Trigger
from vedette.pictures import FENCES, INK, PAPER, QUIET
from vedette.space import Space


def draw_trigger(path: Path, trigger: Trigger, space: Space, schema: Schema | None) -> Path:
    """Write the graph; the format is that of the file's name."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plan = plan_of(trigger, schema, space)
    names = plan.closure.names(trigger)
    m = len(names)
    figure, axes = plt.subplots(figsize=(8.5, 6.5), facecolor=PAPER)
    axes.set_axis_off()
    places = [(math.sin(2 * math.pi * k / m) * (m > 1), math.cos(2 * math.pi * k / m) * (m > 1)) for k in range(m)]
    for i in range(m):
        for j in range(i + 1, m):
            _edge(
                axes,
                places[i],
                places[j],
                _label(plan, names, i, j, space, has_units(trigger)),
                _is_written(plan, i, j),
            )
    for k, (x, y) in enumerate(places):
        variable = trigger.variables[plan.closure.slots[k]]
        colour = FENCES[plan.closure.slots[k] % len(FENCES)]
        axes.scatter([x], [y], s=1900, color=PAPER, edgecolors=colour, linewidths=2.2, zorder=3)
        axes.text(x, y, names[k], ha="center", va="center", color=INK, fontsize=11, zorder=4)
        condition = "any event" if variable.condition is None else shorten(print_expr(variable.condition), 44)
        below = -0.27 if y <= 0.01 else 0.27
        axes.text(x, y + below, condition, ha="center", va="center", color=colour, fontsize=8.5, zorder=4)
    axes.set_xlim(-1.65, 1.65)
    axes.set_ylim(-1.5, 1.5)
    axes.set_title(f"trigger {trigger.name}", color=INK, fontsize=13, loc="left")
    figure.text(0.125, 0.05, "solid: as written    dashed: what follows", color=QUIET, fontsize=8.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, bbox_inches="tight", facecolor=PAPER)
    plt.close(figure)
    return path


def _is_written(plan: TriggerPlan, i: int, j: int) -> bool:
    """Whether the user wrote a distance between the two, rather than that it follows."""
    return plan.near[i][j][0] < math.inf or plan.far[i][j][0] >= 0


def _label(plan: TriggerPlan, names: list[str], i: int, j: int, space: Space, in_units: bool) -> str:
    def length(ticks: int) -> str:
        return f"-{span(-ticks, in_units)}" if ticks < 0 else span(ticks, in_units)

    unit = " m" if space.is_lonlat else ""
    lines = [f"{names[j]}.t - {names[i]}.t in [{length(-plan.high[j][i])}, {length(plan.high[i][j])}]"]
    near, far = plan.closure.near[i][j], plan.closure.far[i][j]
    if far > 0:
        lines.append(f"at least {far:.4g}{unit}")
    if near < math.inf:
        lines.append(f"at most {near:.4g}{unit}")
    return "\n".join(lines)


def _edge(axes: Any, a: tuple[float, float], b: tuple[float, float], label: str, is_written: bool) -> None:
    axes.plot(
        [a[0], b[0]], [a[1], b[1]], color=INK if is_written else QUIET, lw=1.3, ls="-" if is_written else "--", zorder=1
    )
    middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
    axes.text(*middle, label, ha="center", va="center", color=INK, fontsize=7.5, zorder=2, bbox=box)
