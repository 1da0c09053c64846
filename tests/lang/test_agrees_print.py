"""Printing and parsing are each other's inverse."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.lang.pairs import SPACES
from tests.lang.queries import CONDITIONS, statements
from vedette import lang
from vedette.model import CreateQuery, Expr, Statement


@pytest.mark.parametrize("kind", ["planar", "lonlat"])
@given(data=st.data())
def test_agrees_printed_and_parsed(kind: str, data: st.DataObject) -> None:
    statement: Statement = data.draw(statements(kind))
    printed = lang.print_statement(statement, SPACES[kind])
    parsed = lang.parse(printed, space=SPACES[kind])
    assert parsed == [statement], printed
    assert lang.print_statement(parsed[0], SPACES[kind]) == printed


@given(condition=CONDITIONS)
def test_agrees_text_of_a_filter_is_its_identity(condition: Expr) -> None:
    text = lang.print_expr(condition)
    spaced = f"WHERE\n\t( {text} -- a comment\n )"
    sql = f"create query q as select oid from objects {spaced} knn 1 around 1"
    (statement,) = lang.parse(sql, space=SPACES["planar"])
    assert isinstance(statement.action, CreateQuery)
    again = statement.action.query.condition
    assert again is not None
    assert lang.print_expr(again) == text


@example("a=1 and b=2", "A  =1.0 AND(b = 2)")
@example("not a<>1", "NOT A != 1")
@example("a in(1,2)", "((a) IN ( 01, 2e0 ))")
@given(st.just("a"), st.just("A"))
def test_example_written_differently_is_the_same_filter(one: str, other: str) -> None:
    texts = []
    for condition in (one, other):
        sql = f"CREATE QUERY q AS SELECT oid FROM objects WHERE {condition} KNN 1 AROUND 1"
        (statement,) = lang.parse(sql, space=SPACES["planar"])
        assert isinstance(statement.action, CreateQuery)
        assert statement.action.query.condition is not None
        texts.append(lang.print_expr(statement.action.query.condition))
    assert texts[0] == texts[1]
