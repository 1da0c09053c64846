"""Records as plain data: lists, numbers, strings; to be sent and kept as JSON.

In: a record of the model. Out: lists that start with the name of the record; a tuple starts with nothing.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from vedette.model.alert import Diameter, Distance, InsideOf, ReverseNearest
from vedette.model.formula import AllOf, AnyOf, Negation
from vedette.model.terms import Circle, Inside, MovingCircle, MovingRect, Nearest, Polygon, Rect

_RECORDS = (
    AllOf,
    AnyOf,
    Circle,
    Diameter,
    Distance,
    Inside,
    MovingCircle,
    MovingRect,
    Nearest,
    Negation,
    Polygon,
    Rect,
    ReverseNearest,
    InsideOf,
)
_BY_NAME: dict[str, Any] = {record.__name__: record for record in _RECORDS}


def to_plain(record: Any) -> Any:
    """A formula, term or shape as plain data."""
    if isinstance(record, tuple):
        return ["", *map(to_plain, record)]
    if is_dataclass(record):
        return [type(record).__name__, *(to_plain(getattr(record, field.name)) for field in fields(record))]
    return record


def from_plain(data: Any) -> Any:
    """The record again."""
    if not isinstance(data, list):
        return data
    name, *parts = data
    return _BY_NAME[name](*map(from_plain, parts)) if name else tuple(map(from_plain, parts))
