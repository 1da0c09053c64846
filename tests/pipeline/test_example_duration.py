"""Lengths of time as users write them."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from vedette.errors import ConfigError
from vedette.model import Duration
from vedette.pipeline.duration import read_duration


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, Duration(0)),
        (5, Duration(5)),
        (2.5, Duration(2.5)),
        ("7", Duration(7.0)),
        ("5s", Duration(5.0, "S")),
        (" 10 min ", Duration(10.0, "MIN")),
        ("1.5 H", Duration(1.5, "H")),
        ("250ms", Duration(250.0, "MS")),
        ("3us", Duration(3.0, "US")),
        ("2d", Duration(2.0, "D")),
        ("2.d", Duration(2.0, "D")),
        (timedelta(seconds=1.5), Duration(1_500_000, "US")),
        (timedelta(0), Duration(0, "US")),
    ],
)
def test_example_lengths_of_time(given: Any, expected: Duration) -> None:
    assert read_duration(given, "lateness") == expected


@pytest.mark.parametrize(
    "given",
    [
        "",
        "s",
        "5 parsecs",
        "five s",
        "-5s",
        "5s 3",
        "1e3 s",
        ".5s",
        -1,
        -0.5,
        math.inf,
        math.nan,
        True,
        None,
        b"5s",
        [5],
        timedelta(seconds=-1),
    ],
)
def test_example_what_is_no_length_of_time(given: Any) -> None:
    """The message names the option and shows what was found."""
    with pytest.raises(ConfigError, match=r"^timeout: ") as raised:
        read_duration(given, "timeout")
    assert repr(given) in str(raised.value)
