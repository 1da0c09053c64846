"""`vedette run` in processes of its own, which can be watched, wounded and killed.

In: a folder. Out: input files and queries in it, runs over them on either engine, and what a run has written, part by
part. Every process of a run is in one session (in the sense of `setsid`), so none outlives `Running`: Spark's Python
daemons leave the process group, the session they cannot leave.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark

ROOT = Path(__file__).resolve().parents[3]
PROC = Path("/proc")
PATIENCE_S = 240.0  # for anything at all; a run takes a tenth of it
KINDS = ("changes", "late", "rejects")
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"  # short lives: no time to optimize in
SCHEMA = pa.schema([("oid", pa.string()), ("t", pa.int64()), ("x", pa.float64()), ("y", pa.float64()),
                    ("speed", pa.float64()), ("type", pa.string())])  # fmt: skip

Parts: TypeAlias = dict[tuple[str, str], list[str]]


# ----------------------------------------------------------------------------------------------- input


def lay_out(folder: Path, files: int, seed: int, *, ticks: int = 3, rows: int = 60, objects: int = 40) -> None:
    """A file a batch: objects that wander, out of order, some too late, and rows that are no updates."""
    chance = random.Random(seed)
    at = {f"o{n}": (chance.uniform(0, 100), chance.uniform(0, 100)) for n in range(objects)}
    stream: list[dict[str, Any]] = []
    for t in range(files * ticks):
        for oid in chance.sample(sorted(at), rows // ticks):
            x, y = (min(100.0, max(0.0, c + chance.uniform(-9, 9))) for c in at[oid])
            at[oid] = (x, y)
            speed = chance.choice([None, chance.random(), chance.random(), 1.0])
            stream.append(
                {"oid": oid, "t": t, "x": x, "y": y, "speed": speed, "type": chance.choice(["car", "bus", None])}
            )
    stream.sort(key=lambda row: row["t"] + chance.choice([0, 0, 0, 1, 2, 3, 9]))
    size = len(stream) // files
    for row in chance.sample(stream[size:], files):  # not in the first file: before it nothing is too far ahead
        name, value = chance.choice([("x", None), ("y", float("nan")), ("oid", None), ("t", row["t"] + 9999)])
        row[name] = value
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(files):
        part = stream[n * size : (n + 1) * size]
        pq.write_table(pa.Table.from_pylist(part, SCHEMA), folder / f"{n:03d}.parquet")


# Hardly any update of a pattern stays in memory: pages are written and dropped with every file, and read back.
OPTIONS = ("--lateness", "3", "--timeout", "20", "--max-ahead", "60", "--resident-updates", "9", "--quiet")


# -------------------------------------------------------------------------------------------- processes


@dataclass(frozen=True)
class Process:
    """A process as /proc tells of it."""

    pid: int
    parent: int
    is_running: bool
    command: str

    @property
    def is_python_worker(self) -> bool:
        """One of Spark's Python workers, or the daemon that forks them."""
        return "pyspark.daemon" in self.command

    @property
    def is_executor(self) -> bool:
        """A JVM that runs tasks for another one."""
        return "CoarseGrainedExecutorBackend" in self.command


def session_of(leader: int) -> list[Process]:
    """All processes of a session that are alive."""
    return [process for process in _processes(leader) if process.pid != os.getpid()]


def _processes(leader: int) -> Iterator[Process]:
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            # pid (name, which may hold anything) state parent group session
            state, parent, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):  # it has gone in the meantime
            continue
        if int(session) == leader and state not in "ZX":
            yield Process(int(folder.name), int(parent), state == "R", command)


def kill(pid: int) -> None:
    """At once, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Running:
    """A process with all that it starts; leaving the context leaves none of it."""

    def __init__(self, words: Sequence[str], scratch: Path, log: Path) -> None:
        home, scratch = _spark_home(scratch), scratch / "tmp"
        scratch.mkdir(exist_ok=True)
        self.log = log
        environment = os.environ | {
            "JAVA_TOOL_OPTIONS": f"{JVM} -Djava.io.tmpdir={scratch}",
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_DIRS": str(scratch),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(scratch),
            "COLUMNS": "200",
        }
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                cwd=ROOT,
                env=environment,
                start_new_session=True,
            )

    def __enter__(self) -> Running:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    @property
    def members(self) -> list[Process]:
        """Everything that belongs to it, itself included."""
        return session_of(self.process.pid)

    def kill(self) -> int:
        """End all of it; returns how the first process has ended."""
        while members := self.members:  # one of them may start another meanwhile
            for member in members:
                kill(member.pid)
            self.pause(0.01)
        if self.process.stdin is not None:
            self.process.stdin.close()
        return self.process.wait(PATIENCE_S)

    def pause(self, seconds: float) -> bool:
        """Let it work for so long; tells whether it still does."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def until(self, condition: Callable[[], object]) -> None:
        """Let it work until something holds."""
        for _ in range(int(PATIENCE_S / 0.02)):
            if condition():
                return
            if not self.pause(0.02):
                assert condition(), f"it has ended too early:\n{self.said()}"
                return
        raise AssertionError(f"nothing in {PATIENCE_S} s:\n{self.said()}")

    def finish(self) -> int:
        """Let it work to its end; the exit code."""
        assert not self.pause(PATIENCE_S), f"no end in {PATIENCE_S} s:\n{self.said()}"
        return self.process.returncode

    def said(self) -> str:
        """The end of what it has printed."""
        return self.log.read_text(errors="replace")[-6000:]


def _spark_home(scratch: Path) -> Path:
    """Spark as it is installed, in a folder of our own: a cluster on one machine keeps its files in its home."""
    home = scratch / "home"
    if not home.exists():
        home.mkdir(parents=True)
        for entry in Path(pyspark.__file__).parent.iterdir():
            (home / entry.name).symlink_to(entry)
    return home


# ------------------------------------------------------------------------------------------------- runs


@dataclass(frozen=True)
class Place:
    """A folder with the input, the queries, and the runs over them, each with its name."""

    folder: Path

    @property
    def input(self) -> Path:
        return self.folder / "in"

    @property
    def queries(self) -> Path:
        return self.folder / "queries.sql"

    def output(self, name: str) -> Path:
        return self.folder / name / "out"

    def words(self, name: str, *more: object, files: str = "*") -> list[str]:
        """What to type for a run over the files that a pattern names."""
        here = self.folder / name
        here.mkdir(exist_ok=True)
        folders = ("--input", self.input / files, "--output", self.output(name), "--checkpoint", here / "checkpoint")
        return [str(word) for word in ("run", self.queries, *folders, *OPTIONS, *more)]

    def start(self, name: str, *more: object) -> Running:
        """A run, or a further one, in a process of its own."""
        program = "import sys; from vedette.cli import main; sys.exit(main())"
        words = [sys.executable, "-c", program, *self.words(name, *more)]
        return Running(words, self.folder / name / "scratch", self.folder / name / "log.txt")

    def clean(self, name: str) -> None:
        """Spark leaves hundreds of megabytes behind when it is killed."""
        shutil.rmtree(self.folder / name / "scratch", ignore_errors=True)


def parts_of(output: Path) -> list[int]:
    """The numbers of the micro-batches whose changes are there, the end not counted."""
    return sorted(int(p.name[5:10]) for p in (output / "changes").glob("part-?????.parquet"))


def more_than(output: Path, count: int) -> Callable[[], bool]:
    """Whether there are more parts than so many."""
    return lambda: len(parts_of(output)) > count


def contents(output: Path) -> Parts:
    """All rows, by kind and part, in an order that no engine chooses. The end is a part without a number."""
    found: Parts = {}
    for kind in KINDS:
        for path in sorted((output / kind).iterdir()):
            part = "part-end" if path.name.endswith(".end.parquet") else path.name
            assert (kind, part) not in found, f"{path} is there twice"
            rows = pq.ParquetFile(path).read().to_pylist()
            found[kind, part] = sorted(map(str, rows))
    return found


def in_turn(parts: Parts) -> Parts:
    """The same, parts with rows numbered anew: on Spark an end that is void has had a number."""
    renamed: Parts = {}
    for kind in KINDS:
        filled = [part for of, part in sorted(parts) if of == kind and parts[of, part]]
        renamed |= {(kind, f"{n}"): parts[kind, part] for n, part in enumerate(filled)}
    return renamed


def assert_same(found: Parts, expected: Parts) -> None:
    """The same parts with the same rows."""
    assert sorted(found) == sorted(expected)
    for part, rows in expected.items():
        assert found[part] == rows, f"{part} differs"
