"""What a query means, in words; and what several queries share.

In: queries of the model. Out: lines for people. Invariant: conditions are the same here if and only if they are the
same to the engine: filters by their canonical text, shapes by their value, focal objects by their id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from vedette.lang import print_expr, print_place
from vedette.lang.formulas import print_formula
from vedette.lang.print import print_number
from vedette.model import (
    Circle,
    Combination,
    Create,
    CreateQuery,
    CreateRegion,
    Drop,
    Duration,
    Inside,
    MovingCircle,
    MovingRect,
    Nearest,
    Polygon,
    Query,
    Rect,
    Shape,
    Standing,
    Statement,
)
from vedette.model.formula import distinct
from vedette.space import Space


@dataclass(frozen=True)
class Shared:
    """A condition that more than one query has."""

    kind: str
    condition: str
    queries: tuple[str, ...]


def describe(query: Query, space: Space) -> list[tuple[str, str]]:
    """What was understood, as (topic, words)."""
    lines = [("answer", _answer(query))]
    if isinstance(query.where, Combination):
        lines.append(("where", print_formula(query.where.formula, lambda term: f"({_place(term, space)})")))
    else:
        lines.append(("where", _place(query.where, space)))
    if query.condition is not None:
        lines.append(("filter", f"only objects for which {print_expr(query.condition)}"))
    else:
        lines.append(("filter", "none: all objects"))
    delays = []
    if query.dwell.value:
        delays.append(f"joins once it was inside for {_span(query.dwell)}")
    if query.grace.value:
        delays.append(f"leaves once it was outside for {_span(query.grace)}")
    lines.append(("when", "; ".join(delays) or "joins and leaves at once"))
    return lines


def describe_action(statement: Statement, space: Space) -> str:
    """One line for a statement: what it does, and when."""
    action = statement.action
    if isinstance(action, CreateRegion):
        words = f"region {action.name}: {_shape(action.area, space)}"
    elif isinstance(action, Drop):
        words = f"drops {action.kind.lower()} {action.name}"
    else:
        words = f"{action.query.kind.lower()} {action.query.name}" + (
            ", in place of the one before" if action.replace else ""
        )
    return words


def _answer(query: Query) -> str:
    if query.aggregate is None:
        return "the set of objects; +1 when one joins, -1 when one leaves"
    function, argument = query.aggregate.function, query.aggregate.argument
    if function == "COUNT":
        return "how many objects; a row whenever the number changes"
    names = {"SUM": "the sum", "AVG": "the mean", "MIN": "the least", "MAX": "the greatest"}
    tail = ", and whose it is" if function in ("MIN", "MAX") else ""
    return f"{names[function]} of {argument}{tail}; a row whenever it changes"


def _place(place: Inside | Nearest, space: Space) -> str:
    if isinstance(place, Nearest):
        objects = "the nearest object" if place.k == 1 else f"the {place.k} nearest objects"
        if place.focal is not None:
            return f"{objects} to object {place.focal}, moving with it (itself left out)"
        return f"{objects} to the point {_point(place.x or 0.0, place.y or 0.0)}"
    name = f", the region {place.region}" if place.region else ""
    return f"inside {_shape(place.shape, space)}{name}"


def _shape(shape: Shape, space: Space) -> str:
    metres = " m" if space.is_lonlat else ""
    degrees = " degrees" if space.is_lonlat else ""
    match shape:
        case Rect(x1, y1, x2, y2):
            across = " across the antimeridian" if space.is_lonlat and x2 < x1 else ""
            return f"a still rectangle from {_point(x1, y1)} to {_point(x2, y2)}{across}"
        case Circle(x, y, radius):
            return f"a still circle of {print_number(radius)}{metres} around {_point(x, y)}"
        case Polygon(parts):
            corners = sum(len(ring) - 1 for part in parts for ring in part)
            holes = sum(len(part) - 1 for part in parts)
            pieces = f" in {len(parts)} pieces" if len(parts) > 1 else ""
            gaps = f" with {holes} {'hole' if holes == 1 else 'holes'}" if holes else ""
            return f"a still polygon of {corners} corners{pieces}{gaps}"
        case MovingRect(focal, w, h):
            size = f"{print_number(w)} x {print_number(h)}{degrees}"
            return f"a rectangle of {size} that moves with object {focal} (itself left out)"
        case MovingCircle(focal, radius):
            return f"a circle of {print_number(radius)}{metres} that moves with object {focal} (itself left out)"


def _point(x: float, y: float) -> str:
    return f"({print_number(x)}, {print_number(y)})"


def _span(duration: Duration) -> str:
    unit = f" {duration.unit.lower()}" if duration.unit else " (in the unit of t)"
    return f"{print_number(duration.value)}{unit}"


def units(space: Space) -> str:
    """What numbers mean in this space."""
    if space.is_lonlat:
        return "lon/lat: distances in metres on the sphere, rectangles in degrees"
    return "planar: distances in units of the coordinates"


def find_shared(queries: Iterable[Query], space: Space) -> list[Shared]:
    """Filters, shapes, nearest-neighbour terms and focal objects that several queries have, most shared first."""
    users: dict[tuple[str, str], list[str]] = defaultdict(list)
    names: dict[str, str] = {}
    for query in queries:
        if query.condition is not None:
            users["filter", print_expr(query.condition)].append(query.name)
        for where in distinct(query.where.formula) if isinstance(query.where, Combination) else (query.where,):
            place = print_place(where, space)
            users["place", place].append(query.name)
            if isinstance(where, Inside) and where.region:
                names[place] = f"the region {where.region}"
            focal = where.focal if isinstance(where, Nearest) else getattr(where.shape, "focal", None)
            if focal is not None:
                users["focal object", focal].append(query.name)
    shared = [Shared(kind, names.get(text, text), tuple(who)) for (kind, text), who in users.items() if len(who) > 1]
    return sorted(shared, key=lambda s: (-len(s.queries), s.kind, s.condition))


def queries_of(statements: Iterable[Statement]) -> list[Query]:
    """The range and kNN queries that statements create, in order."""
    return [s.action.query for s in statements if isinstance(s.action, CreateQuery)]


def standing_of(statements: Iterable[Statement]) -> list[Standing]:
    """Everything that statements post, in order."""
    return [s.action.query for s in statements if isinstance(s.action, Create)]
