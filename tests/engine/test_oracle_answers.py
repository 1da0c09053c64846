"""What an answer is made of: filters, aggregates, dwell and grace. The engine says what brute force says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.drive import check
from tests.strategies import Wanted, stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])


@KINDS
@given(data=st.data())
def test_filters(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(filters=True))))


@KINDS
@given(data=st.data())
def test_aggregates(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(filters=True, aggregates=True, timeouts=True))))


@KINDS
@given(data=st.data())
def test_dwell_and_grace(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(delays=True))))


@KINDS
@given(data=st.data())
def test_dwell_and_grace_of_aggregates_and_of_objects_that_vanish(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(delays=True, aggregates=True, timeouts=True, timestamps=True))))
