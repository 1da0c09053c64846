"""Random triggers, and streams on which a good share of them fires.

In: a kind of space, and what is wanted. Out: `Story` values, as `tests/strategies.py` gives them.
A trigger is made around a *witness*: times and places of events that satisfy everything it says about time and
distance. So none contradicts itself, however many constraints it has, and small lattices make sure that such events
do occur. Time bounds form a spanning tree, and then some, so that every pair of variables has one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import combinations, pairwise
from typing import Literal

from hypothesis import settings
from hypothesis import strategies as st

from tests.oracle.shapes import point, space_of
from tests.oracle.triggers import ORDERS
from tests.strategies import (
    CONDITIONS,
    DAY,
    REGION_NAMES,
    STILL,
    Draw,
    Raw,
    Scene,
    Story,
    Wanted,
    centres,
    conditions,
    rectangles,
    scenes,
    selections,
    streams,
    with_time,
)

STRATEGIES = ("CELLS", "LOOSE", "TIGHT", "DOMAINS")
CASTS = (
    # how many events each variable stands for
    (1,),
    *((1, 1),) * 3,
    *((1, 1, 1),) * 4,
    *((1, 1, 1, 1),) * 2,
    (1, 1, 1, 1, 1),
    (2,),
    (3,),
    (4,),
    (2, 1),
    (1, 3),
    (2, 2),
    (1, 2, 1),
)
NAMES = ("v1", "v2", "v3", "b", "a", "w", "tail")
COLUMNS = re.compile(r"\b(oid|t|x|y|speed|load|type|ok)\b")


@dataclass(frozen=True)
class Casting:
    """Which triggers to make; by default all kinds of them, mixed."""

    casts: tuple[tuple[int, ...], ...] = CASTS
    nearness: Literal["mixed", "none", "all"] = "mixed"  # which variables are held together by distances
    comparisons: Literal["mixed", "none", "key"] = "mixed"  # key: one equality connects all variables
    unary: bool = True


@dataclass(frozen=True)
class Part:
    """A variable, and the witnesses of its events: ticks and places."""

    name: str
    ticks: tuple[int, ...]
    places: tuple[tuple[float, float], ...]

    @property
    def is_set(self) -> bool:
        """Whether it stands for several events."""
        return len(self.ticks) > 1


@dataclass
class Plot:
    """A trigger in the making."""

    scene: Scene
    parts: list[Part]
    conjuncts: list[str] = field(default_factory=list)

    def length(self, ticks: int) -> str:
        """A length of time as it is written."""
        return str(ticks) if self.scene.t_type == "long" else f"{ticks} S"

    def distances(self, one: Part, other: Part) -> list[float]:
        """What the space compares, for every two witnesses of the parts (of the part, if they are the same)."""
        space = space_of(self.scene.kind)
        pairs = combinations(one.places, 2) if one is other else ((p, q) for p in one.places for q in other.places)
        return [space.distance2(point(*p), point(*q)) for p, q in pairs]


# --------------------------------------------------------------------------------------------- constraints


@st.composite
def apart_in_time(draw: Draw, plot: Plot, a: Part, b: Part) -> str:
    """A bound on both sides of b.t - a.t, in one of its spellings."""
    lags = [u - t for t in a.ticks for u in b.ticks]
    low, high = min(lags) - draw(st.integers(0, 3)), max(lags) + draw(st.integers(0, 4))
    lag, at, bt = f"{b.name}.t - {a.name}.t", f"{a.name}.t", f"{b.name}.t"
    written = plot.length
    spellings = [
        f"{lag} IN [{written(low)}, {written(high)}]",
        f"{lag} BETWEEN {written(low)} AND {written(high)}",
        f"{lag} >= {written(low)} AND {lag} <= {written(high)}",
        f"{lag} > {written(low - 1)} AND {at} - {bt} >= {written(-high)}",
    ]
    if min(lags) == max(lags):
        spellings += [f"{lag} = {written(lags[0])}"]
    if min(lags) >= 0:
        spellings += [f"{at} <= {bt} AND {lag} < {written(high + 1)}"]
    if min(lags) > 0:
        spellings += [
            f"{a.name} BEFORE {b.name} WITHIN {written(high)}",
            f"{b.name} AFTER {a.name} WITHIN {written(high)}",
            f"{at} < {bt} AND {lag} <= {written(high)}",
        ]
    return draw(st.sampled_from(spellings))


@st.composite
def ordered(draw: Draw, plot: Plot, a: Part, b: Part) -> str:
    """A bound on one side."""
    lags = [u - t for t in a.ticks for u in b.ticks]
    known = [f"{b.name}.t - {a.name}.t >= {plot.length(min(lags))}"]
    if min(lags) > 0:
        known += [f"{a.name} BEFORE {b.name}", f"{b.name} AFTER {a.name}", f"{b.name}.t > {a.name}.t"]
    if min(lags) >= 0:
        known += [f"{b.name}.t >= {a.name}.t"]
    if set(lags) == {0}:
        known += [f"{a.name}.t = {b.name}.t"]
    return draw(st.sampled_from(known))


@st.composite
def spans(draw: Draw, plot: Plot, parts: list[Part]) -> str:
    """SPAN(...) of these."""
    ticks = [t for part in parts for t in part.ticks]
    width = max(ticks) - min(ticks) + draw(st.integers(0, 4))
    names = ", ".join(part.name for part in parts)
    return draw(
        st.sampled_from([f"SPAN({names}) <= {plot.length(width)}", f"SPAN({names}) < {plot.length(width + 1)}"])
    )


@st.composite
def apart_in_space(draw: Draw, plot: Plot, a: Part, b: Part, ops: str) -> str | None:
    """A bound on the distance that the witnesses keep to; None if there is none among the lengths of the land."""
    known = plot.distances(a, b)
    space = space_of(plot.scene.kind)
    lengths = sorted(set(plot.scene.land.lengths))
    fitting = [(op, d) for d in lengths for op in ops.split() if all(ORDERS[op](d2, space.reach2(d)) for d2 in known)]
    if not fitting:
        return None
    op, length = draw(st.sampled_from(fitting[len(fitting) // 3 :] if ops[0] == "<" else fitting))
    r = draw(st.sampled_from(["", "", ".r"]))
    spellings = [repr(length)]
    if plot.scene.kind == "lonlat":
        spellings += [f"{length!r} M", *([f"{length / 1000.0!r} KM"] if length / 1000.0 * 1000.0 == length else [])]
    return f"DISTANCE({a.name}{r}, {b.name}{r}) {op} {draw(st.sampled_from(spellings))}"


NUMERIC = (
    "{a}.speed {op} {b}.speed",
    "{a}.speed {op} {b}.load",
    "{a}.load {op} {b}.load",
    "{a}.speed {op} {b}.speed + 1",
    "{a}.load % 2 {op} {b}.load % 2",
    "{a}.speed - {a}.load {op} {b}.x",
    "{a}.x {op} {b}.x",
    "{a}.y {op} {b}.y",
    "{a}.ok {op} {b}.ok",
    "{a}.ok {op} {b}.load",
)
WORDY = ("{a}.type {op} {b}.type", "{a}.oid {op} {b}.oid", "{a}.oid {op} {b}.oid")
KEYS = ("oid", "oid", "oid", "type", "load", "speed", "ok", "x")


def compared(scene: Scene) -> st.SearchStrategy[str]:
    """A comparison of {a} and {b}; an equality or its opposite, more often than not."""
    mixed = ("{a}.oid {op} {b}.type",) if scene.oid_type == "string" else ("{a}.oid {op} {b}.load",)
    ops = st.sampled_from(["=", "=", "<>", "<>", "<", "<=", ">", ">="])
    return st.builds(lambda text, op: text.replace("{op}", op), st.sampled_from(NUMERIC + WORDY * 3 + mixed), ops)


ALIKE = ("oid", "oid", "type", "load", "speed", "ok", "x")


def compared_in_set(name: str) -> st.SearchStrategy[str]:
    """All equal, or all different."""
    return st.builds(
        lambda column, op: f"{name}.{column} {op} {name}.{column}",
        st.sampled_from(ALIKE),
        st.sampled_from(["=", "<>", "<>"]),
    )


# --------------------------------------------------------------------------------------------------- unary


def about(name: str, condition: str) -> str:
    """A condition on an event of this name; nothing changes inside quotes."""
    pieces = condition.split("'")
    return "'".join(COLUMNS.sub(rf"{name}.\1", piece) if n % 2 == 0 else piece for n, piece in enumerate(pieces))


@st.composite
def inside(draw: Draw, scene: Scene, name: str) -> str:
    """INSIDE(name, ...)."""
    match draw(st.sampled_from(["region", "region", "circle", "rect", "area"])):
        case "region":
            area = draw(st.sampled_from(REGION_NAMES))
        case "circle":
            area = f"CIRCLE ({draw(centres(scene))}, {draw(st.sampled_from(scene.land.lengths))!r})"
        case "rect":
            area = f"RECT ({draw(rectangles(scene))})"
        case _:
            area = draw(st.sampled_from(scene.land.areas))
    return f"INSIDE({name}, {area})"


WITH_ITSELF = re.compile(r"([^\s(]+) (<=?|>=?) \1(?![^\s)])")  # within a set that compares any two of its events


@st.composite
def unary(draw: Draw, scene: Scene, name: str) -> list[str]:
    """What is said about one event: nothing, or conjuncts."""
    there = inside(scene, name)
    simple = CONDITIONS.map(lambda text: about(name, text))
    mixed = conditions(scene).map(lambda text: about(name, text))
    said = st.one_of(
        simple,
        simple,
        mixed,
        there,
        there.map(lambda text: f"NOT {text}"),
        st.builds("({} OR {})".format, there, mixed),
        st.builds("({} OR {})".format, simple, simple),
        st.builds("NOT ({} AND {})".format, mixed, there),
    )
    return draw(st.lists(said, min_size=1, max_size=2)) if not draw(st.integers(0, 3)) else []


# ------------------------------------------------------------------------------------------------ triggers


@st.composite
def plots(draw: Draw, scene: Scene, casting: Casting) -> Plot:
    """A cast and its witnesses, which lie close together."""
    cast = draw(st.sampled_from(casting.casts))
    names = draw(st.permutations(NAMES))
    xs, ys = draw(st.permutations(scene.xs)), draw(st.permutations(scene.ys))

    def places() -> tuple[float, float]:
        return draw(st.sampled_from(xs[:2])), draw(st.sampled_from(ys[:2]))

    return Plot(
        scene,
        [
            Part(
                name,
                ticks=tuple(draw(st.integers(0, 4)) for _ in range(count)),
                places=tuple(places() for _ in range(count)),
            )
            for name, count in zip(names, cast, strict=False)
        ],
    )


@st.composite
def triggers(draw: Draw, scene: Scene, casting: Casting) -> str:
    """All of a trigger after `CREATE TRIGGER name FOR`."""
    plot = draw(plots(scene, casting))
    parts, said = plot.parts, plot.conjuncts
    if casting.unary:
        for part in parts:
            conjuncts = draw(unary(scene, part.name))
            said += [text for text in conjuncts if not (part.is_set and WITH_ITSELF.search(text))]
    said += draw(times(plot))
    said += draw(distances(plot, casting.nearness))
    said += draw(comparisons(plot, casting.comparisons))
    cast = ", ".join(f"{f'{len(part.ticks)} ' if part.is_set else ''}E AS {part.name}" for part in parts)
    when = " AND ".join(draw(st.permutations(said or [f"{parts[0].name}.oid IS NOT NULL"])))
    strategy = draw(st.sampled_from(["", "", *(f" USING {name}" for name in STRATEGIES)]))
    return f"{cast} WHEN {when}{strategy}"


@st.composite
def times(draw: Draw, plot: Plot) -> list[str]:
    """A bound for every pair: a tree of lags, or spans; perhaps more."""
    parts = plot.parts
    said = [draw(spans(plot, [part])) for part in parts if part.is_set and (len(parts) == 1 or draw(st.booleans()))]
    if len(parts) > 1 and not draw(st.integers(0, 3)):
        said.append(draw(spans(plot, parts)))
    else:
        for n, part in enumerate(parts[1:], 1):
            said.append(draw(apart_in_time(plot, parts[draw(st.integers(0, n - 1))], part)))
    for a, b in combinations(draw(st.permutations(parts)), 2):
        more = draw(st.integers(0, 9))
        if more == 0:
            said.append(draw(apart_in_time(plot, a, b)))
        elif more == 1:
            said.append(draw(ordered(plot, a, b)))
    return said


@st.composite
def distances(draw: Draw, plot: Plot, nearness: str) -> list[str]:
    """Bounds that hold all variables together, some of them, or none; sometimes lower bounds too."""
    if nearness == "none":
        return []
    parts = plot.parts
    tight = nearness == "all" or draw(st.booleans())
    found = [
        draw(apart_in_space(plot, part, part, "< <="))
        for part in parts
        if part.is_set and (tight or draw(st.booleans()))
    ]
    for n, part in enumerate(parts[1:], 1):
        if tight or not draw(st.integers(0, 2)):
            found.append(draw(apart_in_space(plot, parts[draw(st.integers(0, n - 1))], part, "< <=")))
    pairs = [(a, b) for a in parts for b in parts if (a is not b or a.is_set)]
    if pairs and not draw(st.integers(0, 2)):
        a, b = draw(st.sampled_from(pairs))
        found.append(draw(apart_in_space(plot, a, b, "> >=")))
    return [text for text in found if text]


@st.composite
def comparisons(draw: Draw, plot: Plot, wanted: str) -> list[str]:
    """Between attributes and ids of two variables, or within a set."""
    parts, said = plot.parts, []
    if wanted == "none":
        return []
    if wanted == "key" or not draw(st.integers(0, 5)):
        key = draw(st.sampled_from(KEYS))
        said += [f"{a.name}.{key} = {b.name}.{key}" for a, b in pairwise(parts)]
        return said + [f"{part.name}.{key} = {part.name}.{key}" for part in parts if part.is_set]
    for part in parts:
        if part.is_set and not draw(st.integers(0, 2)):
            said.append(draw(compared_in_set(part.name)))
    if len(parts) > 1:
        for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
            a, b = draw(st.permutations(parts))[:2]
            said.append(draw(compared(plot.scene)).format(a=a.name, b=b.name))
    return said


# ------------------------------------------------------------------------------------------------- stories

LABELS = {"truck": "truck", "bus": "truckload", "é": "truckloads", "": ""}  # prefixes of each other


def relabelled(row: Raw) -> Raw:
    """The row with strings that a careless comparison takes for equal."""
    return {**row, "type": LABELS.get(row["type"])}


@st.composite
def commands(draw: Draw, scene: Scene, casting: Casting, names: dict[str, bool]) -> str:
    """A create, replace or drop that is valid where it stands; `names` as in `tests.strategies.commands`."""
    at = draw(st.none() | st.none() | st.integers(0, 14))
    prefix = ""
    if at is not None:
        prefix = f"AT {at} " if scene.t_type == "long" else f"AT '{DAY + timedelta(seconds=at):%FT%TZ}' "
    certain = sorted(name for name, exists in names.items() if exists)
    choice = draw(st.sampled_from(["create", "replace", "drop"]))
    if choice == "drop" and certain:
        name = draw(st.sampled_from(certain))
        if at is None:
            del names[name]
        else:
            names[name] = False
        return f"{prefix}DROP TRIGGER {name};"
    body = draw(triggers(scene, casting))
    if choice == "create":
        name = next(name for n in range(99) if (name := f"w{n}") not in names)
        names[name] = at is None
        verb = "CREATE" if at is None else "CREATE OR REPLACE"
        return f"{prefix}{verb} TRIGGER {name} FOR {body};"
    name = draw(st.sampled_from(sorted(names) or ["w0"]))
    names[name] = at is None and names.get(name, True)
    return f"{prefix}CREATE OR REPLACE TRIGGER {name} FOR {body};"


TRIGGERS = Wanted(timestamps=True, min_rows=12, max_rows=32, max_queries=3)


def one_in(n: int) -> settings:
    """Settings for a property that has brothers: one in n of the profile's examples."""
    assert settings.default is not None
    return settings(max_examples=max(5, settings.default.max_examples // n))


@st.composite
def trigger_stories(draw: Draw, kind: str, wanted: Wanted = TRIGGERS, casting: Casting | None = None) -> Story:
    """A whole run. Beside the triggers stand range queries, if filters are wanted."""
    casting = casting or Casting()
    scene = draw(scenes(kind, wanted.timestamps))
    areas = draw(st.permutations(scene.land.areas))
    queries = [f"CREATE REGION {name} AS {area};" for name, area in zip(REGION_NAMES, areas, strict=False)]
    names: dict[str, bool] = {}
    for n in range(draw(st.integers(1, wanted.max_queries))):
        names[f"w{n}"] = True
        queries.append(f"CREATE TRIGGER w{n} FOR {draw(triggers(scene, casting))};")
    if wanted.filters:
        queries.append(f"CREATE QUERY q AS {draw(selections(scene, wanted.but(forms=STILL)))};")
    batches: list[tuple[list[Raw], list[str]]] = []
    for batch in draw(streams(scene, wanted)):
        more = []
        if wanted.commands and batches:
            more = [draw(commands(scene, casting, names)) for _ in range(draw(st.integers(0, 2)))]
        batches.append(([with_time(relabelled(row), scene.t_type) for row in batch], more))
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


USING = re.compile(r"( USING \w+)?;$")


def told_by(story: Story, strategy: str) -> Story:
    """The story with all triggers by one strategy."""

    def by(sql: str) -> str:
        return USING.sub(f" USING {strategy};", sql) if " TRIGGER " in sql and "DROP" not in sql else sql

    return replace(
        story,
        queries=[by(sql) for sql in story.queries],
        batches=[(rows, [by(sql) for sql in more]) for rows, more in story.batches],
    )
