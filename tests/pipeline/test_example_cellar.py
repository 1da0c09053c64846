"""Cellars: what is put is there until it is dropped; an overlay changes nothing below; wrong names are errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vedette.pipeline.cellar import Cellar, Door, MemoryCellar, Overlay

ACTIONS = st.lists(
    st.tuples(st.sampled_from(["put", "get", "drop"]), st.sampled_from("abc"), st.binary(max_size=2)), max_size=20
)


def behave_alike(
    cellar: Cellar,
    model: dict[str, bytes],
    actions: list[tuple[str, str, bytes]],
    errors: tuple[str, ...] = ("put", "get", "drop"),
) -> None:
    """Do what the model allows; what it does not must fail, or is not tried."""
    for action, name, data in actions:
        if (name in model) == (action == "put"):
            if action not in errors:
                continue
            tried: Callable[[], object] = {
                "put": lambda: cellar.put(name, data),  # noqa: B023 (called at once)
                "get": lambda: cellar.get(name),  # noqa: B023
                "drop": lambda: cellar.drop(name),  # noqa: B023
            }[action]
            with pytest.raises(AssertionError):
                tried()
        elif action == "put":
            cellar.put(name, data)
            model[name] = data
        elif action == "get":
            assert cellar.get(name) == model[name]
        else:
            cellar.drop(name)
            del model[name]


@given(ACTIONS)
def test_oracle_a_cellar_is_a_dictionary(actions: list[tuple[str, str, bytes]]) -> None:
    behave_alike(MemoryCellar(), {}, actions)


@given(st.dictionaries(st.sampled_from("abc"), st.binary(max_size=2)), ACTIONS)
def test_oracle_an_overlay_is_a_copy(before: dict[str, bytes], actions: list[tuple[str, str, bytes]]) -> None:
    below = MemoryCellar(before)
    # Whether a name is taken below it does not ask, which would cost a step through the store: only reading must fail.
    behave_alike(Overlay(below), dict(before), actions, errors=("get",))
    assert below.values == before


def test_example_a_door_leads_elsewhere() -> None:
    first, second = MemoryCellar(), MemoryCellar({"a": b"other"})
    door = Door(first)
    door.put("a", b"one")
    assert (door.get("a"), first.values) == (b"one", {"a": b"one"})
    door.leads_to = second
    assert door.get("a") == b"other"
    door.drop("a")
    assert (first.values, second.values) == ({"a": b"one"}, {})
