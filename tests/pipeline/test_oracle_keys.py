"""Coarse keys never refuse a pair whose values fit."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import LONG_IDS, STRING_IDS
from vedette.pipeline.triggers.keys import holds, keys_of, known

NUMBERS = st.sampled_from([0.0, -0.0, 0.1, 0.1 + 0.2, 0.3, -1e300, 1e300, 5e-324, -5e-324]) | st.floats(allow_nan=False)
TEXTS = st.sampled_from([*STRING_IDS, "", "object-0000001", "object-0000002", "object-"]) | st.text(max_size=9)
LONGS = st.sampled_from([*LONG_IDS, 2**53, 2**53 + 1, -(2**63), 2**63 - 1]) | st.integers(-(2**63), 2**63 - 1)
KINDS = pytest.mark.parametrize(
    ("values", "kind"),
    [(NUMBERS, pa.float64()), (TEXTS, pa.string()), (LONGS, pa.int64()), (st.booleans(), pa.bool_())],
)


@KINDS
@given(data=st.data())
def test_equal_values_have_equal_keys_and_less_is_not_more(
    values: st.SearchStrategy[object], kind: pa.DataType, data: st.DataObject
) -> None:
    drawn = data.draw(st.lists(values, min_size=2, max_size=6))
    column = pa.array(drawn, kind)
    equal, order = keys_of(column, "="), keys_of(column, "<")
    for i in range(len(drawn)):
        for j in range(len(drawn)):
            a, b = pa.array([drawn[i]], kind), pa.array([drawn[j]], kind)
            if holds("=", a, b, False, False)[0]:
                assert equal[i] == equal[j]
                assert order[i] == order[j]
            if kind != pa.bool_() and holds("<", a, b, False, False)[0]:
                assert order[i] <= order[j]


def test_example_nulls_are_not_known_and_hold_nothing() -> None:
    column = pa.array([1.0, None])
    assert known(column).tolist() == [True, False]
    assert holds("=", column, column, False, False).tolist() == [True, False]
    assert holds("<>", column, pa.array([2.0, 1.0]), False, False).tolist() == [True, False]


def test_example_ids_match_as_text() -> None:
    ids, texts = pa.array([7, 7, 42]), pa.array(["7", "07", "42"])
    assert holds("=", ids, texts, True, False).tolist() == [True, False, True]
    assert holds("=", texts, ids, False, True).tolist() == [True, False, True]
