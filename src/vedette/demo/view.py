"""What the terminal shows: a clock, the narrator, the queries with their answers, the last events.

In: changes as they come. Out: renderables of rich. Invariant: the counts are sums of the changes, nothing else.
"""

from __future__ import annotations

from collections import Counter, deque
from datetime import datetime

import pyarrow as pa
from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from vedette.demo.scene import PHRASES, Scene

IN, OUT, VALUE = "green", "red", "blue"


class Tally:
    """Answers as the sum of all changes so far."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.joined: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.values: dict[str, float] = {}
        self.events: deque[Text] = deque(maxlen=12)
        self.visits: Counter[str] = Counter()

    def take(self, changes: pa.Table) -> None:
        """Count changes, and remember the last of them as sentences."""
        for row in changes.select(["query", "t", "sign", "oid", "value"]).to_pylist():
            name, sign = row["query"], row["sign"]
            if sign == 0:
                self.values[name] = row["value"]
                continue
            (self.joined if sign > 0 else self.left)[name] += 1
            if sign > 0:
                self.visits[row["oid"]] += 1
            if name != "company":  # too talkative for the list
                phrase = self.scene.phrase(name, 1 if sign > 0 else 2)
                line = Text().append(f"{row['t']:%H:%M:%S} ", style="dim")
                line.append(f"{row['oid']} ", style="bold " + (IN if sign > 0 else OUT)).append(phrase)
                self.events.append(line)

    def now(self, name: str) -> str:
        """The answer's size, or its value."""
        if name in self.values:
            return f"{self.values[name]:.0f}"
        return str(self.joined[name] - self.left[name])


def render_frame(tally: Tally, clock: datetime, share: float, said: str) -> RenderableType:
    """One frame of the live view."""
    head = Table.grid(expand=True, padding=(0, 1))
    head.add_column(no_wrap=True)
    head.add_column(ratio=1)
    head.add_row(Text(f"{clock:%H:%M:%S}", style="bold"), ProgressBar(total=1.0, completed=share))
    body = Table.grid(expand=True, padding=(0, 1))
    body.add_column(width=36)
    body.add_column(ratio=1)
    events = list(tally.events) + [Text("")] * (12 - len(tally.events))
    body.add_row(
        Panel(queries_table(tally, brief=True), title="answers", border_style="dim", height=14),
        Panel(Group(*(_one_line(e) for e in events)), title="what changed", border_style="dim", height=14),
    )
    narrator = Panel(
        Text(said, style="italic cyan"), box=SIMPLE, height=4, padding=0
    )  # two lines, so that nothing jumps
    return Group(head, narrator, body)


def _one_line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def queries_table(tally: Tally, brief: bool = False) -> Table:
    """Each query, what it asks, and its counts."""
    table = Table(box=None, expand=brief, padding=(0, 1), show_edge=False)
    table.add_column("query", style="bold", no_wrap=True)
    if not brief:
        table.add_column("asks")
    table.add_column("now", justify="right", style=VALUE)
    table.add_column("joined", justify="right", style=IN)
    table.add_column("left", justify="right", style=OUT)
    for name in PHRASES:
        asks = [] if brief else [tally.scene.phrase(name, 0)]
        counts = ("", "") if name == "busy" else (str(tally.joined[name]), str(tally.left[name]))
        table.add_row(name, *asks, tally.now(name), *counts)
    return table
