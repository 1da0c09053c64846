"""Terms inside a record, wherever they stand: found, and put in the place of others.

In: any record of the model. Out: its terms of a kind in a fixed order, or the record with others in their place.
Invariant: a record in which nothing changes is the same object. What an INSIDE term consists of is not looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from vedette.model.terms import Inside

T = TypeVar("T")
Term = TypeVar("Term")


def terms(record: Any, kind: type[Term]) -> Iterator[Term]:
    """All terms of a kind."""
    if isinstance(record, kind):
        yield record
    if isinstance(record, tuple):
        for each in record:
            yield from terms(each, kind)
    elif is_dataclass(record) and not isinstance(record, Inside):
        for field in fields(record):
            yield from terms(getattr(record, field.name), kind)


def with_terms(record: T, kind: type[Term], change: Callable[[Term], Any]) -> T:
    """The record with every term of a kind changed, in the order of `terms`; a term in a term is not looked for."""
    new: Any = record
    if isinstance(record, kind):
        new = change(record)
    elif isinstance(record, tuple):
        parts = tuple(with_terms(each, kind, change) for each in record)
        if any(a is not b for a, b in zip(parts, record, strict=True)):
            new = parts
    elif is_dataclass(record) and not isinstance(record, type) and not isinstance(record, Inside):
        changes = {}
        for field in fields(record):
            old = getattr(record, field.name)
            changed = with_terms(old, kind, change)
            if changed is not old:
                changes[field.name] = changed
        if changes:
            new = replace(record, **changes)
    found: T = new
    return found


def insides(record: Any) -> Iterator[Inside]:
    """All INSIDE terms of a record."""
    return terms(record, Inside)


def with_insides(record: T, change: Callable[[Inside], Inside]) -> T:
    """The record with every INSIDE term changed, in the order of `insides`."""
    return with_terms(record, Inside, change)
