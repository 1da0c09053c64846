"""The stages as stations that exchange parcels: what a distributed runtime runs, in any process, in any order.

A parcel is (key, kind, payload): the key names one station of the next stage, the kind says what the bytes are. A
station takes all parcels of a batch for its key, in any order, and gives parcels for the next stage; between batches it
is a few binary sections (`save`, `load`) and what lies in its cellar. Nothing here knows Spark: tests drive stations by
hand.

    updates ─ pack ─► TrackStation ─► RegionStation ─► AnswerStation ─► changes, late, rejects, refused, metrics
    commands ────────┘

What is not for the next stage (late rows, rejects, refused commands, metrics) is passed on as it is, so that everything
leaves by the one chain. The punctuation of a bounded run is a *final* step after all others of its batch: it closes all
ticks, and what it leaves behind is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from vedette.errors import StateError
from vedette.kernels.regions import Regions
from vedette.model import Statement
from vedette.pipeline import state
from vedette.pipeline.assemble import Assemble
from vedette.pipeline.catalogue import remember
from vedette.pipeline.cellar import Cellar, Door, MemoryCellar, Overlay
from vedette.pipeline.intake import AHEAD, Intake
from vedette.pipeline.messages import BEFORE_TIME, RegionMessage
from vedette.pipeline.outcome import changes_in_pieces
from vedette.pipeline.participate import Participate
from vedette.pipeline.posting import Posted, amend, posted, read_commands
from vedette.pipeline.rows import by_bucket, concat
from vedette.pipeline.setup import cut, landmarks_of
from vedette.pipeline.track import Track
from vedette.pipeline.wire import (
    AnswerPost,
    Arrival,
    RegionPost,
    read_answer,
    read_arrival,
    read_changes,
    read_region,
    write_answer,
    write_arrival,
    write_changes,
    write_region,
)
from vedette.runtime.brief import Brief

Parcel: TypeAlias = tuple[int, str, bytes]
Sections: TypeAlias = dict[str, bytes]
Post = TypeVar("Post")
AnyPost = TypeVar("AnyPost", RegionPost, AnswerPost)

ROWS, COMMANDS, END = "rows", "commands", "end"  # to TRACK
REGION, ANSWER = "region", "answer"  # between stages
CHANGES = "changes"  # out, see `changes_in`
LATE, REJECTS = "late", "rejects"  # out, as Arrow tables
REFUSED, METRICS, NOTES = "refused", "metrics", "notes"  # out, as JSON
PASSED_ON = (LATE, REJECTS, REFUSED, METRICS, NOTES)

VERSION = 2
SAMPLE = 4_000  # positions of each part of the input that the cut into regions may follow


class Station(Protocol):
    """One key of one stage."""

    is_final: bool  # the last step ended with the punctuation: the station is spent, `save` tells how it was before
    cellar: Cellar  # where values beside the sections lie; whoever has a store sets it before each `step`

    def load(self, sections: Sections) -> None:
        """Go on from saved sections."""

    def step(self, parcels: Iterable[tuple[str, bytes]]) -> list[Parcel]:
        """Take the (kind, payload) of a batch, give parcels for the next stage."""

    def save(self) -> Sections:
        """All that is needed to go on; a section that did not change is the same object as before.

        The values in the cellar belong to it. More may be put there by this call.
        """


# ------------------------------------------------------------------------------------------------ pack


def pack_updates(brief: Brief, table: pa.Table, origin: Sequence[int]) -> Iterator[Parcel]:
    """A part of a batch for every bucket: its rows, or at least the times and positions that all must know of."""
    rows, rejects = brief.intake.read(table)
    if rejects.num_rows:
        yield origin[0] % brief.buckets, REJECTS, to_ipc(rejects)
    times = rows.t if brief.setup.max_ahead is not None else rows.t.max(keepdims=True) if len(rows) else rows.t
    times = np.unique(times)
    sample = np.zeros((0, 2))
    if brief.regions > 1:
        every = max(1, len(rows) // SAMPLE)
        sample = np.column_stack((rows.x[::every], rows.y[::every]))
    for bucket, part in enumerate(by_bucket(rows, brief.buckets)):
        yield bucket, ROWS, write_arrival(Arrival(part, times, list(origin), sample))


def pack_commands(brief: Brief, commands: Sequence[tuple[str, str]]) -> Iterator[Parcel]:
    """Commands, as (order, text), for every bucket."""
    payload = json.dumps(list(commands)).encode()
    for bucket in range(brief.buckets):
        yield bucket, COMMANDS, payload


def pack_end(brief: Brief, run: str = "") -> Iterator[Parcel]:
    """The punctuation of a bounded run; it comes out again at the other end, so that everybody knows whose it was."""
    for bucket in range(brief.buckets):
        yield bucket, END, run.encode()


# ----------------------------------------------------------------------------------------------- TRACK


class TrackStation:
    """A bucket of objects. It also sees to it that the statements given at the start are posted once."""

    def __init__(self, brief: Brief, key: int) -> None:
        self.brief, self.key, self.is_final = brief, key, False
        self._before: Sections = {}
        self._empty = brief.intake.empty()
        self._door = Door(MemoryCellar())
        self._track = Track(brief.setup, key, self._empty, self._door)
        self._is_cut = brief.regions == 1
        self._orders = b""

    @property
    def cellar(self) -> Cellar:
        """The cellar of the stage: the same values at every step, perhaps by another way."""
        return self._door.leads_to

    @cellar.setter
    def cellar(self, cellar: Cellar) -> None:
        self._door.leads_to = cellar

    def load(self, sections: Sections) -> None:
        """Go on; refuses a state that was made with another number of buckets or regions."""
        meta, a = state.decode("orders", VERSION, sections["orders"])
        brief = self.brief
        for option, value in _pinned(brief).items():
            if meta[option] != value:
                raise StateError(
                    f"the checkpoint was made with {option} = {meta[option]}, this run has {option} = {value}: "
                    f"give {option}={meta[option]}, or start from an empty checkpoint"
                )
        regions = Regions(meta["regions"], a["axis"], a["cut"], a["child"])
        self._is_cut = meta["is_cut"]
        _prepare(brief)
        setup = replace(brief.setup, regions=regions, landmarks=a["landmarks"])
        self._track = Track.load(setup, self.key, self._empty, sections, self._door)
        self._orders = sections["orders"]

    def save(self) -> Sections:
        """The stage, and the orders that it carries out."""
        if self.is_final:
            return self._before
        return {**self._track.save(), "orders": self._orders} if self._orders else {}

    def step(self, parcels: Iterable[tuple[str, bytes]]) -> list[Parcel]:
        """Rows and commands in, messages to regions out."""
        by_kind: dict[str, list[bytes]] = {}
        for kind, payload in parcels:
            by_kind.setdefault(kind, []).append(payload)
        arrivals = sorted((read_arrival(p) for p in by_kind.get(ROWS, [])), key=lambda a: a.origin)
        commands, ends = by_kind.get(COMMANDS, []), by_kind.get(END, [])
        home = self.key % self.brief.regions
        out: list[Parcel] = [(home, kind, payload) for kind in PASSED_ON for payload in by_kind.get(kind, [])]
        if arrivals or commands or not ends:
            out += self._advance(arrivals, commands)
        if ends:
            self._before, self.is_final = self.save(), True
            self.cellar = Overlay(self.cellar)  # what is put and dropped from here on is not kept either
            out += self._advance([], [])
            out += [(home, END, payload) for payload in ends if self.key == 0]
        return out

    def _advance(self, arrivals: list[Arrival], commands: list[bytes]) -> list[Parcel]:
        """One step of the stage, and what there is to tell of it."""
        self._cut(arrivals)
        statements = self._given()
        commanded, refused = self._commanded(commands, statements)
        rows = concat([a.rows for a in arrivals]) if arrivals else self._empty
        times = np.unique(np.concatenate([a.times for a in arrivals])) if arrivals else self._empty.t
        told = self._track.step(rows, times, statements + commanded, self.is_final)

        out = list(self._messages(told.messages))
        intake, home = self.brief.intake, self.key % self.brief.regions
        if len(told.late):
            out.append((home, LATE, to_ipc(intake.table(told.late))))
        if len(told.ahead):
            out.append((home, REJECTS, to_ipc(intake.as_input(told.ahead, AHEAD))))
        if refused:
            out.append((home, REFUSED, json.dumps(refused).encode()))
        counts: dict[str, Any] = dict.fromkeys(("updates", "late", "late_applied", "duplicates"), 0) | told.metrics
        counts.pop("ahead")  # these are rejects
        if self._track.frontier > BEFORE_TIME:
            counts["frontier"] = self._track.frontier
        out.append((home, METRICS, json.dumps(counts).encode()))
        return out

    def _messages(self, messages: list[RegionMessage]) -> Iterator[Parcel]:
        """One sender speaks to a region in any case, so that every region hears of the frontier."""
        if self._track.frontier == BEFORE_TIME:
            return
        for region, message in enumerate(messages):
            moved = len(message.moves.t) + len(message.focals.t) + len(message.balls.t) > 0
            says = moved or message.commands or message.letters or message.relays
            if says or region % self.brief.buckets == self.key:
                post = RegionPost(message, self.key, self._track.setup.regions, self.is_final)
                yield region, REGION, write_region(post)

    def _cut(self, arrivals: list[Arrival]) -> None:
        """Space is cut once, by what the first updates say; all buckets hear the same and cut alike."""
        if self._is_cut or not any(len(a.sample) for a in arrivals):
            return
        x, y = np.concatenate([a.sample for a in arrivals]).T
        self._track.cut(cut(x, y, self.brief.setup.space, self.brief.regions), landmarks_of(x, y))
        self._is_cut = True
        if self._orders:
            self._orders = self._write_orders(*self._read_orders())

    def _given(self) -> list[Statement]:
        """The statements of the orders that this bucket has not posted yet."""
        brief = self.brief
        if not self._orders:
            statements = brief.statements()
            self._orders = self._write_orders(brief.fingerprint, posted(statements, brief.setup.space))
            return statements
        fingerprint, old = self._read_orders()
        if fingerprint == brief.fingerprint:
            return []
        statements = brief.statements()
        amendment = amend(old, statements, brief.setup.space)
        self._track.withdraw(amendment.withdrawn)
        self._orders = self._write_orders(brief.fingerprint, posted(statements, brief.setup.space))
        return amendment.statements

    def _commanded(self, payloads: list[bytes], given: list[Statement]) -> tuple[list[Statement], list[dict[str, str]]]:
        """Statements of the commands in the order of the commands; one bucket tells of those that were refused."""
        if not payloads:
            return [], []
        texts = sorted((order, text) for payload in payloads for order, text in json.loads(payload))
        accepted, refused = read_commands([text for _, text in texts], self._track, given, self.brief.tables())
        return accepted, [asdict(r) for r in refused] if self.key == 0 else []

    def _write_orders(self, fingerprint: str, old: list[Posted]) -> bytes:
        setup = self._track.setup
        regions = setup.regions
        meta = {"fingerprint": fingerprint, "is_cut": self._is_cut, **_pinned(self.brief)}
        arrays: state.Arrays = {"axis": regions.axis, "cut": regions.cut, "child": regions.child}
        arrays["landmarks"] = setup.landmarks
        for name in ("text", "kind", "name"):
            arrays[name] = pa.array([getattr(o, name) for o in old], pa.string())
        return state.encode("orders", VERSION, meta, arrays)

    def _read_orders(self) -> tuple[str, list[Posted]]:
        meta, a = state.decode("orders", VERSION, self._orders)
        old = [Posted(*each) for each in zip(*(a[n].to_pylist() for n in ("text", "kind", "name")), strict=True)]
        return meta["fingerprint"], old


def _pinned(brief: Brief) -> dict[str, Any]:
    """What must stay the same as long as a checkpoint lives. Lengths of time are in ticks of the stream."""
    setup = brief.setup
    return {
        "buckets": setup.buckets,
        "regions": setup.regions.size,
        "space": setup.space.kind,
        "lateness": setup.lateness,
        "timeout": setup.timeout,
        "max_ahead": setup.max_ahead,
        "late": setup.late,
    }


_prepared: set[str] = set()  # runs, in this process


def _prepare(brief: Brief) -> None:
    """Once in a process: a state names its queries by their texts, most of which the orders hold as they are."""
    if brief.run not in _prepared:
        _prepared.add(brief.run)
        remember(brief.statements(), brief.setup.space, brief.setup.schema)


# ----------------------------------------------------------------------------------------- PARTICIPATE


class RegionStation:
    """A region of space."""

    def __init__(self, brief: Brief, key: int) -> None:
        self.brief, self.key, self.is_final = brief, key, False
        self.cellar: Cellar = MemoryCellar()  # nothing is put there
        self._before: Sections = {}
        self._saved: Sections = {}
        self._stage: Participate | None = None

    def load(self, sections: Sections) -> None:
        """Go on; the cut of space comes with the next message."""
        self._saved = sections

    def save(self) -> Sections:
        """The stage; nothing before it heard of anything."""
        if self.is_final:
            return self._before
        return self._saved if self._stage is None else self._stage.save()

    def step(self, parcels: Iterable[tuple[str, bytes]]) -> list[Parcel]:
        """Messages of buckets in, answers to query buckets out."""
        passed, posts = _sorted_out(parcels, REGION, read_region)
        home = self.key % self.brief.buckets
        out: list[Parcel] = [(home, kind, payload) for kind, payload in passed]
        for group in _in_turn(posts):
            if group[0].final:
                self._before, self.is_final = self.save(), True
            stage = self._awake(group[0].regions)
            answers = stage.step([post.message for post in group])
            if stage.metrics:
                out.append((home, METRICS, json.dumps(stage.metrics).encode()))
            for bucket, message in enumerate(answers):
                says = len(message.deltas.t) or len(message.reports.t) or message.commands or message.letters
                if says or bucket % self.brief.regions == self.key:
                    out.append((bucket, ANSWER, write_answer(AnswerPost(message, self.key, self.is_final))))
        return out

    def _awake(self, regions: Regions) -> Participate:
        if self._stage is None:
            setup, kind = replace(self.brief.setup, regions=regions), self.brief.intake.oid_type
            if self._saved:
                self._stage = Participate.load(setup, self.key, kind, self._saved)
            else:
                self._stage = Participate(setup, self.key, kind)
        return self._stage


# -------------------------------------------------------------------------------------------- ASSEMBLE


class AnswerStation:
    """A bucket of queries."""

    def __init__(self, brief: Brief, key: int) -> None:
        self.brief, self.key, self.is_final = brief, key, False
        self.cellar: Cellar = MemoryCellar()  # nothing is put there
        self._before: Sections = {}
        self._stage = Assemble(brief.setup, brief.intake.oid_type)

    def load(self, sections: Sections) -> None:
        """Go on."""
        self._stage = Assemble.load(self.brief.setup, self.brief.intake.oid_type, sections)

    def save(self) -> Sections:
        """The stage."""
        return self._before if self.is_final else self._stage.save()

    def step(self, parcels: Iterable[tuple[str, bytes]]) -> list[Parcel]:
        """Answers of regions in, changes out."""
        passed, posts = _sorted_out(parcels, ANSWER, read_answer)
        out: list[Parcel] = [(self.key, kind, payload) for kind, payload in passed]
        for group in _in_turn(posts):
            if group[0].final:
                self._before, self.is_final = self.save(), True
            changes = [part for part in self._stage.step([post.message for post in group]) if len(part.t)]
            if changes:
                out.append((self.key, CHANGES, write_changes(changes)))
        return out


def changes_in(payload: bytes, intake: Intake) -> Iterator[pa.Table]:
    """A parcel of changes as users see them, in pieces: as tables they are several times as large as on their way."""
    yield from changes_in_pieces(read_changes(payload, intake.oid_type), intake)


def _in_turn(posts: list[AnyPost]) -> Iterator[list[AnyPost]]:
    """The posts of a batch by sender; those of the punctuation after all others."""
    for final in (False, True):
        group = sorted((post for post in posts if post.final == final), key=lambda post: post.sender)
        if group:
            yield group


def _sorted_out(
    parcels: Iterable[tuple[str, bytes]], kind: str, read: Callable[[bytes], Post]
) -> tuple[list[tuple[str, bytes]], list[Post]]:
    """What is only passed on, and what is for this station."""
    passed, mine = [], []
    for found, payload in parcels:
        if found == kind:
            mine.append(read(payload))
        else:
            passed.append((found, payload))
    return passed, mine


def to_ipc(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def from_ipc(data: bytes) -> pa.Table:
    """The table again."""
    return pa.ipc.open_stream(data).read_all()
