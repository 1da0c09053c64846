"""The WHEN of a trigger, conjunct by conjunct: what each one is about.

In: trees. Out: for each variable a condition of its own, and the constraints between two variables. Problems go to the
report. INSIDE(v, place) is a condition of v; DISTANCE, SPAN, differences of times and comparisons are constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lark import Token, Tree

from vedette.lang.draft import Draft
from vedette.lang.durations import read_length
from vedette.lang.expressions import Expressions
from vedette.lang.shapes import Places, RegionName, SpaceKind, name_of, trees, word
from vedette.lang.source import Node, Report
from vedette.lang.words import did_you_mean
from vedette.model import (
    NO_TIME,
    Apart,
    Binary,
    Column,
    Compare,
    Constraint,
    Duration,
    Expr,
    Inside,
    Lag,
    Rect,
    Span,
    Value,
    Within,
)
from vedette.model.places import terms, with_terms

UNBOUND = Rect(0.0, 0.0, 0.0, 0.0)  # the area of a region that has only a name yet
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


def conjuncts_of(node: Tree[Token]) -> list[Tree[Token]]:
    """The trees that AND joins at the top."""
    found: list[Tree[Token]] = []
    stack: list[Node | None] = [node]
    while stack:
        top = stack.pop()
        assert isinstance(top, Tree)
        if top.data == "and_":
            stack += [top.children[2], top.children[0]]
        else:
            found.append(top)
    return found


class Conjuncts:
    """Sorts the conjuncts of one trigger. `counts`: how many events each variable stands for."""

    def __init__(self, counts: Mapping[str, int], draft: Draft, space: SpaceKind, report: Report) -> None:
        self.counts, self.draft, self.report = counts, draft, report
        self.constraints: list[Constraint] = []
        self.regions: dict[str, RegionName] = {}
        self._conditions: dict[str, list[Expr]] = {}
        self._places = Places(space, report)
        self._kept: list[Expr] = []  # expressions that are known by their id
        self._owner: dict[int, str] = {}  # by the id of an INSIDE term, the variable that it is about
        self._expressions = Expressions(set(), {name: name for name in counts}, space, report, self._leaf)

    def condition(self, variable: str) -> Expr | None:
        """Everything that is about one variable alone."""
        whole: Expr | None = None
        for part in self._conditions.get(variable, []):
            whole = part if whole is None else Binary("AND", whole, part)
        return whole

    def take(self, node: Tree[Token]) -> None:
        """One conjunct."""
        kids = node.children
        if node.data == "in_interval":
            self._interval(node, kids[0], kids[2:])
        elif node.data == "between" and self._difference(kids[0]) is not None:
            self._between(node)
        elif node.data == "before":
            self._before(node)
        elif node.data != "compare" or not self._is_special(node):
            self._plain(node)

    # ------------------------------------------------------------------------------------- one or two events

    def _plain(self, node: Tree[Token]) -> None:
        """A condition on one event, or a comparison of two."""
        expr = self._expressions.build(node)
        if expr is None:
            return
        self.draft.origin.update(self._expressions.origin)
        if any(column.table is None for column in terms(expr, Column)):
            return  # reported where the column was read
        about = self._about(expr)
        if len(about) == 1 and not self._is_within_a_set(expr, about[0]):
            self._conditions.setdefault(about[0], []).append(self._bare(expr))
            return
        if isinstance(expr, Binary) and expr.op in FLIPPED:
            left, right = self._about(expr.left), self._about(expr.right)
            if len(left) == len(right) == 1:
                self._compare(node, expr, left[0], right[0])
                return
        if not about:
            self.report.add("VD171", "this condition names no variable", node, f"there are {', '.join(self.counts)}")
            return
        hint = f"an example: {about[0]}.a < {about[-1]}.b"
        message = "a condition on two events compares one with the other: each side names one variable"
        self.report.add("VD172", message, node, hint)

    def _is_within_a_set(self, expr: Expr, variable: str) -> bool:
        """`v.a <> v.a` of a set compares any two of its events."""
        is_comparison = isinstance(expr, Binary) and expr.op in FLIPPED and self.counts.get(variable, 1) > 1
        return is_comparison and expr.left == expr.right  # type: ignore[union-attr]

    def _compare(self, node: Tree[Token], expr: Binary, a: str, b: str) -> None:
        if a == b and expr.op not in ("=", "<>"):
            message = f"any two events of {a} would have to be {expr.op} each other"
            self.report.add("VD178", message, node, "within a set there are = and <>")
            return
        left, right = self._bare(expr.left), self._bare(expr.right)
        self.constraints.append(Compare(a, b, expr.op, left, right))  # type: ignore[arg-type]

    def _about(self, expr: Expr) -> list[str]:
        """The variables that an expression names, in their order."""
        found = {column.table for column in terms(expr, Column)}
        found |= {self._owner[id(term)] for term in terms(expr, Within)}
        return [name for name in self.counts if name in found]

    def _bare(self, expr: Expr) -> Expr:
        """The expression without variables; it is known where its parts were written all the same."""
        origin = self.draft.origin

        def bare(column: Column) -> Column:
            new = Column(column.name)
            if id(column) in origin:
                origin[id(new)] = origin[id(column)]
                self._kept.append(new)
            return new

        new = with_terms(expr, Column, bare)
        if id(expr) in origin:
            origin[id(new)] = origin[id(expr)]
        self._kept.append(new)
        return new

    def _leaf(self, node: Tree[Token]) -> Expr:
        """What stands for a value in an expression here but not elsewhere."""
        if node.data == "place_inside":
            return self._inside(node)
        if node.data in ("knn_tuple", "knn_around"):
            self.report.add("VD173", "KNN has no meaning in a trigger", node)
        elif node.data == "call":
            named = trees(node, "name")[0]
            known = ("DISTANCE", "SPAN")
            hint = None if self._function(node) in known else did_you_mean(name_of(named), known)
            hint = hint or "DISTANCE(v1, v2) < d and SPAN(v) <= d stand alone, joined to the rest with AND"
            self.report.add("VD173", f"{word(named)}(...) cannot stand here", named, hint)
        elif node.data == "measure":
            hint = "a length of time stands behind a difference of times, a distance behind DISTANCE(...)"
            self.report.add("VD173", "a number with a unit cannot stand here", node, hint)
        else:
            hint = "conditions on one event may be joined with OR; those on two only with AND"
            self.report.add("VD173", "this cannot stand inside another condition", node, hint)
        return Value(True)

    def _inside(self, node: Tree[Token]) -> Expr:
        """INSIDE(variable, place)."""
        form = "INSIDE(variable, place) takes a region, CIRCLE (...), RECT (...) or POLYGON '...'"
        inner = node.children[1]
        args: list[Any] = (
            trees(trees(inner, "arguments")[0], "word", "area_argument", "quantity", "text")
            if (isinstance(inner, Tree) and inner.data == "tuple")
            else []
        )
        if len(args) != 2 or args[0].data != "word" or args[1].data not in ("word", "area_argument"):
            self.report.add("VD173", form, node, "an example: INSIDE(v1, downtown)")
            return Value(True)
        variable = self._variable(args[0])
        if variable is None:
            return Value(True)
        if args[1].data == "word":
            region = RegionName(name_of(args[1]), args[1])
            self.regions[region.name] = region
            term = Within(Inside(UNBOUND, region.name))
        else:
            shape = self._places.area(args[1].children[0])
            if shape is None:
                return Value(True)
            term = Within(Inside(shape))
        self._owner[id(term)] = variable
        self._kept.append(term)
        return term

    # --------------------------------------------------------------------------------------- distance and time

    def _is_special(self, node: Tree[Token]) -> bool:
        """DISTANCE, SPAN or a difference of times on one side of a comparison."""
        left, token, right = node.children
        op = "<>" if str(token) == "!=" else str(token)
        for side, other, said in ((left, right, op), (right, left, FLIPPED[op])):
            if isinstance(side, Tree) and side.data == "call" and self._function(side) in ("DISTANCE", "SPAN"):
                self._called(node, side, said, other)
                return True
            difference = self._difference(side)
            if difference is not None and self._is_length(other):
                self._lag(node, *difference, said, other)
                return True
        times = self._time_of(left), self._time_of(right)
        if times[0] is not None and times[1] is not None and times[0] != times[1] and op != "<>":
            self.constraints.append(Lag(times[1], times[0], op, NO_TIME))  # type: ignore[arg-type]
            return True
        return False

    def _function(self, node: Tree[Token]) -> str:
        return name_of(trees(node, "name")[0]).upper()

    def _called(self, node: Tree[Token], call: Tree[Token], op: str, other: Node | None) -> None:
        function = self._function(call)
        named = [self._position(arg) for arg in call.children[1:] if isinstance(arg, Tree)]
        if any(name is None for name in named):
            return
        names = [name for name in named if name is not None]
        if function == "DISTANCE":
            self._distance(node, call, names, op, other)
        else:
            self._span(node, call, names, op, other)

    def _distance(self, node: Tree[Token], call: Tree[Token], names: list[str], op: str, other: Node | None) -> None:
        if len(names) != 2 or op not in ("<", "<=", ">", ">="):
            form = "DISTANCE takes two variables, and is compared with <, <=, > or >="
            self.report.add("VD173", form, node, "an example: DISTANCE(v1, v2) < 5")
            return
        if names[0] == names[1] and self.counts[names[0]] == 1:
            hint = f"a set has distances within: FOR 3 E AS {names[0]}"
            self.report.add("VD173", f"{names[0]} is one event, which has no distance from itself", call, hint)
            return
        distance = self._length_in_space(other)
        if distance is not None:
            if distance == 0 and op == "<":
                self.report.add("VD174", "this can never happen: no distance is less than 0", node)
                return
            self.constraints.append(Apart(names[0], names[1], op, distance))  # type: ignore[arg-type]

    def _span(self, node: Tree[Token], call: Tree[Token], names: list[str], op: str, other: Node | None) -> None:
        if op not in ("<", "<="):
            self.report.add("VD173", "SPAN is compared with < or <=", node, "an example: SPAN(v) <= 5")
            return
        if len(set(names)) != len(names) or sum(self.counts[name] for name in names) < 2:
            hint = "an example: SPAN(v1, v2) <= 5, or SPAN(v) <= 5 where v is a set (FOR 3 E AS v)"
            self.report.add("VD173", "SPAN takes a set, or several variables", call, hint)
            return
        what = f"SPAN({', '.join(names)})"
        length = self._length_in_time(what, other)
        if length is not None:
            self.constraints.append(Span(tuple(names), op, length))  # type: ignore[arg-type]

    def _lag(self, node: Tree[Token], earlier: str, later: str, op: str, other: Node | None) -> None:
        if op == "<>":
            self.report.add("VD173", "a difference of times is compared with =, <, <=, > or >=", node)
            return
        length = self._length_in_time(f"{later}.t - {earlier}.t", other)
        if length is not None:
            self.constraints.append(Lag(earlier, later, op, length))  # type: ignore[arg-type]

    def _interval(self, node: Tree[Token], side: Node | None, bounds: list[Any]) -> None:
        difference = self._difference(side)
        if difference is None:
            hint = "an example: v2.t - v1.t IN [0, 5]"
            self.report.add("VD173", "an interval in [ ] is one of time, behind a difference of times", node, hint)
            return
        low, high = (b for b in bounds if isinstance(b, Tree))
        self._closed(node, difference, low, high)

    def _between(self, node: Tree[Token]) -> None:
        difference = self._difference(node.children[0])
        assert difference is not None
        if isinstance(node.children[1], Token):
            self.report.add("VD173", "a difference of times has no NOT BETWEEN", node)
            return
        self._closed(node, difference, node.children[3], node.children[5])

    def _closed(self, node: Tree[Token], difference: tuple[str, str], low: Node | None, high: Node | None) -> None:
        earlier, later = difference
        what = f"{later}.t - {earlier}.t"
        first, last = self._length_in_time(what, low), self._length_in_time(what, high)
        if first is not None and last is not None:
            self.constraints.append(Lag(earlier, later, "IN", first, last))

    def _before(self, node: Tree[Token]) -> None:
        """`a BEFORE b [WITHIN d]`: 0 < b.t - a.t [<= d]."""
        one, token, other = node.children[:3]
        a, b = self._position(one), self._position(other)
        if a is None or b is None:
            return
        if a == b:
            self.report.add("VD173", f"{a} cannot be before itself", node)
            return
        earlier, later = (a, b) if str(token).upper() == "BEFORE" else (b, a)
        self.constraints.append(Lag(earlier, later, ">", NO_TIME))
        within = node.children[4]
        if isinstance(within, Tree):
            length = self._length_in_time("WITHIN", within)
            if length is not None:
                self.constraints.append(Lag(earlier, later, "<=", length))

    # ----------------------------------------------------------------------------------------------- operands

    def _variable(self, node: Tree[Token]) -> str | None:
        name = name_of(node)
        if name in self.counts:
            return name
        hint = did_you_mean(name, self.counts) or f"there are {', '.join(self.counts)}"
        self.report.add("VD170", f"there is no variable {name}", node, hint)
        return None

    def _position(self, node: Node | None) -> str | None:
        """`v` or `v.r`: the variable; None after a problem."""
        if isinstance(node, Tree) and node.data == "column":
            names = trees(node, "name")
            if len(names) == 1 or name_of(names[1]) == "r":
                return self._variable(names[0])
        self.report.add("VD173", "a variable has to stand here", node, f"there are {', '.join(self.counts)}")
        return None

    def _time_of(self, node: Node | None) -> str | None:
        """`v.t`: the variable."""
        if isinstance(node, Tree) and node.data == "column":
            names = trees(node, "name")
            if len(names) == 2 and name_of(names[1]) == "t" and name_of(names[0]) in self.counts:
                return name_of(names[0])
        return None

    def _difference(self, node: Node | None) -> tuple[str, str] | None:
        """`later.t - earlier.t`: (earlier, later)."""
        if not isinstance(node, Tree) or node.data != "add" or str(node.children[1]) != "-":
            return None
        later, earlier = self._time_of(node.children[0]), self._time_of(node.children[2])
        return None if later is None or earlier is None else (earlier, later)

    def _is_length(self, node: Node | None) -> bool:
        if isinstance(node, Tree) and node.data in ("negate", "keep"):
            return self._is_length(node.children[1])
        if isinstance(node, Tree) and node.data == "literal":
            return getattr(node.children[0], "type", "") == "NUMBER"
        return isinstance(node, Tree) and node.data == "measure"

    def _signed(self, node: Node | None) -> tuple[Tree[Token], Token | None] | None:
        """A number as a `number` tree, and its unit."""
        sign: list[Token] = []
        while isinstance(node, Tree) and node.data in ("negate", "keep") and not sign:
            sign, node = [c for c in node.children[:1] if isinstance(c, Token)], node.children[1]
        if isinstance(node, Tree) and node.data == "length":
            written, unit = node.children
            assert isinstance(written, Tree)
            return written, unit if isinstance(unit, Token) else None
        if not isinstance(node, Tree) or not self._is_length(node):
            return None
        last = node.children[-1]
        first: list[Any] = [sign[0] if sign else None, node.children[0]]
        number: Tree[Token] = Tree("number", first)
        return number, last if node.data == "measure" and isinstance(last, Token) else None

    def _length_in_time(self, what: str, node: Node | None) -> Duration | None:
        found = self._signed(node)
        if found is None or node is None:
            self.report.add("VD173", f"{what} is compared with a length of time", node, "an example: 5 MIN")
            return None
        number, unit = found
        self.draft.nodes[what] = node
        return read_length(what, number, unit, self.report, signed="-" in what)

    def _length_in_space(self, node: Node | None) -> float | None:
        found = self._signed(node)
        if found is None:
            self.report.add("VD173", "DISTANCE is compared with a number", node, "an example: DISTANCE(v1, v2) < 5")
            return None
        number, unit = found
        return self._places.distance(Tree("quantity", [number, unit]), "distance")  # type: ignore[list-item]
