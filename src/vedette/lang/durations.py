"""Lengths of time: from a number and a unit to a `Duration`.

In: trees. Out: the length, whole in ticks of a microsecond where it has a unit and whole as it stands where it has
none; problems go to the report.
"""

from __future__ import annotations

from decimal import Decimal

from lark import Token, Tree

from vedette.lang.shapes import number_text
from vedette.lang.source import Report
from vedette.lang.words import TIME_UNITS, did_you_mean, one_of
from vedette.model import MICROSECONDS, NO_TIME, Duration

LONGEST_US = 2**62


def read_length(
    what: str, number: Tree[Token], unit: Token | None, report: Report, *, signed: bool = False
) -> Duration | None:
    """The duration that `what` is; None after a problem. Zero is the same in every unit; `signed`: may be negative."""
    text = number_text(number)
    value = Decimal(text)
    if unit is not None and unit.upper() not in TIME_UNITS:
        expected = f"expected {one_of(TIME_UNITS)}"
        report.add("VD129", f"{unit} is not a unit of time; {expected}", unit, did_you_mean(unit, TIME_UNITS))
        return None
    if value < 0 and not signed:
        report.add("VD140", f"{what} cannot be negative: {text}", number)
        return None
    scale = MICROSECONDS[unit.upper()] if unit is not None else 1
    if value.adjusted() > 30 or abs(value * scale) > LONGEST_US:
        report.add("VD140", f"{what} is longer than time goes: {text[:40]}", number)
        return None
    if value and (value.adjusted() < -30 or value * scale != int(value * scale)):
        rule = "goes down to microseconds" if unit is not None else "without a unit is a whole number"
        report.add("VD140", f"{what} {rule}; found {text[:40]}", number)
        return None
    if not value:
        return NO_TIME
    return Duration(float(value), None if unit is None else unit.upper())  # type: ignore[arg-type]
