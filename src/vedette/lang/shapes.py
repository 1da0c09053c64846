"""Places: from argument lists to rectangles, circles, polygons, focal objects and neighbours.

In: trees of `area`, `place` and their arguments. Out: records of the model, every number checked, distances in
distance units (metres in a lon/lat space). All problems of a place are reported, not only the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from lark import Token, Tree

from vedette.lang.polygons import PolygonError, from_geojson, from_wkt
from vedette.lang.source import Node, Report
from vedette.lang.words import METRES, one_of, quote_text, unquote
from vedette.lang.words import did_you_mean as hint_for
from vedette.model import Area, Circle, Inside, MovingCircle, MovingRect, Nearest, Polygon, Rect

GREATEST_K = 2**31 - 1


class SpaceKind(Protocol):
    """All the language needs to know of a space."""

    @property
    def kind(self) -> str:
        """`planar` or `lonlat`."""


@dataclass(frozen=True)
class RegionName:
    """A place that is a named region, not yet bound to its area."""

    name: str
    node: Node


def trees(node: Tree[Token], *kinds: str) -> list[Tree[Token]]:
    """Children of some kinds."""
    return [c for c in node.children if isinstance(c, Tree) and c.data in kinds]


def word(node: Tree[Token]) -> str:
    """The name that a `name`, `word`, `text` or `focal` tree holds, quotes removed, case as written."""
    token = node.children[0]
    assert isinstance(token, Token)
    return unquote(token) if token.type in ("QUOTED", "STRING") else str(token)


def name_of(node: Tree[Token]) -> str:
    """The name in a `name` tree; names do not depend on case."""
    return word(node).lower()


class Places:
    """Builds the places of one statement."""

    def __init__(self, space: SpaceKind, report: Report) -> None:
        self.lonlat = space.kind == "lonlat"
        self.report = report

    # ------------------------------------------------------------------------------------------ entry points

    def area(self, node: Tree[Token]) -> Area | None:
        """An area that stands still, for CREATE REGION."""
        if node.data == "circle":
            return self._still_circle(node)
        if node.data == "rect":
            return self._still_rect(node, node)
        return self._polygon(node)

    def place(self, node: Tree[Token]) -> Inside | Nearest | RegionName | None:
        """What an INSIDE or KNN clause says; None after a problem."""
        if node.data == "knn_tuple":
            return self._knn_tuple(node)
        if node.data == "knn_around":
            return self._knn_around(node)
        inner = node.children[1]
        assert isinstance(inner, Tree)
        if inner.data == "region":
            named = trees(inner, "name")[0]
            return RegionName(name_of(named), named)
        if inner.data == "tuple":
            return self._tuple(inner)
        around = trees(inner, "around")
        if around:
            moving = self._moving(inner, around[0])
            return Inside(moving) if moving else None
        area = self.area(inner)
        return Inside(area) if area else None

    def point(self, x: Tree[Token], y: Tree[Token]) -> tuple[float, float] | None:
        """A point, from two arguments."""
        return self._centre(self._number(x), self._number(y), x, y)

    # ------------------------------------------------------------------------------------------------ regions

    def _polygon(self, node: Tree[Token]) -> Polygon | None:
        text = node.children[1]
        assert isinstance(text, Token)
        try:
            polygon = (from_geojson if node.data == "geojson" else from_wkt)(unquote(text))
        except PolygonError as error:
            self.report.add(error.code, error.message, text, error.hint)
            return None
        if self.lonlat and not self._polygon_on_globe(polygon, text):
            return None
        return polygon

    def _polygon_on_globe(self, polygon: Polygon, at: Node) -> bool:
        points = [p for part in polygon.parts for p in part[0]]
        lats, lons = [y for _, y in points], [x for x, _ in points]
        worst = max(lats, key=abs)
        ok = self._latitude(worst, at) and all(self._longitude(x, at) for x in (min(lons), max(lons)))
        if ok and max(lons) - min(lons) > 360:
            self.report.add("VD127", "the polygon is wider than 360 degrees", at)
            return False
        return ok

    def _still_circle(self, node: Tree[Token]) -> Circle | None:
        args = self._arguments(node, "CIRCLE (x, y, radius)", 3)
        if args is None:
            return None
        x, y, radius = self._number(args[0]), self._number(args[1]), self.distance(args[2])
        centre = self._centre(x, y, args[0], args[1])
        return Circle(*centre, radius) if centre and radius is not None else None

    def _still_rect(self, node: Tree[Token], at: Tree[Token]) -> Rect | None:
        args = self._arguments(node, "RECT (x1, y1, x2, y2)", 4)
        return self._rect(args) if args else None

    def _rect(self, args: list[Tree[Token]]) -> Rect | None:
        numbers = [self._number(a) for a in args]
        x1, y1, x2, y2 = numbers
        if x1 is None or y1 is None or x2 is None or y2 is None:
            return None
        ok = True
        if self.lonlat:
            ok = all([self._latitude(y1, args[1]), self._latitude(y2, args[3])])
            ok = all([self._longitude(x1, args[0]), self._longitude(x2, args[2])]) and ok
            if x2 - x1 > 360:
                self.report.add("VD127", f"the box is {_text(x2 - x1)} degrees wide, more than 360", args[2])
                ok = False
        if y2 < y1 or (x2 < x1 and not self.lonlat) or (self.lonlat and x2 + 360 < x1):
            axis, low, high, node = ("y", y1, y2, args[3]) if y2 < y1 else ("x", x1, x2, args[2])
            self.report.add(
                "VD122",
                f"the rectangle is empty: {axis}2 = {_text(high)} lies below {axis}1 = {_text(low)}",
                node,
                "a rectangle is written x1, y1, x2, y2: the lower left corner first",
            )
            ok = False
        return Rect(x1, y1, x2, y2) if ok else None

    def _moving(self, node: Tree[Token], around: Tree[Token]) -> MovingRect | MovingCircle | None:
        is_circle = node.data == "circle"
        if is_circle:
            args = self._arguments(node, "CIRCLE (radius) AROUND id", 1)
        else:
            args = self._arguments(node, "RECT (w, h) AROUND id", 2)
        focal = self._around_focal(around, "CIRCLE (x, y, radius)" if is_circle else "RECT (x1, y1, x2, y2)")
        if args is None:
            return None
        if is_circle:
            radius = self.distance(args[0])
            return MovingCircle(focal, radius) if focal is not None and radius is not None else None
        w, h = self._side(args[0]), self._side(args[1])
        return MovingRect(focal, w, h) if focal is not None and w is not None and h is not None else None

    def _around_focal(self, around: Tree[Token], instead: str) -> str | None:
        target = around.children[1]
        assert isinstance(target, Tree)
        if target.data == "focal":
            return self._focal(target)
        self.report.add("VD120", "AROUND takes the id of an object here", target, f"around a point: {instead}")
        return None

    def _tuple(self, node: Tree[Token]) -> Inside | RegionName | None:
        """The tuple forms: (x1, y1, x2, y2), ('M', id, w, h), (name)."""
        args = [a for a in trees(node, "arguments")[0].children if isinstance(a, Tree)]
        if len(args) == 1 and args[0].data == "word":
            return RegionName(name_of(args[0]), args[0])
        if args[0].data == "text" and word(args[0]).upper() == "M" and len(args) == 4:
            focal, w, h = self._focal(args[1]), self._side(args[2]), self._side(args[3])
            return Inside(MovingRect(focal, w, h)) if focal is not None and w is not None and h is not None else None
        if args[0].data != "text" and len(args) == 4:
            rect = self._rect(args)
            return Inside(rect) if rect else None
        forms = "INSIDE takes (x1, y1, x2, y2), ('M', id, w, h) or (region)"
        self.report.add("VD120", f"{forms}; found {_count(args)}", node)
        return None

    # --------------------------------------------------------------------------------------------- neighbours

    def _knn_tuple(self, node: Tree[Token]) -> Nearest | None:
        args = [a for a in trees(node, "arguments")[0].children if isinstance(a, Tree)]
        if len(args) != 3:
            self.report.add("VD120", f"KNN takes (k, x, y) or ('M', k, id); found {_count(args)}", args[0])
            return None
        if args[0].data == "text" and word(args[0]).upper() == "M":
            k, focal = self._k(args[1]), self._focal(args[2])
            return Nearest(k, focal=focal) if k is not None and focal is not None else None
        k, x, y = self._k(args[0]), self._number(args[1]), self._number(args[2])
        centre = self._centre(x, y, args[1], args[2])
        return Nearest(k, *centre) if k is not None and centre else None

    def _knn_around(self, node: Tree[Token]) -> Nearest | None:
        k = self._k(trees(node, "number")[0])
        target = trees(node, "around")[0].children[1]
        assert isinstance(target, Tree)
        if target.data == "focal":
            focal = self._focal(target)
            return Nearest(k, focal=focal) if k is not None and focal is not None else None
        args = [a for a in target.children if isinstance(a, Tree)]
        if len(args) != 2:
            self.report.add("VD120", f"AROUND takes an id or a point (x, y); found {_count(args)}", target)
            return None
        centre = self._centre(self._number(args[0]), self._number(args[1]), args[0], args[1])
        return Nearest(k, *centre) if k is not None and centre else None

    def _k(self, node: Tree[Token]) -> int | None:
        value = self._number(node, "k")
        if value is None:
            return None
        if value < 1 or value != int(value):
            self.report.add("VD121", f"k is {_text(value)}; expected a whole number, 1 or more", node)
            return None
        if value > GREATEST_K:
            self.report.add("VD121", f"k is {_text(value)}; expected at most {GREATEST_K}", node)
            return None
        return int(value)

    # ------------------------------------------------------------------------------------------------ numbers

    def _arguments(self, node: Tree[Token], form: str, count: int) -> list[Tree[Token]] | None:
        args = [a for a in trees(node, "arguments")[0].children if isinstance(a, Tree)]
        if len(args) == count:
            return args
        self.report.add("VD120", f"{form} takes {count} argument{'s' * (count > 1)}; found {len(args)}", node)
        return None

    def _number(self, node: Tree[Token], what: str = "a number") -> float | None:
        """A bare number: an argument, or a `number` tree."""
        unit = node.children[1] if node.data == "quantity" else None
        if isinstance(unit, Token):
            if self.lonlat:
                self.report.add("VD128", f"a unit cannot stand here: {unit}", unit, "only a radius can carry a unit")
            else:
                self._unit_in_plane(unit)
            return None
        return self._value(node, what)

    def _value(self, node: Tree[Token], what: str) -> float | None:
        if node.data == "area_argument":
            self.report.add("VD120", f"expected {what}, found an area", node)
            return None
        if node.data in ("text", "word"):
            found = word(node)
            if found.lower().strip("+-") in ("nan", "inf", "infinity"):
                self.report.add("VD125", f"{found} is not a finite number", node)
            else:
                shown = quote_text(found) if node.data == "text" else found
                self.report.add("VD120", f"expected {what}, found {shown}", node)
            return None
        number = node if node.data == "number" else trees(node, "number")[0]
        value = float(number_text(number))
        if math.isfinite(value):
            return value + 0.0  # -0.0 becomes 0.0
        self.report.add("VD125", f"{number_text(number)[:40]} is not a finite number", node)
        return None

    def distance(self, node: Tree[Token], what: str = "radius") -> float | None:
        """A distance, not negative, in distance units."""
        unit = node.children[1] if node.data == "quantity" else None
        factor: float | None = 1.0
        if isinstance(unit, Token):
            factor = METRES.get(unit.upper())
            if not self.lonlat:
                self._unit_in_plane(unit)
                factor = None
            elif factor is None:
                hint = hint_for(unit, METRES)
                self.report.add("VD129", f"{unit} is not a unit of distance; expected {one_of(METRES)}", unit, hint)
        value = self._value(node, "a distance")
        if value is None or factor is None:
            return None
        if value < 0:
            self.report.add("VD123", f"the {what} is negative: {_text(value)}", node)
            return None
        return self._finite(value * factor, node)

    def _unit_in_plane(self, unit: Token) -> None:
        hint = "leave it out: distances are in the units of the coordinates"
        self.report.add("VD128", f"a unit in a planar space: {unit}", unit, hint)

    def _finite(self, value: float, node: Node) -> float | None:
        if math.isfinite(value):
            return value
        self.report.add("VD125", "the distance is not a finite number", node)
        return None

    def _side(self, node: Tree[Token]) -> float | None:
        """Width or height, in coordinate units."""
        unit = node.children[1] if node.data == "quantity" else None
        if isinstance(unit, Token) and self.lonlat:
            hint = "rectangles are measured in degrees; CIRCLE (radius) takes a distance"
            self.report.add("VD128", f"a unit cannot stand here: {unit}", unit, hint)
            return None
        value = self._number(node)
        if value is not None and value < 0:
            self.report.add("VD124", f"width and height cannot be negative: {_text(value)}", node)
            return None
        return value

    def _centre(self, x: float | None, y: float | None, x_node: Node, y_node: Node) -> tuple[float, float] | None:
        if x is None or y is None:
            return None
        if not self.lonlat:
            return x, y
        on_globe = [self._longitude(x, x_node), self._latitude(y, y_node)]  # both, so that both are reported
        if not all(on_globe):
            return None
        return (x if -180 <= x < 180 else (x + 180) % 360 - 180), y

    def _latitude(self, value: float, at: Node) -> bool:
        if -90 <= value <= 90:
            return True
        hint = "the order is longitude, latitude"
        self.report.add("VD126", f"latitude {_text(value)} is outside -90 to 90", at, hint)
        return False

    def _longitude(self, value: float, at: Node) -> bool:
        if -360 <= value <= 360:
            return True
        self.report.add("VD127", f"longitude {_text(value)} is outside -360 to 360", at)
        return False

    def _focal(self, node: Tree[Token]) -> str | None:
        """The id of a focal object as text."""
        if node.data == "quantity" and isinstance(node.children[1], Token):
            self.report.add("VD120", "expected the id of an object", node, "quote an id that is not one word")
            return None
        if node.data == "quantity" or (node.data == "focal" and isinstance(node.children[0], Tree)):
            return number_text(trees(node, "number")[0])
        return word(node)


def number_text(node: Tree[Token]) -> str:
    """The digits of a `number` tree, with a minus if there is one."""
    sign, digits = node.children
    return ("-" if sign == "-" else "") + str(digits)


def _count(args: list[Tree[Token]]) -> str:
    return f"{len(args)} argument{'s' * (len(args) != 1)}"


def _text(value: float) -> str:
    return repr(value).removesuffix(".0")
