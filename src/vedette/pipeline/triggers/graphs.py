"""The triggers of a shard as one `Graph`: plain data in, arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.kernels.arrays import F64, I64
from vedette.kernels.events.graph import AT_LEAST, AT_MOST, EQUAL, Graph

_OPS = {"=": EQUAL, "<": AT_MOST, "<=": AT_MOST, ">": AT_LEAST, ">=": AT_LEAST}  # <> says nothing about coarse keys


def graph_of(triggers: list[dict[str, Any]]) -> Graph:
    """Slots are numbered through in the order of the triggers."""
    sizes = [len(trigger["bases"]) for trigger in triggers]
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    pairs = np.concatenate(([0], np.cumsum([m * m for m in sizes]))).astype(np.int64)
    base = [int(first[q]) + b for q, trigger in enumerate(triggers) for b in trigger["bases"]]
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


def cell_side(graph: Graph) -> float:
    """A side for the cells of the index, in squared distance: the middle of what triggers ask for."""
    finite: F64 = np.sort(graph.reach2[(graph.reach2 > 1e-200) & np.isfinite(graph.reach2)])
    return float(finite[len(finite) // 2]) if len(finite) else 1.0


def slots_by_qid(triggers: list[dict[str, Any]], graph: Graph) -> tuple[I64, I64]:
    """The qids in order, and the first slot of each."""
    qid = np.array([trigger["qid"] for trigger in triggers], np.int64)
    order = np.argsort(qid, kind="stable")
    return qid[order], graph.first[:-1][order].astype(np.int64)
