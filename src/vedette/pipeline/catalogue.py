"""The queries of a run: numbers for queries, filters, measures and focal objects, the same in every bucket.

In: statements in the order in which they act. Out: which query came and which went. Every TRACK bucket keeps a
catalogue of its own; because numbering follows the order of statements alone, all of them agree without a word.
What a dropped query leaves unused is given out again only after the batch: within a batch a number has one meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from vedette.families import Plan, plan_query
from vedette.lang import parse, print_expr, print_query, print_statement
from vedette.model import Area, Create, CreateRegion, Drop, Expr, Inside, Query, Schema, Standing, Statement
from vedette.model.places import with_insides
from vedette.space import Space

V = TypeVar("V")
MOST_KNOWN = 1 << 16


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

    def adopted(self, free: list[int]) -> None:
        """All that there are have been adopted; these numbers are free, the last one is the next."""
        self._free = list(free)

    def free_numbers(self) -> list[int]:
        """What `adopted` needs to go on alike."""
        return list(self._free)

    def copy(self) -> Numbers[V]:
        """One that goes its own way from here."""
        other: Numbers[V] = Numbers()
        other.items, other._users = dict(self.items), dict(self._users)
        other._unused, other._free, other._taken = list(self._unused), list(self._free), self._taken
        return other


@dataclass(frozen=True)
class Registered:
    """A standing query that is registered; one of a family with parts has nothing but its number."""

    qid: int
    query: Standing


@dataclass(frozen=True)
class Entry(Registered):
    """A range or kNN query that is registered."""

    query: Query
    plan: Plan
    filter: int
    measure: int
    focal: int


@dataclass(frozen=True)
class Change:
    """A query that came or went."""

    entry: Registered
    comes: bool
    replaces: bool = False


class Catalogue:
    """Registered queries by name, and the named regions that queries to come will be bound to."""

    def __init__(self, space: Space, schema: Schema) -> None:
        self.space = space
        self.schema = schema
        self.queries: dict[str, Entry] = {}
        self.others: dict[str, Registered] = {}  # of families with parts
        self.filters: Numbers[Expr] = Numbers()
        self.measures: Numbers[None] = Numbers()
        self.focals: Numbers[None] = Numbers()
        self.regions: dict[str, Area] = {}
        self._next = 0
        self._sql: dict[int, str] = {}  # by qid, the text of queries that were saved once

    def apply(self, statement: Statement) -> list[Change]:
        """Act on a statement. One that makes no sense any more (a name that came or went meanwhile) changes nothing."""
        action = statement.action
        if isinstance(action, CreateRegion):
            self.regions[action.name] = action.area
        elif isinstance(action, Drop) and action.of_region:
            self.regions.pop(action.name, None)
        elif isinstance(action, Drop):
            return [self._drop(action.name)] if self._kind_of(action.name) == action.kind else []
        if not isinstance(action, Create):
            return []
        name, there = action.query.name, self._kind_of(action.query.name)
        if there is not None and (not action.replace or there != action.query.kind):
            return []
        changes = [self._drop(name)] if there else []
        changes.append(Change(self._enter(self._bound(action.query)), True, bool(changes)))
        return changes

    def all(self) -> list[Registered]:
        """Everything that is registered."""
        return [*self.queries.values(), *self.others.values()]

    def _kind_of(self, name: str) -> str | None:
        found = self.queries.get(name) or self.others.get(name)
        return None if found is None else found.query.kind

    def _bound(self, query: Standing) -> Standing:
        """The query with its named regions as they are at this tick: one may have been replaced while it waited."""

        def bound(place: Inside) -> Inside:
            area = None if place.region is None else self.regions.get(place.region.lower())
            return place if area is None or area is place.shape else replace(place, shape=area)

        return with_insides(query, bound)

    def _enter(self, query: Standing) -> Registered:
        number = self._next
        self._next += 1
        if not isinstance(query, Query):
            self.others[query.name] = Registered(number, query)
            return self.others[query.name]
        plan = plan_query(query, self.space, self.schema)
        condition = -1 if plan.condition is None else self.filters.take(print_expr(plan.condition), plan.condition)[0]
        measure = -1
        if plan.measure is not None and plan.measure not in ("x", "y"):
            measure = self.measures.take(plan.measure, None)[0]
        focal = -1 if plan.figure.focal is None else self.focals.take(plan.figure.focal, None)[0]
        entry = Entry(number, query, plan, condition, measure, focal)
        self.queries[query.name] = entry
        return entry

    def _drop(self, name: str) -> Change:
        if name in self.others:
            gone = self.others.pop(name)
            self._sql.pop(gone.qid, None)
            return Change(gone, False)
        entry = self.queries.pop(name)
        self._sql.pop(entry.qid, None)
        if entry.plan.condition is not None:
            self.filters.release(print_expr(entry.plan.condition))
        if entry.measure >= 0:
            self.measures.release(str(entry.plan.measure))
        if entry.plan.figure.focal is not None:
            self.focals.release(entry.plan.figure.focal)
        return Change(entry, False)

    def copy(self) -> Catalogue:
        """One that goes its own way from here; what never changes is shared."""
        other = Catalogue(self.space, self.schema)
        other.queries, other.regions, other._sql = dict(self.queries), dict(self.regions), dict(self._sql)
        other.others = dict(self.others)
        other.filters, other.measures, other.focals = self.filters.copy(), self.measures.copy(), self.focals.copy()
        other._next = self._next
        return other

    def dump(self) -> dict[str, Any]:
        """As plain data; queries as the SQL that would create them."""
        return {
            "next": self._next,
            "regions": [print_statement(Statement(CreateRegion(n, a)), self.space) for n, a in self.regions.items()],
            "queries": [[e.qid, self._text(e), e.filter, e.measure, e.focal] for e in self.queries.values()],
            "others": [[e.qid, self._text(e)] for e in self.others.values()],
            "free": [shared.free_numbers() for shared in (self.filters, self.measures, self.focals)],
        }

    def _text(self, entry: Registered) -> str:
        if entry.qid not in self._sql:
            self._sql[entry.qid] = print_query(entry.query, self.space)
        return self._sql[entry.qid]

    @classmethod
    def load(cls, space: Space, schema: Schema, data: dict[str, Any]) -> Catalogue:
        """The catalogue again."""
        self = cls(space, schema)
        self._next = data["next"]
        for sql in data["regions"]:
            self.apply(parse(sql, space=space)[0])
        for qid, sql, number, measure, focal in data["queries"]:
            query, plan = _planned(sql, space, schema)
            assert isinstance(query, Query)
            assert plan is not None
            self.queries[query.name] = Entry(qid, query, plan, number, measure, focal)
            self._sql[qid] = sql
            if plan.condition is not None:
                self.filters.adopt(print_expr(plan.condition), number, plan.condition)
            if measure >= 0:
                self.measures.adopt(str(plan.measure), measure, None)
            if plan.figure.focal is not None:
                self.focals.adopt(plan.figure.focal, focal, None)
        for qid, sql in data["others"]:
            query, _ = _planned(sql, space, schema)
            self.others[query.name] = Registered(qid, query)
            self._sql[qid] = sql
        self.filters.adopted(data["free"][0])
        self.measures.adopted(data["free"][1])
        self.focals.adopted(data["free"][2])
        return self


_known: dict[tuple[str, Space, Schema], tuple[Standing, Plan | None]] = {}  # by text; at most MOST_KNOWN of them


def _planned(sql: str, space: Space, schema: Schema) -> tuple[Standing, Plan | None]:
    """A query by its text. Remembered, because a catalogue that is loaded anew differs little from the last one."""
    found = _known.get((sql, space, schema))
    if found is None:
        action = parse(sql, space=space)[0].action
        assert isinstance(action, Create)
        found = _remember(sql, action.query, space, schema)
    return found


def remember(statements: Iterable[Statement], space: Space, schema: Schema) -> None:
    """Spare later loads the reading of these queries: to print one is far cheaper than to parse it."""
    for statement in statements:
        if isinstance(statement.action, Create):
            query = statement.action.query
            _remember(print_query(query, space), query, space, schema)


def _remember(sql: str, query: Standing, space: Space, schema: Schema) -> tuple[Standing, Plan | None]:
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    plan = plan_query(query, space, schema) if isinstance(query, Query) else None
    found = _known[sql, space, schema] = (query, plan)
    return found
