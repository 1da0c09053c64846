"""State in pages: what is written, what is read back, and when a kept station may be used."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pytest

import vedette as vd
from vedette.pipeline.cellar import Cellar
from vedette.runtime.spark import processor
from vedette.runtime.spark.keys import key_values
from vedette.runtime.spark.processor import PAGE_BYTES, StageProcessor


class Store:
    """State variables of one key, as Spark has them, that count writes and reads."""

    def __init__(self) -> None:
        self.head: tuple[str] | None = None
        self.pages: dict[str, bytes] = {}
        self.written: list[str] = []
        self.read: list[str] = []
        self.task = 0

    def getValueState(self, name: str, schema: str) -> Any:  # noqa: N802 (Spark's names)
        store = self

        class Head:
            def exists(self) -> bool:
                return store.head is not None

            def get(self) -> tuple[str] | None:
                return store.head

            def update(self, value: tuple[str]) -> None:
                store.head = value

        return Head()

    def getMapState(self, name: str, key: str, value: str) -> Any:  # noqa: N802
        store, task = self, self.task

        class Pages:
            def getValue(self, key: tuple[str]) -> tuple[bytes] | None:  # noqa: N802
                assert task == store.task, "the task is over"
                store.read.append(key[0])
                return (store.pages[key[0]],) if key[0] in store.pages else None

            def updateValue(self, key: tuple[str], value: tuple[bytes]) -> None:  # noqa: N802
                assert task == store.task, "the task is over"
                store.pages[key[0]] = value[0]
                store.written.append(key[0])

            def containsKey(self, key: tuple[str]) -> bool:  # noqa: N802
                return key[0] in store.pages

            def removeKey(self, key: tuple[str]) -> None:  # noqa: N802
                del store.pages[key[0]]

        return Pages()


class Notebook:
    """A station whose state is what it was told last, and a value in its cellar; `load`s are counted."""

    loads = 0
    is_final = False
    cellar: Cellar

    def __init__(self, brief: Any, key: int) -> None:
        self.sections: dict[str, bytes] = {"text": b""}

    def load(self, sections: dict[str, bytes]) -> None:
        Notebook.loads += 1
        self.sections = dict(sections)

    def save(self) -> dict[str, bytes]:
        return self.sections

    def step(self, parcels: Iterable[tuple[str, bytes]]) -> list[tuple[int, str, bytes]]:
        told = [(0, "was", self.sections["text"])]
        for kind, payload in parcels:
            self.is_final = kind == "end"
            if kind == "text":
                self.sections = {"text": payload}
            elif kind == "put":
                self.cellar.put("x", payload)
            elif kind == "get":
                told = [(0, "is", self.cellar.get("x"))]
            elif kind == "drop":
                self.cellar.drop("x")
            elif kind == "fail":
                self.cellar.put("y", payload)
                raise RuntimeError("the task fails")
        return told


class _Brief:
    run = "a run"


@pytest.fixture
def store() -> Store:
    processor._kept.clear()
    Notebook.loads = 0
    return Store()


def tell(store: Store, payload: bytes, kind: str = "text") -> bytes:
    """One batch in a new task; what the station knew before."""
    store.task += 1
    stage = StageProcessor("track", _Brief(), Notebook)  # type: ignore[arg-type]
    stage.init(store)  # type: ignore[arg-type]
    frame = pd.DataFrame({"kind": [kind], "payload": [payload]})
    (out,) = stage.handleInputRows((key_values()[0],), iter([frame]), None)
    stage.close()
    was: bytes = out["payload"][0]
    return was


def test_example_only_pages_that_differ_are_written(store: Store) -> None:
    text = bytearray(b"a" * (3 * PAGE_BYTES + 5))
    tell(store, bytes(text))
    assert store.written == ["text/0", "text/1", "text/2", "text/3"]
    store.written.clear()
    text[PAGE_BYTES] = ord("b")
    assert len(tell(store, bytes(text))) == len(text)
    assert store.written == ["text/1"]
    tell(store, b"short")
    assert list(store.pages) == ["text/0"]
    assert Notebook.loads == 0  # one process, one lineage: the kept station was right each time


def test_example_a_batch_that_is_run_again_starts_from_the_state_store(store: Store) -> None:
    tell(store, b"one")
    before = (store.head, dict(store.pages))
    tell(store, b"two")  # ... and the batch fails elsewhere: Spark goes back to the version before
    store.head, store.pages = before
    assert tell(store, b"two again") == b"one"
    assert Notebook.loads == 1


def test_example_a_worker_that_missed_a_batch_reads_the_state(store: Store) -> None:
    tell(store, b"one")
    here = dict(processor._kept)
    processor._kept.clear()  # another worker takes the next batch
    assert tell(store, b"two") == b"one"
    processor._kept.clear()
    processor._kept.update(here)
    assert tell(store, b"three") == b"two"
    assert Notebook.loads == 2


def test_example_the_end_is_not_kept(store: Store) -> None:
    tell(store, b"one")
    assert tell(store, b"", "end") == b"one"
    assert tell(store, b"two") == b"one"


@pytest.mark.parametrize("length", [0, 1, PAGE_BYTES - 9, PAGE_BYTES - 8, PAGE_BYTES - 7, 3 * PAGE_BYTES - 8])
def test_example_values_of_a_cellar_in_pieces(store: Store, length: int) -> None:
    value = random.Random(length).randbytes(length)
    tell(store, b"one")
    tell(store, value, "put")
    pieces = [name for name in store.pages if name.startswith("cellar/")]
    assert len(pieces) == -(-(length + 8) // PAGE_BYTES)
    assert tell(store, b"", "get") == value
    store.read.clear()
    tell(store, b"", "drop")
    assert store.read == []
    assert list(store.pages) == ["text/0"]
    with pytest.raises(vd.StateError, match="incomplete"):
        tell(store, b"", "get")


def test_example_a_cellar_is_read_when_it_is_asked_for(store: Store) -> None:
    """Neither when the station is restored, nor when it is saved; and it is found by whoever has the station now."""
    tell(store, b"one")
    tell(store, b"a value", "put")
    for kept in (True, False):
        if not kept:
            processor._kept.clear()
        store.read.clear()
        tell(store, b"two")
        assert [name for name in store.read if name.startswith("cellar/")] == []
        assert tell(store, b"", "get") == b"a value"
        assert [name for name in store.read if name.startswith("cellar/")] == ["cellar/x/0"]


def test_example_a_step_that_fails_leaves_nothing_in_the_cellar(store: Store) -> None:
    """Spark drops what the task has written; the station is not kept, and the value can be put again."""
    tell(store, b"one")
    before = (store.head, dict(store.pages))
    with pytest.raises(RuntimeError):
        tell(store, b"half", "fail")
    store.head, store.pages = before[0], dict(before[1])
    assert not processor._kept
    tell(store, b"whole", "put")
    assert tell(store, b"", "get") == b"whole"
    assert Notebook.loads == 1


def test_example_a_station_that_has_only_used_its_cellar_is_another(store: Store) -> None:
    """A batch that only puts a value is undone: whoever kept the station after it does not know what is there."""
    tell(store, b"one")
    before = (store.head, dict(store.pages))
    tell(store, b"a value", "put")
    assert store.head != before[0]
    store.head, store.pages = before
    tell(store, b"two")
    assert Notebook.loads == 1


def test_example_a_state_with_a_page_missing_or_of_another_format_is_refused(store: Store) -> None:
    tell(store, b"a" * (2 * PAGE_BYTES))
    processor._kept.clear()
    del store.pages["text/1"]
    with pytest.raises(vd.StateError, match="incomplete"):
        tell(store, b"b")
    assert store.head is not None
    store.head = (json.dumps(json.loads(store.head[0]) | {"format": 99}),)
    with pytest.raises(vd.StateError, match="format 99"):
        tell(store, b"b")
