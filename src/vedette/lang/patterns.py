"""CREATE PATTERN: from a tree to a `Pattern`, and back to text.

CREATE PATTERN p AS INSIDE (a) ALWAYS BETWEEN 9 MIN AND 5 MIN AGO THEN DIST (3, 4) SOMETIME BETWEEN 5 MIN AND 0 AGO
  WHERE type = 'truck' SCORE <= 500 EVERY 1 MIN;
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lark import Token, Tree

from vedette.lang.draft import Draft
from vedette.lang.durations import read_length
from vedette.lang.expressions import Expressions
from vedette.lang.print import print_area, print_distance, print_duration, print_expr, print_number
from vedette.lang.shapes import Places, RegionName, SpaceKind, number_text, trees
from vedette.lang.source import Node, Report
from vedette.lang.types import Finding, Types, columns_in, duration_findings, kind_in
from vedette.lang.words import METRES, did_you_mean, one_of
from vedette.model import (
    MICROSECONDS,
    Circle,
    Duration,
    Expr,
    Extreme,
    Inside,
    Limit,
    MovingCircle,
    MovingRect,
    Pattern,
    Point,
    Schema,
    Standing,
    Step,
    Window,
)

GREATEST_N = 2**31 - 1


@dataclass
class _Step:
    """A step whose region may be a name still; None: it cannot be understood, which was said."""

    test: str
    target: Inside | Point | RegionName | None
    always: bool
    window: Window | None
    node: Tree[Token]


@dataclass
class _Body:
    """A pattern before its regions are bound."""

    steps: list[_Step] = field(default_factory=list)
    every: Duration | None = None
    choice: Limit | Extreme | None = None
    condition: Expr | None = None
    lonlat: bool = False


class Patterns:
    """The passes of PATTERN."""

    def build(self, action: Tree[Token], draft: Draft, space: SpaceKind, report: Report) -> None:
        """Steps, then clauses in any order; what they say together is judged at the end."""
        body = draft.body = _Body(lonlat=space.kind == "lonlat")
        for number, tree in enumerate(trees(action, "step")):
            body.steps.append(_step(tree, number, draft, space, report))
        seen: dict[str, Node] = {}
        for clause in trees(action, "where", "score", "extreme", "every"):
            word = "SCORE" if clause.data == "extreme" else str(clause.data).upper()
            if word in seen:
                what = "SCORE, LOWEST or HIGHEST" if word == "SCORE" else word
                report.add("VD101", f"a pattern has one {what}; this is the second", clause)
                continue
            seen[word] = clause
            if clause.data == "where":
                _where(clause, draft, body, space, report)
            elif clause.data == "every":
                _every(clause, draft, body, report)
            else:
                body.choice = (_limit if clause.data == "score" else _extreme)(clause, space, report)
        if "EVERY" not in seen:
            hint = "add how often it is asked, such as EVERY 1 MIN"
            report.add("VD223", "a pattern needs an EVERY", None, hint)
        _whole(body, seen, action, report)

    def findings(self, body: Any, schema: Schema | None) -> list[Finding]:
        """Types of the condition, units of the lengths of time."""
        types = Types(lambda column: kind_in(schema, column.name), columns_in(schema), schema.oid if schema else None)
        if body.condition is not None:
            types.condition(body.condition)
        found = types.findings
        if schema is not None:
            for number, step in enumerate(body.steps):
                if step.window is not None:
                    for end, length in (("SINCE", step.window.since), ("UNTIL", step.window.until)):
                        for finding in duration_findings("the window", length, schema):
                            found.append(replace(finding, subject=f"{end} {number}"))
            if body.every is not None:
                found += duration_findings("EVERY", body.every, schema)
        return found

    def bind(self, draft: Draft, place: Callable[[RegionName], Inside | None], report: Report) -> Standing | None:
        """The record, regions by value."""
        body: _Body = draft.body
        steps = []
        for each in body.steps:
            target = place(each.target) if isinstance(each.target, RegionName) else each.target
            if target is None:
                continue
            if each.test == "DIST" and body.lonlat and not _has_distance(target):
                hint = "in a lon/lat space DIST takes a point or a circle"
                report.add("VD228", "there is no distance to this shape on the globe", each.node, hint)
            steps.append(Step(each.test, target, each.always, each.window))  # type: ignore[arg-type]
        if report.problems or len(steps) < len(body.steps):
            return None
        assert body.every is not None
        return Pattern(draft.name, tuple(steps), body.every, body.choice, body.condition)

    def print(self, standing: Any, space: SpaceKind) -> str:
        """The canonical text."""
        pattern: Pattern = standing
        parts = ["AS", " THEN ".join(print_step(step, space) for step in pattern.steps)]
        if pattern.condition is not None:
            parts.append(f"WHERE {print_expr(pattern.condition)}")
        match pattern.choice:
            case Limit(op, score):
                parts.append(f"SCORE {op} {print_distance(score, space)}")
            case Extreme(end, n):
                parts.append(f"{end} {n}")
        return " ".join([*parts, f"EVERY {print_duration(pattern.every)}"])


# ----------------------------------------------------------------------------------------------- steps


def _step(tree: Tree[Token], number: int, draft: Draft, space: SpaceKind, report: Report) -> _Step:
    motion, quantifier, window_tree = tree.children
    assert isinstance(motion, Tree)
    test = str(motion.data).removeprefix("motion_").upper()
    always = isinstance(quantifier, Token) and quantifier.type == "ALWAYS"
    window = None
    if isinstance(window_tree, Tree):
        window = _window(window_tree, number, draft, report)
    elif test == "DIST":
        hint = "add one: SOMETIME BETWEEN 10 MIN AND 5 MIN AGO"
        report.add("VD226", "DIST needs a window of time", motion, hint)
    elif always:
        assert isinstance(quantifier, Token)
        hint = "add one: ALWAYS BETWEEN 10 MIN AND 5 MIN AGO"
        report.add("VD227", "ALWAYS needs a window of time", quantifier, hint)
    places = Places(space, report)
    inner = motion.children[1]
    assert isinstance(inner, Tree)
    target: Inside | Point | RegionName | None
    point = places.point_in(inner) if test == "DIST" else None
    if point is not None:
        target = Point(*point[0]) if point[0] is not None else None
    else:
        found = places.place(motion)
        target = found if isinstance(found, Inside | RegionName) else None
    if isinstance(target, Inside) and isinstance(target.shape, MovingRect | MovingCircle):
        report.add("VD220", "a pattern looks at places that stand still; this one moves with an object", inner)
        target = None
    return _Step(test, target, always, window, tree)


def _window(tree: Tree[Token], number: int, draft: Draft, report: Report) -> Window | None:
    numbers = trees(tree, "number")
    units = [tree.children[i + 1] for i, child in enumerate(tree.children) if child in numbers]
    ends = []
    for name, each, unit in zip(("SINCE", "UNTIL"), numbers, units, strict=True):
        draft.nodes[f"{name} {number}"] = each
        ends.append(read_length("the window", each, unit if isinstance(unit, Token) else None, report))
    since, until = ends
    if since is None or until is None:
        return None
    if _microseconds(since) < _microseconds(until) and _comparable(since, until):
        message = (
            f"the window ends before it begins: {print_duration(since)} ago is later than {print_duration(until)} ago"
        )
        report.add("VD221", message, tree, "the older end comes first: BETWEEN 10 MIN AND 5 MIN AGO")
        return None
    return Window(since, until)


def _microseconds(duration: Duration) -> float:
    return duration.value * (MICROSECONDS[duration.unit] if duration.unit else 1)


def _comparable(a: Duration, b: Duration) -> bool:
    """Zero fits every unit; otherwise both have a unit or none has. (The schema will refuse one of the two.)."""
    return not a.value or not b.value or (a.unit is None) == (b.unit is None)


def _has_distance(target: Inside | Point) -> bool:
    return isinstance(target, Point) or isinstance(target.shape, Circle)


def print_step(step: Step, space: SpaceKind) -> str:
    """One step as it is written."""
    if isinstance(step.target, Point):
        place = f"({print_number(step.target.x)}, {print_number(step.target.y)})"
    else:
        assert not isinstance(step.target.shape, MovingRect | MovingCircle)
        place = print_area(step.target.shape, space)
    text = f"{step.test} {place}"
    if step.window is None:
        return text
    quantifier = "ALWAYS" if step.always else "SOMETIME"
    since, until = print_duration(step.window.since), print_duration(step.window.until)
    return f"{text} {quantifier} BETWEEN {since} AND {until} AGO"


# --------------------------------------------------------------------------------------------- clauses


def _where(clause: Tree[Token], draft: Draft, body: _Body, space: SpaceKind, report: Report) -> None:
    inner = clause.children[1]
    assert inner is not None
    expressions = Expressions({"objects"}, {}, space, report)
    body.condition, draft.condition_node = expressions.build(inner), inner
    draft.origin = expressions.origin
    if expressions.spatial:
        report.add("VD220", "WHERE is about attributes here; places stand in the steps of the pattern", inner)


def _every(clause: Tree[Token], draft: Draft, body: _Body, report: Report) -> None:
    number = trees(clause, "number")[0]
    unit = clause.children[2]
    draft.nodes["EVERY"] = number
    if float(number_text(number)) <= 0:
        report.add("VD224", f"EVERY {number_text(number)} is not positive", number, "an example: EVERY 1 MIN")
        return
    body.every = read_length("EVERY", number, unit if isinstance(unit, Token) else None, report)


def _limit(clause: Tree[Token], space: SpaceKind, report: Report) -> Limit | None:
    _, op, number, unit = clause.children
    assert isinstance(op, Token)
    assert isinstance(number, Tree)
    factor = 1.0
    if isinstance(unit, Token):
        if space.kind != "lonlat":
            hint = "leave it out: distances are in the units of the coordinates"
            report.add("VD128", f"a unit in a planar space: {unit}", unit, hint)
            return None
        if unit.upper() not in METRES:
            hint_or_none = did_you_mean(unit, METRES)
            report.add("VD129", f"{unit} is not a unit of distance; expected {one_of(METRES)}", unit, hint_or_none)
            return None
        factor = METRES[unit.upper()]
    if op not in ("<=", ">="):
        report.add("VD120", f"SCORE takes <= or >=; found {op}", op)
        return None
    score = float(number_text(number)) * factor + 0.0
    if not math.isfinite(score):
        report.add("VD125", f"{number_text(number)[:40]} is not a finite number", number)
        return None
    return Limit(str(op), score)  # type: ignore[arg-type]


def _extreme(clause: Tree[Token], space: SpaceKind, report: Report) -> Extreme | None:
    end, number = clause.children
    assert isinstance(end, Token)
    assert isinstance(number, Tree)
    text = number_text(number)
    n = float(text)
    if n < 1 or n != int(min(n, GREATEST_N)):
        report.add("VD229", f"{end.upper()} takes a whole number from 1 to {GREATEST_N}; found {text[:40]}", number)
        return None
    return Extreme(end.upper(), int(n))  # type: ignore[arg-type]


def _whole(body: _Body, seen: dict[str, Node], action: Tree[Token], report: Report) -> None:
    """What the steps and clauses are missing together."""
    steps = trees(action, "step")
    if "SCORE" in seen and all(step.test != "DIST" for step in body.steps):
        hint = "a score is a sum of distances: add a step with DIST"
        report.add("VD222", "there is nothing to score in this pattern", seen["SCORE"], hint)
    if not any(isinstance(tree.children[2], Tree) for tree in steps) and not report.problems:
        hint = "give one of the steps a window: SOMETIME BETWEEN 10 MIN AND 0 MIN AGO"
        report.add("VD225", "no step has a window, so that who matched once would match for ever", steps[0], hint)
