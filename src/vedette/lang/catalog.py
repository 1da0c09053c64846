"""Which queries and regions there are, at which tick.

Statements act in the order (tick, sequence), which is not the order in which they are written: a region replaced AT a
future tick is not yet seen by a query created now. So the catalogue keeps, per name, the acts that are known with
their ticks, and answers for any point of that order.

In: statements. Out: the area of a region at a point; what is wrong with creating or dropping a name there.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from vedette.model import Area, Create, CreateRegion, Statement

Kind = Literal["QUERY", "REGION"]
BEFORE_TIME = -math.inf


@dataclass(frozen=True, order=True)
class Act:
    """Something that happens to a name. `what`: the word in the statement. `area` None: dropped, or no region."""

    tick: float
    sequence: int
    creates: bool = field(compare=False)
    replace: bool = field(compare=False, default=False)
    area: Area | None = field(compare=False, default=None)
    what: str = field(compare=False, default="QUERY")


class Catalog:
    """Names of queries and regions. `copy` is cheap; `apply` takes a statement in."""

    def __init__(self) -> None:
        self._acts: dict[tuple[Kind, str], tuple[Act, ...]] = {}
        self._sequence = 0

    def copy(self) -> Catalog:
        """A catalogue that can go its own way."""
        other = Catalog()
        other._acts = dict(self._acts)
        other._sequence = self._sequence
        return other

    def apply(self, statement: Statement, now: int | None = None) -> None:
        """Take a statement in; `now` is the tick at which a statement without AT (or with a past one) acts."""
        action = statement.action
        tick = effective_tick(statement.at, now)
        if isinstance(action, Create):
            key: tuple[Kind, str] = ("QUERY", action.query.name)
            self.put(*key, tick, creates=True, replace=action.replace, what=action.query.kind)
        elif isinstance(action, CreateRegion):
            key = ("REGION", action.name)
            self.put(*key, tick, creates=True, replace=action.replace, area=action.area, what="REGION")
        else:
            key = ("REGION" if action.of_region else "QUERY", action.name)
            self.put(*key, tick, creates=False, what=action.kind)
        if now is not None:
            self._forget(key, now)

    def put(
        self,
        kind: Kind,
        name: str,
        tick: float,
        *,
        creates: bool,
        replace: bool = False,
        area: Area | None = None,
        what: str = "QUERY",
    ) -> Act:
        """Note an act; it comes after all acts of the same tick."""
        act = Act(tick, self._sequence, creates, replace, area, what)
        self._sequence += 1
        acts = list(self._acts.get((kind, name), ()))
        insort(acts, act)
        self._acts[kind, name] = tuple(acts)
        return act

    def remove(self, kind: Kind, name: str, act: Act) -> None:
        """Take back an act that was put."""
        rest = tuple(a for a in self._acts[kind, name] if a is not act)
        if rest:
            self._acts[kind, name] = rest
        else:
            del self._acts[kind, name]

    def broken(self, name: str) -> bool:
        """True if a statement that was to create the region is itself wrong."""
        return any(a.creates and a.area is None for a in self._acts.get(("REGION", name), ()))

    def conflicts(self, kind: Kind, name: str, new: Collection[Act]) -> list[tuple[Act, Act]]:
        """What goes wrong with a name, now that new acts are put: the act that fails, and the new act to blame.

        A new act that fails (it creates what is there, or drops what is not) is to blame itself and is passed over;
        where an older one, which waits for its tick, would fail, the new act before it is to blame.
        """
        found: list[tuple[Act, Act]] = []
        there: str | None = None
        last_new: Act | None = None
        for act in self._acts[kind, name]:
            is_new = act in new
            taken = there is not None and (not act.replace or there != act.what)
            fails = taken if act.creates else there != act.what
            if fails and is_new:
                found.append((act, act))
                continue
            if fails and last_new is not None:
                found.append((act, last_new))
            last_new = act if is_new else last_new
            there = act.what if act.creates else None
        return found

    def known_as(self, kind: Kind, name: str, before: Act) -> str | None:
        """What a name stands for just before an act, by the word of its statement."""
        there = None
        for act in self._acts.get((kind, name), ()):
            if act == before:
                break
            there = act.what if act.creates else None
        return there

    def kind_of(self, name: str) -> str | None:
        """What a name stands for after everything known has happened, regions aside."""
        acts = self._acts.get(("QUERY", name), ())
        return acts[-1].what if acts and acts[-1].creates else None

    def region(self, name: str, before: Act | None = None) -> Area | None:
        """The area of a region just before an act (None: after everything known)."""
        area: Area | None = None
        for act in self._acts.get(("REGION", name), ()):
            if before is not None and act > before:
                break
            area = act.area
        return area

    def later(self, name: str, before: Act) -> Act | None:
        """The next creation of a region after an act."""
        acts = self._acts.get(("REGION", name), ())
        return next((a for a in acts if a > before and a.creates), None)

    def names(self, kind: Kind) -> list[str]:
        """Names in use after everything known has happened, sorted."""
        return sorted(name for (k, name), acts in self._acts.items() if k == kind and acts[-1].creates)

    def regions(self) -> dict[str, Area]:
        """The areas of all regions after everything known has happened."""
        return {name: area for name in self.names("REGION") if (area := self.region(name)) is not None}

    def size(self) -> int:
        """How many acts are kept."""
        return sum(len(acts) for acts in self._acts.values())

    def _forget(self, key: tuple[Kind, str], now: int) -> None:
        """Drop what can no longer matter of a name: acts that a later act, not after `now`, has overtaken."""
        acts = self._acts[key]
        past = sum(1 for a in acts if a.tick <= now)
        rest = acts[max(0, past - 1) :]
        if len(rest) == 1 and not rest[0].creates and past:
            del self._acts[key]
        else:
            self._acts[key] = rest


def effective_tick(at: int | None, now: int | None) -> float:
    """The tick at which a statement acts: not before `now`."""
    floor = BEFORE_TIME if now is None else now
    return floor if at is None else max(at, floor)
