"""From a tree to a draft: everything a statement says by itself, before names, tables and types come in.

In: the tree of one statement. Out: a `Draft`; problems with numbers, units, forms and words go to the report.
Invariant: the draft remembers where each expression was written, so that later passes can point at it.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from vedette.conditions import parse_timestamp
from vedette.lang.combinations import build_where, has_place
from vedette.lang.draft import Draft
from vedette.lang.durations import read_length
from vedette.lang.expressions import Expressions
from vedette.lang.formulas import joined
from vedette.lang.kinds import KINDS
from vedette.lang.shapes import Places, RegionName, SpaceKind, name_of, number_text, trees, word
from vedette.lang.source import Report
from vedette.lang.words import FUNCTIONS, RESERVED, did_you_mean, one_of
from vedette.model import NO_TIME, Aggregate, Combination, Inside, Nearest
from vedette.model.formula import AllOf

OBJECTS = "objects"


def build(tree: Tree[Token], space: SpaceKind, report: Report) -> Draft:
    """The draft of a statement."""
    at_tree, action = tree.children
    assert isinstance(action, Tree)
    named = trees(action, "name")[0]
    draft = Draft(str(action.data).removeprefix("create_").upper(), name_of(named), named)
    if isinstance(at_tree, Tree):
        _at(at_tree, draft, report)
    if draft.kind == "DROP":
        kind = action.children[1]
        assert isinstance(kind, Token)
        draft.drops = kind.upper()
        return draft
    draft.replace = bool(trees(action, "replace"))
    _check_name(named, draft, report)
    if draft.kind == "REGION":
        draft.area = Places(space, report).area(trees(action, "polygon", "geojson", "circle", "rect")[0])
    elif draft.kind in KINDS:
        KINDS[draft.kind].build(action, draft, space, report)
    else:
        _query(action, draft, space, report)
    return draft


def _check_name(node: Tree[Token], draft: Draft, report: Report) -> None:
    token = node.children[0]
    assert isinstance(token, Token)
    if token.type == "NAME" and token.upper() in RESERVED:
        message = f"{token} is a reserved word and cannot name a {draft.kind.lower()}"
        report.add("VD113", message, node, f'choose another name, or write "{token.lower()}" in double quotes')
    elif not draft.name.strip():
        report.add("VD113", "a name cannot be empty", node)


def _at(node: Tree[Token], draft: Draft, report: Report) -> None:
    """The tick at which the statement acts."""
    what = node.children[1]
    assert what is not None
    draft.at_node = what
    if isinstance(what, Token):
        draft.at_is_timestamp = True
        draft.at = parse_timestamp(word(node_of(what)))
        if draft.at is None:
            report.add("VD143", f"{what} is not a time", what, "an example: '2008-05-31T03:20:00Z'")
        return
    text = number_text(what)
    try:
        draft.at = int(text)
    except ValueError:
        report.add("VD143", f"AT takes a whole number or a time in quotes; found {text}", what)
        return
    if not -(2**63) <= draft.at < 2**63:
        report.add("VD143", f"{text[:40]} does not fit a long", what)
        draft.at = None


def node_of(token: Token) -> Tree[Token]:
    """A token as a tree of its own."""
    return Tree("text", [token])


# ------------------------------------------------------------------------------------------------ queries


def _query(action: Tree[Token], draft: Draft, space: SpaceKind, report: Report) -> None:
    objects = _tables(trees(action, "tables")[0], draft, report)
    aliases = {alias: name for name, alias, _ in draft.tables}
    expressions = Expressions(objects, aliases, space, report)
    _selected(trees(action, "select_column", "select_star", "select_function")[0], draft, expressions, report)

    wheres = trees(action, "where")
    if len(wheres) > 1:
        report.add("VD101", "a query has one WHERE; this is the second", wheres[1].children[0])
    formulas: list[Any] = []
    if wheres:
        inner = wheres[0].children[1]
        assert inner is not None
        draft.condition_node = inner
        if has_place(inner):
            formulas = build_where(inner, draft, expressions, Places(space, report), report)
        else:
            draft.condition = expressions.build(inner)
        draft.origin = expressions.origin

    places = trees(action, "place_inside", "knn_tuple", "knn_around")
    if places:
        formulas.append(Places(space, report).place(places[0]))
    if formulas and None not in formulas:
        whole = joined(AllOf, formulas)
        draft.place = whole if isinstance(whole, Inside | Nearest | RegionName) else Combination(whole)
    elif not formulas and not expressions.spatial:
        report.add("VD101", "the statement ends here; expected INSIDE or KNN", None)
    for timing in trees(action, "timing"):
        _timing(timing, draft, report)


def _tables(node: Tree[Token], draft: Draft, report: Report) -> set[str]:
    """Fill in the joined tables; out: the names by which the moving objects go."""
    objects: set[str] = set()
    seen: dict[str, str] = {}
    for table in trees(node, "table"):
        names = trees(table, "name")
        name, alias = name_of(names[0]), name_of(names[-1])
        if alias in seen:
            report.add("VD164", f"two tables go by the name {alias}", table, "give one of them another alias")
        seen[alias] = name
        if name == OBJECTS and not objects:
            objects = {alias}
        elif name == OBJECTS:
            report.add("VD164", "objects stands twice in FROM", table)
        else:
            draft.tables.append((name, alias, names[0]))
    if not objects:
        name, alias, where = draft.tables.pop(0)
        hint = did_you_mean(name, [OBJECTS])
        report.add("VD160", f"FROM needs {OBJECTS}, the moving objects; found {name}", where, hint)
        objects = {OBJECTS, alias}
    if len(draft.tables) > 1:
        report.add("VD160", "objects can be joined with one table only", draft.tables[1][2])
    return objects


def _selected(node: Tree[Token], draft: Draft, expressions: Expressions, report: Report) -> None:
    forms = "SELECT takes oid, COUNT(*), or SUM, AVG, MIN, MAX of an attribute"
    if node.data == "select_star":
        report.add("VD153", f"{forms}; found *", node)
        return
    columns = trees(node, "column")
    column = expressions.column(columns[0]) if columns else None
    if node.data == "select_column":
        if column is not None and (column.name != "oid" or column.table is not None):
            report.add("VD153", f"{forms}; found {column.name}", node, did_you_mean(column.name, ["oid"]))
        return
    token = node.children[0]
    assert isinstance(token, Token)
    function = token.upper()
    draft.aggregate_node = columns[0] if columns else token
    if function not in FUNCTIONS:
        hint = did_you_mean(token, FUNCTIONS)
        report.add("VD153", f"{token} is not an aggregate; expected {one_of(FUNCTIONS)}", token, hint)
    elif function == "COUNT":
        if columns:
            report.add("VD153", "COUNT takes *", columns[0], "write COUNT(*)")
        draft.aggregate = Aggregate("COUNT")
    elif not columns:
        report.add("VD153", f"{function} takes an attribute, x or y; found *", node, "only COUNT takes *")
    elif column is not None:
        if column.table is not None:
            report.add("VD153", f"{function} takes an attribute of the objects", columns[0])
        elif column.name in ("oid", "t"):
            report.add("VD153", f"{function} takes an attribute, x or y; found {column.name}", columns[0])
        else:
            draft.aggregate = Aggregate(function, column.name)  # type: ignore[arg-type]


def _timing(node: Tree[Token], draft: Draft, report: Report) -> None:
    """DWELL or GRACE with its duration."""
    token, number, unit = node.children
    assert isinstance(token, Token)
    assert isinstance(number, Tree)
    clause = token.upper()
    if clause in draft.timings:
        report.add("VD101", f"{clause} stands twice", token)
        return
    length = read_length(clause, number, unit if isinstance(unit, Token) else None, report)
    draft.timings[clause] = (length or NO_TIME, number)
