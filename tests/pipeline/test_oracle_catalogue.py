"""Numbers of queries, filters, measures and focals: shared, small, and one meaning each within a batch."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from vedette.lang import parse
from vedette.model import Drop, Schema, Statement
from vedette.pipeline.catalogue import Catalogue, Change, Entry, Numbers
from vedette.space import planar

SPACE = planar()
SCHEMA = Schema("string", "long", (("speed", "double"), ("load", "long")))
KEYS = "abcd"


@given(st.lists(st.lists(st.tuples(st.sampled_from("+-"), st.sampled_from(KEYS)), max_size=8), max_size=6))
def test_oracle_numbers(batches: list[list[tuple[str, str]]]) -> None:
    numbers: Numbers[str] = Numbers()
    users = dict.fromkeys(KEYS, 0)
    known: dict[str, int] = {}  # numbers as of this batch, those of unused things included
    taken = 0
    for batch in batches:
        for op, key in batch:
            if op == "+":
                number, is_new = numbers.take(key, key.upper())
                assert is_new == (key not in known)
                assert known.setdefault(key, number) == number
                taken += is_new
                users[key] += 1
            elif users[key]:
                numbers.release(key)
                users[key] -= 1
            assert len(set(known.values())) == len(known)  # nothing is given out twice within a batch
            assert numbers.items == {key: (number, key.upper()) for key, number in known.items()}
            assert numbers.ever_taken() == taken
            assert all(number < numbers.span for number in known.values())
            assert numbers.span <= len(KEYS)
        freed = sorted(known.pop(key) for key in list(known) if not users[key])
        assert sorted(numbers.forget_unused()) == freed


def statements(sql: str) -> list[Statement]:
    return parse(sql, space=SPACE)


def create(name: str, *, where: str = "", select: str = "oid", place: str = "INSIDE (0, 0, 1, 1)") -> str:
    return f"CREATE QUERY {name} AS SELECT {select} FROM objects {where} {place};"


def apply(catalogue: Catalogue, sql: str) -> list[Change]:
    return [change for statement in statements(sql) for change in catalogue.apply(statement)]


def drop(name: str) -> Statement:
    return Statement(Drop("QUERY", name))


def end_batch(catalogue: Catalogue) -> list[list[int]]:
    return [numbers.forget_unused() for numbers in (catalogue.filters, catalogue.measures, catalogue.focals)]


def test_example_queries_share_filters_measures_and_focals() -> None:
    catalogue = Catalogue(SPACE, SCHEMA)
    apply(catalogue, create("q1", where="WHERE speed > 1", select="SUM(load)", place="INSIDE CIRCLE (1) AROUND bus"))
    apply(catalogue, create("q2", where="WHERE load = 2", select="MAX(speed)", place="KNN 2 AROUND cab"))
    apply(catalogue, create("q3", where="WHERE speed  >  1", select="AVG(load)", place="KNN 3 AROUND bus"))
    apply(catalogue, create("q4", select="SUM(x)"))
    assert [(e.qid, e.filter, e.measure, e.focal) for e in catalogue.queries.values()] == [
        (0, 0, 0, 0),
        (1, 1, 1, 1),
        (2, 0, 0, 0),
        (3, -1, -1, -1),
    ]


def test_example_a_number_is_used_again_only_after_the_batch() -> None:
    catalogue = Catalogue(SPACE, SCHEMA)
    apply(catalogue, create("q1", where="WHERE speed > 1") + create("q2", where="WHERE speed > 2"))
    catalogue.apply(drop("q1"))
    apply(catalogue, create("q3", where="WHERE speed > 3"))
    assert catalogue.queries["q3"].filter == 2
    assert end_batch(catalogue) == [[0], [], []]
    apply(catalogue, create("q4", where="WHERE speed > 4"))
    assert catalogue.queries["q4"].filter == 0


def test_example_dropped_and_wanted_again_in_one_batch() -> None:
    catalogue = Catalogue(SPACE, SCHEMA)
    apply(catalogue, create("q1", where="WHERE speed > 1"))
    end_batch(catalogue)
    catalogue.apply(drop("q1"))
    apply(catalogue, create("q2", where="WHERE speed > 1"))
    assert end_batch(catalogue) == [[], [], []]
    assert catalogue.queries["q2"].filter == 0
    assert catalogue.queries["q2"].qid == 1


def test_example_statements_without_effect() -> None:
    """A name that came or went meanwhile."""
    catalogue = Catalogue(SPACE, SCHEMA)
    assert [change.comes for change in apply(catalogue, create("q1"))] == [True]
    (again,) = statements(create("q2"))
    assert [len(catalogue.apply(statement)) for statement in (drop("q1"), drop("q1"), again, again)] == [1, 0, 1, 0]
    assert [entry.qid for entry in catalogue.queries.values()] == [1]


def test_example_replace_is_a_drop_and_a_create() -> None:
    catalogue = Catalogue(SPACE, SCHEMA)
    apply(catalogue, create("q1", where="WHERE speed > 1"))
    changes = apply(catalogue, create("q1", where="WHERE load = 1").replace("CREATE", "CREATE OR REPLACE"))
    assert [(c.entry.qid, c.comes, c.replaces) for c in changes] == [(0, False, False), (1, True, True)]
    entries = [c.entry for c in changes if isinstance(c.entry, Entry)]
    assert [(entry.filter, catalogue.queries["q1"].qid) for entry in entries] == [(0, 1), (1, 1)]


FILTERS = st.sampled_from(["", "WHERE speed > 1", "WHERE load = 2", "WHERE speed > 1 AND load < 3"])
SELECTS = st.sampled_from(["oid", "COUNT(*)", "SUM(load)", "MIN(speed)", "MAX(y)"])
PLACES = st.sampled_from(["INSIDE (0, 0, 1, 1)", "INSIDE CIRCLE (1) AROUND bus", "KNN (2, 1, 1)", "KNN 2 AROUND cab"])


@given(
    st.lists(
        st.tuples(st.sampled_from(["create", "drop", "batch", "save"]), st.integers(0, 3), FILTERS, SELECTS, PLACES),
        max_size=14,
    )
)
def test_agrees_saved_and_loaded(steps: list[tuple[str, int, str, str, str]]) -> None:
    """A catalogue that is saved and loaded after a batch gives the same numbers as one that never was."""
    kept, loaded = Catalogue(SPACE, SCHEMA), Catalogue(SPACE, SCHEMA)
    for step, n, where, select, place in steps:
        if step in ("create", "drop"):
            sql = create(f"q{n}", where=where, select=select, place=place).replace("CREATE", "CREATE OR REPLACE")
            statement = drop(f"q{n}") if step == "drop" else statements(sql)[0]
            assert kept.apply(statement) == loaded.apply(statement)
        else:
            assert end_batch(kept) == end_batch(loaded)
            if step == "save":
                loaded = Catalogue.load(SPACE, SCHEMA, json.loads(json.dumps(loaded.dump())))
        assert kept.dump() == loaded.dump()
        assert kept.filters.items == loaded.filters.items
        assert kept.measures.items == loaded.measures.items
        assert kept.focals.items == loaded.focals.items
