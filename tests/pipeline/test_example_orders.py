"""Orders refuse options that make no sense, in words."""

from __future__ import annotations

from typing import Any

import pytest

import vedette as vd
from vedette.orders import RESIDENT_UPDATES


@pytest.mark.parametrize("given", [0, -1, 1.5, "1000", True, None])
def test_example_resident_updates_are_a_whole_number(given: Any) -> None:
    with pytest.raises(vd.ConfigError, match=r"a whole number from 1 on, found .*; leave it out for 1,048,576"):
        vd.Watch(resident_updates=given)


def test_example_resident_updates_by_default() -> None:
    assert vd.Watch().resident_updates == RESIDENT_UPDATES == 1 << 20
    assert vd.Watch(resident_updates=1).resident_updates == 1
