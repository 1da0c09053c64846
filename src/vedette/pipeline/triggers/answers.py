"""Triggers in ASSEMBLE: alerts become changes. Nothing is kept: what a shard tells is told once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from vedette.columns import members_type
from vedette.pipeline.assemble import Changes
from vedette.pipeline.messages import Letter
from vedette.pipeline.setup import Setup


class TriggerAnswers:
    """The alerts of one query bucket."""

    def __init__(self, setup: Setup, oid_type: pa.DataType, sections: dict[str, bytes]) -> None:
        self._oid_type = oid_type

    def step(self, letters: list[Letter], frontier: int) -> Changes:
        """The changes of a batch in time order; among equal times by the letter of the region, then by trigger."""
        names: list[str] = []
        query, t, members = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], []
        for letter in letters:
            a = letter.arrays
            query.append(a["name"] + np.int32(len(names)))
            t.append(a["t"])
            members.append(_members(letter, a, self._oid_type))
            names += letter.meta["names"]
        times = np.concatenate(t)
        order = np.argsort(times, kind="stable")
        n = len(order)
        lists = pa.concat_arrays(members) if members else pa.array([], members_type(self._oid_type, pa.int64()))
        nothing = np.full(n, np.nan)
        return Changes(
            names,
            np.concatenate(query)[order],
            times[order],
            np.ones(n, np.int8),
            pa.nulls(n, self._oid_type),
            nothing,
            nothing,
            nothing,
            lists.take(pa.array(order)),
        )

    def save(self) -> dict[str, bytes]:
        """Nothing to keep."""
        return {}


def _members(letter: Letter, a: dict[str, Any], oid_type: pa.DataType) -> pa.Array:
    kind = members_type(oid_type, pa.int64())
    words = [pa.array(variables, pa.string()) for variables in letter.meta["variables"]]
    counts = np.bincount(a["name"], minlength=len(words))
    variable = pa.concat_arrays(
        [w.take(pa.array(np.tile(np.arange(len(w)), n))) for w, n in zip(words, counts, strict=True)]
    )
    fields = [variable, *(a[f"member.{f.name}"] for f in list(kind.value_type)[1:])]
    structs = pa.StructArray.from_arrays(fields, fields=list(kind.value_type))
    offsets = np.concatenate(([0], np.cumsum(a["size"]))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), structs, type=kind)
