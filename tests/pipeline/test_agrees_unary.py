"""Conditions of triggers by table say what conditions say row by row."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from tests.strategies import CONDITIONS, LONG_IDS
from vedette.conditions import evaluate
from vedette.lang import parse
from vedette.lang.triggers import conjuncts_in
from vedette.model import Schema, Trigger
from vedette.pipeline.rows import Rows
from vedette.pipeline.triggers.unary import UnaryIndex
from vedette.space import planar

SCHEMA = Schema("long", "long", (("load", "long"), ("ok", "bool"), ("speed", "double"), ("type", "string")))
MORE = st.sampled_from(
    [
        "v.speed > 0.3 AND v.speed <= 0.30000000000000004",
        "NOT (v.load = 1 OR v.load > 1.5) AND v.load IS NOT NULL",
        "v.load < 9007199254740993 AND v.load >= -2",
        "v.load = 9007199254740992.0",
        "v.speed IN (0, 1, NULL)",
        "v.speed NOT IN (0, NULL)",
        "NULL < v.speed OR 0 = v.speed",
        "v.ok = TRUE AND v.type LIKE '%u%'",
        "v.t % 2 = 0 AND v.x BETWEEN 0 AND 1",
        "v.t > 3 AND v.t <= 4",
        "v.oid = 9 OR v.oid < 0",
        "v.type = 'truck' OR v.type IS NULL",
        "INSIDE(v, RECT (0, 0, 1, 1)) OR v.load > 1",
        "NOT INSIDE(v, CIRCLE (0, 0, 1))",
    ]
)


def owned(condition: str) -> str:
    """A condition of objects as one of the variable v."""
    return re.sub(r"\b(speed|load|type|ok|x|y)\b", r"v.\1", condition)


ROWS = st.lists(
    st.tuples(
        st.sampled_from(LONG_IDS),
        st.integers(-2, 6),
        st.sampled_from([0.0, 1.0, 0.5, 2.0, 0.30000000000000004]),
        st.sampled_from([0.0, 1.0, -1.0]),
        st.sampled_from([None, 0.0, 1.0, 0.3, 0.30000000000000004, -1e300, 1e300, 1.5]),
        st.sampled_from([None, 0, 1, 2, -1, 2**53, 2**53 + 1, -(2**63), 2**63 - 1]),
        st.sampled_from([None, "truck", "bus", "é", ""]),
        st.sampled_from([None, True, False]),
    ),
    max_size=12,
)


def rows_of(raw: list[tuple[object, ...]]) -> Rows:
    oid, t, x, y, speed, load, kind, ok = zip(*raw, strict=True) if raw else ((),) * 8
    return Rows(
        pa.array(oid, pa.int64()),
        np.array(t, np.int64),
        np.array(x, np.float64),
        np.array(y, np.float64),
        {
            "speed": pa.array(speed, pa.float64()),
            "load": pa.array(load, pa.int64()),
            "type": pa.array(kind, pa.string()),
            "ok": pa.array(ok, pa.bool_()),
        },
    )


@example(["v.speed > 1"] * 70, [(0, 0, 0.0, 0.0, 2.0, None, None, None)])  # more than a word of bits
@given(st.lists(CONDITIONS.map(owned) | MORE, min_size=1, max_size=5), ROWS)
def test_agrees_bits_of_conditions(conditions: list[str], raw: list[tuple[object, ...]]) -> None:
    sql = "".join(f"CREATE TRIGGER t{n} FOR E AS v WHEN {text};" for n, text in enumerate(conditions))
    wanted = []
    rows = rows_of(raw)
    conjuncts = []
    for statement in parse(sql, space=planar()):
        trigger = getattr(statement.action, "query", None)
        assert isinstance(trigger, Trigger)
        condition = trigger.variables[0].condition
        assert condition is not None
        conjuncts.append((tuple(conjuncts_in(condition)), ()))
        alone = UnaryIndex([((condition,), ())], planar(), SCHEMA)
        if "INSIDE" in sql:
            wanted.append(alone.bits(rows, lambda _: None)[:, 0] == 1)
        else:
            wanted.append(evaluate(condition, rows.columns("long"), len(rows)))
    words = UnaryIndex(conjuncts, planar(), SCHEMA).bits(rows, lambda _: None)
    for bit, expected in enumerate(wanted):
        found = (words[:, bit // 64] >> np.uint64(bit % 64)) & np.uint64(1)
        assert found.tolist() == np.asarray(expected).astype(int).tolist(), conditions[bit]


def test_example_a_side_without_a_value() -> None:
    rows = rows_of([(0, 0, 0.0, 0.0, None, 1, "bus", None), (9, 0, 0.0, 0.0, 1.0, 1, "bus", None)])
    index = UnaryIndex([((), (0,)), ((), ())], planar(), SCHEMA)
    known = np.array([False, True])
    assert index.bits(rows, lambda _: known)[:, 0].tolist() == [0b10, 0b11]
