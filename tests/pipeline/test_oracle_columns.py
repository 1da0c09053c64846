"""Columns that grow and are swept, against dictionaries."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vedette.pipeline.last_rows import LastRows
from vedette.pipeline.names import Names

SLOTS = 6
EMPTY = {"type": pa.array([], pa.string()), "load": pa.array([], pa.int64())}
Steps = list[tuple[dict[int, tuple[str | None, int | None]], set[int]]]
STEPS = st.lists(
    st.tuples(
        st.dictionaries(
            st.integers(0, SLOTS - 1),
            st.tuples(st.none() | st.sampled_from(["a", "é", ""]), st.none() | st.integers(0, 9)),
        ),
        st.sets(st.integers(0, SLOTS + 3)),
    ),
    max_size=8,
)


def put(rows: LastRows, slots: list[int], values: list[tuple[str | None, int | None]]) -> None:
    columns = {
        "type": pa.array([v[0] for v in values], pa.string()),
        "load": pa.array([v[1] for v in values], pa.int64()),
    }
    rows.put(np.array(slots, np.int64), columns)


def held(rows: LastRows, slots: int) -> list[tuple[str | None, int | None]]:
    columns = rows.get(np.arange(slots))
    assert list(columns) == list(EMPTY)
    return list(zip(columns["type"].to_pylist(), columns["load"].to_pylist(), strict=True))


@given(STEPS)
def test_oracle_last_rows_are_a_dict(steps: Steps) -> None:
    rows = LastRows(EMPTY)
    known: dict[int, tuple[str | None, int | None]] = {}
    for new, gone in steps:
        put(rows, list(new), list(new.values()))
        rows.drop(np.array(sorted(gone), np.int64))
        known = {slot: row for slot, row in (known | new).items() if slot not in gone}
        assert held(rows, SLOTS + 4) == [known.get(slot, (None, None)) for slot in range(SLOTS + 4)]


def test_oracle_last_rows_are_swept() -> None:
    """However long it goes on, what is kept stays in proportion to what is live, and is right."""
    rng = np.random.default_rng(3)
    rows = LastRows(EMPTY)
    known: dict[int, tuple[str | None, int | None]] = {}
    for step in range(120):
        slots = rng.choice(200, 100, replace=False).tolist()
        new = {slot: (str(step), slot + step) for slot in slots}
        put(rows, slots, list(new.values()))
        known |= new
        gone = rng.choice(200, 30, replace=False)
        rows.drop(gone)
        known = {slot: row for slot, row in known.items() if slot not in set(gone.tolist())}
        assert rows._length <= 4 * 200 + 4096
        if step % 10 == 0:
            assert held(rows, 200) == [known.get(slot, (None, None)) for slot in range(200)]
    assert rows._length < 12_000  # it was swept


def test_example_no_attributes_at_all() -> None:
    rows = LastRows({})
    rows.put(np.array([5]), {})
    rows.drop(np.array([5]))
    assert rows.get(np.array([5])) == {}


@pytest.mark.parametrize("kind", [pa.string(), pa.int64()], ids=str)
def test_oracle_names_are_swept(kind: pa.DataType) -> None:
    rng = np.random.default_rng(4)
    names, refs, truth = Names(kind), np.zeros(0, np.int64), []
    swept = 0
    for step in range(60):
        new = [str(1000 * step + n) if kind == pa.string() else 1000 * step + n for n in range(200)]
        first = names.append(pa.array(new, kind))
        refs = np.concatenate((refs, first + np.arange(200)))
        truth += new
        stays = np.sort(rng.choice(len(refs), 150, replace=False))
        refs, truth = refs[stays], [truth[i] for i in stays.tolist()]
        assert names.get(refs).to_pylist() == truth
        if names.is_worth_sweeping(len(refs)):
            names.sweep(refs)
            swept += 1
            refs = np.arange(len(refs))
        assert names.get(refs).to_pylist() == truth
        assert names.get(refs).type == kind
    assert swept >= 2


def test_example_sweeping_waits_until_it_is_worth_it() -> None:
    names = Names(pa.string())
    names.append(pa.array(["a"] * 4095))
    assert not names.is_worth_sweeping(0)
    assert names.append(pa.array([], pa.string())) == 4095
    names.append(pa.array(["b", "b"]))
    assert names.is_worth_sweeping(0)
    names.sweep(np.zeros(0, np.int64))
    assert names.append(pa.array(["c"])) == 0
