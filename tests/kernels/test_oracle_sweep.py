"""The shared pass over moves: its deltas, summed up, are who is inside which shape at the end of every tick."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import exactly
from tests.kernels.lands import PLANE, WORLD, Land, Point
from vedette.kernels.plane import build_lists, empty_objects, empty_queries, shape_box
from vedette.kernels.shapes import DISC, PARAMETERS, POLYGON, RECT
from vedette.kernels.sweep import LEAVE, REFRESH, UPSERT, Deltas, Moves, QueryMoves, Slots, sweep

OBJECTS, TICKS = 5, 4


@dataclass(frozen=True)
class Figure:
    """A query: its shape (or none), its filter bit (-1: none), who is skipped, whether it tells moves."""

    kind: int
    p: list[float]
    on: bool
    filter: int = -1
    skip: int = -1
    moves: bool = False
    still: bool = True


@dataclass(frozen=True)
class Body:
    """An object in the region."""

    place: Point
    bits: int
    value: float


@dataclass
class Story:
    """What happens: queries at first, and by tick the balls', objects' and focal ranges' moves."""

    figures: list[Figure]
    balls: list[dict[int, Figure]] = field(default_factory=list)
    bodies: list[dict[int, tuple[int, Body]]] = field(default_factory=list)
    focals: list[dict[int, Figure]] = field(default_factory=list)


@st.composite
def stories(draw: st.DrawFn, land: Land) -> Story:
    def figure(kind: int, **more: int) -> Figure:
        x, y = draw(land.points)
        width, height = draw(st.sampled_from([0.0, 1.0, 2.0, 4.0, 9.0])), draw(st.sampled_from([0.0, 1.0, 3.0, 180.0]))
        p = land.disc((x, y), draw(st.sampled_from(land.d2s)))
        if kind == RECT:
            p = [x, y, x + width, y + height, 0.0, 0.0]
        elif kind == POLYGON:
            xs, ys = [e[0] for e in land.polygon], [e[1] for e in land.polygon]
            p = [min(xs), min(ys), max(xs), max(ys), 0.0, 0.0]
        return Figure(kind, p, True, **more)  # type: ignore[arg-type]

    traits = st.fixed_dictionaries({"filter": st.sampled_from([-1, -1, 0, 1]), "moves": st.booleans()})
    figures = [figure(kind, **draw(traits)) for kind in (RECT, DISC, POLYGON)]
    figures += [  # a ball, and two ranges around focals; all off at first
        replace(figure(kind, **draw(traits)), on=False, still=False) for kind in (DISC, RECT, DISC)
    ]

    def moved(q: int) -> Figure:
        old = figures[q]
        new = figure(old.kind)
        if old.kind == DISC and draw(st.booleans()):  # the radius only
            new = replace(new, p=[*old.p[:2], new.p[2], *old.p[3:]])
        return replace(old, p=new.p, on=draw(st.booleans()) or draw(st.booleans()), skip=draw(st.integers(-1, 2)))

    story = Story(list(figures))
    for _ in range(TICKS):
        for sequence, queries in ((story.balls, (3,)), (story.focals, (4, 5))):
            tick = {q: moved(q) for q in queries if draw(st.booleans())}
            for q, new in tick.items():
                figures[q] = new
            sequence.append(tick)
        ops = st.sampled_from([UPSERT, UPSERT, UPSERT, REFRESH, LEAVE])
        body = st.builds(Body, land.points, st.integers(0, 3), st.sampled_from([np.nan, 1.0, 2.0]))
        story.bodies.append(draw(st.dictionaries(st.integers(0, OBJECTS - 1), st.tuples(ops, body), max_size=4)))
    return story


def is_inside(land: Land, figure: Figure, gid: int, body: Body) -> bool:
    """By brute force."""
    x, y = body.place
    if not figure.on or gid == figure.skip or (figure.filter >= 0 and not body.bits >> figure.filter & 1):
        return False
    if figure.kind == DISC:
        return land.d2((figure.p[0], figure.p[1]), (x, y)) <= figure.p[2]
    turns = (x, x + 360.0, x - 360.0) if land.wraps else (x,)
    if figure.kind == POLYGON:
        return any(exactly.has(land.polygon, turn, y) for turn in turns)
    return any(figure.p[0] <= turn <= figure.p[2] and figure.p[1] <= y <= figure.p[3] for turn in turns)


class Pass:
    """The kernel with its data structures."""

    def __init__(self, land: Land, grid: int, figures: list[Figure]) -> None:
        self.land, self.grid = land, land.grids[grid]
        self.objects = empty_objects(OBJECTS + 1, 1, 1)
        self.queries = empty_queries(len(figures) + 1)
        for q, figure in enumerate(figures):
            self.queries.kind[q], self.queries.on[q], self.queries.still[q] = figure.kind, figure.on, figure.still
            self.queries.filter[q], self.queries.skip[q] = figure.filter, figure.skip
            self.queries.p[q], self.queries.moves[q] = figure.p, figure.moves
            self.queries.box[q] = shape_box(figure.kind, self.queries.p[q], land.wraps)
        free = np.arange(OBJECTS - 1, -1, -1, dtype=np.int32)
        self.slots = Slots(
            np.full(OBJECTS, -1, np.int32),
            np.zeros(OBJECTS + 1, np.int64),
            np.append(free, np.int32(0)),
            np.array([OBJECTS]),
        )
        self.edges = exactly.as_edges(land.polygon)
        self.rebuild()

    def rebuild(self) -> None:
        """All lists anew, as after a change of grid or queries."""
        self.lists = build_lists(self.grid, self.objects, self.queries, self.land.wraps)

    def run(self, story: Story, ticks: range) -> Deltas:
        """Some ticks in one pass."""
        rows = [(t, gid, op, body) for t in ticks for gid, (op, body) in story.bodies[t].items()]
        moves = Moves(
            np.array([r[0] for r in rows], np.int64),
            np.array([r[1] for r in rows], np.int64),
            np.array([r[2] for r in rows], np.int8),
            np.array([r[3].place[0] for r in rows], np.float64),
            np.array([r[3].place[1] for r in rows], np.float64),
            np.array([r[3].bits for r in rows], np.uint64).reshape(-1, 1),
            np.array([r[3].value for r in rows], np.float64).reshape(-1, 1),
            np.array([100 + r[1] for r in rows], np.int64),
        )
        balls, focals = (
            query_moves([(t, q, new) for t in ticks for q, new in source[t].items()])
            for source in (story.balls, story.focals)
        )
        self.lists, deltas = sweep(
            moves,
            balls,
            focals,
            self.grid,
            self.objects,
            self.queries,
            self.lists,
            self.slots,
            self.edges,
            self.land.wraps,
        )
        return deltas


def query_moves(rows: list[tuple[int, int, Figure]]) -> QueryMoves:
    return QueryMoves(
        np.array([r[0] for r in rows], np.int64),
        np.array([r[1] for r in rows], np.int32),
        np.array([r[2].on for r in rows], np.bool_),
        np.array([r[2].p for r in rows], np.float64).reshape(-1, PARAMETERS),
        np.array([r[2].skip for r in rows], np.int64),
    )


@pytest.mark.parametrize("land", [PLANE, WORLD], ids=["plane", "world"])
@given(st.data(), st.integers(0, 2), st.integers(0, TICKS), st.booleans())
def test_oracle_deltas_add_up(land: Land, data: st.DataObject, grid: int, cut: int, rebuilds: bool) -> None:
    assert_adds_up(land, data.draw(stories(land)), grid, cut, rebuilds)


def test_example_wide_queries_come_and_go() -> None:
    """Three moving discs over more cells than are worth listing leave the list of wide queries in any order."""
    disc = Figure(DISC, PLANE.disc((2.0, 2.0), 400.0), False, moves=True, still=False)
    on, small = replace(disc, on=True), replace(disc, on=True, p=PLANE.disc((2.0, 2.0), 1.0))
    bodies = [{gid: (UPSERT, Body((float(t), float(gid)), 0, 1.0)) for gid in range(3)} for t in range(TICKS)]
    for order in permutations((0, 1, 2)):
        focals = [dict.fromkeys(range(3), on), *({q: new} for q, new in zip(order, (small, disc, small), strict=True))]
        assert_adds_up(PLANE, Story([disc] * 3, [{}] * TICKS, bodies, focals), 2, TICKS, False)


def assert_adds_up(land: Land, story: Story, grid: int, cut: int, rebuilds: bool) -> None:
    """The kernel in one or two passes against brute force, tick by tick."""
    kernel = Pass(land, grid, story.figures)
    deltas = [kernel.run(story, range(cut))]
    if rebuilds:
        kernel.rebuild()
    deltas.append(kernel.run(story, range(cut, TICKS)))
    ints = np.concatenate([d.ints for d in deltas])
    floats = np.concatenate([d.floats for d in deltas])
    assert (np.diff(ints[:, 0]) >= 0).all()

    told: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for i, (t, q, gid, _, ref) in enumerate(ints.tolist()):
        told[t, q, gid].append(i)
        assert ref == 100 + gid
    figures, members = list(story.figures), set()
    bodies: dict[int, Body] = {}
    for t in range(TICKS):
        recentred = set()
        for q, new in (*story.balls[t].items(), *story.focals[t].items()):
            if new.p[:2] != figures[q].p[:2] or not figures[q].on:
                recentred.add(q)
            figures[q] = new
        last = {}
        for gid, (op, body) in story.bodies[t].items():
            last[gid] = body.place
            if op == LEAVE:
                bodies.pop(gid, None)
            else:
                bodies[gid] = body
        now = {
            (q, gid)
            for q, figure in enumerate(figures)
            for gid, body in bodies.items()
            if is_inside(land, figure, gid, body)
        }
        for q, figure in enumerate(figures):
            for gid in range(OBJECTS):
                rows = told.pop((t, q, gid), [])
                assert ints[rows, 3].sum() == ((q, gid) in now) - ((q, gid) in members), (t, q, gid)
                if rows and gid in bodies:
                    assert all(tuple(floats[i, :2]) == bodies[gid].place for i in rows)
                elif rows:
                    assert all(tuple(floats[i, :3]) == (*last[gid], -1.0) for i in rows)
                if figure.moves and (q, gid) in now:
                    if gid in last or (q in recentred and figure.kind == DISC):
                        assert rows, f"object {gid} moved within query {q} at {t}, and nobody was told"
                    if rows and figure.kind == DISC:
                        assert floats[rows[-1], 2] == land.d2((figure.p[0], figure.p[1]), bodies[gid].place)
                    if rows:
                        assert str(floats[rows[-1], 3]) == str(bodies[gid].value)
        members = now
    assert not told
    assert {gid for gid in range(OBJECTS) if kernel.slots.of_gid[gid] >= 0} == set(bodies)
