"""CREATE ALERT name WHEN formula: Boolean combinations of constraints on where certain objects are.

In: trees. Out: `Alert` records with canonical constraints; problems with numbers, forms and words go to the report,
also a formula that can never be true, or is always.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from lark import Token, Tree

from vedette.lang.draft import Draft
from vedette.lang.expressions import DEEPEST, depth
from vedette.lang.formulas import Implication, formula_of, print_formula, verdict
from vedette.lang.print import print_area, print_distance, print_id, print_numbers
from vedette.lang.shapes import GREATEST_K, Places, RegionName, SpaceKind, number_text, trees, word
from vedette.lang.source import Report
from vedette.lang.types import Finding
from vedette.lang.words import CONSTRAINTS, did_you_mean, one_of
from vedette.model import Inside, Schema, Standing
from vedette.model.alert import Alert, Diameter, Distance, Elementary, InsideOf, ReverseNearest
from vedette.model.formula import AllOf, AnyOf, Negation, distinct
from vedette.model.terms import EARTH_RADIUS_M

FORMS = {
    "DIAMETER": "DIAMETER(id, ...) < distance",
    "DISTANCE": "DISTANCE((x, y), id, ...) < distance",
    "INSIDE": "INSIDE(id, region)",
    "RKNN": "RKNN((x, y), k, id)",
}


@dataclass(frozen=True)
class Body:
    """A formula between the passes; areas may be names still."""

    formula: Any
    lonlat: bool


class AlertKind:
    """The passes of alerts."""

    def build(self, action: Tree[Token], draft: Draft, space: SpaceKind, report: Report) -> None:
        """The formula of an alert, regions by name still."""
        node = action.children[-1]
        assert isinstance(node, Tree)
        draft.nodes["formula"] = node
        if depth(node) > DEEPEST:
            report.add("VD105", f"the formula is nested deeper than {DEEPEST} levels", node)
            return
        formula = formula_of(node, ("either", "both", "opposite"), _Terms(space, report).term)
        draft.body = Body(formula, space.kind == "lonlat")

    def findings(self, body: Any, schema: Schema | None) -> list[Finding]:
        """Nothing of an alert depends on the columns of the stream."""
        return []

    def bind(self, draft: Draft, place: Callable[[RegionName], Inside | None], report: Report) -> Standing | None:
        """The alert, if it says anything."""
        formula = _bound(draft.body.formula, place)
        if report.problems or formula is None:
            return None
        found = distinct(formula)
        judged = verdict(formula, [t for t in found if _never(t, draft.body.lonlat)], _implications(found))
        where = draft.nodes["formula"]
        if judged == "never":
            report.add(
                "VD244", f"the alert {draft.name} can never be true", where, "no positions of its objects make it true"
            )
        elif judged == "always":
            report.add("VD245", f"the alert {draft.name} is always true", where, "wherever the objects are, it holds")
        elif judged == "too wide":
            report.add("VD246", "the formula is too entangled to be decided", where, "make several alerts of it")
        return None if report.problems else Alert(draft.name, formula)

    def print(self, standing: Any, space: SpaceKind) -> str:
        """The formula, areas by value."""
        return "WHEN " + print_formula(standing.formula, lambda term: print_constraint(term, space))


class _Terms:
    """Builds the constraints of one statement."""

    def __init__(self, space: SpaceKind, report: Report) -> None:
        self.places = Places(space, report)
        self.report = report

    def term(self, node: Tree[Token]) -> Any:
        """A constraint; None after a problem."""
        if node.data == "inside_of":
            return self._inside(node)
        name = str(node.children[0])
        form = FORMS.get(name.upper())
        if form is None or name.upper() == "INSIDE":
            hint = did_you_mean(name, CONSTRAINTS)
            self.report.add(
                "VD240", f"{name} is not a constraint; expected {one_of(CONSTRAINTS)}", node.children[0], hint
            )
            return None
        if name.upper() == "DIAMETER":
            return self._diameter(node)
        return self._distance(node) if name.upper() == "DISTANCE" else self._reverse(node)

    def _inside(self, node: Tree[Token]) -> Any:
        oid = self._id(node.children[1])
        still = node.children[2]
        assert isinstance(still, Tree)
        if still.data == "region":
            named = trees(still, "name")[0]
            return None if oid is None else InsideOf(oid, RegionName(word(named).lower(), named))  # type: ignore[arg-type]
        area = self.places.area(still)
        return None if area is None or oid is None else InsideOf(oid, Inside(area))

    def _diameter(self, node: Tree[Token]) -> Diameter | None:
        objects, op, distance = self._ids(node.children[1:-2], "DIAMETER", node), *self._compared(node, "DIAMETER")
        if objects is None or distance is None:
            return None
        return Diameter(objects, op, distance)  # type: ignore[arg-type]

    def _distance(self, node: Tree[Token]) -> Distance | None:
        point = self._point(node, "DISTANCE")
        objects, op, distance = self._ids(node.children[2:-2], "DISTANCE", node), *self._compared(node, "DISTANCE")
        if point is None or objects is None or distance is None:
            return None
        return Distance(*point, objects, op, distance)  # type: ignore[arg-type]

    def _reverse(self, node: Tree[Token]) -> ReverseNearest | None:
        compared: Any = node.children[-2]
        if compared is not None:
            self.report.add("VD242", "RKNN is not compared with anything", compared, f"write {FORMS['RKNN']}")
            return None
        point, rest = self._point(node, "RKNN"), node.children[2:-2]
        if point is None:
            return None
        if len(rest) != 2 or any(isinstance(r, Tree) and r.data == "point" for r in rest):
            self.report.add("VD241", f"RKNN takes a point, k and an id: {FORMS['RKNN']}", node)
            return None
        k, oid = self._k(rest[0]), self._id(rest[1])
        return None if k is None or oid is None else ReverseNearest(*point, k, oid)

    def _k(self, node: Any) -> int | None:
        inner = node.children[0]
        text = number_text(inner) if isinstance(inner, Tree) else word(node)
        if not text.isdigit() or not 1 <= int(text[:30]) <= GREATEST_K:
            self.report.add("VD243", f"k is {text[:30]}; expected a whole number from 1 to {GREATEST_K}", node)
            return None
        return int(text)

    def _point(self, node: Tree[Token], name: str) -> tuple[float, float] | None:
        first = node.children[1]
        assert isinstance(first, Tree)
        if first.data != "point":
            self.report.add("VD241", f"{name} begins with a point: {FORMS[name]}", first)
            return None
        x, y = (child for child in first.children if isinstance(child, Tree))
        return self.places.point(x, y)

    def _ids(self, nodes: list[Any], name: str, whole: Tree[Token]) -> tuple[str, ...] | None:
        """The ids, sorted, each once."""
        if not nodes:
            self.report.add("VD241", f"{name} names no object: {FORMS[name]}", whole)
            return None
        found = [self._id(node) for node in nodes]
        return None if None in found else tuple(sorted({oid for oid in found if oid is not None}, key=str.encode))

    def _id(self, node: Any) -> str | None:
        if node.data == "point":
            self.report.add("VD241", "expected the id of an object, found a point", node)
            return None
        inner = node.children[0]
        return number_text(inner) if isinstance(inner, Tree) else word(node)

    def _compared(self, node: Tree[Token], name: str) -> tuple[str, float | None]:
        op, quantity = node.children[-2:]
        if not isinstance(quantity, Tree):
            self.report.add("VD242", f"{name} is compared with a distance", node, f"write {FORMS[name]}")
            return "<", None
        if op not in ("<", ">"):
            self.report.add("VD242", f"{name} takes < or >; found {op}", op)
            return "<", None
        number = trees(quantity, "number")[0]
        if float(number_text(number)) < 0:
            self.report.add("VD243", f"the distance is negative: {number_text(number)[:30]}", quantity)
            return "<", None
        return str(op), self.places.distance(quantity, "distance")


def _bound(formula: Any, place: Callable[[RegionName], Inside | None]) -> Any:
    """The formula with named regions by value; None where a region is missing."""
    match formula:
        case AllOf(parts) | AnyOf(parts):
            bound = [_bound(part, place) for part in parts]
            return None if None in bound else replace(formula, parts=tuple(bound))
        case Negation(part):
            inner = _bound(part, place)
            return None if inner is None else Negation(inner)
        case InsideOf(oid, RegionName() as name):
            area = place(name)
            return None if area is None else InsideOf(oid, area)
    return formula


def _never(term: Elementary, lonlat: bool) -> bool:
    """Whether a constraint alone can never be true."""
    if not isinstance(term, Diameter | Distance):
        return False
    if term.op == "<":
        return term.distance == 0
    if isinstance(term, Diameter):
        return len(term.objects) == 1 or (lonlat and term.distance >= 2 * math.pi * EARTH_RADIUS_M)
    return lonlat and term.distance >= math.pi * EARTH_RADIUS_M


def _implications(found: list[Elementary]) -> Iterator[Implication]:
    """What follows between two constraints wherever the objects are, and whether they are anywhere at all."""
    for one, other in permutations(found, 2):
        if isinstance(one, Diameter) and isinstance(other, Diameter):
            comparable = True
        elif isinstance(one, Distance) and isinstance(other, Distance):
            comparable = (one.x, one.y) == (other.x, other.y)
        else:
            continue
        if comparable and one.op == "<" and one.distance <= other.distance and {*one.objects} >= {*other.objects}:
            yield one, other, other.op == "<"


def print_constraint(term: Elementary, space: SpaceKind) -> str:
    """The text of a constraint."""
    match term:
        case Diameter(objects, op, distance):
            return f"DIAMETER({', '.join(map(print_id, objects))}) {op} {print_distance(distance, space)}"
        case Distance(x, y, objects, op, distance):
            about = ", ".join([f"({print_numbers(x, y)})", *map(print_id, objects)])
            return f"DISTANCE({about}) {op} {print_distance(distance, space)}"
        case ReverseNearest(x, y, k, oid):
            return f"RKNN(({print_numbers(x, y)}), {k}, {print_id(oid)})"
        case InsideOf(oid, Inside(area)):
            return f"INSIDE({print_id(oid)}, {print_area(area, space)})"  # type: ignore[arg-type]
    raise AssertionError(term)
