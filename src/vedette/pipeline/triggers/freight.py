"""Events on their way from TRACK to a shard: columns, and what each of them can stand for.

In: parts, of several segments or buckets. Out: one. An event is a row (id, t, x, y, is_home, values of sides) and has
`count` codes, end to end in `code`. A code stands for a condition and thereby for all variables that ask for it: code c
for (qid, base, is_whole)[users[c]:users[c + 1]]. So what travels for an event and a condition is a byte or two.
`is_home`: the event lies in the region that it is sent to; `is_whole`: it is told there wherever it lies.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vedette.kernels.arrays import B1, I32, I64
from vedette.pipeline.rows import join

Part: TypeAlias = dict[str, Any]
EVENTS, USERS = ("id", "t", "x", "y", "is_home", "count"), ("qid", "base", "is_whole")


def coded(part: Part, bits: I32, start: I64, qid: I32, base: I32, is_whole: B1) -> Part:
    """The part with small codes in the place of `bits`; by bit: the variables behind it, from start to start."""
    used = np.flatnonzero(np.bincount(bits))
    code = np.zeros(int(used[-1]) + 1, np.min_scalar_type(len(used) - 1))
    code[used] = np.arange(len(used))
    counts = start[used + 1] - start[used]
    users = np.concatenate(([0], np.cumsum(counts)))
    which = np.repeat(start[used] - users[:-1], counts) + np.arange(users[-1])
    table = {"users": users, "qid": qid[which], "base": base[which], "is_whole": is_whole[which]}
    return {**part, "code": code[bits], **table}


def joined(parts: list[Part]) -> Part:
    """Parts one after the other. A side that came or went between them is null where it was not there."""
    if len(parts) == 1:
        return parts[0]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in (*EVENTS, *USERS)}
    users, codes, variables = [np.zeros(1, np.int64)], [], 0
    for part in parts:
        codes.append(part["code"].astype(np.int32) + sum(len(u) for u in users) - 1)
        users.append(part["users"][1:] + variables)
        variables += len(part["qid"])
    whole |= {"code": np.concatenate(codes), "users": np.concatenate(users)}
    if all("ids" in part for part in parts):
        shift = np.cumsum([0, *(len(part["ids"]) for part in parts[:-1])])
        whole["id"] = np.concatenate([part["id"] + s for part, s in zip(parts, shift, strict=True)])
        whole["ids"] = join([part["ids"] for part in parts])
    for name in sorted({n for part in parts for n in part if n.startswith("side.")}):
        kind = next(part[name].type for part in parts if name in part)
        whole[name] = join([part.get(name, pa.nulls(len(part["t"]), kind)) for part in parts])
    return whole


def smallest(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers from 0 on in as few bytes as they need."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def numbered(slots: I32) -> tuple[I32, I32]:
    """The distinct ones of small numbers in order, and which of them each is."""
    there = np.zeros(int(slots.max(initial=-1)) + 1, np.bool_)
    there[slots] = True
    rank = np.cumsum(there, dtype=np.int32) - 1
    return np.flatnonzero(there).astype(np.int32), rank[slots]
