"""Random alerts and combinations over the streams of `tests.strategies`.

In: a kind of space, and which of the two. Out: `Story` values. Formulas that can never hold, or always do, are errors
and left out.
"""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st

from tests.strategies import (
    AGGREGATES,
    DAY,
    FORMS,
    REGION_NAMES,
    Draw,
    Raw,
    Scene,
    Story,
    Wanted,
    centres,
    conditions,
    places,
    scenes,
    streams,
    with_time,
    written_ids,
)
from vedette.errors import QueryError
from vedette.lang import parse
from vedette.space import lonlat, planar


@st.composite
def constraints(draw: Draw, scene: Scene) -> str:
    """One elementary constraint."""
    ids = written_ids(scene)
    distance = f"{draw(st.sampled_from('<>'))} {draw(st.sampled_from(scene.land.lengths))!r}"
    several = ", ".join(draw(st.lists(ids, min_size=1, max_size=6)))
    match draw(st.sampled_from(["diameter", "diameter", "distance", "inside", "rknn"])):
        case "diameter":
            return f"DIAMETER({several}) {distance}"
        case "distance":
            return f"DISTANCE(({draw(centres(scene))}), {several}) {distance}"
        case "inside":
            return f"INSIDE({draw(ids)}, {draw(st.sampled_from((*REGION_NAMES, *scene.land.areas)))})"
    return f"RKNN(({draw(centres(scene))}), {draw(st.integers(1, 3))}, {draw(ids)})"


def formulas(terms: st.SearchStrategy[str], most: int) -> st.SearchStrategy[str]:
    """Terms joined by AND, OR and NOT."""
    return st.recursive(
        terms,
        lambda inner: st.one_of(
            st.builds("({} AND {})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("({} AND {} AND {})".format, inner, inner, inner),
            st.builds("NOT {}".format, inner),
        ),
        max_leaves=most,
    )


@st.composite
def combinations(draw: Draw, scene: Scene) -> str:
    """All of a combination after `CREATE QUERY name AS`."""
    one = st.sampled_from(FORMS).flatmap(lambda form: places(scene, form))
    parts = ["SELECT", draw(st.sampled_from(["oid"] * 6 + AGGREGATES)), "FROM objects WHERE"]
    if draw(st.booleans()):
        parts.append(f"({draw(conditions(scene))}) AND")
    positive = draw(one)
    parts.append(f"({draw(formulas(one, 3))}) AND {positive}" if draw(st.booleans()) else f"({draw(formulas(one, 4))})")
    unit = "" if scene.t_type == "long" else " S"
    for word in ("DWELL", "GRACE"):
        length = draw(st.sampled_from([0, 0, 0, 2, 1, 3]))
        if length:
            parts.append(f"{word} {length}{unit}")
    return " ".join(parts)


def is_valid(scene: Scene, regions: list[str], statement: str) -> bool:
    """Whether a statement is one that can be registered."""
    try:
        parse("\n".join([*regions, statement]), space=lonlat() if scene.kind == "lonlat" else planar())
    except QueryError:
        return False
    return True


@st.composite
def bodies(draw: Draw, scene: Scene, regions: list[str], what: str) -> tuple[str, str]:
    """A kind of statement, and all of it after the name."""
    kind: str = draw(st.sampled_from(["ALERT", "QUERY"])) if what == "both" else what
    for _ in range(3):
        text = f"WHEN {draw(formulas(constraints(scene), 5))}" if kind == "ALERT" else f"AS {draw(combinations(scene))}"
        if is_valid(scene, regions, f"CREATE {kind} x {text};"):
            return kind, text
    return kind, "WHEN NOT INSIDE('a', zone)" if kind == "ALERT" else "AS SELECT oid FROM objects INSIDE zone"


@st.composite
def commands(draw: Draw, scene: Scene, regions: list[str], what: str, kinds: dict[str, str]) -> str:
    """A create, replace or drop; names that stand under an AT are used once only."""
    at = draw(st.none() | st.none() | st.integers(0, 14))
    written = "" if at is None else f"AT {at} " if scene.t_type == "long" else ""
    if at is not None and scene.t_type != "long":
        written = f"AT '{DAY + timedelta(seconds=at):%FT%TZ}' "
    if kinds and draw(st.sampled_from([True, True, False])):
        name = draw(st.sampled_from(sorted(kinds)))
        kind = kinds[name]
        if draw(st.booleans()):
            del kinds[name]
            return f"{written}DROP {kind} {name};"
        if at is not None:
            del kinds[name]
        _, text = draw(bodies(scene, regions, kind))
        return f"{written}CREATE OR REPLACE {kind} {name} {text};"
    kind, text = draw(bodies(scene, regions, what))
    name = f"{kind.lower()}{draw(st.integers(0, 2**30))}"  # a name is of one kind for ever
    if at is None:
        kinds[name] = kind
    return f"{written}CREATE OR REPLACE {kind} {name} {text};"


@st.composite
def alert_stories(draw: Draw, kind: str, what: str, wanted: Wanted) -> Story:
    """A whole run of alerts (`what` is ALERT), combinations (QUERY) or both."""
    scene = draw(scenes(kind, wanted.timestamps))
    areas = draw(st.permutations(scene.land.areas))
    regions = [f"CREATE REGION {name} AS {area};" for name, area in zip(REGION_NAMES, areas, strict=False)]
    kinds: dict[str, str] = {}
    queries = []
    for n in range(draw(st.integers(1, wanted.max_queries))):
        kinds[f"q{n}"], text = draw(bodies(scene, regions, what))
        queries.append(f"CREATE {kinds[f'q{n}']} q{n} {text};")
    batches: list[tuple[list[Raw], list[str]]] = []
    for batch in draw(streams(scene, wanted)):
        more = []
        if wanted.commands and batches:
            more = [draw(commands(scene, regions, what, kinds)) for _ in range(draw(st.integers(0, 2)))]
        batches.append(([with_time(row, scene.t_type) for row in batch], more))
    return Story(
        kind=kind,
        oid_type=scene.oid_type,
        t_type=scene.t_type,
        queries=[*regions, *queries],
        batches=batches,
        lateness=draw(st.sampled_from([0, 0, 1, 3])) if wanted.disorder else 0,
        timeout=draw(st.none() | st.integers(1, 8)) if wanted.timeouts else None,
        late=draw(st.sampled_from(["apply", "apply", "drop"])) if wanted.disorder else "apply",
        max_ahead=draw(st.none() | st.none() | st.integers(2, 12)) if wanted.mess else None,
    )
