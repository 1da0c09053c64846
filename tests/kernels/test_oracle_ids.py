"""The hash table of ids is a dict of bytes; its hash is for ever."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vedette.kernels.ids import IdTable, bucket_of_ids, hashes_of

KEYS = st.sampled_from([b"", b"\0", b"\0\0", b"a", b"aa", b"\xff" * 9, b"a" * 400]) | st.binary(max_size=2)


def packed(keys: list[bytes]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    offsets = np.zeros(len(keys) + 1, np.int64)
    offsets[1:] = np.cumsum([len(key) for key in keys])
    return offsets, np.frombuffer(b"".join(keys) or b"\0", np.uint8)


def unpacked(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> list[bytes]:
    return [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]


def assert_same(table: IdTable, known: dict[bytes, int], others: list[bytes]) -> None:
    """The table holds these ids in these slots, and no others."""
    assert len(table) == len(known) == len(set(known.values()))
    keys = [*known, *others]
    assert table.find(*packed(keys)).tolist() == [known.get(key, -1) for key in keys]
    slots = np.array(list(known.values()), np.int32)
    assert unpacked(*table.bytes_of(slots)) == list(known)
    assert set(np.flatnonzero(table.is_live(table.span)).tolist()) == set(known.values())
    assert all(slot < table.span for slot in known.values())


@given(st.lists(st.tuples(st.lists(KEYS, max_size=30), st.sets(st.integers(0, 30))), max_size=8), st.booleans())
def test_oracle_id_table_is_a_dict(steps: list[tuple[list[bytes], set[int]]], is_tiny: bool) -> None:
    table = IdTable(1 if is_tiny else 64)
    known: dict[bytes, int] = {}
    for added, gone in steps:
        for key, slot in zip(added, table.add(*packed(added)).tolist(), strict=True):
            assert known.setdefault(key, slot) == slot
        keys = list(known)
        leaving = [keys[i] for i in gone if i < len(keys)]
        table.free(np.array([known.pop(key) for key in leaving], np.int32))
        assert_same(table, known, leaving)


@given(
    st.dictionaries(KEYS, st.integers(0, 200), max_size=20).filter(lambda d: len(set(d.values())) == len(d)),
    st.lists(KEYS, max_size=20),
)
def test_oracle_restored_id_table_goes_on(known: dict[bytes, int], more: list[bytes]) -> None:
    table = IdTable()
    slots = np.array(list(known.values()), np.int32)
    free = np.setdiff1d(np.arange(max(known.values(), default=-1) + 1, dtype=np.int32), slots)
    table.restore(slots, *packed(list(known)), free)
    assert_same(table, known, [key for key in more if key not in known])
    for key, slot in zip(more, table.add(*packed(more)).tolist(), strict=True):
        assert known.setdefault(key, slot) == slot
    assert_same(table, known, [])


@given(
    st.lists(st.tuples(st.lists(KEYS, max_size=20), st.sets(st.integers(0, 20)), st.booleans()), max_size=6), st.data()
)
def test_agrees_slots_do_not_depend_on_row_order_or_restoring(
    steps: list[tuple[list[bytes], set[int], bool]], data: st.DataObject
) -> None:
    """One table gets the rows as they are, the other in another order, with repeats, and is restored at times."""
    kept, other = IdTable(1), IdTable()
    known: dict[bytes, int] = {}
    for added, gone, is_restored in steps:
        repeated = added + (data.draw(st.lists(st.sampled_from(added), max_size=5)) if added else [])
        shuffled = data.draw(st.permutations(repeated))
        known |= dict(zip(added, kept.add(*packed(added)).tolist(), strict=True))
        assert other.add(*packed(shuffled)).tolist() == [known[key] for key in shuffled]
        leaving = [key for n, key in enumerate(sorted(known)) if n in gone]
        slots = np.array([known.pop(key) for key in leaving], np.int32)
        kept.free(slots)
        other.free(slots)
        if is_restored:
            live = np.flatnonzero(other.is_live(other.span)).astype(np.int32)
            saved = (live, *other.bytes_of(live), other.free_slots())
            other = IdTable()
            other.restore(*saved)
        for table in (kept, other):
            assert_same(table, known, leaving)
        assert kept.span == other.span


def test_example_new_ids_are_numbered_in_the_order_of_their_bytes() -> None:
    table = IdTable()
    assert table.add(*packed([b"b", b"", b"ab", b"b", b"a", b"\xff"])).tolist() == [3, 0, 2, 3, 1, 4]
    table.free(np.array([3, 1], np.int32))
    assert table.add(*packed([b"z", b"ab", b"c", b"x"])).tolist() == [5, 2, 1, 3]


def test_example_many_ids_come_and_go() -> None:
    """Long probe chains, growth of slots and of key bytes, sweeping of old key bytes."""
    rng = np.random.default_rng(1)
    table = IdTable(4)
    known: dict[bytes, int] = {}
    for _ in range(60):
        keys = [b"k%d" % n * (1 + n % 3) for n in rng.integers(0, 400, 50).tolist()]
        for key, slot in zip(keys, table.add(*packed(keys)).tolist(), strict=True):
            assert known.setdefault(key, slot) == slot
        gone = [key for n, key in enumerate(known) if n % 3 == 0]
        table.free(np.array([known.pop(key) for key in gone], np.int32))
        assert_same(table, known, gone)
    assert table.span < 400


def slow_hash(key: bytes) -> int:
    h = 14695981039346656037
    for byte in key:
        h = (h ^ byte) * 1099511628211 % 2**64
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD % 2**64
    return h ^ h >> 33


@given(st.lists(st.binary(max_size=20), max_size=10), st.integers(1, 64))
def test_oracle_hash(keys: list[bytes], buckets: int) -> None:
    offsets, data = packed(keys)
    assert hashes_of(offsets, data).tolist() == [slow_hash(key) for key in keys]
    assert bucket_of_ids(offsets, data, buckets).tolist() == [slow_hash(key) % buckets for key in keys]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"", 0xECBA3DF2C3383C52),
        (b"a", 0xED8170DE1919A24D),
        ("é".encode(), 0x7D53F00F9E4AA91D),
        (b"cab-1042", 0x42410BDD282E1258),
        ((42).to_bytes(8, "little"), 0xD0BB11C1574A2CF2),
        ((-1).to_bytes(8, "little", signed=True), 0xA1233FFA670E9EE5),
    ],
)
def test_example_hash_never_changes(key: bytes, expected: int) -> None:
    """Saved states and the homes of objects depend on these numbers."""
    offsets, data = packed([key])
    assert hashes_of(offsets, data).tolist() == [expected]
    assert bucket_of_ids(offsets, data, 1000).tolist() == [expected % 1000]
