"""A motion pattern in words: its steps and windows, how far back it looks, and the cells of its search areas.

In: a pattern. Out: lines for people. The grid is the one that would be laid for this pattern alone, before any update
tells where objects are.
"""

from __future__ import annotations

import numpy as np

from vedette.kernels.motion.tables import COVERED, GREY, PATTERN, records
from vedette.lang import print_expr
from vedette.lang.patterns import print_step
from vedette.lang.print import print_distance, print_duration
from vedette.model import MICROSECONDS, Duration, Extreme, Limit, Pattern, Schema
from vedette.pipeline.patterns.book import Book
from vedette.space import Space


def describe_pattern(pattern: Pattern, space: Space, schema: Schema | None) -> list[tuple[str, str]]:
    """What was understood, as (topic, words)."""
    book = Book(space, schema or _schema_for(pattern))
    book.add(0, pattern, 0)
    book.lay_grid()
    tables = book.tables(records(PATTERN, 1))
    areas, cells = tables.areas, tables.cells
    lines = [("asked", f"every {print_duration(pattern.every)}, of the objects' updates since the pattern is there")]
    for number, step in enumerate(pattern.steps):
        record = areas.steps[number]
        words = print_step(step, space)
        if record.is_number:
            words += (
                ": measured; boxes around an object's updates give bounds, updates are read where those leave a doubt"
            )
        else:
            covered, grey = (int(np.count_nonzero(cells.holds[:, number] == kind)) for kind in (COVERED, GREY))
            words += f": {covered} cells settle it, in {grey} updates are read"
        if record.bears:
            words += "; an update that satisfies it makes the object a candidate"
        lines.append((f"step {number + 1}", words))
        if step.window is None:
            lines.append(("", "anywhere between its neighbours in time"))
    if pattern.condition is not None:
        lines.append(("filter", f"only objects whose latest update satisfies {print_expr(pattern.condition)}"))
    match pattern.choice:
        case Limit(op, score):
            lines.append(("score", f"the sum of all distances, {op} {print_distance(score, space)}"))
        case Extreme(end, n):
            lines.append(("score", f"the {n} {end.lower()} sums of all distances"))
    is_measured = any(step.is_number for step in areas.steps)
    horizon = max((step.window.since for step in pattern.steps if step.window is not None), key=_length)
    lines.append(("horizon", f"windows reach {print_duration(horizon)} back"))
    kept = "for each candidate and step the instants at which it is satisfied"
    lines.append(("kept", kept + ("; updates as long as windows reach" if is_measured else "; no updates")))
    grid = cells.grid
    lines.append(("grid", f"{grid.columns} x {grid.rows} cells"))
    return lines


def _length(duration: Duration) -> float:
    return duration.value * (MICROSECONDS[duration.unit] if duration.unit else 1)


def _schema_for(pattern: Pattern) -> Schema:
    """A stream that the pattern fits, as far as it tells."""
    return Schema("string", "timestamp" if pattern.every.unit else "long")
