"""The places inside a record, wherever they stand: found, and put in the place of others.

In: any record of the model. Out: its `Inside` terms in a fixed order, or the record with others in their place.
Invariant: a record in which nothing changes is the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from vedette.model.terms import Inside

T = TypeVar("T")


def insides(record: Any) -> Iterator[Inside]:
    """All INSIDE terms of a record."""
    if isinstance(record, Inside):
        yield record
    elif isinstance(record, tuple):
        for each in record:
            yield from insides(each)
    elif is_dataclass(record):
        for field in fields(record):
            yield from insides(getattr(record, field.name))


def with_insides(record: T, change: Callable[[Inside], Inside]) -> T:
    """The record with every INSIDE term changed, in the order of `insides`."""
    new: Any = record
    if isinstance(record, Inside):
        new = change(record)
    elif isinstance(record, tuple):
        parts = tuple(with_insides(each, change) for each in record)
        if any(a is not b for a, b in zip(parts, record, strict=True)):
            new = parts
    elif is_dataclass(record) and not isinstance(record, type):
        changes = {}
        for field in fields(record):
            old = getattr(record, field.name)
            changed = with_insides(old, change)
            if changed is not old:
                changes[field.name] = changed
        if changes:
            new = replace(record, **changes)
    found: T = new
    return found
