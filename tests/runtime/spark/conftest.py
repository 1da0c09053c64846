"""One Spark session for all tests that need one: they share a worker process (see `pytestmark` in each)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from vedette.runtime.spark import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    # The quick compiler only: a test is over before the thorough one pays.
    options = {"spark.log.level": "OFF", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    made = session("local[2]", options, log=Path(os.devnull))
    yield made
    made.stop()
