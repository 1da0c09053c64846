"""AND, OR and NOT over terms of any kind.

In: terms (records). Out: formulas, as trees of terms. `fold` takes a formula apart from the leaves up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class AllOf:
    """All parts hold; two or more of them."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one part holds; two or more of them."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Negation:
    """The part does not hold."""

    part: Any


def fold(
    formula: Any,
    term: Callable[[Any], T],
    all_of: Callable[[list[T]], T],
    any_of: Callable[[list[T]], T],
    negation: Callable[[T], T],
) -> T:
    """What a formula comes to, if this is what its terms and connectives come to."""

    def of(part: Any) -> T:
        match part:
            case AllOf(parts):
                return all_of([of(p) for p in parts])
            case AnyOf(parts):
                return any_of([of(p) for p in parts])
            case Negation(inner):
                return negation(of(inner))
        return term(part)

    return of(formula)


def terms(formula: Any) -> Iterator[Any]:
    """The terms of a formula in the order in which they stand, repeated ones too."""
    match formula:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from terms(part)
        case Negation(inner):
            yield from terms(inner)
        case _:
            yield formula


def distinct(formula: Any) -> list[Any]:
    """Its terms, each once."""
    return list(dict.fromkeys(terms(formula)))


def holds(formula: Any, truth: Callable[[Any], bool]) -> bool:
    """Whether a formula is true, by the truth of its terms."""
    return fold(formula, truth, all, any, lambda inner: not inner)
