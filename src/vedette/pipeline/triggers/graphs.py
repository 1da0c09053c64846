"""The triggers of a shard as one `Graph`: plain data in, arrays out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vedette.kernels.arrays import F64, I32, I64
from vedette.kernels.events.graph import AT_LEAST, AT_MOST, CELLS, EQUAL, LOOSE, TIGHT, Graph

_OPS = {"=": EQUAL, "<": AT_MOST, "<=": AT_MOST, ">": AT_LEAST, ">=": AT_LEAST}  # <> says nothing about coarse keys


def graph_of(triggers: list[dict[str, Any]], wraps: bool) -> Graph:
    """Slots are numbered through in the order of the triggers."""
    sizes = [len(trigger["bases"]) for trigger in triggers]
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    pairs = np.concatenate(([0], np.cumsum([m * m for m in sizes]))).astype(np.int64)
    base = [int(first[q]) + b for q, trigger in enumerate(triggers) for b in trigger["bases"]]
    side, around = _cells(triggers, wraps)
    compare, ops, a, b = [0], [], [], []
    for trigger in triggers:
        bases = trigger["bases"]
        for i in bases:
            for j in bases:
                for ci, cj, op, left, right, is_keyed in trigger["comparisons"]:
                    if (ci, cj) == (i, j) and is_keyed and op in _OPS:
                        ops.append(_OPS[op])
                        a.append(left)
                        b.append(right)
                compare.append(len(ops))
    return Graph(
        first,
        pairs,
        np.array([trigger["strategy"] for trigger in triggers], np.int8),
        np.repeat(np.arange(len(triggers), dtype=np.int32), sizes),
        np.array(base, np.int32),
        np.array([trigger["bases"].count(x) for trigger in triggers for x in trigger["bases"]], np.int32),
        np.array([k for trigger in triggers for k in (trigger["keys"] or [-1] * len(trigger["bases"]))], np.int32),
        side,
        around,
        _flat(triggers, "high", np.int64),
        _flat(triggers, "near", np.float64, 0),
        _flat(triggers, "near", np.bool_, 1),
        _flat(triggers, "far", np.float64, 0),
        _flat(triggers, "far", np.bool_, 1),
        _flat(triggers, "reach2", np.float64),
        np.array(compare, np.int32),
        np.array(ops, np.int8),
        np.array(a, np.int32),
        np.array(b, np.int32),
    )


def _flat(triggers: list[dict[str, Any]], name: str, kind: Any, part: int | None = None) -> Any:
    values = [v if part is None else v[part] for trigger in triggers for row in trigger[name] for v in row]
    return np.array(values, kind)


def _cells(triggers: list[dict[str, Any]], wraps: bool) -> tuple[F64, I32]:
    """The cells of each slot: of the size of its reach, or of the middle reach of all where triggers share an index."""
    reaches = [[max(row[s] for row in t["reach2"]) for s in range(len(t["bases"]))] for t in triggers]
    shared = sorted(r for t, row in zip(triggers, reaches, strict=True) for r in row if _is_indexed(t) and r < math.inf)
    middle = shared[len(shared) // 2] if shared else 1.0
    side: list[float] = []
    around: list[int] = []
    for trigger, row in zip(triggers, reaches, strict=True):
        for reach2 in row:
            has_cells = _is_indexed(trigger) or (
                trigger["strategy"] == CELLS and not trigger["keys"] and reach2 < math.inf
            )
            one, many = _side(middle if _is_indexed(trigger) else reach2, wraps) if has_cells else (0.0, 0)
            side.append(one)
            around.append(many)
    return np.array(side, np.float64), np.array(around, np.int32)


def _is_indexed(trigger: dict[str, Any]) -> bool:
    return trigger["strategy"] in (LOOSE, TIGHT)


def _side(reach2: float, wraps: bool) -> tuple[float, int]:
    """The side of cells for a squared distance (or chord), and how many go around the sphere."""
    if not wraps:
        return max(math.sqrt(reach2), 1e-150), 0
    degrees = math.degrees(2.0 * math.asin(min(1.0, math.sqrt(reach2) / 2)))
    around = int(min(max(360.0 / max(degrees, 1e-3), 1.0), 2.0**20))
    return 360.0 / around, around


def slots_by_qid(triggers: list[dict[str, Any]], graph: Graph) -> tuple[I64, I64]:
    """The qids in order, and the first slot of each."""
    qid = np.array([trigger["qid"] for trigger in triggers], np.int64)
    order = np.argsort(qid, kind="stable")
    return qid[order], graph.first[:-1][order].astype(np.int64)
