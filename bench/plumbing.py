"""`vedette bench plumbing`: the plan of the Spark engine with empty kernels, the ceiling of what it can reach.

The same as `vedette bench spark-range --only plumbing`.
"""

from __future__ import annotations

import functools

import spark_range
import typer

if __name__ == "__main__":
    main = functools.partial(spark_range.main, only="plumbing", name="plumbing")
    typer.run(functools.wraps(spark_range.main)(main))
