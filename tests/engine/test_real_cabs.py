"""Fifty queries over real taxis: the engine says exactly what brute force says.

The data is not part of the project: VEDETTE_DATA names the folder that holds it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import vedette as vd
from tests import oracle
from tests.oracle.compare import read_changes
from vedette.model import CreateQuery

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VEDETTE_DATA", ROOT / "../shared/data")) / "cabs_2008-05-31.parquet"
SQL = (ROOT / "tests/fixtures/cabs.sql").read_text(encoding="utf-8")
START = datetime(2008, 5, 31, 1, tzinfo=UTC)
TIMEOUT = timedelta(minutes=3)
ROWS, BATCH = 2500, 400


@pytest.fixture(scope="module")
def slice_of_cabs() -> pa.Table:
    """Every fourth taxi for 25 minutes of a Friday evening: 2,500 rows, 112 taxis, 1,210 distinct times."""
    if not DATA.exists():
        pytest.skip(f"no taxi data at {DATA}; set VEDETTE_DATA to the folder that holds {DATA.name}")
    table = pq.read_table(DATA)
    taxis = sorted(pc.unique(table["oid"]).to_pylist())[::4]
    chosen = pc.and_(pc.is_in(table["oid"], pa.array(taxis)), pc.greater_equal(table["t"], pa.scalar(START)))
    return table.filter(chosen).slice(0, ROWS)


@pytest.fixture(scope="module")
def expected(slice_of_cabs: pa.Table) -> oracle.Expected:
    """The oracle's word; the batches do not matter, since no row is late."""
    rows: list[dict[str, Any]] = slice_of_cabs.to_pylist()
    timeout = TIMEOUT // timedelta(microseconds=1)
    return oracle.run("lonlat", [SQL], [(rows, [])], t_type="timestamp", timeout=timeout)


def test_the_fixture_is_worth_its_name(expected: oracle.Expected) -> None:
    assert sum(isinstance(command.action, CreateQuery) for command in expected.statements) == 50
    silent = expected.answers.keys() - {change.query for change in expected.changes}
    assert silent == {"m08"}  # around nobody


@pytest.mark.parametrize(("buckets", "regions"), [(1, 1), (3, 5)])
def test_fifty_queries_over_taxis(
    slice_of_cabs: pa.Table, expected: oracle.Expected, buckets: int, regions: int
) -> None:
    run = vd.local(vd.Watch(space=vd.lonlat(), queries=SQL, timeout=TIMEOUT, buckets=buckets, regions=regions))
    changes = []
    for start in range(0, ROWS, BATCH):
        changes += read_changes(run.feed(slice_of_cabs.slice(start, BATCH)))
    changes += read_changes(run.finish())
    oracle.assert_same_changes(changes, expected)
