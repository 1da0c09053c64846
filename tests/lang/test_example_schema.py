"""Statements that were parsed before the stream was known are checked when it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lang.pairs import SPACES, TABLES, Case, cases
from tests.lang.queries import statements
from vedette import lang
from vedette.errors import Problem, QueryError
from vedette.model import CreateQuery, Schema, Statement

STREAM = Schema("string", "timestamp", (("speed", "double"), ("type", "string")))


@pytest.mark.parametrize("case", [c for c in cases() if c.schema], ids=lambda c: f"{c.file}: {c.title}")
def test_agrees_checked_at_once_and_checked_later(case: Case) -> None:
    assert case.schema is not None
    parsed = lang.parse(case.written, space=case.space, tables=TABLES)
    later = [p for s in parsed for p in lang.check_schema(s, case.schema)]
    try:
        lang.parse(case.written, space=case.space, tables=TABLES, schema=case.schema)
    except QueryError as error:
        at_once = error.problems
    else:
        at_once = []
    assert sorted(map(essence, later)) == sorted(map(essence, at_once))


def essence(problem: Problem) -> tuple[int, int, int, str, str, str | None]:
    """All but the source line, which ends with the statement when it is read again."""
    return problem.line, problem.column, problem.width, problem.code, problem.message, problem.hint


def test_example_positions_are_those_in_the_file() -> None:
    before = "CREATE REGION r AS RECT (0, 0, 1, 1);\n DROP REGION r; "
    sql = before + "CREATE QUERY q AS SELECT oid\n FROM objects WHERE sped > 1 KNN 1 AROUND 1"
    *_, query = lang.parse(sql, space=SPACES["planar"])
    (problem,) = lang.check_schema(query, STREAM)
    assert problem.render("q.sql") == (
        "q.sql:3:21: VD150: there is no attribute sped\n"
        "     FROM objects WHERE sped > 1 KNN 1 AROUND 1\n"
        "                        ^^^^\n"
        "    hint: did you mean speed?"
    )


def test_example_lon_is_a_coordinate_on_the_globe_and_an_attribute_in_the_plane() -> None:
    sql = "CREATE QUERY q AS SELECT MAX(lat) FROM objects WHERE lon > 1 KNN 1 AROUND 1"
    (globe,) = lang.parse(sql, space=SPACES["lonlat"])
    (plane,) = lang.parse(sql, space=SPACES["planar"])
    assert lang.check_schema(globe, STREAM) == []
    assert [(p.code, p.column) for p in lang.check_schema(plane, STREAM)] == [("VD150", 30), ("VD150", 54)]


def test_example_a_joined_column_of_the_wrong_kind_is_said_once() -> None:
    sql = "CREATE QUERY q AS SELECT oid FROM objects o, favourites f WHERE o.speed = f.name KNN 1 AROUND 1"
    with pytest.raises(QueryError) as caught:
        lang.parse(sql, space=SPACES["planar"], tables=TABLES, schema=STREAM)
    assert [(p.code, p.column) for p in caught.value.problems] == [("VD151", 65)]
    (statement,) = lang.parse(sql, space=SPACES["planar"], tables=TABLES)
    assert [(p.code, p.line, p.column) for p in lang.check_schema(statement, STREAM)] == [("VD151", 1, 1)]


def test_example_bare_zero_fits_every_stream() -> None:
    (statement,) = lang.parse(
        "CREATE QUERY q AS SELECT oid FROM objects KNN 1 AROUND 1 DWELL 0", space=SPACES["planar"]
    )
    assert lang.check_schema(statement, STREAM) == []
    assert lang.check_schema(statement, replace(STREAM, time="long")) == []


@given(
    statement=statements("planar"), oid=st.sampled_from(["long", "string"]), time=st.sampled_from(["long", "timestamp"])
)
def test_agrees_with_and_without_the_text(statement: Statement, oid: str, time: str) -> None:
    """The same problems are found in records that were never text."""
    schema = Schema(oid, time, (("speed", "double"), ("type", "string"), ("min", "bool")))  # type: ignore[arg-type]
    (parsed,) = lang.parse(lang.print_statement(statement, SPACES["planar"]), space=SPACES["planar"])
    found = [(p.code, p.message) for p in lang.check_schema(statement, schema)]
    located = lang.check_schema(parsed, schema)
    assert [(p.code, p.message) for p in located] == found
    if isinstance(statement.action, CreateQuery) and found:
        assert all(p.source_line for p in located)
