"""Nearest-neighbour queries, still and moving: the engine says what brute force says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.drive import check
from tests.strategies import MOVING_NEAREST, NEAREST, Wanted, stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])


@KINDS
@given(data=st.data())
def test_still_knn(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(forms=NEAREST))))


@KINDS
@given(data=st.data())
def test_moving_knn(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(forms=MOVING_NEAREST))))


@KINDS
@given(data=st.data())
def test_knn_with_filters_and_timeouts(kind: str, data: st.DataObject) -> None:
    wanted = Wanted(forms=(*NEAREST, *MOVING_NEAREST), filters=True, timeouts=True, max_rows=32)
    check(data.draw(stories(kind, wanted)))
