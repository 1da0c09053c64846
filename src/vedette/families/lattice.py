"""The sets of objects that constraints are about, ordered by inclusion: who is a superset, who a subset of whom?

In: sets, one after the other. Out: all supersets and subsets of a set, without looking at the others.

Each set is linked with its least supersets and its greatest subsets. Sets without supersets, and sets without subsets,
can be found by any of their objects: a search for supersets starts at the former and goes down, one for subsets starts
at the latter and goes up, and neither ever leaves what it is looking for. (As printed in the paper, insertion stops at
sets that only overlap and misses what lies below them.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

ObjectSet: TypeAlias = frozenset[int]


@dataclass
class _Node:
    """A set, how many constraints are about it, and its neighbours."""

    users: int = 0
    above: set[ObjectSet] = field(default_factory=set)
    below: set[ObjectSet] = field(default_factory=set)


class Lattice:
    """Sets that are in use."""

    def __init__(self) -> None:
        self._nodes: dict[ObjectSet, _Node] = {}
        self._tops: dict[int, set[ObjectSet]] = {}  # by object, the sets without supersets that hold it
        self._bottoms: dict[int, set[ObjectSet]] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, objects: ObjectSet) -> bool:
        return objects in self._nodes

    def neighbours(self, objects: ObjectSet) -> tuple[set[ObjectSet], set[ObjectSet]]:
        """The least supersets and the greatest subsets of a set that is there."""
        node = self._nodes[objects]
        return set(node.above), set(node.below)

    # ---------------------------------------------------------------------------------------- come and go

    def insert(self, objects: ObjectSet) -> bool:
        """One more user of a set; whether the set is new."""
        node = self._nodes.get(objects)
        if node is not None:
            node.users += 1
            return False
        above = self._least_supersets(objects)
        below = self._greatest_subsets(objects)
        node = self._nodes[objects] = _Node(1, above, below)
        for upper in above:
            self._nodes[upper].below -= below
            self._nodes[upper].below.add(objects)
        for lower in below:
            if not self._nodes[lower].above:
                _forget(self._tops, lower)
            self._nodes[lower].above -= above
            self._nodes[lower].above.add(objects)
        for upper in above:
            if len(self._nodes[upper].below) == 1 and not below:
                _forget(self._bottoms, upper)
        if not above:
            _note(self._tops, objects)
        if not below:
            _note(self._bottoms, objects)
        return True

    def remove(self, objects: ObjectSet) -> bool:
        """One user less; whether the set is gone."""
        node = self._nodes[objects]
        node.users -= 1
        if node.users:
            return False
        del self._nodes[objects]
        if not node.above:
            _forget(self._tops, objects)
        if not node.below:
            _forget(self._bottoms, objects)
        for lower in node.below:
            self._nodes[lower].above.remove(objects)
        for upper in node.above:
            self._nodes[upper].below.remove(objects)
        for upper in node.above:  # neighbours now, unless there is another way from one to the other
            for lower in node.below:
                if not any(lower <= between for between in self._nodes[upper].below):
                    self._nodes[upper].below.add(lower)
                    self._nodes[lower].above.add(upper)
        for lower in node.below:
            if not self._nodes[lower].above:
                _note(self._tops, lower)
        for upper in node.above:
            if not self._nodes[upper].below:
                _note(self._bottoms, upper)
        return True

    # --------------------------------------------------------------------------------------------- search

    def supersets(self, objects: ObjectSet) -> set[ObjectSet]:
        """All proper supersets; the set itself need not be there."""
        rarest = min((self._tops.get(o, set()) for o in objects), key=len)
        found = self._reach({top for top in rarest if objects <= top}, lambda node: node.below, objects.__le__)
        found.discard(objects)
        return found

    def subsets(self, objects: ObjectSet) -> set[ObjectSet]:
        """All proper subsets."""
        bottoms = {low for o in objects for low in self._bottoms.get(o, ()) if low <= objects}
        found = self._reach(bottoms, lambda node: node.above, objects.__ge__)
        found.discard(objects)
        return found

    def _reach(
        self,
        start: set[ObjectSet],
        neighbours: Callable[[_Node], set[ObjectSet]],
        belongs: Callable[[ObjectSet], bool],
    ) -> set[ObjectSet]:
        found, todo = set(start), list(start)
        while todo:
            for other in neighbours(self._nodes[todo.pop()]):
                if other not in found and belongs(other):
                    found.add(other)
                    todo.append(other)
        return found

    def _least_supersets(self, objects: ObjectSet) -> set[ObjectSet]:
        supersets = self.supersets(objects)
        return {s for s in supersets if not (self._nodes[s].below & supersets)}

    def _greatest_subsets(self, objects: ObjectSet) -> set[ObjectSet]:
        subsets = self.subsets(objects)
        return {s for s in subsets if not (self._nodes[s].above & subsets)}


def _note(index: dict[int, set[ObjectSet]], objects: ObjectSet) -> None:
    for o in objects:
        index.setdefault(o, set()).add(objects)


def _forget(index: dict[int, set[ObjectSet]], objects: ObjectSet) -> None:
    for o in objects:
        holders = index[o]
        holders.discard(objects)
        if not holders:
            del index[o]
