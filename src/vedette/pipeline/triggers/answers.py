"""Triggers in ASSEMBLE: alerts become changes. Nothing is kept: what a shard tells is told once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from vedette.pipeline.assemble import Changes
from vedette.pipeline.messages import Letter
from vedette.pipeline.setup import Setup
from vedette.pipeline.triggers.alerts import resolved


class TriggerAnswers:
    """The alerts of one query bucket."""

    def __init__(self, setup: Setup, oid_type: pa.DataType, sections: dict[str, bytes]) -> None:
        self._oid_type = oid_type

    def step(self, letters: list[Letter], frontier: int) -> Changes:
        """The changes of a batch in time order; among equal times by the letter of the region, then by trigger."""
        names, query, t, members = resolved(letters, self._oid_type)
        n = len(t)
        nothing = np.full(n, np.nan)
        return Changes(
            names,
            query,
            t,
            np.ones(n, np.int8),
            pa.nulls(n, self._oid_type),
            nothing,
            nothing,
            nothing,
            members,
        )

    def save(self) -> dict[str, bytes]:
        """Nothing to keep."""
        return {}
