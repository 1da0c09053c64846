"""Where the triggers of a file would be matched, were space cut by the first file of an input.

In: statements, an input, a number of regions. Out: a place for each trigger, and words for people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from vedette.connectors import FileSource
from vedette.families.triggers import TriggerPlan, plan_trigger
from vedette.kernels.events.sift import KEY, SPACE
from vedette.model import Create, Drop, Statement, Trigger
from vedette.pipeline.intake import bind
from vedette.pipeline.setup import cut, landmarks_of
from vedette.pipeline.triggers.shards import MOST_COPIES, SPREAD, Place, Shards
from vedette.space import Space

SAMPLE = 20_000  # positions, as a run takes them


def places_of(
    statements: Iterable[Statement], space: Space, path: str, columns: Mapping[str, str], regions: int
) -> dict[str, Place]:
    """The places of the triggers that stand in the end, by name."""
    source = FileSource(path, columns=columns, is_lonlat=space.is_lonlat)
    intake = bind(source.schema, space, columns)
    table = next((piece.table for piece in source.pieces()), source.schema.empty_table())
    rows, _ = intake.read(table)
    every = max(1, len(rows) // SAMPLE)
    x, y = rows.x[::every], rows.y[::every]
    shards = Shards(cut(x, y, space, regions), landmarks_of(x, y), space.is_lonlat)
    found: dict[str, tuple[int, Place]] = {}
    for qid, statement in enumerate(statements):
        action = statement.action
        trigger = action.query if isinstance(action, Create) and isinstance(action.query, Trigger) else None
        name = trigger.name if trigger else action.name if isinstance(action, Drop) and not action.of_region else ""
        if name in found:
            shards.drop(found.pop(name)[0])
        if trigger:
            found[name] = (qid, shards.place(qid, plan_trigger(trigger, space, intake.schema)))
    return {name: place for name, (_, place) in found.items()}


def where(plan: TriggerPlan, place: Place, regions: int) -> str:
    """The place of a trigger, and why."""
    if plan.mode == KEY and place.shard == SPREAD:
        return f"by key over {regions} shards"
    average = f"by space an event would go to {place.copies:.2f} regions beyond its own on average"
    if place.shard == SPREAD:
        return f"by space in {regions} regions: {average.replace('would go', 'goes')}"
    if regions == 1:
        return "whole in shard 0: there is one region"
    if plan.mode == SPACE and math.isfinite(place.copies):
        return f"whole in shard {place.shard} of {regions}: {average}, more than {MOST_COPIES}"
    return f"whole in shard {place.shard} of {regions}: nothing bounds the distance between all events"
