"""Polygons out of strings: WKT and GeoJSON.

In: the text between the quotes. Out: a `Polygon` that is an area, valid, finite and with closed rings, or the reason
why it is not. Orientation and first points are kept as written, so that printing gives back what was read.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import shapely
from shapely.errors import ShapelyError

from vedette.model import Polygon, Ring

_SRID = re.compile(r"\s*SRID\s*=\s*\d+\s*;", re.IGNORECASE)
_PLACE = re.compile(r"(.*)\[(.*)\]", re.DOTALL)
_WHY = {
    "Self-intersection": "the polygon crosses itself",
    "Ring Self-intersection": "a ring of the polygon touches or crosses itself",
    "Hole lies outside shell": "a hole lies outside its polygon",
    "Holes are nested": "a hole lies inside another hole",
    "Interior is disconnected": "holes cut the polygon in two",
    "Nested shells": "a part of the polygon lies inside another part",
    "Duplicate Rings": "two rings of the polygon are the same",
    "Too few points in geometry component": "a ring of the polygon has too few different points",
}


class PolygonError(Exception):
    """Why a text is not an area; `code` tells the kind of reason."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


@np.errstate(all="ignore")  # coordinates that overflow become infinite, and are reported as that
def from_wkt(text: str) -> Polygon:
    """A polygon from WKT; the type word may be left out, and open rings are closed."""
    body = _SRID.sub("", text, count=1).strip()
    if not body:
        raise PolygonError("VD132", "the polygon is empty")
    if body.startswith("("):
        shape = re.sub(r"\s+", "", body[:200])
        body = ("MULTIPOLYGON " if shape.startswith("(((") else "POLYGON ") + body
    try:
        geometry = shapely.from_wkt(body)
    except (ShapelyError, ValueError) as error:
        geometry = _closed(body)
        if geometry is None:
            hint = "an example: '((0 0, 9 0, 9 9, 0 0))'"
            raise PolygonError("VD130", f"this is not WKT: {_reason(error)}", hint) from None
    return _polygon(geometry)


@np.errstate(all="ignore")
def from_geojson(text: str) -> Polygon:
    """A polygon from a GeoJSON geometry, feature or collection of features; open rings are closed."""
    try:
        document = json.loads(text)
    except RecursionError:
        raise PolygonError("VD130", "this is not GeoJSON: it is nested too deep") from None
    except ValueError as error:
        raise PolygonError("VD130", f"this is not JSON: {error}") from None
    parts = [part for member in _geometries(document) for part in _json_parts(member)]
    try:
        return _polygon(shapely.MultiPolygon(parts) if len(parts) != 1 else shapely.Polygon(*parts[0]))
    except (ShapelyError, ValueError, TypeError) as error:
        raise PolygonError("VD130", f"these are not the coordinates of polygons: {_reason(error)}") from None


def to_wkt(polygon: Polygon) -> str:
    """The shortest WKT that reads back as the same polygon: without type word, every digit that counts."""
    parts = ["(" + ", ".join(_ring_text(ring) for ring in part) + ")" for part in polygon.parts]
    return parts[0] if len(parts) == 1 else "(" + ", ".join(parts) + ")"


def _ring_text(ring: Ring) -> str:
    return "(" + ", ".join(f"{_digits(x)} {_digits(y)}" for x, y in ring) + ")"


def _digits(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _closed(body: str) -> Any:
    """The geometry with its open rings closed, or None."""

    def close(ring: re.Match[str]) -> str:
        points = [" ".join(p.split()) for p in ring.group(1).split(",")]
        return f"({', '.join(points if points[0] == points[-1] else [*points, points[0]])})"

    try:
        return shapely.from_wkt(re.sub(r"\(([^()]*)\)", close, body))
    except (ShapelyError, ValueError):
        return None


def _geometries(document: object, depth: int = 0) -> list[dict[str, Any]]:
    if not isinstance(document, dict) or depth > 20:
        raise PolygonError("VD130", "this is not GeoJSON: expected an object with a type")
    kind = document.get("type")
    inner = {"FeatureCollection": "features", "GeometryCollection": "geometries"}.get(str(kind))
    if inner is not None:
        members = document.get(inner)
        if not isinstance(members, list):
            raise PolygonError("VD130", f"this is not GeoJSON: a {kind} has a list of {inner}")
        return [g for m in members for g in _geometries(m, depth + 1)]
    if kind == "Feature":
        return _geometries(document.get("geometry"), depth + 1)
    if kind not in ("Polygon", "MultiPolygon"):
        raise PolygonError("VD132", f"expected a Polygon or MultiPolygon, found {json.dumps(kind)[:40]}")
    return [document]


def _json_parts(geometry: dict[str, Any]) -> list[tuple[list[Any], list[Any]]]:
    """Shell and holes of each part, points cut down to two numbers."""
    coordinates = geometry.get("coordinates")
    try:
        parts = [coordinates] if geometry["type"] == "Polygon" else list(coordinates or [])
        rings = [[[(float(p[0]), float(p[1])) for p in ring] for ring in part] for part in parts if part]
    except (TypeError, ValueError, IndexError, KeyError, OverflowError):
        raise PolygonError("VD130", "this is not GeoJSON: coordinates are lists of rings of [x, y]") from None
    return [(part[0], part[1:]) for part in rings]


def _polygon(geometry: Any) -> Polygon:
    """The record of a geometry, after all checks."""
    if geometry.geom_type not in ("Polygon", "MultiPolygon"):
        raise PolygonError("VD132", f"a {geometry.geom_type} is not an area", "expected a POLYGON or a MULTIPOLYGON")
    members = [geometry] if geometry.geom_type == "Polygon" else list(geometry.geoms)
    parts = tuple((_ring(m.exterior), *(_ring(h) for h in m.interiors)) for m in members if not m.is_empty)
    if not parts:
        raise PolygonError("VD132", "the polygon is empty")
    if not all(math.isfinite(v) for part in parts for ring in part for point in ring for v in point):
        raise PolygonError("VD125", "the polygon has coordinates that are not finite numbers")
    _check_valid(shapely.force_2d(geometry))
    return Polygon(parts)


def _ring(ring: Any) -> Ring:
    return tuple((float(p[0]), float(p[1])) for p in ring.coords)


def _check_valid(geometry: Any) -> None:
    if geometry.convex_hull.area == 0:
        raise PolygonError("VD132", "the polygon has no area")
    if shapely.is_valid(geometry):
        return
    reason = str(shapely.is_valid_reason(geometry))
    found = _PLACE.match(reason)
    why, where = (found.group(1).strip(), found.group(2)) if found else (reason, "")
    message = _WHY.get(why, f"the polygon is not valid: {why}")
    raise PolygonError("VD131", f"{message} at ({', '.join(where.split()[:2])})" if where else message)


def _reason(error: Exception) -> str:
    first = str(error).split("\n")[0].removeprefix("ParseException: ")
    return first[:120]
