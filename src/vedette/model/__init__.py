"""The records that travel between the language, the engine and the user: frozen, hashable, no behaviour.

In: nothing. Out: statements (what was asked), shapes (where), expressions (which objects).
Invariant: two records are equal if and only if they mean the same.
"""

from vedette.model.query import Aggregate, Query
from vedette.model.standing import Standing
from vedette.model.statement import Action, Create, CreateQuery, CreateRegion, Drop, Statement
from vedette.model.terms import (
    MICROSECONDS,
    NO_TIME,
    Area,
    AttributeType,
    Between,
    Binary,
    Circle,
    Column,
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
    Rect,
    Ring,
    Schema,
    Shape,
    TimeUnit,
    Unary,
    Value,
)

__all__ = [
    "MICROSECONDS",
    "NO_TIME",
    "Action",
    "Aggregate",
    "Area",
    "AttributeType",
    "Between",
    "Binary",
    "Circle",
    "Column",
    "Create",
    "CreateQuery",
    "CreateRegion",
    "Drop",
    "Duration",
    "Expr",
    "In",
    "Inside",
    "IsNull",
    "Like",
    "MovingCircle",
    "MovingRect",
    "Nearest",
    "Polygon",
    "Query",
    "Rect",
    "Ring",
    "Schema",
    "Shape",
    "Standing",
    "Statement",
    "TimeUnit",
    "Unary",
    "Value",
]
