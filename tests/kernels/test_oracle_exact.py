"""Exact sums against math.fsum and fractions: nothing is lost, and the one rounding is right."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vedette.kernels.exact import LIMBS, accumulate, rounded, settle

HUGE = 1.7976931348623157e308
AWKWARD = [5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, HUGE, -HUGE, 1.0, 2.0**-53, 2.0**53, 1e16]
DOUBLES = (
    st.sampled_from(AWKWARD) | st.floats(allow_nan=False, allow_infinity=False) | st.floats(-2.0, 2.0) | st.just(0.1)
)


def total(values: list[float], taken: list[float]) -> float:
    limbs = np.zeros(LIMBS, np.int64)
    for value in values:
        accumulate(limbs, value, 1)
    for value in taken:
        accumulate(limbs, value, -1)
    return rounded(limbs)


def slow_total(values: list[float], taken: list[float]) -> float:
    exact = sum(map(Fraction, values), Fraction()) - sum(map(Fraction, taken), Fraction())
    try:
        return exact.numerator / exact.denominator  # Python divides integers with one rounding, half to even
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@given(st.lists(DOUBLES, max_size=12), st.lists(DOUBLES, max_size=6))
@example([1.0, 2.0**-53], [])  # a tie, to even: down
@example([1.0 + 2.0**-52, 2.0**-53], [])  # a tie, to even: up
@example([1.0, 2.0**-53, 5e-324], [])  # just above the tie
@example([1.0, 2.0**-53], [5e-324])  # just below the tie
@example([2.0**53 - 1.0, 0.5], [])  # rounding carries into a new bit
@example([2.2250738585072014e-308], [5e-324])  # the largest subnormal
@example([HUGE, HUGE], [HUGE])  # too large on the way only
@example([HUGE, HUGE], [])
@example([HUGE, 2.0**969], [])  # the last sum that does not round to infinity, and the first that does
@example([HUGE, 2.0**970], [])
@example([-1.0], [2.0**-53, -5e-324])
def test_oracle_sum_is_rounded_once(values: list[float], taken: list[float]) -> None:
    assert total(values, taken) == slow_total(values, taken)


@given(st.lists(DOUBLES, max_size=12))
def test_oracle_sum_is_fsum(values: list[float]) -> None:
    try:
        expected = math.fsum(values)
    except OverflowError:
        expected = slow_total(values, [])  # fsum gives up where a part of the sum is too large
    assert total(values, []) == expected


@given(st.lists(DOUBLES, max_size=12))
def test_agrees_in_any_order(values: list[float]) -> None:
    assert total(values, []) == total(sorted(values), []) == total([], [-value for value in values])


@given(st.lists(DOUBLES, max_size=12))
def test_agrees_what_was_added_can_be_taken_away(values: list[float]) -> None:
    limbs = np.zeros(LIMBS, np.int64)
    for value in values:
        accumulate(limbs, value, 1)
        settle(limbs)
    for value in reversed(values):
        accumulate(limbs, value, -1)
    settle(limbs)
    assert not limbs.any()


@pytest.mark.parametrize("value", AWKWARD)
def test_example_a_million_times(value: float) -> None:
    """Carries have room for many terms between two roundings."""
    limbs = np.zeros(LIMBS, np.int64)
    accumulate(limbs, value, 1_000_000)
    exact = 1_000_000 * Fraction(value)
    assert rounded(limbs) == (value * 1e6 if abs(value) > 1e300 else exact.numerator / exact.denominator)
