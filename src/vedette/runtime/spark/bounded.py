"""A bounded run, resumable: files in, one delivery per micro-batch out.

In: orders, a shelf of files, a checkpoint folder, and someone who takes deliveries. Out: every micro-batch is delivered
in order, with its number; after a kill the last one may be delivered again, with the same number and the same contents,
so whoever takes it replaces what it has under that number. The delivery of the punctuation says that it is final: it
holds what the end of the input closes, and is void once more input follows.
"""

from __future__ import annotations

import json
import os
import re
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from vedette.columns import REASON, changes_schema
from vedette.errors import ConfigError, SourceError, StateError
from vedette.orders import Orders
from vedette.pipeline.intake import Intake, bind
from vedette.runtime.local import Outcome
from vedette.runtime.spark.chain import command_folder, packed_commands, plan_brief, stages
from vedette.runtime.spark.pieces import Reading, Shelf, read_pieces
from vedette.runtime.spark.session import check_session
from vedette.runtime.stations import CHANGES, END, LATE, METRICS, NOTES, REFUSED, REJECTS, changes_in, from_ipc

COUNTED = ("updates", "late", "late_applied", "duplicates")


@dataclass(frozen=True)
class Delivery:
    """What a micro-batch brought forth. `totals` are counts since the beginning of the checkpoint."""

    number: int
    outcome: Outcome
    is_final: bool
    totals: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)


def run_bounded(
    spark: SparkSession,
    orders: Orders,
    shelf: Shelf,
    checkpoint: Path,
    deliver: Callable[[Delivery], None],
    *,
    batch_files: int = 1,
    commands: Path | None = None,
) -> None:
    """Drain the shelf; returns when the end was delivered."""
    check_session(spark)
    intake = bind(shelf.schema, orders.space, orders.columns)
    brief = plan_brief(orders, intake, spark)
    run = uuid.uuid4().hex
    packed = read_pieces(spark, Reading(brief.without_orders(), shelf, batch_files, run))
    if commands is not None:
        packed = packed.unionByName(packed_commands(brief, command_folder(spark, str(commands))))
    ended = threading.Event()
    tally = _Tally(checkpoint / "totals.json")

    def take(frame: DataFrame, number: int) -> None:
        delivery, ends = _delivery(frame, number, intake, tally)
        deliver(delivery)
        tally.save(delivery)
        if run in ends:
            ended.set()

    writer = stages(brief, packed).select("kind", "payload").writeStream.foreachBatch(take)
    query = writer.option("checkpointLocation", str(checkpoint / "spark")).start()
    try:
        while query.isActive and not ended.wait(0.1):
            pass
        query.processAllAvailable()  # the delivery was made; this waits until its batch is committed
    except StreamingQueryException as error:
        raise _ours(error) from error
    finally:
        query.stop()


def _delivery(frame: DataFrame, number: int, intake: Intake, tally: _Tally) -> tuple[Delivery, list[str]]:
    """What the parcels of a micro-batch hold, and the runs that have ended with it."""
    parcels: dict[str, list[bytes]] = {}
    for kind, payload in frame.collect():
        parcels.setdefault(kind, []).append(bytes(payload))
    changes = changes_schema(intake.oid_type, intake.t_type).empty_table()
    rejects = intake.source.empty_table().append_column(REASON, pa.array([], pa.string()))
    told = [table for p in parcels.get(CHANGES, []) for table in changes_in(p, intake)]
    tables = {CHANGES: pa.concat_tables([changes, *told])}
    for kind, empty in ((LATE, intake.table(intake.empty())), (REJECTS, rejects)):
        tables[kind] = pa.concat_tables([empty, *(from_ipc(p) for p in parcels.get(kind, []))])
    counts = [json.loads(p) for p in parcels.get(METRICS, [])]
    names = dict.fromkeys([*COUNTED, *(name for c in counts for name in c if name != "frontier")])
    metrics = {name: sum(c.get(name, 0) for c in counts) for name in names}
    metrics |= {"changes": tables[CHANGES].num_rows, "rejects": tables[REJECTS].num_rows, "batches": 1}
    outcome = Outcome(tables[CHANGES], tables[LATE], tables[REJECTS], metrics)
    totals = tally.add(number, metrics, max((c["frontier"] for c in counts if "frontier" in c), default=None))
    ends = [p.decode() for p in parcels.get(END, [])]
    notes = [note for p in parcels.get(NOTES, []) for note in json.loads(p)]
    refused = [each for p in parcels.get(REFUSED, []) for each in json.loads(p)]
    return Delivery(number, outcome, bool(ends), totals, notes, refused), ends


class _Tally:
    """Counts since the beginning of a checkpoint, in a file beside it; a batch that is delivered again counts once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept: dict[str, Any] = {"number": -1, "before": {}, "totals": {}}
        if path.exists():
            self._kept = json.loads(path.read_text(encoding="utf-8"))

    def add(self, number: int, metrics: dict[str, int], frontier: int | None) -> dict[str, Any]:
        """The totals with a batch."""
        before = self._before(number)
        totals = {**before, **{name: before.get(name, 0) + count for name, count in metrics.items()}}
        totals["frontier"] = before.get("frontier") if frontier is None else frontier
        return totals

    def save(self, delivery: Delivery) -> None:
        """A batch was delivered. The end is void once more follows, so it is not counted."""
        if delivery.is_final:
            return
        number = delivery.number
        self._kept = {"number": number, "before": self._before(number), "totals": delivery.totals}
        hidden = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        hidden.write_text(json.dumps(self._kept), encoding="utf-8")
        hidden.replace(self.path)

    def _before(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self._kept["before" if number == self._kept["number"] else "totals"]
        return found


def _ours(error: StreamingQueryException) -> Exception:
    """Our own error out of a worker's traceback, else Spark's."""
    for kind in (StateError, SourceError, ConfigError):
        found = re.search(rf"vedette\.errors\.{kind.__name__}: (.*)", str(error))
        if found:
            return kind(found[1].strip())
    causes = re.findall(r"^(?:[\w.]*\.)?(\w+(?:Error|Exception): .*)$", str(error), re.MULTILINE)
    return RuntimeError(f"Spark stopped: {causes[-1]}") if causes else error
