"""Nearest neighbours of a point or of a focal object (SOLE's and PLACE*'s kNN queries)."""

from __future__ import annotations

from vedette.families.ranges import disc
from vedette.families.shape import DISC, Figure
from vedette.model import Nearest
from vedette.space import Space


def plan_nearest(where: Nearest, space: Space) -> Figure:
    """The figure of a kNN query: a disc whose radius TRACK will find."""
    if where.focal is not None:
        return Figure(DISC, (), focal=where.focal, k=where.k)
    assert where.x is not None and where.y is not None
    return Figure(DISC, disc(where.x, where.y, 0.0, space), k=where.k)
