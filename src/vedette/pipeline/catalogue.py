"""The queries of a run: numbers for queries, filters, measures and focal objects, the same in every bucket.

In: statements in the order in which they act. Out: which query came and which went. Every TRACK bucket keeps a
catalogue of its own; because numbering follows the order of statements alone, all of them agree without a word.
What a dropped query leaves unused is given out again only after the batch: within a batch a number has one meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from vedette.families import Plan, plan_query, plan_reverse
from vedette.families.alerts import Placement
from vedette.lang import parse, print_expr, print_query, print_statement
from vedette.model import (
    Alert,
    Area,
    Combination,
    Create,
    CreateRegion,
    Drop,
    Expr,
    Inside,
    Query,
    Schema,
    Standing,
    Statement,
)
from vedette.model.alert import ReverseNearest
from vedette.model.formula import AllOf, AnyOf, Negation, distinct, fold
from vedette.model.places import with_insides
from vedette.model.plain import to_plain
from vedette.pipeline.setup import bucket_of
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
    bucket: int = -1  # the query bucket of a hidden one
    formula: Any = None  # of a combination: over the qids of its terms

    @property
    def is_hidden(self) -> bool:
        """Whether other queries are made of it, and nobody hears of it otherwise."""
        return self.bucket >= 0

    @property
    def is_term(self) -> bool:
        """Whether its members are what others are made of."""
        return self.is_hidden and self.plan.aggregate is None


@dataclass(frozen=True)
class Placed(Registered):
    """An alert that is registered: the query bucket where it lives, and the queries that count for it."""

    query: Alert
    shard: int
    counted_by: tuple[tuple[ReverseNearest, int], ...] = ()


HiddenKey: TypeAlias = "tuple[Any, Expr | None, int]"  # a term, the filter in front of it, a query bucket


@dataclass(frozen=True)
class Change:
    """A query that came or went."""

    entry: Registered
    comes: bool
    replaces: bool = False


class Catalogue:
    """Registered queries by name, and the named regions that queries to come will be bound to."""

    def __init__(self, space: Space, schema: Schema, buckets: int = 1) -> None:
        self.space = space
        self.schema = schema
        self.buckets = buckets
        self.queries: dict[str, Entry] = {}
        self.others: dict[str, Registered] = {}  # of families with parts
        self.filters: Numbers[Expr] = Numbers()
        self.measures: Numbers[None] = Numbers()
        self.focals: Numbers[None] = Numbers()
        self.regions: dict[str, Area] = {}
        self._hidden: dict[HiddenKey, Entry] = {}
        self._hidden_users: dict[HiddenKey, int] = {}
        self._placement = Placement(buckets)
        self._left: dict[str, int] = {}  # alerts that went at this tick: where they lived
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
            return self._drop(action.name) if self._kind_of(action.name) == action.kind else []
        if not isinstance(action, Create):
            return []
        name, there = action.query.name, self._kind_of(action.query.name)
        if there is not None and (not action.replace or there != action.query.kind):
            return []
        changes = self._drop(name) if there else []
        return [*changes, *self._enter(self._bound(action.query), bool(changes))]

    def begin(self) -> None:
        """Statements of another tick follow."""
        self._left.clear()

    def running(self) -> list[Entry]:
        """The queries that have a shape, hidden ones too."""
        return [e for e in (*self.queries.values(), *self._hidden.values()) if not e.plan.is_combined]

    @property
    def is_watching(self) -> bool:
        """Whether regions have any query to keep up to date."""
        return bool(self.queries or self._hidden)

    def is_there(self, entry: Entry) -> bool:
        """Whether a query still stands."""
        found = self._hidden.get(self._key_of(entry)) if entry.is_hidden else self.queries.get(entry.query.name)
        return found is entry

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

    # ---------------------------------------------------------------------------------------- come and go

    def _enter(self, query: Standing, replaces: bool) -> list[Change]:
        """A query comes, after the hidden ones that it is made of."""
        if isinstance(query, Alert):
            return self._enter_alert(query, replaces)
        if not isinstance(query, Query):
            number = self._take_number()
            self.others[query.name] = Registered(number, query)
            return [Change(self.others[query.name], True, replaces)]
        changes, number_of = self._use(self._keys(query, -1))
        formula = None
        if isinstance(query.where, Combination):
            formula = _renamed(query.where.formula, number_of)
        plan = plan_query(query, self.space, self.schema)
        self.queries[query.name] = self._entry(query, plan, formula=formula)
        return [*changes, Change(self.queries[query.name], True, replaces)]

    def _enter_alert(self, alert: Alert, replaces: bool) -> list[Change]:
        shard = self._left.get(alert.name)
        if shard is None:
            shard = self._placement.place(alert)
        self._placement.add(alert, shard)
        changes, number_of = self._use(self._keys(alert, shard))
        placed = Placed(self._take_number(), alert, shard, tuple(number_of.items()))
        self.others[alert.name] = placed
        return [*changes, Change(placed, True, replaces)]

    def _take_number(self) -> int:
        self._next += 1
        return self._next - 1

    def _entry(self, query: Query, plan: Plan, bucket: int = -1, formula: Any = None) -> Entry:
        condition = measure = focal = -1
        if plan.condition is not None and not plan.is_combined:
            condition = self.filters.take(print_expr(plan.condition), plan.condition)[0]
        if plan.measure is not None and plan.measure not in ("x", "y"):
            measure = self.measures.take(plan.measure, None)[0]
        if plan.figure.focal is not None:
            focal = self.focals.take(plan.figure.focal, None)[0]
        return Entry(self._take_number(), query, plan, condition, measure, focal, bucket, formula)

    def _drop(self, name: str) -> list[Change]:
        """A query goes, and with it the hidden ones that nobody else is made of."""
        if name in self.others:
            gone = self.others.pop(name)
            self._sql.pop(gone.qid, None)
            if isinstance(gone, Placed):
                self._left[name] = gone.shard
                self._placement.remove(gone.query, gone.shard)
                return [Change(gone, False), *self._leave(self._keys(gone.query, gone.shard))]
            return [Change(gone, False)]
        entry = self.queries.pop(name)
        self._sql.pop(entry.qid, None)
        self._release(entry)
        return [Change(entry, False), *self._leave(self._keys(entry.query, -1))]

    def _release(self, entry: Entry) -> None:
        if entry.filter >= 0:
            self.filters.release(print_expr(entry.plan.condition))  # type: ignore[arg-type]
        if entry.measure >= 0:
            self.measures.release(str(entry.plan.measure))
        if entry.plan.figure.focal is not None:
            self.focals.release(entry.plan.figure.focal)

    # ------------------------------------------------------------------------------------- hidden queries

    def _keys(self, query: Standing, shard: int) -> list[HiddenKey]:
        """The hidden queries that a query is made of."""
        if isinstance(query, Alert):
            return [(term, None, shard) for term in distinct(query.formula) if isinstance(term, ReverseNearest)]
        if isinstance(query, Query) and isinstance(query.where, Combination):
            bucket = bucket_of(query.name.encode(), self.buckets)
            return [(term, query.condition, bucket) for term in distinct(query.where.formula)]
        return []

    def _key_of(self, entry: Entry) -> HiddenKey:
        where = entry.query.where
        return (where.formula if isinstance(where, Combination) else where, entry.query.condition, entry.bucket)

    def _use(self, keys: list[HiddenKey]) -> tuple[list[Change], dict[Any, int]]:
        """One more user of each; those that are new come, and all have a number."""
        changes = []
        for key in keys:
            self._hidden_users[key] = self._hidden_users.get(key, 0) + 1
            if key not in self._hidden:
                self._hidden[key] = self._hide(key)
                changes.append(Change(self._hidden[key], True))
        return changes, {key[0]: self._hidden[key].qid for key in keys}

    def _hide(self, key: HiddenKey) -> Entry:
        term, condition, bucket = key
        name = f"#{self._next}"
        if isinstance(term, ReverseNearest):
            return self._entry(Query(name, Combination(term)), plan_reverse(term, self.space), bucket)
        query = Query(name, term, condition)
        return self._entry(query, plan_query(query, self.space, self.schema), bucket)

    def _leave(self, keys: list[HiddenKey]) -> list[Change]:
        changes = []
        for key in keys:
            self._hidden_users[key] -= 1
            if not self._hidden_users[key]:
                del self._hidden_users[key]
                gone = self._hidden.pop(key)
                self._release(gone)
                changes.append(Change(gone, False))
        return changes

    # ------------------------------------------------------------------------------------ save and load

    def copy(self) -> Catalogue:
        """One that goes its own way from here; what never changes is shared."""
        other = Catalogue(self.space, self.schema, self.buckets)
        other.queries, other.regions, other._sql = dict(self.queries), dict(self.regions), dict(self._sql)
        other.others = dict(self.others)
        other._hidden, other._hidden_users = dict(self._hidden), dict(self._hidden_users)
        other._placement = self._placement.copy()
        other.filters, other.measures, other.focals = self.filters.copy(), self.measures.copy(), self.focals.copy()
        other._next = self._next
        return other

    def dump(self) -> dict[str, Any]:
        """As plain data; queries as the SQL that would create them."""
        return {
            "next": self._next,
            "regions": [print_statement(Statement(CreateRegion(n, a)), self.space) for n, a in self.regions.items()],
            "queries": [[e.qid, self._text(e), e.filter, e.measure, e.focal] for e in self.queries.values()],
            "others": [[e.qid, self._text(e), e.shard if isinstance(e, Placed) else -1] for e in self.others.values()],
            "hidden": {_text_of(key): [e.qid, e.filter, e.focal] for key, e in self._hidden.items()},
            "free": [shared.free_numbers() for shared in (self.filters, self.measures, self.focals)],
        }

    def _text(self, entry: Registered) -> str:
        if entry.qid not in self._sql:
            self._sql[entry.qid] = print_query(entry.query, self.space)
        return self._sql[entry.qid]

    @classmethod
    def load(cls, space: Space, schema: Schema, data: dict[str, Any], buckets: int = 1) -> Catalogue:
        """The catalogue again."""
        self = cls(space, schema, buckets)
        self._next = data["next"]
        for sql in data["regions"]:
            self.apply(parse(sql, space=space)[0])
        for qid, sql, number, measure, focal in data["queries"]:
            query, plan = _planned(sql, space, schema)
            assert isinstance(query, Query)
            assert plan is not None
            self.queries[query.name] = self._adopt(Entry(qid, query, plan, number, measure, focal))
            self._sql[qid] = sql
        for qid, sql, shard in data["others"]:
            query, _ = _planned(sql, space, schema)
            self.others[query.name] = Registered(qid, query)
            if isinstance(query, Alert):
                self.others[query.name] = Placed(qid, query, shard)
                self._placement.add(query, shard)
            self._sql[qid] = sql
        self._load_hidden(data["hidden"])
        self.filters.adopted(data["free"][0])
        self.measures.adopted(data["free"][1])
        self.focals.adopted(data["free"][2])
        return self

    def _adopt(self, entry: Entry) -> Entry:
        if entry.filter >= 0:
            assert entry.plan.condition is not None
            self.filters.adopt(print_expr(entry.plan.condition), entry.filter, entry.plan.condition)
        if entry.measure >= 0:
            self.measures.adopt(str(entry.plan.measure), entry.measure, None)
        if entry.plan.figure.focal is not None:
            self.focals.adopt(entry.plan.figure.focal, entry.focal, None)
        return entry

    def _load_hidden(self, numbers: dict[str, list[Any]]) -> None:
        """The hidden queries again, by the keys of those that are made of them, and their numbers."""
        for owner in self.all():
            keys = self._keys(owner.query, owner.shard if isinstance(owner, Placed) else -1)
            for key in keys:
                self._hidden_users[key] = self._hidden_users.get(key, 0) + 1
                if key not in self._hidden:
                    term, condition, bucket = key
                    qid, number, focal = numbers[_text_of(key)]
                    if isinstance(term, ReverseNearest):
                        query, plan = Query(f"#{qid}", Combination(term)), plan_reverse(term, self.space)
                    else:
                        query = Query(f"#{qid}", term, condition)
                        plan = plan_query(query, self.space, self.schema)
                    self._hidden[key] = self._adopt(Entry(qid, query, plan, number, -1, focal, bucket))
            number_of = {key[0]: self._hidden[key].qid for key in keys}
            if isinstance(owner, Placed):
                self.others[owner.query.name] = replace(owner, counted_by=tuple(number_of.items()))
            elif isinstance(owner, Entry) and isinstance(owner.query.where, Combination):
                formula = _renamed(owner.query.where.formula, number_of)
                self.queries[owner.query.name] = replace(owner, formula=formula)


def _renamed(formula: Any, number_of: dict[Any, int]) -> Any:
    """The formula over numbers in the place of terms."""
    return fold(
        formula,
        number_of.__getitem__,
        lambda parts: AllOf(tuple(parts)),
        lambda parts: AnyOf(tuple(parts)),
        Negation,
    )


def _text_of(key: HiddenKey) -> str:
    term, condition, bucket = key
    nameless = with_insides(term, lambda place: replace(place, region=None))
    return json.dumps([to_plain(nameless), None if condition is None else print_expr(condition), bucket])


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
