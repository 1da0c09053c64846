"""Alerts: Boolean combinations of constraints on where certain objects are.

Elementary constraints are canonical: ids sorted, each once. A constraint is false as long as one of its objects has no
position, whatever it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias
from typing import Literal as OneOf

from vedette.model.standing import Standing
from vedette.model.terms import Inside


@dataclass(frozen=True)
class Diameter:
    """The smallest circle (or spherical cap) around the objects has a diameter below or above a distance."""

    objects: tuple[str, ...]
    op: OneOf["<", ">"]
    distance: float


@dataclass(frozen=True)
class Distance:
    """All objects are nearer to a point than a distance; or the farthest is farther."""

    x: float
    y: float
    objects: tuple[str, ...]
    op: OneOf["<", ">"]
    distance: float


@dataclass(frozen=True)
class InsideOf:
    """The object is inside an area."""

    object: str
    area: Inside


@dataclass(frozen=True)
class ReverseNearest:
    """Fewer than k other objects are strictly closer to the object than a point is."""

    x: float
    y: float
    k: int
    object: str


Elementary: TypeAlias = Diameter | Distance | InsideOf | ReverseNearest


def objects_of(constraint: Elementary) -> tuple[str, ...]:
    """The ids that a constraint is about, sorted."""
    return constraint.objects if isinstance(constraint, Diameter | Distance) else (constraint.object,)


@dataclass(frozen=True)
class Alert(Standing):
    """True or false at every moment: `formula` is an `Elementary` or a tree of them (see `model.formula`)."""

    kind: ClassVar[str] = "ALERT"

    formula: Any
