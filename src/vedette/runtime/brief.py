"""What every station of a run is told before it begins: orders bound to the columns of a stream, as one small value.

In: orders and the reading of an input. Out: a `Brief`, which travels to other processes. Statements and joined tables
travel compressed and are opened only where they are needed: most batches need neither.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
import zlib
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from vedette.families.plan import ticks
from vedette.kernels.arrays import F64
from vedette.kernels.regions import Regions
from vedette.lang import print_statement
from vedette.model import Statement
from vedette.orders import Orders
from vedette.pipeline.intake import Intake
from vedette.pipeline.setup import Setup, cut


@dataclass(frozen=True)
class Brief:
    """`setup` has a cut of space that only says how many regions there are: where to cut, the first updates tell."""

    run: str
    intake: Intake
    setup: Setup
    posted: bytes = b""
    fingerprint: str = ""

    @property
    def buckets(self) -> int:
        """How many object buckets, and query buckets, there are."""
        return self.setup.buckets

    @property
    def regions(self) -> int:
        """How many regions there are."""
        return self.setup.regions.size

    def without_orders(self) -> Brief:
        """For stations that need no statements."""
        return replace(self, posted=b"")

    def statements(self) -> list[Statement]:
        """The statements given at the start."""
        found: list[Statement] = _opened(self.posted)[0]
        return found

    def tables(self) -> dict[str, Any]:
        """The tables that statements may join."""
        found: dict[str, Any] = _opened(self.posted)[1]
        return found


def brief_of(orders: Orders, intake: Intake, buckets: int, regions: int) -> Brief:
    """Bind orders to a stream."""
    orders.bind(intake.schema)
    nowhere = np.zeros(0)
    setup = setup_of(orders, intake, buckets, cut(nowhere, nowhere, orders.space, regions))
    texts = "\n".join(print_statement(s, orders.space) for s in orders.statements)
    posted = zlib.compress(pickle.dumps((orders.statements, orders.tables)), 1)
    fingerprint = hashlib.sha256(texts.encode()).hexdigest()
    return Brief(uuid.uuid4().hex, intake, setup, posted, fingerprint)


def setup_of(orders: Orders, intake: Intake, buckets: int, regions: Regions, landmarks: F64 | None = None) -> Setup:
    """What the stages agree on."""
    schema = intake.schema
    return Setup(
        orders.space,
        schema,
        ticks(orders.lateness, schema),
        None if orders.timeout is None else ticks(orders.timeout, schema),
        None if orders.max_ahead is None else ticks(orders.max_ahead, schema),
        orders.late,
        buckets,
        regions,
        orders.resident_updates,
        np.zeros((0, 2)) if landmarks is None else landmarks,
    )


@lru_cache(maxsize=4)
def _opened(posted: bytes) -> tuple[list[Statement], dict[str, Any]]:
    """Pickled by the same version of the same code a moment ago, never kept."""
    found: tuple[list[Statement], dict[str, Any]] = pickle.loads(zlib.decompress(posted))
    return found
