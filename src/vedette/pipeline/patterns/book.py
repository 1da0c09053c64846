"""Which patterns stand, as the tables that kernels take, over a grid that is fixed for this set of patterns.

In: patterns that come and go, and where updates are. Out: records of patterns and steps, the cells that each step
covers, lists by cell of the steps that a visit there matters to.
A pattern keeps its slot while it stands. The grid decides speed, never an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from vedette.conditions import evaluate
from vedette.families.patterns import PatternPlan, StepPlan, plan_pattern
from vedette.kernels.arrays import B1, F64, I64, U8, U64
from vedette.kernels.grid import Grid
from vedette.kernels.motion.cells import classify, measure
from vedette.kernels.motion.tables import (
    AT_MOST,
    HIGHEST,
    LOWEST,
    NEVER,
    PATTERN,
    STEP,
    Areas,
    Cells,
    Table,
    records,
)
from vedette.kernels.shapes import PARAMETERS, Edges
from vedette.model import Expr, Pattern, Schema
from vedette.pipeline.rows import Rows
from vedette.space import EARTH_RADIUS_M, RADIANS_PER_DEGREE, Space

MOST_COLUMNS = 256  # of the grid
FEWEST_COLUMNS = 32
CELLS_PER_AREA = 8  # along a side of a middling area
MOST_ENTRIES = 1 << 25  # cells x steps


@dataclass
class Standing:
    """A pattern that stands."""

    qid: int
    pattern: Pattern
    plan: PatternPlan
    since: int


@dataclass
class _Sheet:
    """What cells say to the steps of one pattern, over the present grid."""

    holds: U8
    low: F64
    high: F64


class Book:
    """The patterns of a bucket by slot."""

    def __init__(self, space: Space, schema: Schema) -> None:
        self.space, self.schema = space, schema
        self.slots: list[Standing | None] = []
        self.grid: Grid | None = None
        self.bits: dict[Expr, int] = {}
        self._listed: list[int] = []  # the patterns by slot when tables were made last, by qid
        self._sheets: dict[int, _Sheet] = {}  # by qid

    def standing(self) -> list[tuple[int, Standing]]:
        """Patterns with their slots."""
        return [(s, each) for s, each in enumerate(self.slots) if each is not None]

    def add(self, qid: int, pattern: Pattern, since: int) -> int:
        """A pattern comes; its slot."""
        standing = Standing(qid, pattern, plan_pattern(pattern, self.space, self.schema), since)
        if None in self.slots:
            slot = self.slots.index(None)
            self.slots[slot] = standing
        else:
            slot = len(self.slots)
            self.slots.append(standing)
        self._share_bits()
        return slot

    def put(self, slot: int, qid: int, pattern: Pattern, since: int, bit: int | None) -> None:
        """A pattern that stood before, where it stood."""
        plan = plan_pattern(pattern, self.space, self.schema)
        self.slots[slot] = Standing(qid, pattern, plan, since)
        if plan.condition is not None and bit is not None:
            self.bits[plan.condition] = bit

    def drop(self, qid: int) -> int:
        """A pattern goes; its slot was this."""
        slot = next(s for s, each in self.standing() if each.qid == qid)
        self.slots[slot] = None
        self._sheets.pop(qid, None)
        self._share_bits()
        return slot

    @property
    def horizon(self) -> int:
        """Updates older than this matter to nobody."""
        return max((each.plan.horizon for _, each in self.standing()), default=0)

    @property
    def picks(self) -> bool:
        """Whether some pattern wants the lowest or highest."""
        return any(each.plan.choice >= LOWEST for _, each in self.standing())

    def words(self, rows: Rows) -> U64:
        """Which conditions rows satisfy, as bits; equal conditions share one."""
        words = np.zeros((len(rows), self.words_wide), np.uint64)
        if self.bits and len(rows):
            columns = rows.columns(self.schema.time)
            for condition, bit in self.bits.items():
                passed = evaluate(condition, columns, len(rows)).astype(np.uint64)
                words[:, bit // 64] |= passed << np.uint64(bit % 64)
        return words

    @property
    def words_wide(self) -> int:
        """Words that hold all bits."""
        return max(self.bits.values(), default=0) // 64 + 1

    def _share_bits(self) -> None:
        """A bit for each condition; it stays the same while some pattern has the condition."""
        wanted = {each.plan.condition for _, each in self.standing()} - {None}
        self.bits = {condition: bit for condition, bit in self.bits.items() if condition in wanted}
        for _, each in self.standing():
            condition = each.plan.condition
            if condition is not None and condition not in self.bits:
                self.bits[condition] = min(set(range(len(self.bits) + 1)) - set(self.bits.values()))

    # ---------------------------------------------------------------------------------------------- grid

    def lay_grid(self, x: F64, y: F64) -> bool:
        """Lay the grid for the patterns that stand, if the present one does not suit; whether it is another now."""
        if not self.standing():
            return False
        box, side = self._extent(x, y)
        if self.grid is not None and self._suits(self.grid, box):
            return False
        self.grid = self._grid(box, side)
        self._sheets.clear()
        return True

    def _suits(self, grid: Grid, box: tuple[float, float, float, float]) -> bool:
        x1, y1 = grid.x0 + grid.columns / grid.per_x, grid.y0 + grid.rows / grid.per_y
        return grid.x0 <= box[0] and grid.y0 <= box[1] and box[2] <= x1 and box[3] <= y1

    def _extent(self, x: F64, y: F64) -> tuple[tuple[float, float, float, float], float]:
        """A box around all areas (where distances are measured around most updates, too), and a middling side."""
        steps = [step for _, each in self.standing() for step in each.plan.steps]
        boxes = np.array([self._box(step) for step in steps])
        low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
        sides = (boxes[:, 2:] - boxes[:, :2]).max(axis=1)
        if self.space.bounds is not None:
            data: Any = np.array(self.space.bounds)
        elif len(x):
            data = np.array([np.quantile(c, q) for q in (0.01, 0.99) for c in (x, y)])
        else:
            data = None
        if data is not None and (any(step.is_number for step in steps) or not (high > low).all()):
            low, high = np.minimum(low, data[:2]), np.maximum(high, data[2:])
        wide = sides[sides > 0]
        return (*low.tolist(), *high.tolist()), float(np.median(wide)) if len(wide) else 0.0

    def _box(self, step: StepPlan) -> tuple[float, float, float, float]:
        p = step.figure.p
        if len(p) == 4:
            return p[0], p[1], p[2], p[3]
        r = step.radius
        if not self.space.is_lonlat:
            return p[0] - r, p[1] - r, p[0] + r, p[1] + r
        tall = r / (EARTH_RADIUS_M * RADIANS_PER_DEGREE)
        wide = min(360.0, tall / max(0.01, math.cos(p[1] * RADIANS_PER_DEGREE)))
        return p[0] - wide, p[1] - tall, p[0] + wide, p[1] + tall

    def _grid(self, box: tuple[float, float, float, float], side: float) -> Grid:
        x0, y0, x1, y1 = box
        if self.space.is_lonlat:
            if x0 < -180.0 or x1 > 180.0:
                x0, x1 = -180.0, 180.0
            y0, y1 = max(y0, -90.0), min(y1, 90.0)
        # The cells at the border have no limits: one more on each side, so that areas do not lie in them.
        width = max(x1 - x0, y1 - y0, 1e-9 * max(1.0, abs(x0), abs(x1), abs(y0), abs(y1)), 1e-6)
        wanted = CELLS_PER_AREA * width / side if side > 0 else FEWEST_COLUMNS * 2
        steps = sum(len(each.plan.steps) for _, each in self.standing())
        most = min(MOST_COLUMNS, int(math.sqrt(MOST_ENTRIES / max(1, steps))))
        columns = int(min(max(wanted, FEWEST_COLUMNS), most))
        cell = width / columns
        return Grid(x0 - 1.5 * cell, y0 - 1.5 * cell, 1.0 / cell, 1.0 / cell, columns + 3, columns + 3)

    # -------------------------------------------------------------------------------------------- tables

    def tables(self, before: Table, steps_before: Table) -> tuple[Table, Areas, Cells]:
        """Everything as kernels take it; what has been found out of patterns that stood before goes on."""
        assert self.grid is not None
        plans = [each.plan.steps if each is not None else () for each in self.slots]
        first = np.concatenate(([0], np.cumsum([len(p) for p in plans]))).astype(np.int64)
        steps = records(STEP, int(first[-1]))
        patterns = records(PATTERN, len(self.slots) + 1)
        patterns.first = first
        areas = self._areas(plans, steps)
        numbers = 0
        sheets = []
        for s, each in enumerate(self.slots):
            if each is None:
                continue
            for q, step in enumerate(each.plan.steps, int(first[s])):
                steps[q].pattern = s
                steps[q].number = numbers if step.is_number else -1
                numbers += step.is_number
            sheet = self._sheet(each, areas, int(first[s]))
            sheets.append(sheet)
            self._fill(patterns, s, each)
            self._choose(steps, patterns, s, each.plan, sheet, int(first[s]))
            if s < len(self._listed) and self._listed[s] == each.qid:
                for name in ("started", "due", "rows"):
                    patterns[name][s] = before[name][s]
                old, new = (slice(int(a), int(b)) for a, b in (before.first[s : s + 2], first[s : s + 2]))
                for name in ("reach", "bears"):  # rows were born by these, so that they cannot change
                    steps[name][new] = steps_before[name][old]
                steps.order[new] = steps_before.order[old] + (new.start - old.start)
        self.note_listed()
        return patterns, areas, self._cells(patterns, steps, sheets)

    def note_listed(self) -> None:
        """Tables have been made of these patterns."""
        self._listed = [-1 if each is None else each.qid for each in self.slots]

    def _fill(self, patterns: Table, s: int, each: Standing) -> None:
        plan = each.plan
        record = patterns[s]
        record.every, record.since, record.prefix = plan.every, each.since, plan.prefix
        record.limit, record.n, record.choice = plan.limit, plan.n, plan.choice
        record.condition = -1 if plan.condition is None else self.bits[plan.condition]
        record.started = record.due = NEVER
        record.rows = -1
        record.is_ordered, record.has_score = plan.is_ordered, plan.has_score

    def _areas(self, plans: list[tuple[StepPlan, ...]], steps: Table) -> Areas:
        p = np.zeros((len(steps), PARAMETERS))
        start, edges = [0], []
        for q, step in enumerate(step for plan in plans for step in plan):
            record, figure = steps[q], step.figure
            record.kind, record.radius, record.part = figure.kind, step.radius, len(start) - 1
            record.a, record.b, record.floor = step.a, step.b, step.floor
            for name in ("is_number", "is_disjoint", "always", "windowed"):
                steps[name][q] = getattr(step, name)
            record.reach = -math.inf
            p[q, : len(figure.p)] = figure.p
            if figure.edges:
                edges.append(np.array(figure.edges))
                start.append(start[-1] + len(figure.edges))
        ends = np.concatenate(edges) if edges else np.zeros((0, 4))
        columns = (np.ascontiguousarray(ends[:, i]) for i in range(4))
        return Areas(steps, p, Edges(np.array(start, np.int64), *columns), self.space.is_lonlat)

    def _sheet(self, each: Standing, areas: Areas, first: int) -> _Sheet:
        if each.qid not in self._sheets:
            assert self.grid is not None
            cells, plan = self.grid.columns * self.grid.rows, each.plan
            holds = np.zeros((len(plan.steps), cells), np.uint8)
            bounds = np.zeros((2, sum(step.is_number for step in plan.steps), cells))
            number = 0
            for k, step in enumerate(plan.steps):
                classify(areas, self.grid, first + k, holds[k])
                if step.is_number:
                    measure(areas, self.grid, first + k, bounds[0, number], bounds[1, number])
                    number += 1
            self._sheets[each.qid] = _Sheet(holds, bounds[0], bounds[1])
        return self._sheets[each.qid]

    def _choose(self, steps: Table, patterns: Table, s: int, plan: PatternPlan, sheet: _Sheet, first: int) -> None:
        """In which order steps are tested, and which of them make rows in the table of hits."""
        touched = np.count_nonzero(sheet.holds, axis=1)
        tests = [k for k, step in enumerate(plan.steps) if step.windowed and not step.is_number]
        tests.sort(key=lambda k: (touched[k], k))
        if not plan.is_ordered and not plan.has_score:
            for k, q in zip(tests, range(first + plan.prefix, first + len(plan.steps)), strict=True):
                steps.order[q] = first + k
        if plan.prefix:
            return
        if tests:
            steps.bears[first + tests[0]] = True
            return
        measured = [first + k for k, step in enumerate(plan.steps) if step.is_number]
        if plan.choice >= LOWEST:
            patterns.grows[s] = True
            steps.bears[measured] = True
            steps.is_reversed[measured] = plan.choice == HIGHEST
            return
        steps.bears[measured[0]] = True
        steps.reach[measured[0]] = plan.limit if plan.choice == AT_MOST else math.inf

    def _cells(self, patterns: Table, steps: Table, sheets: list[_Sheet]) -> Cells:
        assert self.grid is not None
        cells = self.grid.columns * self.grid.rows
        holds = np.zeros((cells, len(steps)), np.uint8)
        if len(steps):
            holds[:] = np.concatenate([sheet.holds for sheet in sheets]).T
        low, high = (
            np.ascontiguousarray(np.concatenate([getattr(sheet, name) for sheet in sheets] or [np.zeros((0, cells))]).T)
            for name in ("low", "high")
        )
        of = patterns[steps.pattern] if len(steps) else patterns[:0]
        at_start = np.arange(len(steps)) - of.first < of.prefix
        simple = ~of.is_ordered & ~of.has_score
        listed = steps.windowed & ~steps.is_number & (simple | steps.bears)
        always: B1 = steps.is_number | steps.always
        kept = np.full(cells, bool(always.any()))
        kept |= (holds[:, ~always] != 0).any(axis=1)
        start, step = _by_cell(holds, listed)
        prefix_start, prefix_step = _by_cell(holds, at_start)
        numbers = np.flatnonzero(steps.is_number & steps.bears)
        side = 1.0 / self.grid.per_x
        if self.space.is_lonlat:
            side *= EARTH_RADIUS_M * RADIANS_PER_DEGREE
        return Cells(self.grid, side, holds, low, high, kept, start, step, prefix_start, prefix_step, numbers)


def _by_cell(holds: U8, which: B1) -> tuple[I64, I64]:
    """For each cell the steps among `which` that it is not nowhere for, in their order."""
    columns = np.flatnonzero(which)
    cell, column = np.nonzero(holds[:, columns])
    start = np.zeros(len(holds) + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=len(holds)), out=start[1:])
    return start, columns[column].astype(np.int64)
