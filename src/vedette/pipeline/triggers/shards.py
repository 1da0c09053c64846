"""Which shard does a trigger's work: one shard all of it, or every region what happens there.

In: plans of triggers as they come and go, and how space is cut, with some positions of the stream (landmarks). Out: the
place of each trigger.

Spread over regions a trigger's events go to every region in reach, and regions whose events reach each other do the
same work twice. So where an event would go to more than `MOST_COPIES` regions beyond its own, on average over the
landmarks, the trigger stays whole: all its events go to one shard, the one with the fewest whole triggers. All buckets
have the same landmarks and hear of the same statements, so they place alike. What is told does not depend on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vedette.families.triggers import TriggerPlan
from vedette.kernels.arrays import F64
from vedette.kernels.events.sift import KEY, SPACE, copies
from vedette.kernels.regions import Regions

MOST_COPIES = 0.1
SPREAD = -1


@dataclass(frozen=True)
class Place:
    """The shard of a whole trigger, or SPREAD: by key, or over the regions of space.

    `copies`: the regions beyond its own that an event would go to by space, on average; inf if to all of them.
    """

    shard: int
    copies: float


class Shards:
    """The places of all triggers, by qid."""

    def __init__(self, regions: Regions, landmarks: F64, wraps: bool) -> None:
        self.places: dict[int, int] = {}
        self._regions, self._landmarks, self._wraps = regions, landmarks, wraps

    def place(self, qid: int, plan: TriggerPlan) -> Place:
        """A trigger comes."""
        found = self._copies(plan)
        is_spread = plan.mode == KEY or (plan.mode == SPACE and found <= MOST_COPIES)
        shard = SPREAD if is_spread and self._regions.size > 1 else self._emptiest()
        self.places[qid] = shard
        return Place(shard, found)

    def adopt(self, qid: int, shard: int) -> None:
        """A trigger is where it was placed earlier."""
        self.places[qid] = shard

    def drop(self, qid: int) -> None:
        """A trigger goes."""
        del self.places[qid]

    def _emptiest(self) -> int:
        whole = [0] * self._regions.size
        for shard in self.places.values():
            if shard != SPREAD:
                whole[shard] += 1
        return whole.index(min(whole))

    def _copies(self, plan: TriggerPlan) -> float:
        """To how many regions beyond its own an event goes, on average over variables and landmarks."""
        if plan.mode != SPACE:
            return 0.0 if plan.mode == KEY else math.inf
        if len(self._landmarks) == 0 or self._regions.size == 1:
            return 0.0
        x, y = self._landmarks.T.copy()
        bases = sorted(set(plan.bases))
        counted = [copies(x, y, max(plan.reach2[base]), self._regions, self._wraps) for base in bases]
        return sum(counted) / (len(bases) * len(x))
