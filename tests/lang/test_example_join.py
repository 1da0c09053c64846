"""Joined tables of every origin."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from tests.lang.pairs import SPACES
from vedette import lang
from vedette.errors import QueryError
from vedette.model import CreateQuery


def condition(where: str, table: Any) -> str:
    sql = f"CREATE QUERY q AS SELECT oid FROM objects o, Tab f WHERE {where} KNN 1 AROUND 1"
    (statement,) = lang.parse(sql, space=SPACES["planar"], tables={"TAB": table})
    assert isinstance(statement.action, CreateQuery)
    assert statement.action.query.condition is not None
    return lang.print_expr(statement.action.query.condition)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"OID": [42.0, None, 7.0, 42.0]}),
        pd.DataFrame({"oid": ["42", None, "7", "7"]}, index=[5, 6, 7, 8]),
        pa.table({"oid": pa.array([42, 7, None], pa.int32())}),
        pa.table({"oid": pa.array(["7", "42"]).dictionary_encode(), "Oid": [1, 2]}),
        pa.table({"oid": pa.array([Decimal("42.0"), Decimal("7.0")])}),
        pa.record_batch({"oid": ["7", "42"]}),
    ],
    ids=["pandas with gaps", "pandas strings", "arrow ints", "dictionary", "decimal", "record batch"],
)
def test_example_ids_are_text(table: Any) -> None:
    assert condition("o.oid = f.oid", table) == "oid IN ('42', '7')"


def test_example_attributes_keep_their_kind() -> None:
    table = pa.table(
        {
            "n": [3, 1, 2],
            "d": [0.5, float("nan"), 2.0],
            "flag": [True, True, None],
            "day": [datetime(2008, 5, 31, 3, tzinfo=UTC), None, None],
        }
    )
    assert condition("speed = f.n", table) == "speed IN (1, 2, 3)"
    assert condition("f.d = speed", table) == "speed IN (0.5, 2)"
    assert condition("free = f.flag", table) == "free IN (TRUE)"
    assert condition("seen = f.day", table) == "seen IN ('2008-05-31T03:00:00Z')"


def test_example_conditions_on_the_table_filter_it() -> None:
    table = pa.table({"oid": ["a", "b", "c", "d"], "level": [1, 5, None, 7], "kind": ["x", "y", "y", "z"]})
    assert condition("o.oid = f.oid AND f.level > 3", table) == "oid IN ('b', 'd')"
    assert condition("f.kind = 'y' AND o.oid = f.oid AND speed > 1", table) == "oid IN ('b', 'c') AND speed > 1"
    assert condition("f.level > 3 AND (o.oid = f.oid AND f.kind LIKE 'z%')", table) == "oid IN ('d')"
    assert condition("o.oid = f.oid AND NOT (f.level > 3 OR f.kind = 'x')", table) == "FALSE"
    assert condition("o.oid = f.oid AND f.level > 3 AND f.level > 3", table) == "oid IN ('b', 'd')"


@pytest.mark.parametrize("table", [3, {"a": 1}, "text", [1, 2]])
def test_example_what_is_no_table_is_said(table: Any) -> None:
    with pytest.raises(QueryError, match="VD160: tab is not a table"):
        condition("o.oid = f.oid", table)
