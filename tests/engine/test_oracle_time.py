"""Time and order: timeouts, late rows, bad rows, duplicates, commands. The engine says what brute force says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.drive import check
from tests.strategies import EVERYTHING, Wanted, stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])


@KINDS
@given(data=st.data())
def test_timeouts(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(timeouts=True))))


@KINDS
@given(data=st.data())
def test_late_rows_under_both_policies(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(disorder=True, timeouts=True))))


@KINDS
@given(data=st.data())
def test_bad_rows_duplicates_and_rows_too_far_ahead(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(mess=True, disorder=True, max_queries=2))))


@KINDS
@given(data=st.data())
def test_commands_in_mid_stream(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(commands=True, filters=True))))


@KINDS
@given(data=st.data())
def test_commands_on_aggregates_and_delayed_answers(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, Wanted(commands=True, aggregates=True, delays=True, timeouts=True))))


@KINDS
@given(data=st.data())
def test_everything_at_once(kind: str, data: st.DataObject) -> None:
    check(data.draw(stories(kind, EVERYTHING.but(max_rows=36))))
