"""Random streams and queries that are small, awkward and readable.

In: a kind of space and the query forms wanted. Out: `Story` values: SQL, batches of rows, options.
Coordinates come mostly from a small lattice, so that borders, ties and equal places happen all the time; some are
ugly floats. Times are few, so that ticks are shared. Ids are chosen to be ordered wrongly by a careless comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st

from tests.oracle.rows import EPOCH

Raw: TypeAlias = dict[str, Any]
Draw: TypeAlias = st.DrawFn

STRING_IDS = ("a", "9", "10", "é", "Ω", "\uffee", "\U0001f600")  # the last two: UTF-16 and UTF-8 disagree
LONG_IDS = (-3, -20, 0, 9, 10, 42, 2**40)
DAY = EPOCH + timedelta(days=14_030)  # 2008-05-31


@dataclass(frozen=True)
class Story:
    """A whole run: what is registered, what arrives in which batch, and with which options (in units of `t`)."""

    kind: str = "planar"
    oid_type: str = "string"
    t_type: str = "long"
    queries: list[str] = field(default_factory=list)
    batches: list[tuple[list[Raw], list[str]]] = field(default_factory=list)
    lateness: int = 0
    timeout: int | None = None
    late: Literal["apply", "drop"] = "apply"
    max_ahead: int | None = None
    resident_updates: int = 1 << 20

    @property
    def tick(self) -> int:
        """The options and times of a story count in ticks: 1, or a second in microseconds."""
        return 1 if self.t_type == "long" else 1_000_000


# ------------------------------------------------------------------------------------------------- space


@dataclass(frozen=True)
class Land:
    """A stretch of space: coordinates that meet each other often, and areas whose borders run through them."""

    kind: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    ugly: tuple[st.SearchStrategy[float], st.SearchStrategy[float]]
    lengths: tuple[float, ...]
    sides: tuple[float, ...]
    areas: tuple[str, ...]


# Awkward areas, named once. Every lattice point near them is on a border, in a hole, or in a notch.
SQUARE = "((0 0, 1 0, 1 1, 0 1, 0 0))"
DEGREES = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
METRES = (111_195.0802, 111_195.0802, 55_597.5, 78_626.0, 157_253.0, 157_253.0, 250e3, 0.0, 2.5e6, 1.9e7, 3e7)
UGLY_DEGREES = (st.floats(-180.0, 180.0) | st.floats(-1e-6, 1e-6), st.floats(-90.0, 90.0) | st.floats(-2.0, 2.0))
SIDES = (2.0, 1.0, 1.0, 2.0, 3.0, 0.2, 0.0, 90.0, 359.0, 360.0, 400.0)
LANDS = {
    "planar": (
        Land(
            "planar",
            xs=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 1.5, -1.0),
            ys=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 1.5, -1.0),
            ugly=(
                st.floats(-2.0, 8.0) | st.sampled_from([0.1 + 0.2, 1 / 3, -0.0, 5e-324, 1e-9, 1e17]),
                st.floats(-2.0, 8.0) | st.sampled_from([0.1 + 0.2, 1 / 3, -0.0, 5e-324, 1e-9, -1e9]),
            ),
            lengths=(2.0, 1.0, 1.0, 1.5, 2.0, 0.5, 2.5, 3.0, 5.0, 0.0, math.sqrt(2.0), 1e10),
            sides=(2.0, 1.0, 2.0, 4.0, 3.0, 5.0, 0.2, 0.0, 40.0),
            areas=(
                "POLYGON '((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 3 1, 3 3, 1 3, 1 1))'",
                "POLYGON '((0 0, 6 0, 6 5, 3 2, 0 5, 0 0))'",
                "POLYGON '((0.1 0.2, 3.3 1.1, 5.7 4.9, 0.1 0.2))'",
                "POLYGON '((2 -1, 5 2, 2 5, -1 2, 2 -1), (2 1, 3 2, 2 3, 1 2, 2 1))'",
                f"POLYGON 'MULTIPOLYGON ({SQUARE}, ((2 2, 5 2, 5 5, 2 5, 2 2), (3 3, 4 3, 4 4, 3 4, 3 3)))'",
                "RECT (0, 1, 3, 4)",
                "CIRCLE (2, 2, 2)",
            ),
        ),
    ),
    "lonlat": (
        Land(  # around the antimeridian
            "lonlat",
            xs=(178.0, 178.5, 179.0, 179.5, 180.0, -180.0, -179.5, -179.0, -178.0, 181.0, -541.0),
            ys=DEGREES,
            ugly=(st.floats(177.0, 183.0) | st.just(-179.99999999999997) | UGLY_DEGREES[0], UGLY_DEGREES[1]),
            lengths=METRES,
            sides=SIDES,
            areas=(
                "POLYGON '((178 -1, 182 -1, 182 2, 178 2, 178 -1), (179 0, 181 0, 181 1, 179 1, 179 0))'",
                "POLYGON '((-180.1 -1.7, -178.3 0.3, -179.2 2.9, -180.1 -1.7))'",
                f"POLYGON 'MULTIPOLYGON ({SQUARE}, ((178 0, 181 0, 181 2, 178 2, 178 0)))'",
                "RECT (179, -1, -179, 1)",
                "RECT (178.5, -1, 180.5, 0.5)",
                "CIRCLE (180, 0, 111195.0802)",
            ),
        ),
        Land(  # around (0, 0)
            "lonlat",
            xs=DEGREES,
            ys=DEGREES,
            ugly=UGLY_DEGREES,
            lengths=METRES,
            sides=SIDES,
            areas=(
                "POLYGON '((-1 -1, 2 -1, 2 2, 0.5 0.5, -1 2, -1 -1))'",
                "POLYGON '((359 -1, 360 -1, 360 1, 359 1, 359 -1))'",
                "RECT (-1, 0, 1, 1)",
                "RECT (359.5, -1, 1, 1)",
                "CIRCLE (0.5, 0.5, 78.626 KM)",
            ),
        ),
        Land(  # around the north pole
            "lonlat",
            xs=(-180.0, -90.0, 0.0, 90.0, 45.0, 179.0, 1.0, -135.0),
            ys=(88.0, 89.0, 89.0, 89.5, 89.5, 90.0, 87.0),
            ugly=(UGLY_DEGREES[0], st.floats(86.0, 90.0)),
            lengths=METRES,
            sides=(*SIDES, 170.0),
            areas=(
                "POLYGON '((-180 88, 180 88, 180 90, -180 90, -180 88))'",
                "POLYGON '((0 89, 90 88, 180 89, 90 90, 0 89))'",
                "RECT (90, 88, -90, 90)",
                "CIRCLE (180, 90, 111195.0802)",
                "CIRCLE (45, 89.5, 100 KM)",
            ),
        ),
        Land(  # the whole world
            "lonlat",
            xs=(-180.0, 180.0, 179.0, -179.0, 0.0, 1.0, 90.0, -90.0, 359.5, 1e6),
            ys=(-90.0, 90.0, 0.0, 1.0, 89.0, -89.0, 45.0),
            ugly=UGLY_DEGREES,
            lengths=(*METRES, 1.0007557e7, 2.0015114e7),
            sides=SIDES,
            areas=(
                "RECT (-180, -90, 180, 90)",
                "RECT (-180, -90, 180, -89)",
                "POLYGON '((-180 -90, 180 -90, 180 0, 0 45, -180 0, -180 -90))'",
                "CIRCLE (0, 0, 10007557)",
                "CIRCLE (0, -90, 111195.0802)",
            ),
        ),
    ),
}
REGION_NAMES = ("zone", "Harbour", "r2")


@dataclass(frozen=True)
class Scene:
    """What one story is made of: a few coordinates and ids that its rows and its queries share."""

    land: Land
    oid_type: str
    t_type: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    oids: tuple[int | str, ...]

    @property
    def kind(self) -> str:
        """The kind of space."""
        return self.land.kind


@st.composite
def scenes(draw: Draw, kind: str, timestamps: bool) -> Scene:
    """A land, and what of it is used."""
    land = draw(st.sampled_from(LANDS[kind]))
    oid_type = draw(st.sampled_from(["string", "long"]))

    def some(lattice: tuple[float, ...], ugly: st.SearchStrategy[float]) -> tuple[float, ...]:
        plain = draw(st.lists(st.sampled_from(lattice), min_size=3, max_size=5))
        return (*plain, *draw(st.lists(ugly, max_size=2)))

    ids: list[int | str] = draw(st.permutations([*STRING_IDS] if oid_type == "string" else [*LONG_IDS]))
    return Scene(
        land=land,
        oid_type=oid_type,
        t_type=draw(st.sampled_from(["long", "timestamp"])) if timestamps else "long",
        xs=some(land.xs, land.ugly[0]),
        ys=some(land.ys, land.ugly[1]),
        oids=tuple(ids[: draw(st.integers(2, 6))]),
    )


@st.composite
def rectangles(draw: Draw, scene: Scene) -> str:
    """x1, y1, x2, y2, perhaps a line or a point; in a lon/lat space it may cross the antimeridian."""
    south, north = sorted(draw(st.tuples(*[st.sampled_from(scene.ys)] * 2)))
    west, east = draw(st.tuples(*[st.sampled_from(scene.xs)] * 2))
    if scene.kind == "planar":
        west, east = sorted((west, east))
    else:
        west, east = max(-181.0, min(181.0, west)), max(-181.0, min(181.0, east))
        if abs(west - east) > 360.0:
            west, east = -180.0, 180.0
    return ", ".join(map(repr, (west, south, east, north)))


@st.composite
def centres(draw: Draw, scene: Scene) -> str:
    """'x, y' of a point."""
    x, y = draw(st.sampled_from(scene.xs)), draw(st.sampled_from(scene.ys))
    return f"{x if scene.kind == 'planar' else max(-360.0, min(360.0, x))!r}, {y!r}"


# ------------------------------------------------------------------------------------------------ queries

STILL = ("rect", "circle", "region")
MOVING = ("moving rect", "moving circle")
NEAREST = ("knn",)
MOVING_NEAREST = ("moving knn",)
FORMS = (*STILL, *MOVING, *NEAREST, *MOVING_NEAREST)

NUMBERS = ("speed", "load", "speed + load", "speed * 2 - 1", "load / 2", "speed / load", "load % 2", "-speed")
CONDITIONS = st.one_of(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(NUMBERS),
        st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
        st.sampled_from(["0", "1", "2", "1.5", "load", "-1"]),
    ),
    st.sampled_from(
        [
            "type = 'truck'",
            "type <> 'truck'",
            "type IN ('truck', 'bus')",
            "type NOT IN ('truck', 'é')",
            "type LIKE 'tr%'",
            "type LIKE '_u_'",
            "type NOT LIKE '%u%'",
            "type < 'c'",
            "type IS NULL",
            "type IS NOT NULL",
            "speed IS NULL",
            "load IN (0, 2)",
            "load NOT IN (1)",
            "speed BETWEEN 0 AND 1",
            "load NOT BETWEEN 1 AND 2",
            "ok = TRUE",
            "ok <> TRUE",
            "x > 1",
            "y <= x",
            "x BETWEEN 0 AND 2",
        ]
    ),
)


ID_CONDITIONS = ("oid = {}", "oid <> {}", "oid IN ({}, 'zz')", "oid NOT IN ({})", "oid >= {}")


def conditions(scene: Scene) -> st.SearchStrategy[str]:
    """A WHERE: one condition, or a few with AND, OR, NOT."""
    literals = [f"'{oid}'" for oid in scene.oids] + [str(oid) for oid in scene.oids if isinstance(oid, int)]
    of_ids = st.builds(str.format, st.sampled_from(ID_CONDITIONS), st.sampled_from(literals))
    of_time = st.sampled_from(["t > 3", "t % 2 = 0"] if scene.t_type == "long" else ["t >= '2008-05-31T00:00:04Z'"])
    return st.recursive(
        st.one_of(CONDITIONS, CONDITIONS, CONDITIONS, of_ids, of_time),
        lambda inner: st.one_of(
            st.builds("({} AND {})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("NOT ({})".format, inner),
        ),
        max_leaves=3,
    )


AGGREGATES = [
    "COUNT(*)",
    "SUM(speed)",
    "AVG(speed)",
    "MIN(speed)",
    "MAX(speed)",
    "SUM(load)",
    "AVG(load)",
    "MIN(load)",
    "MAX(x)",
    "MIN(y)",
    "SUM(x)",
    "AVG(y)",
]


def written_ids(scene: Scene) -> st.SearchStrategy[str]:
    """An id as it is written in a statement: bare where it may be, else in quotes; sometimes of nobody."""
    known = [str(oid) for oid in scene.oids]
    bare = [oid for oid in known if oid in ("a", "é", "Ω") or oid.isdigit()]
    return st.sampled_from([f"'{oid}'" for oid in known] + bare + ["'nobody'" if scene.oid_type == "string" else "777"])


@st.composite
def places(draw: Draw, scene: Scene, form: str) -> str:
    """INSIDE ... or KNN ... in one of its spellings."""
    k = draw(st.integers(1, 4))
    match form:
        case "rect":
            return f"INSIDE ({draw(rectangles(scene))})"
        case "circle":
            return f"INSIDE CIRCLE ({draw(centres(scene))}, {draw(st.sampled_from(scene.land.lengths))!r})"
        case "region":
            return f"INSIDE {draw(st.sampled_from(REGION_NAMES))}"
        case "knn":
            return f"KNN ({k}, {draw(centres(scene))})"
    oid = draw(written_ids(scene))
    match form:
        case "moving rect":
            w, h = draw(st.sampled_from(scene.land.sides)), draw(st.sampled_from(scene.land.sides))
            return draw(
                st.sampled_from([f"INSIDE ('M', {oid}, {w!r}, {h!r})", f"INSIDE RECT ({w!r}, {h!r}) AROUND {oid}"])
            )
        case "moving circle":
            return f"INSIDE CIRCLE ({draw(st.sampled_from(scene.land.lengths))!r}) AROUND {oid}"
        case "moving knn":
            return draw(st.sampled_from([f"KNN ('M', {k}, {oid})", f"KNN {k} AROUND {oid}"]))
    raise AssertionError(form)


@dataclass(frozen=True)
class Wanted:
    """Which stories to tell."""

    forms: tuple[str, ...] = FORMS
    filters: bool = False
    aggregates: bool = False
    delays: bool = False
    timeouts: bool = False
    disorder: bool = False  # lateness, late rows, both policies
    mess: bool = False  # bad rows, duplicates that differ, max_ahead
    commands: bool = False
    timestamps: bool = False
    min_rows: int = 1
    max_rows: int = 28
    max_queries: int = 4

    def but(self, **changes: Any) -> Wanted:
        """The same with some things changed."""
        return replace(self, **changes)


EVERYTHING = Wanted(
    filters=True, aggregates=True, delays=True, timeouts=True, disorder=True, mess=True, commands=True, timestamps=True
)


@st.composite
def selections(draw: Draw, scene: Scene, wanted: Wanted) -> str:
    """All of a query after `CREATE QUERY name AS`."""
    parts = ["SELECT", draw(st.sampled_from(["oid"] * 8 + AGGREGATES)) if wanted.aggregates else "oid", "FROM objects"]
    if wanted.filters and draw(st.booleans()):
        parts += ["WHERE", draw(conditions(scene))]
    parts.append(draw(places(scene, draw(st.sampled_from(wanted.forms)))))
    if wanted.delays:
        unit = "" if scene.t_type == "long" else " S"
        for word in ("DWELL", "GRACE"):
            length = draw(st.sampled_from([0, 0, 2, 1, 3, 5]))
            if length:
                parts.append(f"{word} {length}{unit}")
    return " ".join(parts)


@st.composite
def commands(draw: Draw, scene: Scene, wanted: Wanted, names: dict[str, bool]) -> str:
    """A create, replace or drop that is valid where it stands.

    `names` says of each name whether it certainly exists; a name under an AT in the future is only ever replaced.
    """
    at = draw(st.none() | st.none() | st.integers(0, 14))
    prefix = (
        "" if at is None else f"AT {at} " if scene.t_type == "long" else f"AT '{DAY + timedelta(seconds=at):%FT%TZ}' "
    )
    certain = sorted(name for name, exists in names.items() if exists)
    choice = draw(st.sampled_from(["create", "replace", "drop"]))
    if choice == "drop" and certain:
        name = draw(st.sampled_from(certain))
        if at is None:
            del names[name]
        else:
            names[name] = False
        return f"{prefix}DROP QUERY {name};"
    selection = draw(selections(scene, wanted))
    if choice == "create":
        name = next(name for n in range(99) if (name := f"q{n}") not in names)
        names[name] = at is None
        verb = "CREATE" if at is None else "CREATE OR REPLACE"  # someone may create the name before that tick
        return f"{prefix}{verb} QUERY {name} AS {selection};"
    name = draw(st.sampled_from(sorted(names) or ["q0"]))
    names[name] = at is None and names.get(name, True)
    return f"{prefix}CREATE OR REPLACE QUERY {name} AS {selection};"


# --------------------------------------------------------------------------------------------------- rows


@st.composite
def rows(draw: Draw, scene: Scene, mess: bool) -> Raw:
    """One update; `t` counts ticks and becomes a timestamp later, where the story wants one."""
    x, y = ("lon", "lat") if scene.kind == "lonlat" else ("x", "y")
    row: Raw = {
        "oid": draw(st.sampled_from(scene.oids)),
        "t": draw(st.integers(0, 12)),
        x: draw(st.sampled_from(scene.xs)),
        y: draw(st.sampled_from(scene.ys)),
        **draw(ATTRIBUTES),
    }
    if mess and not draw(st.integers(0, 9)):
        bad = [("oid", None), ("t", None), (x, None), (y, None), (x, math.nan), (y, math.inf), (x, -math.inf)]
        name, value = draw(st.sampled_from(bad + [(y, 90.5), (y, -1e9)] * (scene.kind == "lonlat")))
        row[name] = value
    return row


SPEEDS = (None, math.nan, 0.0, -0.0, 1.0, 1.0, 2.0, 0.1, 0.2, 0.3, -0.6, 1e16, -1e16, 1e-20)
ATTRIBUTES = st.fixed_dictionaries(
    {
        "speed": st.sampled_from(SPEEDS),
        "load": st.sampled_from([None, 0, 1, 1, 2, 3, -1]),
        "type": st.sampled_from([None, "truck", "bus", "é", ""]),
        "ok": st.sampled_from([None, True, False]),
    }
)


@st.composite
def streams(draw: Draw, scene: Scene, wanted: Wanted) -> list[list[Raw]]:
    """Batches of rows: in time order across batches, unless disorder is wanted."""
    count = draw(st.integers(wanted.min_rows, wanted.max_rows))
    flat = draw(st.lists(rows(scene, wanted.mess), min_size=count, max_size=count))
    slack = draw(st.sampled_from([0, 2, 5, 99])) if wanted.disorder else 0
    flat.sort(key=lambda row: -1 if row["t"] is None else row["t"] // (slack + 1))
    if wanted.mess:  # repeats of a row, some as they were and some not, anywhere after it
        for _ in range(draw(st.integers(0, 4))):
            n = draw(st.integers(0, len(flat) - 1))
            again = dict(flat[n])
            if draw(st.booleans()):
                other = draw(rows(scene, False))
                again |= {key: value for key, value in other.items() if key not in ("oid", "t")}
            flat.insert(draw(st.integers(n, min(n + 6, len(flat)))), again)
    cuts = sorted(draw(st.tuples(*[st.integers(0, len(flat))] * draw(st.integers(0, 5)))))
    return [flat[a:b] for a, b in zip([0, *cuts], [*cuts, len(flat)], strict=True)]


@st.composite
def stories(draw: Draw, kind: str, wanted: Wanted) -> Story:
    """A whole run."""
    scene = draw(scenes(kind, wanted.timestamps))
    queries = []
    if "region" in wanted.forms:
        areas = draw(st.permutations(scene.land.areas))
        queries = [f"CREATE REGION {name} AS {area};" for name, area in zip(REGION_NAMES, areas, strict=False)]
    names: dict[str, bool] = {}
    for n in range(draw(st.integers(1, wanted.max_queries))):
        names[f"q{n}"] = True
        queries.append(f"CREATE QUERY q{n} AS {draw(selections(scene, wanted))};")
    batches: list[tuple[list[Raw], list[str]]] = []
    for batch in draw(streams(scene, wanted)):
        more = []
        if wanted.commands and batches:
            more = [draw(commands(scene, wanted, names)) for _ in range(draw(st.integers(0, 2)))]
        batches.append(([with_time(row, scene.t_type) for row in batch], more))
    return Story(
        kind=kind,
        oid_type=scene.oid_type,
        t_type=scene.t_type,
        queries=queries,
        batches=batches,
        lateness=draw(st.sampled_from([0, 0, 1, 3])) if wanted.disorder else 0,
        timeout=draw(st.none() | st.integers(1, 8)) if wanted.timeouts else None,
        late=draw(st.sampled_from(["apply", "apply", "drop"])) if wanted.disorder else "apply",
        max_ahead=draw(st.none() | st.none() | st.integers(2, 12)) if wanted.mess else None,
    )


def with_time(row: Raw, t_type: str) -> Raw:
    """The row with its tick as a time of the story's type."""
    if t_type == "long" or row["t"] is None:
        return row
    return {**row, "t": DAY + timedelta(seconds=row["t"])}
