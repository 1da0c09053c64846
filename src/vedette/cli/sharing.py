"""What alerts share: elementary constraints, links between them, and one decision diagram.

In: alerts. Out: lines and a table for people; a picture of the diagram. What is shown is what a shard is made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from vedette.lang.alerts import print_constraint
from vedette.model import Alert
from vedette.model.alert import Diameter, Distance, Elementary, ReverseNearest, objects_of
from vedette.model.formula import distinct
from vedette.pictures import FENCES, INK, PAPER, QUIET
from vedette.pipeline.alerts.shard import Shard
from vedette.space import Space

MOST_LISTED, MOST_DRAWN = 20, 80


def describe_alert(alert: Alert, space: Space) -> list[tuple[str, str]]:
    """What was understood, as (topic, words)."""
    found = distinct(alert.formula)
    lines = [("says", "+1 when it becomes true, -1 when it becomes false")]
    lines += [("constraint", _in_words(term, space)) for term in found]
    ids = dict.fromkeys(o for term in found for o in objects_of(term))
    lines.append(("hears of", f"{len(ids)} {'object' if len(ids) == 1 else 'objects'}: {', '.join(ids)}"))
    return lines


def _in_words(term: Elementary, space: Space) -> str:
    text = print_constraint(term, space)
    if isinstance(term, Diameter):
        kind = "spherical cap" if space.is_lonlat else "circle"
        return f"{text}: the smallest {kind} around all of them, across"
    if isinstance(term, Distance):
        return f"{text}: {'all of them within' if term.op == '<' else 'the farthest of them beyond'}"
    if isinstance(term, ReverseNearest):
        return f"{text}: fewer than {term.k} others strictly closer to {term.object} than the point"
    return text


def shard_of(alerts: Sequence[Alert], space: Space) -> Shard:
    """All alerts in one shard."""
    shard = Shard(space)
    for alert in {a.name: a for a in alerts}.values():
        shard.create(alert.name, alert.formula, {})
    shard.prepare()
    return shard


def print_sharing(console: Console, alerts: Sequence[Alert], space: Space) -> None:
    """Which constraints there are, how many alerts use each, and from how many others each can be inferred."""
    shard = shard_of(alerts, space)
    users: Counter[Elementary] = Counter(c for formula in shard.formulas.values() for c in distinct(formula))
    assert shard.links is not None
    into = shard.links.into
    console.print()
    table = Table(title="Elementary constraints: each is stored and evaluated once", title_justify="left")
    table.add_column("constraint", overflow="fold")
    table.add_column("alerts", justify="right")
    table.add_column("links to it", justify="right")
    for constraint, count in users.most_common(MOST_LISTED):
        links = into.get(shard.constraints.of[constraint], [])
        table.add_row(Text(print_constraint(constraint, space)), str(count), str(len(links)))
    if len(users) > MOST_LISTED:
        table.add_row(f"... and {len(users) - MOST_LISTED} more", "", "")
    console.print(table)
    inferred = sum(map(len, into.values()))
    console.print(
        f"{len(shard.formulas)} alerts name {users.total()} constraints, {len(users)} of them different; "
        f"{inferred} links infer some from others; the diagram has {shard.diagram.size()} nodes.",
        soft_wrap=True,
    )


def draw_diagram(path: Path, alerts: Sequence[Alert], space: Space) -> Path | None:
    """The shared diagram: solid where a constraint holds, dashed where not. None if it is too large to be seen."""
    shard = shard_of(alerts, space)
    nodes = shard.diagram.table
    edges = dict(shard.diagram.edges)
    reached = _reached(nodes, list(edges.values()))
    if len(reached) > MOST_DRAWN:
        return None
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    depth = _depths(nodes, reached, list(edges.values()))
    rows: dict[int, list[int]] = {}
    for edge in reached:
        rows.setdefault(depth[edge], []).append(edge)
    places = {
        edge: ((i + 0.5) / len(row), -float(level)) for level, row in rows.items() for i, edge in enumerate(sorted(row))
    }
    figure, axes = plt.subplots(figsize=(11, 1.4 + 1.1 * len(rows)), facecolor=PAPER)
    axes.set_axis_off()
    names = {slot: print_constraint(c, space) for c, slot in shard.constraints.of.items()}
    for edge in reached:
        _draw_node(axes, nodes, edge, places, names)
    for i, (name, edge) in enumerate(sorted(edges.items(), key=lambda each: str(each[0]))):
        x = (i + 0.5) / len(edges)
        colour = FENCES[i % len(FENCES)]
        axes.annotate("", places[edge], (x, 1.0), arrowprops={"arrowstyle": "->", "color": colour, "shrinkB": 12})
        axes.text(x, 1.05, str(name), ha="center", va="bottom", color=colour, fontsize=11)
    axes.set_xlim(0, 1)
    axes.set_ylim(-len(rows) + 0.4, 1.5)
    figure.text(0.125, 0.03, "solid: the constraint holds    dashed: it does not", color=QUIET, fontsize=8.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, bbox_inches="tight", facecolor=PAPER)
    plt.close(figure)
    return path


def _step(nodes: Any, edge: int) -> tuple[int, int]:
    """Where an edge leads if the variable is false, and if it is true; the turning of meanings is carried along."""
    node, turned = edge >> 1, edge & 1
    return int(nodes.low[node]) ^ turned, int(nodes.high[node]) ^ turned


def _reached(nodes: Any, roots: list[int]) -> list[int]:
    found, stack = dict.fromkeys(roots), list(roots)
    while stack:
        edge = stack.pop()
        for other in _step(nodes, edge) if edge >> 1 else ():
            if other not in found:
                found[other] = None
                stack.append(other)
    return list(found)


def _depths(nodes: Any, reached: list[int], roots: list[int]) -> dict[int, int]:
    """The length of the longest way to each node; the leaves in a row of their own."""
    depth = dict.fromkeys(reached, 0)
    changed = True
    while changed:
        changed = False
        for edge in reached:
            for other in _step(nodes, edge) if edge >> 1 else ():
                if depth[other] < depth[edge] + 1:
                    depth[other], changed = depth[edge] + 1, True
    last = max((depth[e] for e in reached if e >> 1), default=0) + 1
    return {edge: depth[edge] if edge >> 1 else last for edge in reached}


def _draw_node(axes: Any, nodes: Any, edge: int, places: dict[int, tuple[float, float]], names: dict[int, str]) -> None:
    x, y = places[edge]
    leaf = edge >> 1 == 0
    text = ("FALSE" if edge & 1 else "TRUE") if leaf else shorten(names[int(nodes.variable[edge >> 1])], 34)
    box = {"boxstyle": "square" if leaf else "round", "facecolor": PAPER, "edgecolor": QUIET if leaf else INK}
    axes.text(x, y, text, ha="center", va="center", color=INK, fontsize=8, bbox=box, zorder=3)
    for other, style in zip(_step(nodes, edge) if not leaf else (), ("dashed", "solid"), strict=False):
        arrow = {"arrowstyle": "->", "color": INK, "linestyle": style, "shrinkA": 9, "shrinkB": 9}
        axes.annotate("", places[other], (x, y), arrowprops=arrow, zorder=1)
