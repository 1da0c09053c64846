"""The closed constraint graph of a trigger, in words.

In: a trigger. Out: lines for people: what each event must be, what is known of any two of them, how far a partner can
be, where the work is done and why.
"""

from __future__ import annotations

import math

from vedette.cli.places import where
from vedette.families.triggers import EQUAL, TriggerPlan, plan_trigger
from vedette.kernels.events.sift import KEY, SPACE
from vedette.lang import print_expr
from vedette.lang.triggers import lengths
from vedette.model import MICROSECONDS, Inside, Schema, Trigger
from vedette.model.places import terms
from vedette.pipeline.triggers.shards import MOST_COPIES, Place
from vedette.space import Space

STRATEGIES = {
    "LOOSE": "shared index, events kept as long as any partner may come",
    "TIGHT": "shared index, events kept as long as the next missing partner may come",
    "DOMAINS": "a list for each variable, events kept as long as the next missing partner may come",
    "CELLS": "a list for each variable and key or cell, events kept as long as the next missing partner may come",
}


def describe_trigger(
    trigger: Trigger, space: Space, schema: Schema | None, place: Place | None = None, regions: int = 1
) -> list[tuple[str, str]]:
    """What was understood, as (topic, words); `place`: where it would be matched, were there so many regions."""
    plan = plan_of(trigger, schema, space)
    in_units = has_units(trigger)
    lines = [("fires", f"+1 for each {_tuple(trigger)}, with the time of the latest event")]
    bases = sorted(set(plan.bases))
    for slot in bases:
        variable = plan.closure.slots[slot]
        lines.append((f"event {called(trigger, plan, slot)}", _event(trigger, variable)))
        lines.append(("", _order(trigger, plan, slot)))
    for i in bases:
        if plan.bases.count(i) > 1:
            lines.append((f"any two {called(trigger, plan, i)}", _between(plan, i, i + 1, space, in_units)))
        for j in bases:
            if j > i:
                pair = f"{called(trigger, plan, i)} to {called(trigger, plan, j)}"
                lines.append((pair, _between(plan, i, j, space, in_units)))
    reach = max(plan.reach)
    if len(plan.bases) > 1:
        lines.append(("reach", f"partners are at most {_distance(reach, space)} apart" if reach < math.inf else "any"))
    horizon = max((h for row in plan.high for h in row), default=0)
    lines.append(("state", f"an event is kept for at most {span(horizon, in_units)}, if it is useful at all"))
    lines.append(("shards", _shards(plan)))
    if place is not None:
        lines.append(("here", where(plan, place, regions)))
    strategy = trigger.strategy or "CELLS"
    default = "" if trigger.strategy else ", the default"
    lines.append(("strategy", f"{strategy}: {STRATEGIES[strategy]}{default}"))
    return lines


def plan_of(trigger: Trigger, schema: Schema | None, space: Space) -> TriggerPlan:
    """The plan over a stream, or over any that the units of the trigger fit."""
    time = "timestamp" if has_units(trigger) else "long"
    return plan_trigger(trigger, space, schema or Schema("string", time))  # type: ignore[arg-type]


def has_units(trigger: Trigger) -> bool:
    """Whether lengths of time are real ones."""
    return any(length.unit is not None for _, length in lengths(trigger.constraints))


def span(ticks: int, in_units: bool) -> str:
    """A length of time for people."""
    if not in_units:
        return f"{ticks}"
    for unit in ("D", "H", "MIN", "S", "MS"):
        if ticks and ticks % MICROSECONDS[unit] == 0:
            return f"{ticks // MICROSECONDS[unit]} {unit.lower()}"
    return f"{ticks} us" if ticks else "0"


def _tuple(trigger: Trigger) -> str:
    total = sum(v.count for v in trigger.variables)
    parts = [v.name if v.count == 1 else f"a set of {v.count} {v.name}" for v in trigger.variables]
    return f"event {parts[0]}" if total == 1 else f"tuple of {total} different events ({', '.join(parts)})"


def _event(trigger: Trigger, variable: int) -> str:
    condition = trigger.variables[variable].condition
    if condition is None:
        return "any event"
    regions = [place.region for place in terms(condition, Inside) if place.region]
    named = f" (region {', '.join(regions)})" if regions else ""
    return f"{print_expr(condition)}{named}"


def called(trigger: Trigger, plan: TriggerPlan, slot: int) -> str:
    """The variable that a slot belongs to."""
    return trigger.variables[plan.closure.slots[slot]].name


def _order(trigger: Trigger, plan: TriggerPlan, slot: int) -> str:
    """Past variables, whose events must be earlier, future ones, and those that can be either."""
    past: list[str] = []
    future: list[str] = []
    either: list[str] = []
    for other in sorted(set(plan.bases)):
        if other == slot and plan.bases.count(slot) == 1:
            continue
        j = other + 1 if other == slot else other
        kind = past if plan.high[slot][j] < 0 else future if plan.high[j][slot] < 0 else either
        kind.append(called(trigger, plan, other))
    told = [f"{what}: {', '.join(names)}" for what, names in (("before it", past), ("after it", future)) if names]
    if either:
        told.append(f"before, after or with it: {', '.join(either)}")
    return "; ".join(told) or "alone"


def _between(plan: TriggerPlan, i: int, j: int, space: Space, in_units: bool) -> str:
    low, high = -plan.high[j][i], plan.high[i][j]
    low_text = f"-{span(-low, in_units)}" if low < 0 else span(low, in_units)
    high_text = f"-{span(-high, in_units)}" if high < 0 else span(high, in_units)
    text = f"{low_text} to {high_text} later"
    near, far = plan.closure.near[i][j], plan.closure.far[i][j]
    if near < math.inf:
        text += f", at most {_distance(near, space)} away"
    if far > 0:
        text += f", at least {_distance(far, space)} away"
    return text


def _distance(distance: float, space: Space) -> str:
    rounded = float(f"{distance:.6g}")
    return f"{rounded:g} m" if space.is_lonlat else f"{rounded:g}"


def _shards(plan: TriggerPlan) -> str:
    if plan.mode == KEY:
        sides = sorted({print_expr(side.expr) for side in plan.keys if side.use == EQUAL})
        return f"by key: all events of a tuple have the same {' / '.join(sides)}, so each key is one shard's work"
    if plan.mode == SPACE:
        return (
            "by space: an event goes to every region in reach, and the region of the latest event fires; but whole in "
            f"one shard where that would be more than {MOST_COPIES} regions beyond its own (--regions N --input FILE)"
        )
    return (
        "one shard for the whole trigger: nothing bounds the distance between all events, and no equality connects "
        "them. It cannot be spread over cores; add a DISTANCE or an equality (v1.oid = v2.oid) if you can"
    )
