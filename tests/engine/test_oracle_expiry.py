"""What is kept of events (CCQ's expiration times), against brute force over all that can still happen.

An event that nobody keeps can be in no alert to come, and one that can be in one is kept; and nothing is kept longer
than the rule says. What the stage keeps is read out of its shards after every batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vedette as vd
from tests.engine.drive import expect, table, watch_of
from tests.engine.test_agrees_shards import LIMITS, limit
from tests.oracle.rows import Row, ticks_of
from tests.oracle.shapes import space_of
from tests.oracle.triggers import Trial, moment
from tests.strategies import Story
from tests.trigger_stories import STRATEGIES, TRIGGERS, Casting, one_in, told_by, trigger_stories
from vedette.lang import parse
from vedette.model import Create, Lag, Span, Trigger
from vedette.space import planar

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
FOREVER = 1 << 62
SMALL = Casting(
    casts=((1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1, 1), (2,), (3,), (2, 1), (1, 2)), comparisons="none", nearness="none"
)

Kept = set[tuple[str, str, Any, int]]  # trigger, variable, oid, t


def kept(run: Any) -> Kept:
    """The events that the shards of a run keep, and what for."""
    found: Kept = set()
    for region in run._regions:
        shard = region._parts.get("TRIGGER")
        if shard is None:
            continue
        entries, graph = shard._entries, shard._graph
        for entry in (entries.event >= 0).nonzero()[0].tolist():
            slot, event = int(entries.slot[entry]), int(entries.event[entry])
            q = int(graph.trigger[slot])
            trigger = shard._triggers[q]
            row = shard._shelf.events(shard._events.ref[event : event + 1])
            variable = trigger["names"][slot - int(graph.first[q])]
            found.add((trigger["name"], variable, row["oid"][0].as_py(), row["t"][0].as_py()))
    return found


def seen(story: Story, **cut: int) -> Iterator[tuple[int, Kept]]:
    """The frontier after each batch, and what is kept then."""
    run = vd.local(watch_of(story, **cut))
    for rows, _ in story.batches:
        run.feed(table(story, rows))
        if run.totals["frontier"] is not None:
            yield run.totals["frontier"], kept(run)


@KINDS
@one_in(4)
@given(data=st.data())
def test_events_of_alerts_to_come_are_kept(kind: str, data: st.DataObject) -> None:
    """Whatever binds the events, however they are found and wherever they are matched."""
    story = data.draw(trigger_stories(kind, TRIGGERS.but(disorder=True, mess=True)))
    alerts = expect(story).changes
    with limit(data.draw(st.sampled_from([*LIMITS.values()])), data.draw(st.integers(1, 9))):
        for frontier, found in seen(story, regions=data.draw(st.integers(1, 5))):
            for alert in alerts:
                if alert.t >= frontier:
                    past = {(alert.query, m.variable, m.oid, m.t) for m in alert.members or () if m.t < frontier}
                    assert past <= found, f"{past - found} not kept at {frontier}, but {alert} is to come"


@one_in(2)
@given(data=st.data())
def test_what_can_still_matter_is_kept_and_nothing_beyond_the_rule(data: st.DataObject) -> None:
    """Bounds on time alone: then it is known of any event whether some future could need it."""
    story = data.draw(trigger_stories("planar", TRIGGERS.but(max_rows=14, max_queries=2), SMALL))
    story = told_by(story, data.draw(st.sampled_from([s for s in STRATEGIES if s != "LOOSE"])))
    futures = [Future(trigger, story) for trigger in triggers_of(story)]
    for frontier, found in seen(story):
        for future in futures:
            name = future.trigger.name
            now = {(variable, event.oid, event.t) for variable, event in future.possible(frontier)}
            there = {each[1:] for each in found if each[0] == name}
            assert now <= there, f"{now - there} can still be in an alert of {name} at {frontier}"
            for variable, oid, t in there:
                assert frontier <= future.until(variable, oid, t, frontier), f"{variable}, {oid} at {t}: kept too long"


def triggers_of(story: Story) -> list[Trigger]:
    """The triggers of a story."""
    found = [s.action.query for s in parse("".join(story.queries), space=planar()) if isinstance(s.action, Create)]
    return [query for query in found if isinstance(query, Trigger)]


class Future:
    """What events can still be part of, whatever may come. A *place* is one event of a tuple."""

    def __init__(self, trigger: Trigger, story: Story) -> None:
        self.trigger = trigger
        self.trial = Trial(trigger, space_of(story.kind), story.t_type)
        self.places = [v for v in trigger.variables for _ in range(v.count)]
        self.events = sorted(events_of(story), key=moment)
        n = len(self.places)
        self.high = [[0 if i == j else FOREVER for j in range(n)] for i in range(n)]  # t[j] - t[i] at most
        for constraint in trigger.constraints:
            self._bind(constraint)
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    self.high[i][j] = min(self.high[i][j], self.high[i][k] + self.high[k][j])

    def _bind(self, constraint: Any) -> None:
        for i, v in enumerate(self.places):
            for j, w in enumerate(self.places):
                if i == j:
                    continue
                if isinstance(constraint, Span) and {v.name, w.name} <= set(constraint.variables):
                    self._bound(i, j, self.trial.ticks(constraint.length) - (constraint.op == "<"))
                if isinstance(constraint, Lag) and (v.name, w.name) == (constraint.earlier, constraint.later):
                    low = self.trial.ticks(constraint.low)
                    if constraint.op in ("=", ">", ">=", "IN"):
                        self._bound(j, i, -low - (constraint.op == ">"))
                    if constraint.op in ("=", "<", "<="):
                        self._bound(i, j, low - (constraint.op == "<"))
                    if constraint.high is not None:
                        self._bound(i, j, self.trial.ticks(constraint.high))

    def _bound(self, i: int, j: int, most: int) -> None:
        self.high[i][j] = min(self.high[i][j], most)

    def possible(self, frontier: int) -> Iterator[tuple[str, Row]]:
        """Events before the frontier, and variables, for which a tuple with an event from the frontier on may exist."""
        past = [event for event in self.events if event.t < frontier]
        for place, variable in enumerate(self.places):
            if place and variable is self.places[place - 1]:
                continue  # events of a set are interchangeable
            for event in past:
                if self.trial.suits(variable, event) and self._goes_on({place: event}, 0, past, frontier):
                    yield variable.name, event

    def _goes_on(self, chosen: dict[int, Row], place: int, past: list[Row], frontier: int) -> bool:
        if place == len(self.places):
            return len(chosen) < len(self.places) and self._has_room(chosen, frontier)
        if place in chosen or self._goes_on(chosen, place + 1, past, frontier):  # an event to come
            return place not in chosen or self._goes_on(chosen, place + 1, past, frontier)
        variable = self.places[place]
        return any(
            self.trial.suits(variable, event)
            and all(e is not event and self.trial.go(self.places[p], e, variable, event) for p, e in chosen.items())
            and self._goes_on({**chosen, place: event}, place + 1, past, frontier)
            for event in past
        )

    def _has_room(self, chosen: dict[int, Row], frontier: int) -> bool:
        """Whether there are times for the events to come: the bounds are closed, so pairs decide."""
        free = [p for p in range(len(self.places)) if p not in chosen]
        least = {p: max([frontier, *(e.t - self.high[p][c] for c, e in chosen.items())]) for p in free}
        most = {p: min([FOREVER, *(e.t + self.high[c][p] for c, e in chosen.items())]) for p in free}
        return all(least[p] <= most[q] + (self.high[q][p] if p != q else 0) for p in free for q in free)

    def until(self, variable: str, oid: Any, t: int, frontier: int) -> int:
        """Until when an event may be kept: until the first missing partner can come no more, or else the last one."""
        place = next(p for p, v in enumerate(self.places) if v.name == variable)
        event = next(e for e in self.events if (e.oid, e.t) == (oid, t))
        missing, longest = [], -1
        for other in self.trigger.variables:
            mine = [p for p, v in enumerate(self.places) if v is other and p != place]
            if not mine:
                continue
            longest = max(longest, self.high[place][mine[0]])
            fitting = sum(
                e is not event
                and e.t < frontier
                and self.trial.suits(other, e)
                and self.trial.go(self.places[place], event, other, e)
                for e in self.events
            )
            if fitting < len(mine):
                missing.append(self.high[place][mine[0]])
        return t + (min(missing) if missing else longest)


def events_of(story: Story) -> list[Row]:
    """The events of a story without late rows; of rows with one (oid, t) the smallest counts."""
    found: dict[tuple[Any, int], Row] = {}
    for rows, _ in story.batches:
        for raw in rows:
            values = {name: raw[name] for name in ("speed", "load", "type", "ok")}
            attributes = {name: None if value != value else value for name, value in values.items()}  # NaN is NULL
            row = Row(raw["oid"], ticks_of(raw["t"]), raw["x"], raw["y"], attributes)
            other = found.setdefault((row.oid, row.t), row)
            found[row.oid, row.t] = min(row, other, key=Row.identity_order)
    return list(found.values())


TRAP = """
CREATE TRIGGER trap FOR E AS a, E AS b, E AS c
  WHEN a.kind = 'a' AND b.kind = 'b' AND c.kind = 'c' AND b.t - a.t IN [-5, 5] AND c.t - a.t IN [0, 100]
  USING {strategy};
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_example_an_interval_that_spans_zero(strategy: str) -> None:
    """b may come before a or after it, and here it came before. The minimum over all variables that may still come, as
    the paper prints it, ends a at 10 + 5, since a b could come until then; but no b is missing, and c comes at 60."""
    run = vd.local(vd.Watch(space=vd.planar(), queries=TRAP.format(strategy=strategy)))

    def told(*events: tuple[str, int]) -> list[tuple[str, int]]:
        rows = [{"oid": kind, "t": t, "x": 0.0, "y": 0.0, "kind": kind} for kind, t in events]
        return [(m["oid"], m["t"]) for row in run.feed(rows).to_pylist() for m in row["members"]]

    told(("b", 8), ("a", 10))
    printed = 10 + min(5, 100)
    assert told(("x", 50)) == []
    assert printed < 50
    assert {f[1:] for f in kept(run)} == {("a", "a", 10), ("b", "b", 8)}
    told(("c", 60))
    assert told(("x", 61)) == [("a", 10), ("b", 8), ("c", 60)]
    assert told(("x", 111)) == []
    assert {f[1:] for f in kept(run)} == {("b", "b", 8)}  # no c can come for this a, one can for an a at 13
    assert told(("x", 114)) == []
    assert kept(run) == set()


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "LOOSE"])
def test_example_who_still_waits_for_the_first_partner_goes_with_it(strategy: str) -> None:
    """Without a b, a is of no use once b can come no more, long before the last c could."""
    run = vd.local(vd.Watch(space=vd.planar(), queries=TRAP.format(strategy=strategy)))
    for kind, t, stored in (("a", 10, False), ("x", 15, True), ("x", 16, False)):  # a tick is closed by the next one
        run.feed([{"oid": kind, "t": t, "x": 0.0, "y": 0.0, "kind": kind}])
        assert {f[1:] for f in kept(run)} == ({("a", "a", 10)} if stored else set()), t
