"""The plan: updates and commands are packed, pass the three stages, and are unpacked, in one query.

    updates ── pack ──┐
                      ├─ track ── participate ── assemble ── unpack ─► changes (or tagged rows)
    commands ─ pack ──┘

Over a streaming DataFrame the stages are stateful processors. Over any other DataFrame each is a plain grouped map that
begins with nothing, takes everything as one batch, and closes it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from vedette.columns import changes_schema
from vedette.errors import ConfigError, SourceError
from vedette.orders import Orders
from vedette.pipeline.intake import Intake, bind
from vedette.runtime.brief import Brief, brief_of
from vedette.runtime.spark.keys import MANY_DIVISORS, PARCELS, key_values
from vedette.runtime.spark.packing import (
    changes_unpacker,
    commands_packer,
    outputs_schema,
    outputs_unpacker,
    parcels_batch,
    updates_packer,
)
from vedette.runtime.spark.processor import STAGES, StageProcessor, stations
from vedette.runtime.spark.session import PARTITIONS, check_session, parallelism
from vedette.runtime.stations import CHANGES, END, Station

MOST_KEYS = 4096
assert MOST_KEYS <= MANY_DIVISORS


def changes_over(orders: Orders, updates: DataFrame, commands: DataFrame | None = None) -> DataFrame:
    """The changes of all answers over a DataFrame of updates: see `Watch.over`."""
    brief, parcels = _run(orders, updates, commands)
    intake = brief.intake
    schema = from_arrow_schema(changes_schema(intake.oid_type, intake.t_type))
    return parcels.where(sf.col("kind") == CHANGES).mapInArrow(changes_unpacker(intake), schema)


def outputs_over(orders: Orders, updates: DataFrame, commands: DataFrame | None = None) -> DataFrame:
    """Everything that comes out, as tagged rows: see `Watch.outputs`."""
    brief, parcels = _run(orders, updates, commands)
    schema = from_arrow_schema(outputs_schema(brief.intake))
    return parcels.mapInArrow(outputs_unpacker(brief.intake), schema)


def command_folder(spark: SparkSession, folder: str) -> DataFrame:
    """A folder of SQL files as a stream of commands: each file is read once, those of a batch in order of name."""
    files = spark.readStream.format("text").option("wholetext", "true").load(folder)
    return files.select(sf.col("_metadata.file_name").alias("seq"), sf.col("value").alias("sql"))


# ------------------------------------------------------------------------------------------------ plan


def _run(orders: Orders, updates: DataFrame, commands: DataFrame | None) -> tuple[Brief, DataFrame]:
    spark = updates.sparkSession
    intake = intake_of(orders, updates)
    brief = plan_brief(orders, intake, spark)
    packed = updates.mapInArrow(updates_packer(brief.without_orders()), PARCELS)
    if not updates.isStreaming:
        if commands is not None:
            raise ConfigError("commands come to a stream; over a table post all statements at the start (with AT)")
        return brief, static_stages(brief, packed)
    check_session(spark)
    if commands is not None:
        packed = packed.unionByName(packed_commands(brief, commands))
    return brief, stages(brief, packed)


def intake_of(orders: Orders, updates: DataFrame) -> Intake:
    """How the columns of a DataFrame are read."""
    fields = [f for f in updates.schema.fields if _has_arrow_type(f)]
    return bind(_arrow_schema(fields), orders.space, orders.columns)


def _arrow_schema(fields: list[StructField]) -> pa.Schema:
    return to_arrow_schema(StructType(fields), timezone="UTC")


def _has_arrow_type(field: StructField) -> bool:
    """Types that Arrow does not know cannot be read, so they cannot be attributes either."""
    try:
        _arrow_schema([field])
    except Exception:  # pyspark raises different errors for different types
        return False
    return True


def plan_brief(orders: Orders, intake: Intake, spark: SparkSession) -> Brief:
    """As many buckets and regions as there are cores, unless the orders say otherwise."""
    cores = min(parallelism(spark), int(spark.conf.get(PARTITIONS, "200") or 200), MOST_KEYS)
    return brief_of(orders, intake, orders.buckets or cores, orders.regions or cores)


def packed_commands(brief: Brief, commands: DataFrame) -> DataFrame:
    """A DataFrame of commands as parcels."""
    if not commands.isStreaming:
        raise ConfigError("commands must be a streaming DataFrame, so that each is taken once across restarts")
    names = {name.lower(): name for name in commands.columns}
    text = names.get("sql") or names.get("value")
    if text is None:
        raise SourceError(f"the commands have no column 'sql' (or 'value'); they have {commands.columns}")
    seq = sf.col(names["seq"]).cast("string") if "seq" in names else sf.lit("")
    if "seq" in names and dict(commands.dtypes)[names["seq"]] in ("int", "bigint", "smallint", "tinyint"):
        seq = sf.lpad((sf.col(names["seq"]).cast("decimal(20, 0)") + sf.lit(Decimal(2**63))).cast("string"), 20, "0")
    columns = commands.select(seq.alias("seq"), sf.col(text).cast("string").alias("sql"))
    return columns.mapInArrow(commands_packer(brief.without_orders()), PARCELS)


def stages(brief: Brief, packed: DataFrame, make: Callable[[Brief, int], Station] | None = None) -> DataFrame:
    """The three stages over a stream of parcels; `make` puts other stations into the same plan."""
    for stage in STAGES:
        told = brief if stage == "track" else brief.without_orders()
        packed = packed.groupBy("key").transformWithStateInPandas(
            StageProcessor(stage, told, make), PARCELS, "Append", "None"
        )
    return packed


def static_stages(brief: Brief, packed: DataFrame) -> DataFrame:
    """The three stages over parcels that are all there."""
    for stage in STAGES:
        told = brief if stage == "track" else brief.without_orders()
        packed = packed.groupBy("key").applyInArrow(_whole_step(stage, told), PARCELS)
    return packed


def _whole_step(stage: str, brief: Brief) -> Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]:
    def step(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        station = stations()[stage](brief, key_values().index(key[0].as_py()))
        parcels = list(zip(table["kind"].to_pylist(), table["payload"].to_pylist(), strict=True))
        if stage == "track":
            parcels.append((END, b""))
        return pa.Table.from_batches([parcels_batch(station.step(parcels))])

    return step
