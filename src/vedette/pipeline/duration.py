"""Lengths of time as users give them: "5s", "10 min", a timedelta, or a bare number in the unit of a long `t`."""

from __future__ import annotations

import re
from datetime import timedelta

from vedette.errors import ConfigError
from vedette.model import MICROSECONDS, Duration

TimeLength = int | float | str | timedelta

_TEXT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([A-Za-z]*)\s*")


def read_duration(given: TimeLength, option: str) -> Duration:
    """A duration, or a ConfigError that names the option."""
    wanted = f"{option}: expected a number, or a number with a unit such as '5s', '10 min', '2h'; found {given!r}"
    if isinstance(given, timedelta):
        duration = Duration(given // timedelta(microseconds=1), "US")
    elif isinstance(given, str):
        match = _TEXT.fullmatch(given)
        unit = match[2].upper() if match else ""
        if match is None or (unit and unit not in MICROSECONDS):
            raise ConfigError(wanted)
        duration = Duration(float(match[1]), unit or None)  # type: ignore[arg-type]
    elif isinstance(given, bool) or not isinstance(given, int | float):
        raise ConfigError(wanted)
    else:
        duration = Duration(given)
    if not 0 <= duration.value < float("inf"):
        raise ConfigError(f"{option}: a length of time cannot be {given!r}")
    return duration
