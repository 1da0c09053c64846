"""Random statements of the model, in the normal form in which parsing gives them."""

from __future__ import annotations

from hypothesis import strategies as st

from vedette.model import (
    Aggregate,
    Area,
    Between,
    Binary,
    Circle,
    Column,
    CreateQuery,
    CreateRegion,
    Duration,
    Expr,
    In,
    Inside,
    IsNull,
    Like,
    MovingCircle,
    MovingRect,
    Nearest,
    Polygon,
    Query,
    Rect,
    Statement,
    Unary,
    Value,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["it's", "a;b", "-- no", '"', "''", "\\%", "x\ny", "M", ""]
)
NAMES = st.sampled_from(["speed", "type", "q1", "_x", "größe"]) | st.sampled_from(
    ["inside", "select", "wind speed", 'a"b', "9lives", "at", "objects", "a;b", "--", "trigger", "min"]
)
FINITE = st.floats(allow_nan=False, allow_infinity=False).map(lambda v: v + 0.0)
SMALL = st.integers(-1000, 1000).map(float) | st.floats(-1e3, 1e3).map(lambda v: v + 0.0)
LENGTHS = st.floats(0, 1e12).map(lambda v: v + 0.0) | st.integers(0, 5000).map(float)


def whole(value: float) -> int | float:
    """Numbers that are whole are ints."""
    return int(value) if value == int(value) and -(2**63) <= value < 2**63 else value


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5) | FINITE.map(whole)
LITERALS = st.builds(Value, NUMBERS | TEXTS | st.booleans() | st.none())
# Columns are called a, b, ... here, of which no kind is known, so that every tree is a legal one but for its literals.
COLUMNS = st.builds(Column, NAMES.filter(lambda n: n not in ("oid", "t", "x", "y")))


def _numeric(depth: int) -> st.SearchStrategy[Expr]:
    leaves = COLUMNS | st.builds(Value, NUMBERS)
    if depth == 0:
        return leaves
    inner = _numeric(depth - 1)
    negated = st.builds(Unary, st.just("-"), inner.filter(lambda e: not isinstance(e, Value)))
    return leaves | negated | st.builds(Binary, st.sampled_from("+-*/%"), inner, inner)


def conditions(depth: int = 3) -> st.SearchStrategy[Expr]:
    """Conditions of any shape whose literals fit each other."""
    number = _numeric(2)
    text = COLUMNS | st.builds(Value, TEXTS)
    flag = st.booleans()
    leaves = (
        COLUMNS
        | st.builds(Value, st.booleans() | st.none())
        | st.builds(Binary, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), number, number)
        | st.builds(Binary, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), text, text)
        | st.builds(In, number, st.lists(number | st.just(Value(None)), min_size=1, max_size=3).map(tuple), flag)
        | st.builds(In, text, st.lists(text, min_size=1, max_size=3).map(tuple), flag)
        | st.builds(Between, number, number, number, flag)
        | st.builds(Like, text, TEXTS, flag)
        | st.builds(IsNull, number | text, flag)
    )
    if depth == 0:
        return leaves
    inner = conditions(depth - 1)
    return (
        leaves
        | st.builds(Unary, st.just("NOT"), inner)
        | st.builds(Binary, st.sampled_from(["AND", "OR", "="]), inner, inner)
        | st.builds(IsNull, inner, flag)
    )


CONDITIONS = conditions()  # built once: building it takes longer than drawing from it


def _box(draw: st.DrawFn, kind: str) -> Rect:
    limit = 80.0 if kind == "lonlat" else 1e6
    x1, x2 = sorted(draw(st.lists(st.floats(-limit, limit), min_size=2, max_size=2)))
    y1, y2 = sorted(draw(st.lists(st.floats(-limit, limit), min_size=2, max_size=2)))
    return Rect(x1 + 0.0, y1 + 0.0, x2 + 0.0, y2 + 0.0)


@st.composite
def polygons(draw: st.DrawFn) -> Polygon:
    """Triangles side by side, some with a hole: always valid, with ugly coordinates."""
    parts = []
    for n in range(draw(st.integers(1, 3))):
        left = 20.0 * n + draw(st.floats(0, 1))
        size = draw(st.floats(6, 15))
        bottom = draw(st.floats(-50, 50))
        shell = ((left, bottom), (left + size, bottom), (left, bottom + size), (left, bottom))
        hole = ((left + 1, bottom + 1), (left + 2, bottom + 1), (left + 1, bottom + 2.5), (left + 1, bottom + 1))
        parts.append((shell, hole) if draw(st.booleans()) else (shell,))
    return Polygon(tuple(parts))


@st.composite
def areas(draw: st.DrawFn, kind: str) -> Area:
    which = draw(st.integers(0, 2))
    if which == 0:
        return _box(draw, kind)
    if which == 1:
        return Circle(*draw(points(kind)), draw(LENGTHS))
    return draw(polygons())


def points(kind: str) -> st.SearchStrategy[tuple[float, float]]:
    if kind == "lonlat":
        return st.tuples(st.floats(-180, 179.5), st.floats(-90, 90)).map(lambda p: (p[0] + 0.0, p[1] + 0.0))
    return st.tuples(FINITE, SMALL)


IDS = TEXTS | st.integers(-99, 10**10).map(str) | st.sampled_from(["007", "1e3", "-", "4.5"])


@st.composite
def places(draw: st.DrawFn, kind: str) -> Inside | Nearest:
    which = draw(st.integers(0, 4))
    if which == 0:
        return Nearest(draw(st.integers(1, 2**31 - 1)), *draw(points(kind)))
    if which == 1:
        return Nearest(draw(st.integers(1, 9)), focal=draw(IDS))
    if which == 2:
        return Inside(MovingRect(draw(IDS), draw(LENGTHS), draw(LENGTHS)))
    if which == 3:
        return Inside(MovingCircle(draw(IDS), draw(LENGTHS)))
    return Inside(draw(areas(kind)))


DURATIONS = (
    st.integers(1, 10**6).map(lambda n: Duration(float(n)))
    | st.builds(Duration, st.integers(1, 1000).map(float), st.sampled_from(["MS", "S", "MIN", "H", "D"]))
    | st.integers(1, 10**9).map(lambda n: Duration(n / 1e3, "MS"))
    | st.just(Duration(0))
)
AGGREGATES = st.builds(Aggregate, st.sampled_from(["SUM", "AVG", "MIN", "MAX"]), NAMES) | st.just(Aggregate("COUNT"))
YEARS = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)  # years 1 to 9999


@st.composite
def statements(draw: st.DrawFn, kind: str) -> Statement:
    """A statement that creates something, perhaps at a tick."""
    replace = draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:
        action: CreateRegion | CreateQuery = CreateRegion(draw(NAMES), draw(areas(kind)), replace)
    else:
        query = Query(
            draw(NAMES),
            draw(places(kind)),
            draw(st.none() | CONDITIONS),
            draw(st.none() | AGGREGATES),
            draw(DURATIONS),
            draw(DURATIONS),
        )
        action = CreateQuery(query, replace)
    at_is_timestamp = draw(st.booleans())
    at = draw(st.none() | (YEARS if at_is_timestamp else st.integers(-(2**63), 2**63 - 1)))
    return Statement(action, at, at_is_timestamp and at is not None)
