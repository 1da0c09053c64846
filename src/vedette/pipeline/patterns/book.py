"""Which patterns stand, as the tables that kernels take, over a grid that is fixed for this set of patterns.

In: patterns that come and go. Out: records of patterns and steps, the cells that each step covers, lists by cell of the
steps that an update there matters to.
A pattern keeps its slot while it stands. The grid decides speed, never an answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vedette.conditions import evaluate
from vedette.families.patterns import PatternPlan, StepPlan, plan_pattern
from vedette.kernels.arrays import I64, U8, U64
from vedette.kernels.grid import Grid
from vedette.kernels.motion.beats import Beats
from vedette.kernels.motion.cells import classify
from vedette.kernels.motion.tables import GREY, LOWEST, NEVER, PATTERN, STEP, Areas, Cells, Table, records
from vedette.kernels.shapes import PARAMETERS, Edges
from vedette.model import Expr, Pattern, Schema
from vedette.pipeline.patterns.beats import NO_BEATS, Layout, Place, lay, suits
from vedette.pipeline.rows import Rows
from vedette.space import EARTH_RADIUS_M, RADIANS_PER_DEGREE, Space

MOST_COLUMNS = 256  # of the grid
FEWEST_COLUMNS = 32
CELLS_PER_AREA = 4  # along a side of a middling area
MOST_ENTRIES = 1 << 25  # cells x steps
MOST_WORDS = 1024  # of a seat, 8 kB; patterns beyond that are kept as rows
AS_ROWS = -1
FOUND = ("started", "due", "rows", "waits", "worst")  # what is found out of a pattern


@dataclass
class Standing:
    """A pattern that stands."""

    qid: int
    pattern: Pattern
    plan: PatternPlan
    since: int
    index: int | None = None  # its bit in its beat; AS_ROWS: it is kept as rows; None: that is not decided yet


class Tables(NamedTuple):
    """Everything that follows from the patterns that stand."""

    patterns: Table
    areas: Areas
    cells: Cells
    layouts: Sequence[Layout] = ()
    beats: Beats = NO_BEATS


class Book:
    """The patterns of a bucket by slot."""

    def __init__(self, space: Space, schema: Schema) -> None:
        self.most_words = MOST_WORDS
        self.space, self.schema = space, schema
        self.slots: list[Standing | None] = []
        self.grid: Grid | None = None
        self.bits: dict[Expr, int] = {}
        self._listed: list[int] = []  # the patterns by slot when tables were made last, by qid
        self._sheets: dict[int, U8] = {}  # by qid: what of each cell satisfies each step

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

    def put(self, slot: int, qid: int, pattern: Pattern, since: int, index: int | None, bit: int | None) -> None:
        """A pattern that stood before, where it stood."""
        plan = plan_pattern(pattern, self.space, self.schema)
        self.slots[slot] = Standing(qid, pattern, plan, since, index)
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
    def reach(self) -> int:
        """Updates older than this are not measured by anybody; -1 if nothing is measured."""
        return max((each.plan.horizon for _, each in self.standing() if each.plan.has_score), default=-1)

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

    # --------------------------------------------------------------------------------------------- beats

    def _settle(self) -> None:
        """Decide which of the patterns that came are kept as bits: as many of them as a seat has room for."""
        new = [each for _, each in self.standing() if each.index is None]
        for each in new:
            each.index = AS_ROWS
        new = [each for each in new if suits(each.plan)]
        fewest, most = 0, len(new)
        while fewest < most:
            some = (fewest + most + 1) // 2
            self._number(new[:some])
            if sum(layout.size for layout in self._layouts([0] * len(self.slots))) <= self.most_words:
                fewest = some
            else:
                most = some - 1
            for each in new:
                each.index = AS_ROWS
        self._number(new[:fewest])

    def _number(self, some: list[Standing]) -> None:
        """Bits for patterns: the lowest that are free in their beats."""
        taken: dict[int, set[int]] = {}
        for _, each in self.standing():
            if each.index is not None and each.index >= 0:
                taken.setdefault(each.plan.every, set()).add(each.index)
        for each in some:
            mine = taken.setdefault(each.plan.every, set())
            each.index = next(i for i in range(len(mine) + 1) if i not in mine)
            mine.add(each.index)

    def _layouts(self, first: Sequence[int] | I64) -> list[Layout]:
        """The beats of the patterns that are kept as bits; `first` steps by slot."""
        places: dict[int, list[Place]] = {}
        for s, each in self.standing():
            if each.index is not None and each.index >= 0:
                place = Place(each.index, each.qid, s, int(first[s]), each.plan)
                places.setdefault(each.plan.every, []).append(place)
        return [Layout(every, some) for every, some in sorted(places.items())]

    # ---------------------------------------------------------------------------------------------- grid

    def lay_grid(self) -> None:
        """Lay the grid for the patterns that stand, if the present one does not suit."""
        box, side = self._extent()
        if self.grid is None or not self._suits(self.grid, box):
            self.grid = self._grid(box, side)
            self._sheets.clear()

    def _suits(self, grid: Grid, box: tuple[float, float, float, float]) -> bool:
        x1, y1 = grid.x0 + grid.columns / grid.per_x, grid.y0 + grid.rows / grid.per_y
        return grid.x0 <= box[0] and grid.y0 <= box[1] and box[2] <= x1 and box[3] <= y1

    def _extent(self) -> tuple[tuple[float, float, float, float], float]:
        """A box around all areas, and a middling side of one. What is only measured needs no cells."""
        steps = [step for _, each in self.standing() for step in each.plan.steps if not step.is_number]
        if not steps:
            return (0.0, 0.0, 0.0, 0.0), 0.0
        boxes = np.array([self._box(step) for step in steps])
        sides = (boxes[:, 2:] - boxes[:, :2]).max(axis=1)
        wide = sides[sides > 0]
        side = float(np.median(wide)) if len(wide) else 0.0
        x0, y0 = boxes[:, :2].min(axis=0).tolist()
        x1, y1 = boxes[:, 2:].max(axis=0).tolist()
        return (x0, y0, x1, y1), side

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

    def tables(self, before: Table) -> Tables:
        """Everything as kernels take it; what has been found out of patterns that stood before goes on."""
        assert self.grid is not None
        self._settle()
        plans = [each.plan.steps if each is not None else () for each in self.slots]
        first = np.concatenate(([0], np.cumsum([len(p) for p in plans]))).astype(np.int64)
        steps = records(STEP, int(first[-1]))
        patterns = records(PATTERN, len(self.slots) + 1)
        patterns.first, patterns.rows = first, -1
        areas = self._areas(plans, steps)
        sheets = {}
        for s, each in self.standing():
            steps.pattern[first[s] : first[s + 1]] = s
            sheet = self._sheet(each, areas, int(first[s]))
            sheets[s] = sheet
            self._fill(patterns, s, each)
            mine = steps[first[s] : first[s + 1]]
            if each.index == AS_ROWS:
                self._tie(mine, each.plan)
                self._choose(mine, sheet)
            else:
                mine.entry = mine.guard = -1
            patterns.entries[s] = int((mine.entry >= 0).sum())
            patterns.is_free[s] = patterns.entries[s] == 0
            if s < len(self._listed) and self._listed[s] == each.qid:
                for name in FOUND:
                    patterns[name][s] = before[name][s]
        self.note_listed()
        layouts = self._layouts(first)
        beats = lay(layouts, areas, sheets, self.bits, self.grid.columns * self.grid.rows)
        return Tables(patterns, areas, self._cells(steps, list(sheets.values())), layouts, beats)

    def note_listed(self) -> None:
        """Tables have been made of these patterns."""
        self._listed = [-1 if each is None else each.qid for each in self.slots]

    def _fill(self, patterns: Table, s: int, each: Standing) -> None:
        plan, record = each.plan, patterns[s]
        record.every, record.since = plan.every, each.since
        record.limit, record.n, record.choice = plan.limit, plan.n, plan.choice
        record.condition = -1 if plan.condition is None else self.bits[plan.condition]
        record.started = record.due = NEVER
        record.worst = math.inf
        record.has_score = record.waits = plan.has_score
        measured = [step for step in plan.steps if step.is_number]
        if measured:
            record.nearest, record.farthest = min(step.a for step in measured), max(step.b for step in measured)
            is_told_where = plan.choice >= LOWEST or plan.condition is not None
            record.soonest = 0 if is_told_where else min(step.b for step in plan.steps)

    def _areas(self, plans: list[tuple[StepPlan, ...]], steps: Table) -> Areas:
        p = np.zeros((len(steps), PARAMETERS))
        start, edges = [0], []
        for q, step in enumerate(step for plan in plans for step in plan):
            record, figure = steps[q], step.figure
            record.kind, record.radius, record.part = figure.kind, step.radius, len(start) - 1
            record.a, record.b = step.a, step.b
            for name in ("is_number", "is_disjoint", "always", "windowed"):
                steps[name][q] = getattr(step, name)
            p[q, : len(figure.p)] = figure.p
            if figure.edges:
                edges.append(np.array(figure.edges))
                start.append(start[-1] + len(figure.edges))
        ends = np.concatenate(edges) if edges else np.zeros((0, 4))
        columns = (np.ascontiguousarray(ends[:, i]) for i in range(4))
        return Areas(steps, p, Edges(np.array(start, np.int64), *columns), self.space.is_lonlat)

    def _sheet(self, each: Standing, areas: Areas, first: int) -> U8:
        if each.qid not in self._sheets:
            assert self.grid is not None
            holds = np.zeros((len(each.plan.steps), self.grid.columns * self.grid.rows), np.uint8)
            for k in range(len(holds)):
                classify(areas, self.grid, first + k, holds[k])
            self._sheets[each.qid] = holds
        return self._sheets[each.qid]

    def _tie(self, steps: Table, plan: PatternPlan) -> None:
        """Which steps are tied to their neighbours, have a set of instants of their own, and decide together."""
        entries = 0
        for k, step in enumerate(plan.steps):
            record = steps[k]
            record.follows, record.leads = plan.is_tied(k - 1), plan.is_tied(k)
            is_only_measured = step.is_number and not (record.follows or record.leads)
            record.entry = -1 if is_only_measured else entries
            entries += not is_only_measured
        for k in range(len(plan.steps)):
            behind_ends = steps.leads[k] and steps.always[k + 1] and not steps.leads[k + 1]
            steps.decides[k] = steps.entry[k] >= 0 and (not steps.leads[k] or behind_ends)
        for k, step in enumerate(steps):
            step.guard = -1
            if step.windowed and not (step.always or step.follows or step.leads):
                before = [p for p in steps[:k] if p.decides and p.windowed and p.b >= step.a]
                step.guard = before[-1].entry if before else -1

    def _choose(self, steps: Table, sheet: U8) -> None:
        """Which steps make rows in the table of hits.

        An update that reaches only instants which the step with the latest window cannot reach any more, once it has
        made a row, need not make one. So this step bears, and those that see farther back than it begins; among equals
        the one that touches the fewest cells. Steps that follow in a chain wait for their predecessors anyway.
        """
        firsts = np.flatnonzero((steps.entry >= 0) & ~steps.follows)
        if not len(firsts):
            return
        latest = int(steps.b[firsts].max())
        touched = np.count_nonzero(sheet, axis=1)
        begins = min((k for k in firsts if steps.b[k] == latest), key=lambda k: (touched[k], k))
        for k in firsts:
            steps.bears[k] = k == begins or not steps.windowed[k] or steps.a[k] > latest

    def _cells(self, steps: Table, sheets: list[U8]) -> Cells:
        assert self.grid is not None
        holds = np.zeros((self.grid.columns * self.grid.rows, len(steps)), np.uint8)
        if len(steps):
            holds[:] = np.concatenate(sheets).T
        listed = np.flatnonzero(steps.entry >= 0)
        listed = listed[np.argsort(~steps.bears[listed], kind="stable")]
        cell, column = np.nonzero(holds[:, listed])
        start = np.zeros(len(holds) + 1, np.int64)
        np.cumsum(np.bincount(cell, minlength=len(holds)), out=start[1:])
        step = 2 * listed[column] + (holds[cell, listed[column]] == GREY)
        return Cells(self.grid, holds, start, step.astype(np.int64))
