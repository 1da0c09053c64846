"""Range queries, still and moving: the engine says what brute force says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.drive import check
from tests.strategies import MOVING, STILL, Wanted, stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])


@KINDS
@given(data=st.data())
def test_still_ranges(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(forms=STILL))))


@KINDS
@given(data=st.data())
def test_moving_ranges(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(forms=MOVING))))


@KINDS
@given(data=st.data())
def test_moving_ranges_whose_focal_objects_come_and_go(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(forms=MOVING, timeouts=True, max_rows=32))))
