"""What statements are made of: lengths of time, places, expressions; and what is known of a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias
from typing import Literal as OneOf

# ---------------------------------------------------------------------------------------------- time

TimeUnit: TypeAlias = OneOf["US", "MS", "S", "MIN", "H", "D"]

MICROSECONDS: dict[str, int] = {
    "US": 1,
    "MS": 1_000,
    "S": 1_000_000,
    "MIN": 60_000_000,
    "H": 3_600_000_000,
    "D": 86_400_000_000,
}


@dataclass(frozen=True)
class Duration:
    """A length of time: with a unit, or bare (in the unit of a long `t`). Bare zero fits both."""

    value: float
    unit: TimeUnit | None = None


NO_TIME = Duration(0)

EARTH_RADIUS_M = 6_371_008.8

# --------------------------------------------------------------------------------------------- shapes

Ring: TypeAlias = tuple[tuple[float, float], ...]  # closed: first point == last point


@dataclass(frozen=True)
class Rect:
    """Closed rectangle in coordinate units. In a lon/lat space it runs from x1 east to x2 (x2 < x1: across ±180)."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Circle:
    """Closed disc; radius in distance units (metres in a lon/lat space)."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Polygon:
    """One or several polygons with holes: each part is (shell, hole, hole, ...)."""

    parts: tuple[tuple[Ring, ...], ...]


@dataclass(frozen=True)
class MovingRect:
    """Rectangle of width w and height h (coordinate units) centred on a focal object."""

    focal: str
    w: float
    h: float


@dataclass(frozen=True)
class MovingCircle:
    """Disc (distance units) centred on a focal object."""

    focal: str
    radius: float


Area: TypeAlias = Rect | Circle | Polygon
Shape: TypeAlias = Rect | Circle | Polygon | MovingRect | MovingCircle


@dataclass(frozen=True)
class Inside:
    """All objects inside a shape. `region` remembers the name it was written with, if any; it carries no meaning."""

    shape: Shape
    region: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Nearest:
    """The k objects nearest to a point, or to a focal object."""

    k: int
    x: float | None = None
    y: float | None = None
    focal: str | None = None


@dataclass(frozen=True)
class Combination:
    """The objects for which a formula holds (see `model.formula`), whose terms are `Inside` and `Nearest`."""

    formula: Any


# ---------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True)
class Column:
    """An attribute, or oid, t, x, y. Names are lower case; `table` is set for a joined table's column."""

    name: str
    table: str | None = None


@dataclass(frozen=True)
class Value:
    """A literal: number, string, boolean or NULL."""

    value: float | int | str | bool | None


@dataclass(frozen=True)
class Unary:
    """`NOT e` or `- e`."""

    op: OneOf["NOT", "-"]
    operand: Expr


@dataclass(frozen=True)
class Binary:
    """`a op b`; op is one of = <> < <= > >= AND OR + - * / %."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class In:
    """`e [NOT] IN (items)`."""

    operand: Expr
    items: tuple[Expr, ...]
    negated: bool = False


@dataclass(frozen=True)
class Between:
    """`e [NOT] BETWEEN low AND high`."""

    operand: Expr
    low: Expr
    high: Expr
    negated: bool = False


@dataclass(frozen=True)
class Like:
    """`e [NOT] LIKE pattern`: % any run, _ any one character, backslash escapes."""

    operand: Expr
    pattern: str
    negated: bool = False


@dataclass(frozen=True)
class IsNull:
    """`e IS [NOT] NULL`."""

    operand: Expr
    negated: bool = False


@dataclass(frozen=True)
class Within:
    """INSIDE as a condition among others: the event that the condition is about lies in an area that stands still."""

    place: Inside


Expr: TypeAlias = Column | Value | Unary | Binary | In | Between | Like | IsNull | Within

# -------------------------------------------------------------------------------------------- streams

AttributeType: TypeAlias = OneOf["bool", "long", "double", "string", "timestamp"]


@dataclass(frozen=True)
class Schema:
    """What is known of the stream: types of id and time, and of the attributes by lower-case name."""

    oid: OneOf["long", "string"]
    time: OneOf["long", "timestamp"]
    attributes: tuple[tuple[str, AttributeType], ...] = ()
