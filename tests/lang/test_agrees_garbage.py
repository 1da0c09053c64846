"""Whatever is typed ends in statements or in a QueryError that can be rendered, never in a traceback."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.lang.pairs import SPACES, TABLES, cases
from vedette import lang
from vedette.errors import Problem, QueryError
from vedette.model import Schema, Statement

WRITTEN = [case.written for case in cases()]
MARKS = ["'", '"', ";", "(", ")", ",", "--", "-", "*", ".", "[", "\n", "1e999", "-1", "0", "''", "'M'", "\x00", "ß"]
WORDS = ["CREATE", "QUERY", "REGION", "AT", "NULL", "IN", "LIKE", "WHERE", "AROUND", "POLYGON", "DWELL", "NOT", "KNN"]
PIECES = st.sampled_from([*MARKS, *WORDS, "INSIDE", "AND"])
SCHEMA = Schema("long", "timestamp", (("speed", "double"), ("type", "string")))


def survives(text: str, kind: str, schema: Schema | None) -> None:
    problems: list[Problem] = []
    statements: list[Statement] = []
    try:
        statements = lang.parse(text, space=SPACES[kind], tables=TABLES, schema=schema)
    except QueryError as error:
        problems = error.problems
        raised = True
    else:
        raised = False
    assert bool(problems) == raised
    for problem in problems:
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.code.startswith("VD")
        assert problem.message in problem.render("q.sql")
    for statement in statements:
        lang.print_statement(statement, SPACES[kind])
        lang.check_schema(statement, SCHEMA)


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize("kind", ["planar", "lonlat"])
@given(data=st.data())
def test_agrees_mutated_statements(kind: str, schema: Schema | None, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(WRITTEN))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(PIECES | st.just("") | st.text(max_size=3)) + text[end:]
    survives(text, kind, schema)


@given(words=st.lists(PIECES | st.sampled_from(["q", "oid", "objects", "SELECT", "FROM", "AS", "x", "=", "3", "'a'"])))
def test_agrees_words_in_any_order(words: list[str]) -> None:
    survives(" ".join(words), "lonlat", None)
    survives("CREATE QUERY q AS SELECT oid FROM objects " + " ".join(words), "planar", None)


@example("\ud800")  # half a character, which no file can hold
@example("CREATE QUERY q AS SELECT oid FROM objects WHERE " + "(" * 5000 + "a" + ")" * 5000 + " KNN 1 AROUND 1")
@example("CREATE QUERY q AS SELECT oid FROM objects WHERE " + "NOT " * 5000 + "a KNN 1 AROUND 1")
@example("CREATE QUERY q AS SELECT oid FROM objects WHERE a=1" + " OR a=1" * 5000 + " KNN 1 AROUND 1")
@example("CREATE QUERY q AS SELECT oid FROM objects WHERE a = " + "9" * 5000 + " KNN 1 AROUND 1")
@example("CREATE QUERY q AS SELECT oid FROM objects KNN " + "9" * 5000 + " AROUND " + "9" * 5000)
@example("AT " + "9" * 5000 + " DROP QUERY q")
@example("CREATE QUERY q AS SELECT oid FROM objects KNN 1 AROUND 1 DWELL " + "9" * 5000 + " GRACE 1e-999999999999")
@example("CREATE REGION r AS GEOJSON '" + "[" * 100_000 + "'")
@example('CREATE REGION r AS GEOJSON \'{"type": "Polygon", "coordinates": [[[1e999, 0], [NaN, 1], [2, 2]]]}\'')
@example("CREATE REGION r AS POLYGON '((NaN 0, 1 1, 2 0, NaN 0))'")
@example("CREATE REGION r AS POLYGON 'MULTIPOLYGON (EMPTY, ((0 0, 1 0, 1 1, 0 0)))'")
@example("AT '0001-01-01T00:00+23:00' DROP QUERY q")
@given(st.text(max_size=60))
def test_agrees_any_text(text: str) -> None:
    survives(text, "planar", None)
