"""AND, OR and NOT between terms: from trees to formulas, back to text, and whether a formula says anything at all.

In: trees, or formulas. Out: formulas without needless levels; text with no more brackets than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Literal, TypeAlias

from lark import Token, Tree

from vedette.lang.source import Node
from vedette.model.formula import AllOf, AnyOf, Negation, distinct, fold

MOST_NODES = 20_000  # of a decision diagram in the order in which the terms are written

Verdict: TypeAlias = Literal["never", "always", "sometimes", "too wide"]
Implication: TypeAlias = tuple[Any, Any, bool]  # where the first term is true, the second is; or is not


def formula_of(node: Node | None, words: tuple[str, str, str], term: Callable[[Tree[Token]], Any]) -> Any:
    """The formula in a tree; `words` are the names of its OR, AND and NOT. None after a problem with a term."""
    assert isinstance(node, Tree)
    either, both, opposite = words
    if node.data in (either, both):
        kind = AnyOf if node.data == either else AllOf
        parts = [formula_of(child, words, term) for child in node.children if isinstance(child, Tree)]
        return None if None in parts else joined(kind, parts)
    if node.data == opposite:
        inner = formula_of(node.children[-1], words, term)
        return None if inner is None else negated(inner)
    return term(node)


def joined(kind: type[AllOf] | type[AnyOf], parts: Iterable[Any]) -> Any:
    """Parts under one connective; parts of the same kind are taken apart, repeated ones left out."""
    flat = chain.from_iterable(part.parts if isinstance(part, kind) else (part,) for part in parts)
    found = tuple(dict.fromkeys(flat))
    return found[0] if len(found) == 1 else kind(found)


def negated(inner: Any) -> Any:
    """NOT; twice is not at all."""
    return inner.part if isinstance(inner, Negation) else Negation(inner)


def print_formula(formula: Any, term: Callable[[Any], str]) -> str:
    """The text of a formula."""
    return _print(formula, term)[0]


def _print(formula: Any, term: Callable[[Any], str]) -> tuple[str, int]:
    match formula:
        case AnyOf(parts):
            return " OR ".join(_at_least(1, p, term) for p in parts), 0
        case AllOf(parts):
            return " AND ".join(_at_least(2, p, term) for p in parts), 1
        case Negation(part):
            return f"NOT {_at_least(2, part, term)}", 2
    return term(formula), 3


def _at_least(level: int, formula: Any, term: Callable[[Any], str]) -> str:
    text, own = _print(formula, term)
    return text if own >= level else f"({text})"


class _TooWideError(Exception):
    """More nodes than anybody should have to keep."""


def verdict(formula: Any, never: Iterable[Any] = (), implications: Iterable[Implication] = ()) -> Verdict:
    """Whether a formula can be true and can be false, given terms that never are true, and what follows from what."""
    from dd.autoref import BDD

    names = {term: f"v{i}" for i, term in enumerate(distinct(formula))}
    bdd = BDD()
    bdd.configure(reordering=False)
    bdd.declare(*names.values())

    def apply(connective: Literal["and", "or"], roots: list[Any]) -> Any:
        result = roots[0]
        for root in roots[1:]:
            result = bdd.apply(connective, result, root)
            if len(result) > MOST_NODES:
                raise _TooWideError
        return result

    try:
        root = fold(
            formula,
            lambda term: bdd.var(names[term]),
            lambda roots: apply("and", roots),
            lambda roots: apply("or", roots),
            lambda inner: ~inner,
        )
        known = [~bdd.var(names[term]) for term in never]
        for one, other, holds in implications:
            then = bdd.var(names[other])
            known.append(~bdd.var(names[one]) | (then if holds else ~then))
        can_be = apply("and", [root, *known]) != bdd.false
        can_fail = apply("and", [~root, *known]) != bdd.false
    except _TooWideError:
        return "too wide"
    return "sometimes" if can_be and can_fail else "always" if can_be else "never"
