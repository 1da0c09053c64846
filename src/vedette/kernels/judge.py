"""Alerts, tick by tick: which elementary constraints are touched, which of them have to be computed, who fires.

In: what happened to the objects and to the counts around them, in time order. Out: alerts that became true or false.

All that happens in a tick is taken in first. Then each touched constraint is decided once: false where an object has no
position; inferred where a link (`families.links`) leads from a constraint that is already decided, or was not touched,
to this one, and the bound that comes along is clear of the limit; computed otherwise. Sources that are likely to
help, going by their last value, are decided first. Only alerts over constraints that changed are walked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vedette.compiled import inline, jit
from vedette.kernels.arrays import B1, F64, I8, I32, I64
from vedette.kernels.diagram import Diagram, walk
from vedette.kernels.enclosing import bounded
from vedette.kernels.shapes import Edges, shape_has
from vedette.space import sphere_d2, unit_vector

DIAMETER_BELOW, DIAMETER_ABOVE, DISTANCE_BELOW, DISTANCE_ABOVE, WITHIN, REVERSE = 0, 1, 2, 3, 4, 5
MARGIN = 4e-12  # in squares: twice what it is in distances, and a bit

TOUCHED, COMPUTED, INFERRED, CHANGED, WALKED = 0, 1, 2, 3, 4  # places in the tally
TALLY = 5


class Happenings(NamedTuple):
    """Objects that appear, move or vanish, in time order."""

    t: I64
    body: I32
    on: B1
    x: F64
    y: F64


class Counts(NamedTuple):
    """New numbers of objects closer than the point of a constraint, in time order."""

    t: I64
    constraint: I32
    number: I64


class Wake(NamedTuple):
    """Constraints and alerts that are new at a tick; `t` holds that tick, or nothing."""

    t: I64
    constraint: I32
    alert: I32


class Bodies(NamedTuple):
    """The objects: `p` is (x, y, 0), or the unit vector; their constraints are item[start[b] : start[b + 1]]."""

    on: B1
    x: F64
    y: F64
    p: F64
    start: I64
    item: I32


class Constraints(NamedTuple):
    """Elementary constraints. Those of `object` are rows first .. first + length, sorted by id.

    limit: the measure that the distance stands for, or k. p: the point, or the parameters of a shape. bound: what is
    known of the measure. missing: objects without a position. often: how many times it was computed. The alerts over
    a constraint are alert[use[c] : use[c + 1]].
    """

    kind: I8
    first: I64
    length: I64
    object: I32
    limit: F64
    p: F64
    shape: I8
    part: I32
    value: B1
    bound: F64
    missing: I32
    counted: I64
    often: I64
    use: I64
    alert: I32


class LinkLists(NamedTuple):
    """Links into constraint c: rows start[c] .. start[c + 1]."""

    start: I64
    source: I32
    need: B1
    upper: B1


class Alerts(NamedTuple):
    """Alerts by slot: the edge into the diagram, and what was told last."""

    edge: I64
    told: B1


@inline
def _measured(
    first: int, n: int, around: bool, limit: float, c: int, p: F64, object_: I32, body_p: F64, wraps: bool, points: F64
) -> float:
    """The measure of a constraint's objects, or a bound of it: of the circle around them, or from a point."""
    if around:
        for i in range(n):
            b = object_[first + i]
            points[i, 0], points[i, 1], points[i, 2] = body_p[b, 0], body_p[b, 1], body_p[b, 2]
        return bounded(points, n, limit, wraps)
    found = 0.0
    for i in range(n):
        b = object_[first + i]
        found = max(found, sphere_d2(p[c, 0], p[c, 1], p[c, 2], body_p[b, 0], body_p[b, 1], body_p[b, 2]))
    return found


@inline
def _infer(
    c: int,
    below: bool,
    limit: float,
    start: I64,
    link_source: I32,
    need: B1,
    upper: B1,
    decided: I64,
    now: int,
    missing: I32,
    values: B1,
    bounds: F64,
) -> int:
    """1 or 0 if a link decides it, else -1."""
    for k in range(start[c], start[c + 1]):
        source = link_source[k]
        if decided[source] == -now or missing[source] > 0 or values[source] != need[k]:
            continue
        bound = bounds[source]
        if upper[k]:
            if bound * (1.0 + MARGIN) < limit:
                bounds[c] = bound
                return 1 if below else 0
        elif bound * (1.0 - MARGIN) > limit:
            bounds[c] = bound
            return 0 if below else 1
    return -1


@jit
def judge(
    happenings: Happenings,
    counts: Counts,
    wake: Wake,
    bodies: Bodies,
    s: Constraints,
    edges: Edges,
    links: LinkLists,
    diagram: Diagram,
    alerts: Alerts,
    wraps: bool,
    tally: I64,
) -> tuple[I64, I32, B1]:
    """Times, alerts and what they became."""
    n_constraints = len(s.kind)
    decided = np.zeros(n_constraints, np.int64)  # -tick number: touched; +tick number: decided
    opened = np.zeros(n_constraints, np.int64)
    touched = np.empty(n_constraints, np.int32)
    stack = np.empty(n_constraints + len(links.source), np.int32)
    walked = np.zeros(len(alerts.edge), np.int64)
    due = np.empty(len(alerts.edge), np.int32)
    widest = 1
    for c in range(n_constraints):
        widest = max(widest, s.length[c])
    points = np.zeros((widest, 3))
    # Arrays by themselves: to take one out of a named tuple in an inner loop costs more than what is done with it.
    kinds, firsts, lengths, limits, counted = s.kind, s.first, s.length, s.limit, s.counted
    values, bounds, missing, often, use, use_alert = s.value, s.bound, s.missing, s.often, s.use, s.alert
    shape, part, parameters, objects = s.shape, s.part, s.p, s.object
    link_start, link_source, link_need, link_upper = links.start, links.source, links.need, links.upper
    body_on, body_x, body_y, body_p = bodies.on, bodies.x, bodies.y, bodies.p
    body_start, body_item = bodies.start, bodies.item
    edge, told = alerts.edge, alerts.told
    happened, happened_body, happened_on = happenings.t, happenings.body, happenings.on
    happened_x, happened_y = happenings.x, happenings.y
    room = 256
    out_t = np.empty(room, np.int64)
    out_alert = np.empty(room, np.int32)
    out_value = np.empty(room, np.bool_)
    n = i = j = w = 0
    now = 0
    end = np.iinfo(np.int64).max
    while True:
        t = end
        if i < len(happened):
            t = min(t, happened[i])
        if j < len(counts.t):
            t = min(t, counts.t[j])
        if w < len(wake.t):
            t = min(t, wake.t[w])
        if t == end:
            break
        now += 1
        n_touched = 0
        n_due = 0
        while i < len(happened) and happened[i] == t:
            b = happened_body[i]
            was, on = body_on[b], happened_on[i]
            x, y = happened_x[i], happened_y[i]
            i += 1
            if was == on and (not on or (x == body_x[b] and y == body_y[b])):
                continue
            body_on[b] = on
            if on:
                body_x[b], body_y[b] = x, y
                if wraps:
                    body_p[b, 0], body_p[b, 1], body_p[b, 2] = unit_vector(x, y)
                else:
                    body_p[b, 0], body_p[b, 1] = x, y
            for e in range(body_start[b], body_start[b + 1]):
                c = body_item[e]
                if was != on:
                    missing[c] += -1 if on else 1
                if decided[c] != -now:
                    decided[c] = -now
                    touched[n_touched] = c
                    n_touched += 1
        while j < len(counts.t) and counts.t[j] == t:
            c = counts.constraint[j]
            counted[c] = counts.number[j]
            j += 1
            if decided[c] != -now:
                decided[c] = -now
                touched[n_touched] = c
                n_touched += 1
        if w < len(wake.t) and wake.t[w] == t:
            w += 1
            for c in wake.constraint:
                if decided[c] != -now:
                    decided[c] = -now
                    touched[n_touched] = c
                    n_touched += 1
            for a in wake.alert:
                walked[a] = now
                due[n_due] = a
                n_due += 1
        tally[TOUCHED] += n_touched

        for k in range(n_touched):
            stack[0] = touched[k]
            top = 0
            while top >= 0:
                c = stack[top]
                if decided[c] == now:
                    top -= 1
                    continue
                linked = missing[c] == 0 and link_start[c] < link_start[c + 1]
                if linked and opened[c] != now:
                    opened[c] = now
                    bottom = top
                    for e in range(link_start[c], link_start[c + 1]):
                        source = link_source[e]
                        if (
                            decided[source] == -now
                            and opened[source] != now
                            and missing[source] == 0
                            and values[source] == link_need[e]
                        ):
                            top += 1
                            stack[top] = source
                    if top > bottom:
                        continue
                value = False
                if missing[c] == 0:
                    kind = kinds[c]
                    below = kind == DIAMETER_BELOW or kind == DISTANCE_BELOW
                    inferred = -1
                    if linked:
                        inferred = _infer(
                            c, below, limits[c], link_start, link_source, link_need, link_upper, decided, now,
                            missing, values, bounds,
                        )  # fmt: skip
                    if inferred >= 0:
                        value = inferred == 1
                        tally[INFERRED] += 1
                    else:
                        if kind <= DISTANCE_ABOVE:
                            found = _measured(
                                firsts[c], lengths[c], kind <= DIAMETER_ABOVE, limits[c], c, parameters, objects,
                                body_p, wraps, points,
                            )  # fmt: skip
                            bounds[c] = found
                            value = found < limits[c] if below else found > limits[c]
                        elif kind == REVERSE:
                            value = counted[c] < limits[c]
                        else:
                            b = objects[firsts[c]]
                            value = shape_has(
                                shape[c], parameters, c, part[c], edges, body_x[b], body_y[b],
                                body_p[b, 0], body_p[b, 1], body_p[b, 2], wraps,
                            )  # fmt: skip
                        often[c] += 1
                        tally[COMPUTED] += 1
                decided[c] = now
                top -= 1
                if value == values[c]:
                    continue
                values[c] = value
                tally[CHANGED] += 1
                for e in range(use[c], use[c + 1]):
                    a = use_alert[e]
                    if walked[a] != now:
                        walked[a] = now
                        due[n_due] = a
                        n_due += 1

        tally[WALKED] += n_due
        for k in range(n_due):
            a = due[k]
            value = walk(diagram, edge[a], values)
            if value == told[a]:
                continue
            told[a] = value
            if n == room:
                room *= 2
                out_t = np.concatenate((out_t, out_t))
                out_alert = np.concatenate((out_alert, out_alert))
                out_value = np.concatenate((out_value, out_value))
            out_t[n] = t
            out_alert[n] = a
            out_value[n] = value
            n += 1
    return out_t[:n].copy(), out_alert[:n].copy(), out_value[:n].copy()
