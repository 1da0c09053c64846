"""Names in the order of ticks."""

from __future__ import annotations

import pytest

from tests.lang.pairs import SPACES
from vedette import lang
from vedette.errors import QueryError
from vedette.model import CreateQuery, Inside, Rect, Shape

PLANAR = SPACES["planar"]


def add(catalog: lang.Catalog, sql: str, now: int | None = None) -> list[Shape]:
    """Take statements in; out: the shapes of the queries among them."""
    statements = lang.parse(sql, space=PLANAR, catalog=catalog, now=now)
    for statement in statements:
        catalog.apply(statement, now)
    queries = [s.action.query for s in statements if isinstance(s.action, CreateQuery)]
    return [q.where.shape for q in queries if isinstance(q.where, Inside)]


def codes(catalog: lang.Catalog, sql: str, now: int | None = None) -> list[str]:
    with pytest.raises(QueryError) as caught:
        lang.parse(sql, space=PLANAR, catalog=catalog, now=now)
    return [p.code for p in caught.value.problems]


QUERY = "CREATE QUERY {} AS SELECT oid FROM objects INSIDE r"
SMALL, LARGE = Rect(0, 0, 1, 1), Rect(0, 0, 9, 9)


def test_example_a_region_of_the_future_is_not_seen_yet() -> None:
    catalog = lang.Catalog()
    add(catalog, "CREATE REGION r AS RECT (0, 0, 1, 1); AT 100 CREATE OR REPLACE REGION r AS RECT (0, 0, 9, 9)", 0)
    assert add(catalog, QUERY.format("a"), 50) == [SMALL]
    assert add(catalog, f"AT 99 {QUERY.format('b')}", 50) == [SMALL]
    assert add(catalog, f"AT 100 {QUERY.format('c')}", 50) == [LARGE]
    assert add(catalog, QUERY.format("d"), 100) == [LARGE]


def test_example_a_past_tick_counts_as_now() -> None:
    catalog = lang.Catalog()
    add(catalog, "AT 100 CREATE REGION r AS RECT (0, 0, 1, 1)", 0)
    assert codes(catalog, f"AT 5 {QUERY.format('a')}", 50) == ["VD112"]
    assert add(catalog, f"AT 5 {QUERY.format('a')}", 100) == [SMALL]


def test_example_dropping_a_region_leaves_queries_alone() -> None:
    catalog = lang.Catalog()
    add(catalog, f"CREATE REGION r AS RECT (0, 0, 1, 1); {QUERY.format('a')}; DROP REGION r")
    assert catalog.names("QUERY") == ["a"]
    assert catalog.names("REGION") == []
    assert codes(catalog, QUERY.format("b")) == ["VD112"]


def test_example_parse_does_not_change_the_catalogue() -> None:
    catalog = lang.Catalog()
    for _ in range(2):
        lang.parse("CREATE REGION r AS RECT (0, 0, 1, 1)", space=PLANAR, catalog=catalog)
    assert catalog.names("REGION") == []


def test_example_queries_and_regions_have_names_of_their_own() -> None:
    catalog = lang.Catalog()
    add(catalog, "CREATE REGION r AS RECT (0, 0, 1, 1); CREATE QUERY r AS SELECT oid FROM objects INSIDE r")
    assert codes(catalog, QUERY.format("R")) == ["VD110"]
    assert codes(catalog, "DROP QUERY q; DROP REGION s") == ["VD111", "VD111"]


def test_example_a_statement_may_not_break_one_that_waits() -> None:
    catalog = lang.Catalog()
    add(catalog, "CREATE REGION r AS RECT (0, 0, 1, 1)", 0)
    add(catalog, f"AT 100 {QUERY.format('a')}", 0)
    assert codes(catalog, QUERY.format("a"), 50) == ["VD110"]
    assert add(catalog, f"{QUERY.format('a')}; AT 80 DROP QUERY a", 50) == [SMALL]
    assert codes(catalog, "DROP QUERY a", 60) == ["VD110"]


def test_example_a_query_dropped_at_a_future_tick_still_has_its_name() -> None:
    catalog = lang.Catalog()
    add(catalog, f"CREATE REGION r AS RECT (0, 0, 1, 1); {QUERY.format('a')}; AT 100 DROP QUERY a", 0)
    assert codes(catalog, f"AT 99 {QUERY.format('a')}", 50) == ["VD110"]
    assert add(catalog, f"AT 100 {QUERY.format('a')}", 50) == [SMALL]


def test_example_what_has_been_overtaken_is_forgotten() -> None:
    catalog = lang.Catalog()
    for now in range(50):
        replace = f"CREATE OR REPLACE REGION r AS RECT (0, 0, {now}, 1)"
        add(catalog, f"{replace}; CREATE QUERY q{now} AS SELECT oid FROM objects INSIDE r", now)
        add(catalog, f"DROP QUERY q{now}", now)
    assert catalog.names("QUERY") == []
    assert catalog.regions() == {"r": Rect(0, 0, 49, 1)}
    assert catalog.size() == 1
