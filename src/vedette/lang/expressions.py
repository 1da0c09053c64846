"""Conditions: from trees to expressions of the model, in a normal form.

In: the tree behind WHERE. Out: an `Expr` whose columns know whether they belong to the objects (`table` None) or to
a joined table; numbers that are whole are ints, a minus before a number is part of it, `!=` is `<>`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from lark import Token, Tree

from vedette.lang.shapes import SpaceKind, name_of, trees
from vedette.lang.source import Node, Report
from vedette.lang.words import did_you_mean, unquote
from vedette.model import Between, Binary, Column, Expr, In, IsNull, Like, Unary, Value

DEEPEST = 200  # levels of nesting; Python's own limit is 1000 frames, and every pass needs a few per level
_LONGS = range(-(2**63), 2**63)


def number_value(text: str) -> int | float:
    """A number in its normal form: an int if it is whole and fits a long, else a float (infinite if too large)."""
    if text.lstrip("+-").isdigit():
        whole = int(text) if len(text) < 400 else 10**400
        if whole in _LONGS:
            return whole
    value = float(text)
    if math.isfinite(value) and value == int(value) and int(value) in _LONGS:
        return int(value)
    return value


def literal_value(node: Tree[Token]) -> str | int | float | bool | None:
    """What a `literal` tree stands for."""
    token = node.children[0]
    assert isinstance(token, Token)
    if token.type == "STRING":
        return unquote(token)
    if token.type == "NUMBER":
        return number_value(token)
    return {"TRUE": True, "FALSE": False, "NULL": None}[token.type]


class Expressions:
    """Builds the conditions of one statement. `spatial` turns true when INSIDE or KNN stands in them.

    `leaf` makes something of INSIDE, KNN, calls, numbers with a unit and the like, where that has a meaning.
    """

    def __init__(
        self,
        objects: set[str],
        tables: dict[str, str],
        space: SpaceKind,
        report: Report,
        leaf: Callable[[Tree[Token]], Expr] | None = None,
    ) -> None:
        self.objects = objects
        self.tables = tables
        self.renamed = {"lon": "x", "lat": "y"} if space.kind == "lonlat" else {}
        self.report = report
        self.leaf = leaf or self._foreign
        self.origin: dict[int, Node] = {}
        self.spatial = False

    def build(self, node: Node) -> Expr | None:
        """The expression; None after a problem."""
        if depth(node) > DEEPEST:
            hint = "long lists are written: attribute IN (1, 2, 3)"
            self.report.add("VD105", f"the condition is nested deeper than {DEEPEST} levels", _first(node), hint)
            return None
        before = len(self.report.problems)
        expr = self._expr(node)
        return expr if len(self.report.problems) == before else None

    def _expr(self, node: Node | None) -> Expr:
        assert isinstance(node, Tree)
        expr = self._of(node)
        self.origin[id(expr)] = node
        return expr

    def _of(self, node: Tree[Token]) -> Expr:
        kids = node.children
        kind = node.data
        if kind == "column":
            return self.column(node)
        if kind == "literal":
            return self._literal(node)
        if kind in ("or_", "and_", "add", "multiply", "compare"):
            op = str(kids[1]).upper()
            return Binary("<>" if op == "!=" else op, self._expr(kids[0]), self._expr(kids[2]))
        if kind == "not_":
            return Unary("NOT", self._expr(kids[1]))
        if kind == "keep":
            return self._expr(kids[1])
        if kind == "negate":
            return self._negate(node)
        if kind == "in_":
            return In(self._expr(kids[0]), tuple(self._expr(k) for k in kids[3:]), kids[1] is not None)
        if kind == "between":
            return Between(self._expr(kids[0]), self._expr(kids[3]), self._expr(kids[5]), kids[1] is not None)
        if kind == "like":
            return Like(self._expr(kids[0]), unquote(str(kids[3])), kids[1] is not None)
        if kind == "is_null":
            return IsNull(self._expr(kids[0]), kids[2] is not None)
        return self.leaf(node)

    def _foreign(self, node: Tree[Token]) -> Expr:
        """What a condition of objects has no use for."""
        kids = node.children
        if node.data == "in_interval":
            self.report.add("VD103", "IN [ has no meaning here", kids[1], "lists and arguments stand in round brackets")
            return Value(True)
        if node.data == "before":
            self.report.add(
                "VD101", f"{kids[1]} is not expected here; it stands between the events of a trigger", kids[1]
            )
            return Value(True)
        if node.data == "measure":
            hint = "numbers are compared as they are: attributes have no units"
            self.report.add("VD128", f"a unit cannot stand here: {kids[1]}", kids[1], hint)
            return Value(True)
        if node.data == "call":
            named = trees(node, "name")[0]
            self.report.add("VD101", f"there is no function {name_of(named)} here", named)
            return Value(True)
        self.spatial = True
        self.report.add("VD104", "INSIDE and KNN can only be joined by AND, OR and NOT", kids[0])
        return Value(True)

    def _literal(self, node: Tree[Token]) -> Value:
        value = literal_value(node)
        if isinstance(value, float) and not math.isfinite(value):
            self.report.add("VD125", f"{str(node.children[0])[:40]} is not a finite number", node)
        return Value(value)

    def _negate(self, node: Tree[Token]) -> Expr:
        inner = node.children[1]
        if isinstance(inner, Tree) and inner.data == "literal":
            token = inner.children[0]
            if isinstance(token, Token) and token.type == "NUMBER":
                value = number_value(f"-{token}")
                if not math.isfinite(value):
                    self.report.add("VD125", f"-{token[:40]} is not a finite number", node)
                return Value(value)
        operand = self._expr(inner)
        if isinstance(operand, Value) and type(operand.value) in (int, float):
            return Value(number_value(repr(-operand.value)))  # type: ignore[operator]
        return Unary("-", operand)

    def column(self, node: Tree[Token]) -> Column:
        """A column of the objects or of a joined table."""
        names = trees(node, "name")
        name = name_of(names[-1])
        if len(names) == 1 and not self.objects:
            self._unowned(name, node)
            return Column(name)
        if len(names) == 1:
            return Column(self.renamed.get(name, name))
        owner = name_of(names[0])
        if owner in self.objects:
            return Column(self.renamed.get(name, name))
        if owner not in self.tables:
            known = [*self.objects, *self.tables]
            if not self.objects:
                hint = did_you_mean(owner, known) or f"there are {', '.join(known)}"
                self.report.add("VD170", f"there is no variable {owner}", names[0], hint)
                return Column(name)
            hint = did_you_mean(owner, known) or f"FROM names {', '.join(sorted(known))}"
            self.report.add("VD164", f"{owner} is not a table of this query", names[0], hint)
        return Column(name if self.objects else self.renamed.get(name, name), owner)

    def _unowned(self, name: str, node: Node) -> None:
        """Where there are no objects, a column is one of a variable."""
        if name in self.tables:
            self.report.add("VD171", f"{name} is an event, not a value", node, f"an example: {name}.speed > 3")
        else:
            example = f"{next(iter(self.tables), 'v')}.{name}"
            self.report.add("VD171", f"{name} needs the variable that it belongs to", node, f"an example: {example}")


def depth(node: Node) -> int:
    """How deep a tree is; without recursion."""
    deepest = 0
    stack: list[tuple[Node | None, int]] = [(node, 1)]
    while stack:
        top, level = stack.pop()
        deepest = max(deepest, level)
        if isinstance(top, Tree):
            stack.extend((c, level + 1) for c in top.children)
    return deepest


def _first(node: Node) -> Node:
    while isinstance(node, Tree):
        node = node.children[0]  # an operand always stands first, or NOT or a minus
    return node
