"""INSIDE and KNN terms in a WHERE, joined by AND, OR and NOT: combinations of answers.

In: the tree behind WHERE. Out: its attribute conditions, which are conjuncts of their own and filter first, and the
formula over its places. A formula has to be false of an object that is in none of the answers; else the answer would be
made of objects that nobody looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lark import Token, Tree

from vedette.lang.draft import Draft
from vedette.lang.expressions import DEEPEST, Expressions, depth
from vedette.lang.formulas import formula_of, joined, negated, verdict
from vedette.lang.shapes import Places, RegionName
from vedette.lang.source import Node, Report
from vedette.model import Binary, Combination, Expr, Inside, Nearest
from vedette.model.formula import AllOf, AnyOf, Negation, holds

PLACES = ("place_inside", "knn_tuple", "knn_around")


def build_where(node: Node, draft: Draft, expressions: Expressions, places: Places, report: Report) -> list[Any]:
    """Fill in the condition; out: the formulas of the conjuncts that are about places, regions by name still."""
    formulas: list[Any] = []
    conditions: list[Node] = []
    if depth(node) > DEEPEST:
        report.add("VD105", f"the condition is nested deeper than {DEEPEST} levels", node)
        return [None]
    for conjunct in _conjuncts(node):
        if has_place(conjunct):
            formulas.append(formula_of(conjunct, ("or_", "and_", "not_"), lambda term: _term(term, places, report)))
        else:
            conditions.append(conjunct)
    for condition in conditions:
        expr = expressions.build(condition)
        if expr is not None:
            draft.condition = expr if draft.condition is None else _both(draft.condition, expr, expressions, node)
    return formulas


def _both(left: Expr, right: Expr, expressions: Expressions, node: Node) -> Expr:
    expr = Binary("AND", left, right)
    expressions.origin[id(expr)] = node
    return expr


def _conjuncts(node: Node | None) -> Iterator[Tree[Token]]:
    assert isinstance(node, Tree)
    if node.data == "and_" and has_place(node):
        yield from _conjuncts(node.children[0])
        yield from _conjuncts(node.children[-1])
    else:
        yield node


def has_place(node: Node) -> bool:
    """Whether INSIDE or KNN stands in an expression."""
    return isinstance(node, Tree) and any(each.data in PLACES for each in node.iter_subtrees())


def _term(node: Tree[Token], places: Places, report: Report) -> Any:
    if node.data in PLACES:
        return places.place(node)
    hint = "conditions on attributes stand beside, joined by AND: WHERE type = 'truck' AND (INSIDE a OR INSIDE b)"
    report.add("VD250", "INSIDE and KNN can only be joined with each other here", node, hint)
    return None


def bind_places(draft: Draft, bind: Callable[[RegionName], Inside | None], report: Report) -> Any:
    """The place of a query with named regions by value; None after a problem."""
    place = draft.place
    if isinstance(place, RegionName):
        return bind(place)
    if not isinstance(place, Combination):
        return place
    formula = _bound(place.formula, bind)
    if formula is None:
        return None
    where = draft.condition_node or draft.name_node
    if isinstance(formula, Inside | Nearest):
        return formula
    if holds(formula, lambda term: False):
        hint = "NOT stands beside a term that says who may be in the answer: INSIDE a AND NOT INSIDE b"
        report.add("VD251", "the answer would hold objects that are in none of the terms", where, hint)
        return None
    judged = verdict(formula)
    if judged == "never":
        report.add("VD252", f"the answer of {draft.name} is always empty", where, "no object can satisfy all terms")
    elif judged == "too wide":
        report.add("VD253", "the combination is too entangled to be decided", where, "make several queries of it")
    return None if report.problems else Combination(formula)


def _bound(formula: Any, bind: Callable[[RegionName], Inside | None]) -> Any:
    """With regions by value, and without what repeats itself by that."""
    match formula:
        case AllOf(parts) | AnyOf(parts):
            bound = [_bound(part, bind) for part in parts]
            return None if None in bound else joined(type(formula), bound)
        case Negation(part):
            inner = _bound(part, bind)
            return None if inner is None else negated(inner)
        case RegionName() as name:
            return bind(name)
    return formula
