"""Which constraints can be inferred from which others, without computing them.

In: constraints that say `measure < limit` or `measure > limit`, where the measure of a set of objects never falls when
objects are added (diameters; distances of the farthest from one and the same point). Out: for each constraint the
others that may decide it, and by which value.

With P the objects of the source and Q those of the target, what a source says bounds the target's measure

    from above, if P holds all of Q:   P < d1 is true, or P > d1 is false, and d1 <= d2
    from below, if Q holds all of P:   P > d1 is true, or P < d1 is false, and d1 >= d2

which makes Q < d2 true and Q > d2 false, or the other way round. (These are the eight valid rules; four of the eight
that the paper prints do not follow.) All of this presumes that every object has a position, which is for the evaluation
to see, as well as that the bound is clear of the limit beyond rounding. Of many sources on one set only the one with
the limit nearest to the target's can be of use: it holds whenever another one does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from vedette.families.lattice import Lattice, ObjectSet

MOST = 16  # links into one constraint; more would cost more than they save


@dataclass(frozen=True)
class Bounded:
    """A constraint: `number` is its identity, `family` what must be equal for measures to be comparable."""

    number: int
    objects: ObjectSet
    family: Hashable
    above: bool
    limit: float


@dataclass(frozen=True)
class Link:
    """The source, the value that it must have, and whether it then bounds the target from above or from below."""

    source: int
    need: bool
    upper: bool


@dataclass
class _Shelf:
    """The constraints on one set, of one family, by their limits."""

    below: list[tuple[float, int]] = field(default_factory=list)
    above: list[tuple[float, int]] = field(default_factory=list)

    def of(self, above: bool) -> list[tuple[float, int]]:
        return self.above if above else self.below


class Links:
    """Links into every constraint; kept up to date by `refresh`."""

    def __init__(self) -> None:
        self.lattice = Lattice()
        self.into: dict[int, list[Link]] = {}
        self._known: dict[int, Bounded] = {}
        self._shelves: dict[ObjectSet, dict[Hashable, _Shelf]] = {}
        self._touched: set[ObjectSet] = set()

    def insert(self, one: Bounded) -> None:
        """A constraint comes."""
        self._known[one.number] = one
        self.lattice.insert(one.objects)
        shelf = self._shelves.setdefault(one.objects, {}).setdefault(one.family, _Shelf())
        insort(shelf.of(one.above), (one.limit, one.number))
        self._touched.add(one.objects)

    def remove(self, number: int) -> None:
        """A constraint goes."""
        one = self._known.pop(number)
        self.into.pop(number, None)
        shelf = self._shelves[one.objects][one.family]
        shelf.of(one.above).remove((one.limit, number))
        if self.lattice.remove(one.objects):
            del self._shelves[one.objects]
        self._touched.add(one.objects)

    def refresh(self) -> None:
        """Find the links anew wherever a constraint came or went."""
        near = {o: (self.lattice.supersets(o), self.lattice.subsets(o)) for o in self._touched}
        self._touched.clear()
        affected = set(near).union(*(above | below for above, below in near.values()))
        for objects in affected:
            if objects not in self._shelves:
                continue
            above, below = near.get(objects) or (self.lattice.supersets(objects), self.lattice.subsets(objects))
            upper, lower = [objects, *above], [objects, *below]
            for family, shelf in self._shelves[objects].items():
                for limit, number in (*shelf.below, *shelf.above):
                    found = [*self._from_above(upper, family, limit), *self._from_below(lower, family, limit)]
                    links = [link for link in found if link.source != number][:MOST]
                    if links:
                        self.into[number] = links
                    else:
                        self.into.pop(number, None)

    def _shelves_of(self, sets: list[ObjectSet], family: Hashable) -> Iterator[_Shelf]:
        for objects in sorted(sets, key=lambda s: (len(s), sorted(s))):
            shelf = self._shelves[objects].get(family)
            if shelf is not None:
                yield shelf

    def _from_above(self, sets: list[ObjectSet], family: Hashable, limit: float) -> Iterator[Link]:
        for shelf in self._shelves_of(sets, family):
            for need in (True, False):
                listed = shelf.of(above=not need)
                at = bisect_right(listed, (limit, 1 << 62))
                if at:
                    yield Link(listed[at - 1][1], need, upper=True)

    def _from_below(self, sets: list[ObjectSet], family: Hashable, limit: float) -> Iterator[Link]:
        for shelf in self._shelves_of(sets, family):
            for need in (True, False):
                listed = shelf.of(above=need)
                at = bisect_left(listed, (limit, -1))
                if at < len(listed):
                    yield Link(listed[at][1], need, upper=False)
