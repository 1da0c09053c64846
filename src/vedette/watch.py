"""What users post: orders, and the ways to carry them out on Spark.

In: a DataFrame of updates, streaming or not. Out: a DataFrame of changes that composes with all that Spark has: SOLE's
pipelined operator. `vedette.local(watch)` runs the same orders in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vedette.orders import Orders

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Watch(Orders):
    """Standing queries over a stream of positions.

    >>> import vedette as vd
    >>> watch = vd.Watch(queries="CREATE QUERY yard AS SELECT oid FROM objects INSIDE (0, 0, 10, 10);")
    >>> run = vd.local(watch)
    >>> run.feed([{"oid": "van", "t": 1, "x": 5.0, "y": 5.0}, {"oid": "van", "t": 2, "x": 50.0, "y": 5.0}]).num_rows
    1
    >>> run.finish()["sign"].to_pylist()
    [-1]
    """

    def over(self, updates: DataFrame, commands: DataFrame | None = None) -> DataFrame:
        """The changes of all answers over a DataFrame of updates.

        Of a streaming DataFrame the changes of closed ticks, micro-batch by micro-batch; of any other DataFrame all
        of them. `commands` is a streaming DataFrame of SQL statements that act while the query runs: a column `sql`,
        and perhaps `seq`, which orders those of one micro-batch (see `vedette.runtime.spark.command_folder`).
        """
        from vedette.runtime.spark import changes_over

        return changes_over(self, updates, commands)

    def outputs(self, updates: DataFrame, commands: DataFrame | None = None) -> DataFrame:
        """Everything that comes out, as tagged rows: `kind` is change, late, reject, refused or metrics.

        For a `foreachBatch` that keeps late rows and rejects too: persist a batch before using it twice.
        """
        from vedette.runtime.spark import outputs_over

        return outputs_over(self, updates, commands)
