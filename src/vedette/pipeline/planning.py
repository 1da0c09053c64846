"""Which bucket is a query's home, and what regions and query buckets are told of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from vedette.kernels.totals import AVG, COUNT, MAX, MIN, SUM
from vedette.model import Schema
from vedette.model.plain import to_plain
from vedette.pipeline.catalogue import Entry
from vedette.pipeline.setup import bucket_of

FUNCTIONS = {"COUNT": COUNT, "SUM": SUM, "AVG": AVG, "MIN": MIN, "MAX": MAX}
OF_X, OF_Y = -2, -3  # measures that need no shipping


def focal_bytes(text: str, schema: Schema) -> bytes | None:
    """An id of a statement as the bytes of an id of the stream; None where no id of the stream can be it."""
    if schema.oid == "string":
        return text.encode()
    try:
        number = int(text)
    except ValueError:
        return None
    if str(number) != text or not -(2**63) <= number < 2**63:
        return None
    return np.int64(number).tobytes()


def home_bucket(entry: Entry, schema: Schema, buckets: int) -> int:
    """The TRACK bucket that speaks for a query: its focal's, so that it knows the centre; else by name."""
    focal = entry.plan.figure.focal
    key = None if focal is None else focal_bytes(focal, schema)
    return bucket_of(entry.query.name.encode() if key is None else key, buckets)


def answer_bucket(entry: Entry, buckets: int) -> int:
    """The query bucket of a query; one that others are made of lives where they do."""
    return entry.bucket if entry.is_hidden else bucket_of(entry.query.name.encode(), buckets)


def region_command(entry: Entry, c: int, sequence: int, buckets: int) -> dict[str, Any]:
    """What a region must know of a new query."""
    plan = entry.plan
    figure = plan.figure
    valued = plan.aggregate is not None and plan.aggregate.function != "COUNT"
    return {
        "op": "create",
        "c": c,
        "sequence": sequence,
        "qid": entry.qid,
        "bucket": answer_bucket(entry, buckets),
        "kind": figure.kind,
        "p": list(figure.p),
        "edges": [list(e) for e in figure.edges],
        "focal": entry.focal,
        "ball": figure.k > 0 or figure.reverse,
        "combined": plan.is_combined,
        "filter": entry.filter,
        "moves": figure.k > 0 or entry.is_term or (valued and not plan.is_delayed),
        "reports": plan.is_delayed,
    }


def answer_command(entry: Entry, c: int, sequence: int, buckets: int, replaces: bool) -> dict[str, Any]:
    """What a query bucket must know of a new query."""
    plan = entry.plan
    measure = {"x": OF_X, "y": OF_Y}.get(plan.measure or "", entry.measure)
    return {
        "op": "create",
        "c": c,
        "sequence": sequence,
        "qid": entry.qid,
        "bucket": answer_bucket(entry, buckets),
        "name": entry.query.name,
        "k": plan.figure.k,
        "function": -1 if plan.aggregate is None else FUNCTIONS[plan.aggregate.function],
        "measure": measure,
        "dwell": plan.dwell,
        "grace": plan.grace,
        "replaces": replaces,
        "hidden": entry.is_hidden,
        "formula": to_plain(entry.formula),
    }


def drop_command(entry: Entry, c: int, sequence: int, buckets: int) -> dict[str, Any]:
    """What everybody must know of a query that goes."""
    bucket = answer_bucket(entry, buckets)
    return {"op": "drop", "c": c, "sequence": sequence, "qid": entry.qid, "bucket": bucket}
