"""The queries of a run: numbers for queries, filters, measures and focal objects, the same in every bucket.

In: statements in the order in which they act. Out: which query came and which went. Every TRACK bucket keeps a
catalogue of its own; because numbering follows the order of statements alone, all of them agree without a word.
What a dropped query leaves unused is given out again only after the batch: within a batch a number has one meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from vedette.families import Plan, plan_query
from vedette.lang import parse, print_expr, print_query, print_statement
from vedette.model import Area, CreateQuery, CreateRegion, Drop, Expr, Inside, Query, Statement
from vedette.pipeline.setup import Setup

V = TypeVar("V")


class Numbers(Generic[V]):
    """Things that several queries share, each with a small number and a count of its users."""

    def __init__(self) -> None:
        self.items: dict[str, tuple[int, V]] = {}
        self._users: dict[str, int] = {}
        self._unused: list[str] = []
        self._free: list[int] = []
        self._taken = 0

    @property
    def span(self) -> int:
        """One more than the greatest number in use."""
        return len(self.items) + len(self._free)

    def ever_taken(self) -> int:
        """How many things were new so far; it grows when, and only when, a new one comes."""
        return self._taken

    def take(self, key: str, item: V) -> tuple[int, bool]:
        """The number of a thing, and whether it is new."""
        self._users[key] = self._users.get(key, 0) + 1
        if key in self.items:
            return self.items[key][0], False
        number = self._free.pop() if self._free else len(self.items)
        self.items[key] = (number, item)
        self._taken += 1
        return number, True

    def release(self, key: str) -> None:
        """One user less."""
        self._users[key] -= 1
        if self._users[key] == 0:
            self._unused.append(key)

    def forget_unused(self) -> list[int]:
        """Give the numbers of unused things free; returns them."""
        gone = [key for key in self._unused if self._users.get(key) == 0]
        self._unused = []
        freed = []
        for key in dict.fromkeys(gone):
            freed.append(self.items.pop(key)[0])
            del self._users[key]
        self._free = sorted(self._free + freed, reverse=True)
        return freed

    def adopt(self, key: str, number: int, item: V) -> None:
        """Count a user of a thing whose number is known."""
        self.items[key] = (number, item)
        self._users[key] = self._users.get(key, 0) + 1

    def adopted(self) -> None:
        """All that there are have been adopted: the numbers between them are free."""
        used = {number for number, _ in self.items.values()}
        self._free = [i for i in range(max(used, default=-1), -1, -1) if i not in used]


@dataclass(frozen=True)
class Entry:
    """A query that is registered."""

    qid: int
    query: Query
    plan: Plan
    filter: int
    measure: int
    focal: int


@dataclass(frozen=True)
class Change:
    """A query that came or went."""

    entry: Entry
    comes: bool
    replaces: bool = False


class Catalogue:
    """Registered queries by name, and the named regions that queries to come will be bound to."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.queries: dict[str, Entry] = {}
        self.filters: Numbers[Expr] = Numbers()
        self.measures: Numbers[None] = Numbers()
        self.focals: Numbers[None] = Numbers()
        self._regions: dict[str, Area] = {}
        self._next = 0

    def apply(self, statement: Statement) -> list[Change]:
        """Act on a statement. One that makes no sense any more (a name that came or went meanwhile) changes nothing."""
        action = statement.action
        if isinstance(action, Drop) and action.kind == "QUERY" and action.name in self.queries:
            return [self._drop(action.name)]
        if isinstance(action, CreateRegion):
            self._regions[action.name] = action.area
        elif isinstance(action, Drop) and action.kind == "REGION":
            self._regions.pop(action.name, None)
        if not isinstance(action, CreateQuery):
            return []
        name = action.query.name
        changes = []
        if name in self.queries:
            if not action.replace:
                return []
            changes.append(self._drop(name))
        entry = self._enter(self._bound(action.query))
        changes.append(Change(entry, True, bool(changes)))
        return changes

    def _bound(self, query: Query) -> Query:
        """The query with its named region as it is at this tick: it may have been replaced while the query waited."""
        where = query.where
        if not isinstance(where, Inside) or where.region is None:
            return query
        return replace(query, where=replace(where, shape=self._regions.get(where.region.lower(), where.shape)))

    def _enter(self, query: Query) -> Entry:
        plan = plan_query(query, self.setup.space, self.setup.schema)
        number = -1 if plan.condition is None else self.filters.take(print_expr(plan.condition), plan.condition)[0]
        measure = -1
        if plan.measure is not None and plan.measure not in ("x", "y"):
            measure = self.measures.take(plan.measure, None)[0]
        focal = -1 if plan.figure.focal is None else self.focals.take(plan.figure.focal, None)[0]
        entry = Entry(self._next, query, plan, number, measure, focal)
        self._next += 1
        self.queries[query.name] = entry
        return entry

    def _drop(self, name: str) -> Change:
        entry = self.queries.pop(name)
        if entry.plan.condition is not None:
            self.filters.release(print_expr(entry.plan.condition))
        if entry.measure >= 0:
            self.measures.release(str(entry.plan.measure))
        if entry.plan.figure.focal is not None:
            self.focals.release(entry.plan.figure.focal)
        return Change(entry, False)

    def dump(self) -> dict[str, Any]:
        """As plain data; queries as the SQL that would create them."""
        space = self.setup.space
        return {
            "next": self._next,
            "regions": [print_statement(Statement(CreateRegion(n, a)), space) for n, a in self._regions.items()],
            "queries": [
                [e.qid, print_query(e.query, space), e.filter, e.measure, e.focal] for e in self.queries.values()
            ],
        }

    @classmethod
    def load(cls, setup: Setup, data: dict[str, Any]) -> Catalogue:
        """The catalogue again."""
        self = cls(setup)
        self._next = data["next"]
        for sql in data["regions"]:
            self.apply(parse(sql, space=setup.space)[0])
        for qid, sql, number, measure, focal in data["queries"]:
            action = parse(sql, space=setup.space)[0].action
            assert isinstance(action, CreateQuery)
            plan = plan_query(action.query, setup.space, setup.schema)
            self.queries[action.query.name] = Entry(qid, action.query, plan, number, measure, focal)
            if plan.condition is not None:
                self.filters.adopt(print_expr(plan.condition), number, plan.condition)
            if measure >= 0:
                self.measures.adopt(str(plan.measure), measure, None)
            if plan.figure.focal is not None:
                self.focals.adopt(plan.figure.focal, focal, None)
        for shared in (self.filters, self.measures, self.focals):
            shared.adopted()
        return self
