"""WHERE over columns says what three-valued logic row by row says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.drive import table
from tests.oracle.conditions import satisfied
from tests.oracle.rows import Row, read_row
from tests.oracle.statements import Kind
from tests.strategies import Story, conditions, rows, scenes, with_time
from vedette.conditions import evaluate
from vedette.lang import parse
from vedette.model import CreateQuery


@pytest.mark.parametrize("kind", ["planar", "lonlat"])
@given(data=st.data())
def test_conditions(kind: str, data: st.DataObject) -> None:
    scene = data.draw(scenes(kind, timestamps=True))
    sql = data.draw(conditions(scene))
    raws = [with_time(row, scene.t_type) for row in data.draw(st.lists(rows(scene, mess=False), min_size=1))]
    (statement,) = parse(f"CREATE QUERY q AS SELECT oid FROM objects WHERE {sql} INSIDE (0, 0, 1, 1)", space=Kind(kind))
    assert isinstance(statement.action, CreateQuery)
    condition = statement.action.query.condition
    assert condition is not None
    columns = table(Story(kind=kind, oid_type=scene.oid_type, t_type=scene.t_type), raws)
    by_name = {{"lon": "x", "lat": "y"}.get(name, name): columns[name] for name in columns.column_names}
    found = evaluate(condition, by_name, len(raws)).tolist()
    for raw, passes in zip(raws, found, strict=True):
        row = read_row(raw, kind)
        assert isinstance(row, Row)
        if kind == "lonlat":
            row.x = raw["lon"]  # columns that are not wrapped yet
        assert satisfied(condition, row) is passes, f"{sql} of {raw}"
