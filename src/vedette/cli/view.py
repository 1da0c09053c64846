"""What people see of a run: progress while it works, and a summary at the end.

In: the outcome of each micro-batch and the totals so far. Out: a line on stderr that changes, tables on stdout.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.types as pt
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from vedette.cli.terminal import err
from vedette.columns import T
from vedette.conditions import format_timestamp
from vedette.connectors import FileSource
from vedette.connectors.protocol import Outcome


class View:
    """Progress on stderr, and the counts that the summary shows."""

    def __init__(self, source: FileSource, quiet: bool) -> None:
        self.is_timestamp = pt.is_timestamp(source.schema.field(source.layout.roles[T]).type)
        self.files, self.began = len(source.files), time.monotonic()
        self.rows, self.signs = 0, Counter[tuple[str, int]]()
        self.totals: dict[str, Any] = {}
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

    def update(self, batch: int, files: int, outcome: Outcome, totals: dict[str, Any], seen: int) -> None:
        """After a micro-batch: its number, the files used up, and how many rows it had."""
        counts = outcome.changes.group_by(["query", "sign"]).aggregate([([], "count_all")])
        for row in counts.to_pylist():
            self.signs[row["query"], row["sign"]] += row["count_all"]
        self.rows += seen
        self.totals = totals
        speed = self.rows / max(1e-9, time.monotonic() - self.began)
        words = (
            f"batch {batch}  {speed:,.0f} rows/s  frontier {self.moment(totals.get('frontier'))}  "
            f"changes {totals['changes']:,}  late {totals['late']:,}  rejects {totals['rejects']:,}"
        )
        self.progress.update(self.task, description=words, completed=files)

    def moment(self, t: int | None) -> str:
        """A tick as people write it."""
        if t is None:
            return "none"
        return format_timestamp(t) if self.is_timestamp else f"{t}"


def print_summary(console: Console, view: View, output: Path) -> None:
    """Totals, and what each query brought forth."""
    totals, seconds = view.totals, time.monotonic() - view.began
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
