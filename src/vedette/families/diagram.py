"""All formulas of a shard in one shared, reduced, ordered decision diagram with many roots.

In: formulas over terms that have numbers. Out: an edge for each, into one growing table of nodes (`kernels.diagram`).

The diagrams are made by the package `dd`, in C where its extension is there. Terms that many formulas use stand at the
bottom, where whole branches can be shared; among equals those that are evaluated more often. New terms come below the
others; what is dropped stays until the diagram is made anew in the order that is best by then, which happens once
half as much has come and gone as there is. An order that suits all can be ruinous for one: a formula that grows out of
proportion in it gets a diagram of its own, in the order in which its terms are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from vedette.kernels.arrays import I64
from vedette.kernels.diagram import TRUE, Diagram
from vedette.model.formula import distinct, fold

LARGEST = 2_000  # nodes of one formula in the common order, before it gets one of its own
MANY = 1_000  # variables from which on the package in C pays
FEW = 64  # formulas that may come and go before the diagram is made anew

Numbered = Callable[[Any], int]


class TooWideError(Exception):
    """A formula grows out of proportion in some order of its terms."""


@lru_cache(maxsize=2)
def _backend(in_c: bool) -> Any:
    """The package in C if it is there and wanted, else in Python."""
    try:
        return import_module("dd.cudd" if in_c else "dd.autoref")
    except ImportError:
        return import_module("dd.autoref")


def manager(variables: list[str]) -> Any:
    """An empty diagram over variables in this order, from the root down; in C where they are many.

    (To begin one in C takes 7 ms, in Python 0.01 ms; a node takes a tenth of the time in C.)
    """
    made = _backend(len(variables) >= MANY).BDD()
    made.configure(reordering=False)
    made.declare(*variables)
    return made


def built(formula: Any, bdd: Any, name: Callable[[Any], str], largest: int = LARGEST) -> Any:
    """The root of a formula; TooWideError where it has more nodes than that on the way."""

    def grown(root: Any) -> Any:
        if len(root) > largest:
            raise TooWideError
        return root

    def joined(roots: list[Any], connective: str) -> Any:
        result = roots[0]
        for root in roots[1:]:
            result = grown(bdd.apply(connective, result, root))
        return result

    return fold(
        formula,
        lambda term: bdd.var(name(term)),
        lambda roots: joined(roots, "and"),
        lambda roots: joined(roots, "or"),
        lambda root: ~root,
    )


def own_diagram(formula: Any, largest: int) -> tuple[Any, Any]:
    """A manager and a root for one formula alone, in the order of its terms."""
    found = distinct(formula)
    names = {term: f"v{i}" for i, term in enumerate(found)}
    bdd = manager(list(names.values()))
    return bdd, built(formula, bdd, names.__getitem__, largest)


def identity(node: Any) -> int:
    """What a node and its opposite have in common."""
    return int(~node if node.negated else node)


class SharedDiagram:
    """Formulas by their keys; `table` and `edges` are what kernels need.

    Managers of the package live only while formulas are turned into nodes. Equal nodes are found again by what they
    say: (variable, low, high) is unique in the table, whenever its formula came.
    """

    def __init__(self, number: Numbered) -> None:
        self._number = number
        self._formulas: dict[Hashable, Any] = {}
        self._users: Counter[Any] = Counter()  # formulas by term
        self.edges: dict[Hashable, int] = {}
        self._since = 0  # formulas that came or went since the diagram was made
        self._reset([])

    def _reset(self, order: list[int]) -> None:
        self._rank = {number: rank for rank, number in enumerate(order)}
        self._nodes: list[tuple[int, int, int]] = [(-1, 0, 0)]
        self._unique: dict[tuple[int, int, int], int] = {}
        self._table: Diagram | None = None

    # ---------------------------------------------------------------------------------------- come and go

    def add(self, key: Hashable, formula: Any) -> None:
        """A formula comes; `settle` tells its edge."""
        self._formulas[key] = formula
        self._users.update(distinct(formula))
        self._since += 1

    def remove(self, key: Hashable) -> None:
        """A formula goes."""
        for term in distinct(self._formulas.pop(key)):
            self._users[term] -= 1
            if not self._users[term]:
                del self._users[term]
        self.edges.pop(key, None)
        self._since += 1

    def settle(self, often: I64) -> bool:
        """Edges for the formulas that came; whether all of it was made anew. `often`: evaluations by number."""
        anew = self._since > max(FEW, len(self._formulas) // 2)
        if anew:
            self._since = 0
            self._reset(self._order(often))
            self.edges.clear()
        came = {key: formula for key, formula in self._formulas.items() if key not in self.edges}
        if came:
            used = dict.fromkeys(self._number(term) for formula in came.values() for term in distinct(formula))
            for number in used:
                self._rank.setdefault(number, len(self._rank))
            bdd = manager([f"v{n}" for n in sorted(used, key=self._rank.__getitem__)])
            known: dict[int, tuple[int, Any]] = {}
            for key, formula in came.items():
                self.edges[key] = self._edge_of(formula, bdd, known)
        return anew

    def _order(self, often: I64) -> list[int]:
        """Numbers of the terms from the root down: what is used and evaluated least comes first."""
        numbered = ((users, int(often[n]), n) for t, users in self._users.items() for n in (self._number(t),))
        return [n for _, _, n in sorted(numbered)]

    def _edge_of(self, formula: Any, bdd: Any, known: dict[int, tuple[int, Any]]) -> int:
        try:
            root = built(formula, bdd, lambda term: f"v{self._number(term)}")
            return self._flattened(root, known, lambda name: int(name[1:]))
        except TooWideError:
            numbers = [self._number(term) for term in distinct(formula)]
            _, root = own_diagram(formula, 1 << 62)
            return self._flattened(root, {}, lambda name: numbers[int(name[1:])])

    def _flattened(self, root: Any, known: dict[int, tuple[int, Any]], variable: Callable[[str], int]) -> int:
        """The edge of a root; nodes that are not in the table yet are put there, children first.

        `known`: numbers by the manager's own, with the nodes themselves, so that these stay what they are.
        """

        def edge(node: Any) -> int:
            turned = int(node.negated)
            return TRUE + turned if node.var is None else 2 * known[identity(node)][0] + turned

        stack = [root]
        while stack:
            top = stack[-1]
            if top.var is None or identity(top) in known:
                stack.pop()
                continue
            missing = [e for e in (top.low, top.high) if e.var is not None and identity(e) not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            known[identity(top)] = (self._node(variable(top.var), edge(top.low), edge(top.high)), top)
        return edge(root)

    def _node(self, variable: int, low: int, high: int) -> int:
        """The number of a node, which may be there already."""
        found = self._unique.get((variable, low, high))
        if found is None:
            found = self._unique[variable, low, high] = len(self._nodes)
            self._nodes.append((variable, low, high))
            self._table = None
        return found

    # ------------------------------------------------------------------------------------------- results

    @property
    def table(self) -> Diagram:
        """The nodes as kernels take them."""
        if self._table is None:
            columns = np.array(self._nodes, np.int64)
            self._table = Diagram(
                columns[:, 0].astype(np.int32), np.ascontiguousarray(columns[:, 1]), np.ascontiguousarray(columns[:, 2])
            )
        return self._table

    def size(self) -> int:
        """How many nodes the formulas that are there reach."""
        seen: set[int] = set()
        stack = [edge >> 1 for edge in self.edges.values()]
        while stack:
            node = stack.pop()
            if node and node not in seen:
                seen.add(node)
                stack += [self._nodes[node][1] >> 1, self._nodes[node][2] >> 1]
        return len(seen)
