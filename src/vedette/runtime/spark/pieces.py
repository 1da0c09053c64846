"""A bounded list of files as a streaming source of parcels, which ends with a punctuation.

In: a shelf of files and how many make a micro-batch. Out: parcels, packed where they are read. Files come in the order
of the shelf, not of their dates, so batches are the same on every engine. An offset is how many files were used up, the
last of them, and the run that has ended after them, if any: every run over a shelf ends with one punctuation.

Spark opens the source in four processes of its own that only count files: those open neither the shelf nor the brief.
"""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles

from vedette.errors import SourceError
from vedette.runtime.spark.keys import PARCELS
from vedette.runtime.spark.worker import settle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from vedette.runtime.brief import Brief
    from vedette.runtime.stations import Parcel


class Shelf(Protocol):
    """Files by number; travels to other processes."""

    notes: list[str]

    @property
    def names(self) -> Sequence[str]:
        """What the files are called, in their order."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of every table."""

    def tables(self, number: int) -> Iterator[pa.Table]:
        """The rows of a file; what was lost on the way is in `notes` afterwards."""


@dataclass(frozen=True)
class Reading:
    """All that a reader needs to know."""

    brief: Brief
    shelf: Shelf
    batch_files: int
    run: str


def read_pieces(spark: SparkSession, reading: Reading) -> DataFrame:
    """The stream of parcels."""
    spark.dataSource.register(Pieces)
    counted = {"names": list(reading.shelf.names), "batch_files": reading.batch_files, "run": reading.run}
    told = base64.b64encode(pickle.dumps(reading)).decode()
    source = spark.readStream.format(Pieces.name()).option("counted", json.dumps(counted)).option("reading", told)
    return source.load()


class Pieces(DataSource):
    """The source as Spark knows it."""

    @classmethod
    def name(cls) -> str:
        """How a stream asks for it."""
        return "vedette-pieces"

    def schema(self) -> str:
        """Parcels."""
        return PARCELS

    def streamReader(self, schema: Any) -> PiecesReader:  # noqa: N802 (Spark's names)
        """The reader of a stream."""
        return PiecesReader(**json.loads(self.options["counted"]), told=self.options["reading"])


class _File(InputPartition):
    """A file by number."""


class _End(InputPartition):
    """The punctuation."""


class PiecesReader(DataSourceStreamReader):
    """Offsets on the driver, parcels on the workers."""

    def __init__(self, names: list[str], batch_files: int, run: str, told: str) -> None:
        self.names, self.batch_files, self.run, self.told = names, batch_files, run, told

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Nothing was used."""
        return {"files": 0, "last": "", "end": ""}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """A micro-batch."""
        return ReadMaxFiles(self.batch_files)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The next files; then, once, the end."""
        used = start["files"]
        if used and (used > len(self.names) or self.names[used - 1] != start["last"]):
            raise SourceError(
                f"the checkpoint has used {used} files, the last of them {start['last']}, which is not file {used} of "
                "the input any more; start over with --overwrite, or give the same input"
            )
        stop = min(used + self.batch_files, len(self.names))
        if stop > used:
            return {"files": stop, "last": self.names[stop - 1], "end": ""}
        return {**start, "end": self.run}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A task for each file."""
        if start == end:
            return []
        files = [_File(number) for number in range(start["files"], end["files"])]
        return files if not end["end"] else [*files, _End(0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Parcels of a file, or of the end."""
        from vedette.runtime.spark.packing import parcels_batch

        yield parcels_batch(self._parcels(partition))
        settle()

    def _parcels(self, partition: InputPartition) -> Iterator[Parcel]:
        import pyarrow as pa

        from vedette.runtime.stations import NOTES, pack_end, pack_updates

        reading: Reading = pickle.loads(base64.b64decode(self.told))
        brief, shelf = reading.brief, reading.shelf
        if isinstance(partition, _End):
            yield from pack_end(brief, self.run)
            return
        number: int = partition.value
        tables = [shelf.schema.empty_table(), *shelf.tables(number)]
        yield from pack_updates(brief, pa.concat_tables(tables), (number, 0))
        if shelf.notes:
            yield number % brief.buckets, NOTES, json.dumps(shelf.notes).encode()
