"""Source to sink with an engine that only remembers: parts, checkpoints, and a kill at every possible moment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pytest

from vedette.connectors import Checkpoint, FileSource, PartFiles, replay
from vedette.connectors.protocol import Outcome
from vedette.errors import ConfigError, StateError

SCHEMA = pa.schema([("query", pa.string()), ("t", pa.int64()), ("seen", pa.list_(pa.int64()))])


@dataclass(frozen=True)
class Kept:
    changes: pa.Table
    late: pa.Table
    rejects: pa.Table


class Echo:
    """An engine whose changes are the greatest t so far, one micro-batch later; its state is that number."""

    def __init__(self, state: bytes | None) -> None:
        self.greatest = int(state or b"-1")
        self.last: Kept = self._kept([])

    @property
    def totals(self) -> dict[str, Any]:
        return {"greatest": self.greatest}

    def feed(self, batch: pa.Table) -> pa.Table:
        self.last = self._kept([self.greatest] if self.greatest % 2 else [])
        self.greatest = max(self.greatest, *batch["t"].to_pylist())
        return self.last.changes

    def finish(self) -> pa.Table:
        self.last = self._kept([self.greatest])
        return self.last.changes

    def save(self) -> bytes:
        return str(self.greatest).encode()

    @staticmethod
    def _kept(values: list[int]) -> Kept:
        table = pa.table([["q"] * len(values), values, [[v] for v in values]], schema=SCHEMA)
        return Kept(table, table.slice(0, 0), table.slice(0, 0))


class KilledError(Exception):
    pass


def make_input(folder: Path, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        t = 3 * number
        (folder / f"{number}.csv").write_text(f"oid,t,x,y\n1,{t},0,0\n2,{t + 1},0,0\n3,{t + 2},0,0\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_example_parts_are_readable_folders(tmp_path: Path, kind: Any) -> None:
    source = FileSource(make_input(tmp_path / "in", 4))
    replay(source, Echo, PartFiles(tmp_path / "out", kind))
    folder = tmp_path / "out" / "changes"
    names = sorted(p.name for p in folder.iterdir())
    assert names == [f"part-0000{n}.{kind}" for n in (0, 2, "4.end")]  # 1 and 3 changed nothing
    if kind != "json":
        table = ds.dataset(folder, format=kind).to_table()
        assert table.schema.names == ["query", "t", "seen"]
        assert max(table["t"].to_pylist()) == 11
        assert ds.dataset(tmp_path / "out" / "late", format=kind).to_table().num_rows == 0
    else:
        assert (folder / "part-00004.end.json").read_text() == '{"query": "q", "t": 11, "seen": [11]}\n'
        assert (tmp_path / "out" / "late" / "part-00000.json").read_text() == ""


def test_example_lists_are_json_in_csv(tmp_path: Path) -> None:
    replay(FileSource(make_input(tmp_path / "in", 1)), Echo, PartFiles(tmp_path / "out", "csv"))
    assert pyarrow.csv.read_csv(tmp_path / "out/changes/part-00001.end.csv")["seen"].to_pylist() == ["[2]"]


def test_example_a_full_folder_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty"):
        PartFiles(tmp_path)
    sink = PartFiles(tmp_path, overwrite=True)
    replay(FileSource(make_input(tmp_path / "in", 2)), Echo, sink)
    before = contents(tmp_path)
    replay(FileSource(tmp_path / "in"), Echo, PartFiles(tmp_path, overwrite=True))
    assert contents(tmp_path) == before
    assert (tmp_path / "notes.txt").read_text() == "mine"
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is a file"):
        PartFiles(tmp_path / "file")


@pytest.mark.parametrize("batch_rows", [None, 2])
def test_recovers_from_a_kill_at_any_moment(tmp_path: Path, batch_rows: int | None) -> None:
    data = make_input(tmp_path / "in", 5)

    def source() -> FileSource:
        return FileSource(data, batch_files=2, batch_rows=batch_rows)

    replay(source(), Echo, PartFiles(tmp_path / "want"))
    want = contents(tmp_path / "want")
    moments = 0
    for where in ("feed", "write", "save"):
        for when in range(1, 10):
            out, place = tmp_path / f"{where}{when}", tmp_path / f"{where}{when}-cp"
            if not _killed(source(), out, place, where, when):
                break
            moments += 1
            checkpoint = Checkpoint(place, {"a": 1})
            assert checkpoint.exists()
            checkpoint.load(source().identity)
            replay(source(), Echo, PartFiles(out, fresh=False), checkpoint)
            assert contents(out) == want
    assert moments >= 9


def _killed(source: FileSource, out: Path, place: Path, where: str, when: int) -> bool:
    """Run until the when-th call of `feed`, `write` or `save` has just happened; False if the run ended before."""
    left = when

    def count(name: str) -> None:
        nonlocal left
        left -= name == where
        if left == 0 and name == where:
            raise KilledError

    class Run(Echo):
        def feed(self, batch: pa.Table) -> pa.Table:
            super().feed(batch)
            count("feed")
            return self.last.changes

    class Parts(PartFiles):
        def write(self, number: int, outcome: Outcome, *, is_end: bool = False) -> None:
            super().write(number, outcome, is_end=is_end)
            count("write")

    class Point(Checkpoint):
        def save(self, *args: Any) -> None:
            super().save(*args)
            count("save")

    try:
        replay(source, Run, Parts(out), Point(place, {"a": 1}))
    except KilledError:
        return True
    return False


def test_recovers_and_goes_on_when_files_are_added(tmp_path: Path) -> None:
    data, place = make_input(tmp_path / "in", 3), tmp_path / "cp"
    replay(FileSource(data, batch_files=2), Echo, PartFiles(tmp_path / "out"), Checkpoint(place, {}))
    make_input(data, 5)
    later = FileSource(data, batch_files=2)
    checkpoint = Checkpoint(place, {})
    checkpoint.load(later.identity)
    assert (checkpoint.batches, checkpoint.position) == (2, (3, 0))
    run = replay(later, Echo, PartFiles(tmp_path / "out", fresh=False), checkpoint)
    assert run.totals == {"greatest": 14}
    assert ds.dataset(tmp_path / "out" / "changes").to_table()["t"].to_pylist().count(14) == 1


def test_example_checkpoints_of_another_run_are_refused(tmp_path: Path) -> None:
    data, place = make_input(tmp_path / "in", 2), tmp_path / "cp"
    replay(FileSource(data), Echo, PartFiles(tmp_path / "out"), Checkpoint(place, {"queries": "abc"}))
    with pytest.raises(StateError, match="another queries"):
        Checkpoint(place, {"queries": "abd"}).load(FileSource(data).identity)
    with pytest.raises(StateError, match="batch_files = 1, now 2"):
        Checkpoint(place, {"queries": "abc"}).load(FileSource(data, batch_files=2).identity)
    (data / "0.csv").unlink()
    with pytest.raises(StateError, match="no longer the first ones"):
        Checkpoint(place, {"queries": "abc"}).load(FileSource(data).identity)
    (place / "run.vedette").write_bytes(b"something else")
    with pytest.raises(StateError, match="not a checkpoint"):
        Checkpoint(place, {}).load(FileSource(data).identity)
