"""Random motion patterns, as SQL, and stories of objects under them.

In: a scene of `tests.strategies`. Out: CREATE PATTERN statements: steps of every kind, windows that touch, overlap and
leave gaps, steps without a window at the start, in the middle and at the end, scores with every choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.strategies import (
    REGION_NAMES,
    Draw,
    Scene,
    Story,
    Wanted,
    centres,
    conditions,
    places,
    scenes,
    streams,
    with_time,
)

PLACES = ("rect", "circle", "region")


@dataclass(frozen=True)
class Tried:
    """Which patterns to try."""

    scores: bool = True
    filters: bool = True
    most_steps: int = 5


@st.composite
def steps(draw: Draw, scene: Scene, tried: Tried, windowed: bool) -> str:
    """One step."""
    is_number = windowed and tried.scores and draw(st.integers(0, 2)) == 0
    if is_number:
        lonlat = scene.kind == "lonlat"
        forms = ["point", "circle"] if lonlat else ["point", "circle", "rect", "region"]
        form = draw(st.sampled_from(forms))
        target = f"({draw(centres(scene))})" if form == "point" else draw(places(scene, form)).removeprefix("INSIDE ")
        text = f"DIST {target}"
    else:
        test = draw(st.sampled_from(["INSIDE", "INSIDE", "INSIDE", "DISJOINT"]))
        text = f"{test} {draw(places(scene, draw(st.sampled_from(PLACES)))).removeprefix('INSIDE ')}"
    if not windowed:
        return text
    b = draw(st.sampled_from([0, 0, 1, 2, 3, 5]))
    a = b + draw(st.sampled_from([0, 1, 2, 2, 3, 4, 8]))
    unit = "" if scene.t_type == "long" else " S"
    return f"{text} {draw(st.sampled_from(['SOMETIME', 'ALWAYS']))} BETWEEN {a}{unit} AND {b}{unit} AGO"


@st.composite
def patterns(draw: Draw, scene: Scene, tried: Tried) -> str:
    """All of a pattern behind `CREATE PATTERN name AS`."""
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=tried.most_steps).filter(any))
    listed = [draw(steps(scene, tried, windowed)) for windowed in kinds]
    parts = [" THEN ".join(listed)]
    if tried.filters and draw(st.integers(0, 3)) == 0:
        parts.append(f"WHERE {draw(conditions(scene))}")
    if any(text.startswith("DIST") for text in listed):
        lengths = st.sampled_from(scene.land.lengths)
        parts.append(
            draw(
                st.one_of(
                    st.just(""),
                    st.builds("SCORE {} {}".format, st.sampled_from(["<=", ">="]), lengths),
                    st.builds("{} {}".format, st.sampled_from(["LOWEST", "HIGHEST"]), st.integers(1, 3)),
                    st.builds("{} {}".format, st.sampled_from(["LOWEST", "HIGHEST"]), st.integers(1, 3)),
                )
            )
        )
    every = draw(st.sampled_from([1, 1, 2, 3, 5]))
    parts.append(f"EVERY {every}" + ("" if scene.t_type == "long" else " S"))
    return " ".join(parts)


PLAIN = Wanted(max_rows=40)
ANY = Tried()


@st.composite
def pattern_stories(draw: Draw, kind: str, tried: Tried = ANY, wanted: Wanted = PLAIN, most: int = 3) -> Story:
    """A whole run; `wanted` says what the stream is like, and whether patterns come and go."""
    scene = draw(scenes(kind, wanted.timestamps))
    scene = replace(scene, oids=scene.oids[: draw(st.integers(1, 4))])
    areas = draw(st.permutations(scene.land.areas))
    queries = [f"CREATE REGION {name} AS {area};" for name, area in zip(REGION_NAMES, areas, strict=False)]
    queries += [f"CREATE PATTERN p{n} AS {draw(patterns(scene, tried))};" for n in range(draw(st.integers(1, most)))]
    names = {f"p{n}" for n in range(len(queries) - len(REGION_NAMES))}
    batches = []
    for number, batch in enumerate(draw(streams(scene, wanted))):
        more = []
        if wanted.commands and number and draw(st.booleans()):
            more = [draw(commands(scene, tried, names))]
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


@st.composite
def commands(draw: Draw, scene: Scene, tried: Tried, names: set[str]) -> str:
    """A pattern that comes, takes another's place, or goes; at once."""
    choice = draw(st.sampled_from(["create", "replace", "replace", "drop"]))
    if choice == "drop" and names:
        name = draw(st.sampled_from(sorted(names)))
        names.remove(name)
        return f"DROP PATTERN {name};"
    if choice == "replace" and names:
        return f"CREATE OR REPLACE PATTERN {draw(st.sampled_from(sorted(names)))} AS {draw(patterns(scene, tried))};"
    name = next(name for n in range(99) if (name := f"p{n}") not in names)
    names.add(name)
    return f"CREATE PATTERN {name} AS {draw(patterns(scene, tried))};"
