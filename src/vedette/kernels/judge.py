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
from vedette.kernels.enclosing import measure
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
    count: I64


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
    known of the measure. missing: objects without a position. often: how many times it was computed. The alerts over a constraint are
    alert[use[c] : use[c + 1]].
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
    count: I64
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
def _compute(c: int, s: Constraints, bodies: Bodies, edges: Edges, wraps: bool, points: F64) -> bool:
    kind = s.kind[c]
    first, n = s.first[c], s.length[c]
    if kind <= DIAMETER_ABOVE:
        for i in range(n):
            b = s.object[first + i]
            points[i, 0], points[i, 1], points[i, 2] = bodies.p[b, 0], bodies.p[b, 1], bodies.p[b, 2]
        found = measure(points, n, wraps)
        s.bound[c] = found
        return found < s.limit[c] if kind == DIAMETER_BELOW else found > s.limit[c]
    if kind <= DISTANCE_ABOVE:
        found = 0.0
        for i in range(n):
            b = s.object[first + i]
            d2 = sphere_d2(s.p[c, 0], s.p[c, 1], s.p[c, 2], bodies.p[b, 0], bodies.p[b, 1], bodies.p[b, 2])
            found = max(found, d2)
        s.bound[c] = found
        return found < s.limit[c] if kind == DISTANCE_BELOW else found > s.limit[c]
    b = s.object[first]
    if kind == REVERSE:
        return bool(s.count[c] < s.limit[c])
    x, y, px, py, pz = bodies.x[b], bodies.y[b], bodies.p[b, 0], bodies.p[b, 1], bodies.p[b, 2]
    return bool(shape_has(s.shape[c], s.p, c, s.part[c], edges, x, y, px, py, pz, wraps))


@inline
def _infer(c: int, s: Constraints, links: LinkLists, decided: I64, now: int) -> int:
    """1 or 0 if a link decides it, else -1."""
    below = s.kind[c] == DIAMETER_BELOW or s.kind[c] == DISTANCE_BELOW
    for k in range(links.start[c], links.start[c + 1]):
        source = links.source[k]
        if decided[source] == -now or s.missing[source] > 0 or s.value[source] != links.need[k]:
            continue
        bound = s.bound[source]
        if links.upper[k]:
            if bound * (1.0 + MARGIN) < s.limit[c]:
                s.bound[c] = bound
                return 1 if below else 0
        elif bound * (1.0 - MARGIN) > s.limit[c]:
            s.bound[c] = bound
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
    room = 256
    out_t = np.empty(room, np.int64)
    out_alert = np.empty(room, np.int32)
    out_value = np.empty(room, np.bool_)
    n = i = j = w = 0
    now = 0
    end = np.iinfo(np.int64).max
    while True:
        t = end
        if i < len(happenings.t):
            t = min(t, happenings.t[i])
        if j < len(counts.t):
            t = min(t, counts.t[j])
        if w < len(wake.t):
            t = min(t, wake.t[w])
        if t == end:
            break
        now += 1
        n_touched = 0
        n_due = 0
        while i < len(happenings.t) and happenings.t[i] == t:
            b = happenings.body[i]
            was, on = bodies.on[b], happenings.on[i]
            x, y = happenings.x[i], happenings.y[i]
            i += 1
            if was == on and (not on or (x == bodies.x[b] and y == bodies.y[b])):
                continue
            bodies.on[b] = on
            if on:
                bodies.x[b], bodies.y[b] = x, y
                if wraps:
                    bodies.p[b, 0], bodies.p[b, 1], bodies.p[b, 2] = unit_vector(x, y)
                else:
                    bodies.p[b, 0], bodies.p[b, 1] = x, y
            for e in range(bodies.start[b], bodies.start[b + 1]):
                c = bodies.item[e]
                if was != on:
                    s.missing[c] += -1 if on else 1
                if decided[c] != -now:
                    decided[c] = -now
                    touched[n_touched] = c
                    n_touched += 1
        while j < len(counts.t) and counts.t[j] == t:
            c = counts.constraint[j]
            s.count[c] = counts.count[j]
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
                linked = s.missing[c] == 0 and links.start[c] < links.start[c + 1]
                if linked and opened[c] != now:
                    opened[c] = now
                    below = top
                    for e in range(links.start[c], links.start[c + 1]):
                        source = links.source[e]
                        if (
                            decided[source] == -now
                            and opened[source] != now
                            and s.missing[source] == 0
                            and s.value[source] == links.need[e]
                        ):
                            top += 1
                            stack[top] = source
                    if top > below:
                        continue
                value = False
                if s.missing[c] == 0:
                    inferred = _infer(c, s, links, decided, now) if linked else -1
                    if inferred < 0:
                        value = _compute(c, s, bodies, edges, wraps, points)
                        s.often[c] += 1
                        tally[COMPUTED] += 1
                    else:
                        value = inferred == 1
                        tally[INFERRED] += 1
                decided[c] = now
                top -= 1
                if value == s.value[c]:
                    continue
                s.value[c] = value
                tally[CHANGED] += 1
                for e in range(s.use[c], s.use[c + 1]):
                    a = s.alert[e]
                    if walked[a] != now:
                        walked[a] = now
                        due[n_due] = a
                        n_due += 1

        tally[WALKED] += n_due
        for k in range(n_due):
            a = due[k]
            value = walk(diagram, alerts.edge[a], s.value)
            if value == alerts.told[a]:
                continue
            alerts.told[a] = value
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
