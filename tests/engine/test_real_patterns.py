"""Motion patterns over real taxis: a slice of a day agrees with brute force, whatever the buckets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests import oracle
from tests.engine.drive import expect, play
from tests.strategies import Raw, Story

QUERIES = [
    "CREATE REGION airport AS CIRCLE (-122.385, 37.618, 2 KM);",
    "CREATE REGION downtown AS RECT (-122.415, 37.78, -122.39, 37.80);",
    """CREATE PATTERN arrived AS INSIDE airport BETWEEN 90 MIN AND 20 MIN AGO
       THEN INSIDE downtown ALWAYS BETWEEN 5 MIN AND 0 MIN AGO EVERY 5 MIN;""",
    """CREATE PATTERN returned AS INSIDE downtown THEN INSIDE airport
       THEN INSIDE downtown BETWEEN 30 MIN AND 0 MIN AGO WHERE occupied = 1 EVERY 10 MIN;""",
    """CREATE PATTERN nearest AS DIST (-122.4, 37.79) ALWAYS BETWEEN 20 MIN AND 10 MIN AGO
       THEN DIST airport SOMETIME BETWEEN 10 MIN AND 0 MIN AGO LOWEST 3 EVERY 5 MIN;""",
]


def test_oracle_taxis_that_came_from_the_airport(data: Path) -> None:
    table = pq.read_table(data / "cabs_2008-05-31.parquet")
    t = table["t"].cast(pa.timestamp("us", "UTC"))
    begin = datetime(2008, 5, 31, 15, tzinfo=UTC)
    table = table.set_column(table.schema.get_field_index("t"), "t", t)
    span = pc.and_(pc.greater_equal(t, begin), pc.less(t, begin + timedelta(hours=4)))
    table = table.filter(span)
    cabs = pc.unique(table["oid"]).sort().slice(0, 60)
    rows = table.filter(pc.is_in(table["oid"], cabs)).to_pylist()
    batches: list[tuple[list[Raw], list[str]]] = [(rows[n : n + 4000], []) for n in range(0, len(rows), 4000)]
    story = Story(kind="lonlat", t_type="timestamp", queries=QUERIES, batches=batches)
    expected = expect(story)
    assert {"arrived", "returned", "nearest"} <= {change.query for change in expected.changes}
    oracle.assert_same_changes(play(story, buckets=3, batch_of=lambda _, part: _table(part)).changes, expected)


def _table(rows: Sequence[Raw]) -> pa.Table:
    return pa.Table.from_pylist(list(rows))
