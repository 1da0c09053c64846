"""The canonical text of statements.

In: records of the model. Out: text that parses back to an equal record; named regions and joined tables by value.
"""

from __future__ import annotations

from vedette.conditions import format_timestamp
from vedette.lang.formulas import print_formula
from vedette.lang.kinds import KINDS
from vedette.lang.print import print_area, print_conjunct, print_duration, print_expr, print_place
from vedette.lang.shapes import SpaceKind
from vedette.lang.words import quote_name, quote_text
from vedette.model import Combination, Create, CreateRegion, Query, Standing, Statement
from vedette.model.formula import AnyOf


def print_statement(statement: Statement, space: SpaceKind) -> str:
    """A whole statement, with AT and the semicolon."""
    prefix = ""
    if statement.at is not None:
        at = quote_text(format_timestamp(statement.at)) if statement.at_is_timestamp else str(statement.at)
        prefix = f"AT {at} "
    action = statement.action
    if isinstance(action, Create):
        return prefix + print_query(action.query, space, replace=action.replace)
    if isinstance(action, CreateRegion):
        return (
            f"{prefix}{_create(action.replace)} REGION {quote_name(action.name)} AS {print_area(action.area, space)};"
        )
    return f"{prefix}DROP {action.kind} {quote_name(action.name)};"


def print_query(query: Standing, space: SpaceKind, *, replace: bool = False) -> str:
    """A standing query as the statement that creates it."""
    body = _body(query, space) if isinstance(query, Query) else KINDS[query.kind].print(query, space)
    return f"{_create(replace)} {query.kind} {quote_name(query.name)} {body};"


def _body(query: Query, space: SpaceKind) -> str:
    parts = [f"AS SELECT {_selected(query)} FROM objects"]
    if isinstance(query.where, Combination):
        beside = "" if query.condition is None else f"{print_conjunct(query.condition)} AND "
        formula = print_formula(query.where.formula, lambda term: print_place(term, space))
        brackets = bool(beside) and isinstance(query.where.formula, AnyOf)
        parts.append(f"WHERE {beside}{f'({formula})' if brackets else formula}")
    else:
        if query.condition is not None:
            parts.append(f"WHERE {print_expr(query.condition)}")
        parts.append(print_place(query.where, space))
    parts += [f"{word} {print_duration(d)}" for word, d in (("DWELL", query.dwell), ("GRACE", query.grace)) if d.value]
    return " ".join(parts)


def _create(replace: bool) -> str:
    return "CREATE OR REPLACE" if replace else "CREATE"


def _selected(query: Query) -> str:
    if query.aggregate is None:
        return "oid"
    argument = query.aggregate.argument
    return f"{query.aggregate.function}({'*' if argument is None else quote_name(argument)})"
