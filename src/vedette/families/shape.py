"""The geometry of a query in the form that kernels take."""

from __future__ import annotations

from dataclasses import dataclass

from vedette.kernels.shapes import DISC, POLYGON, RECT


@dataclass(frozen=True)
class Figure:
    """kind and p as in `kernels.shapes` (of a figure that follows a focal: half width and height, or squared distance).

    k > 0: the k nearest, whose ball TRACK finds; `centre` is its centre unless it follows a focal.
    reverse: the open disc around the focal whose border runs through the point (x, y) of p.
    """

    kind: int
    p: tuple[float, ...]
    edges: tuple[tuple[float, float, float, float], ...] = ()
    focal: str | None = None
    k: int = 0
    reverse: bool = False

    @property
    def is_still(self) -> bool:
        """Whether the shape never changes once it is known."""
        return self.focal is None and self.k == 0


NO_FIGURE = Figure(-1, ())  # of a query that is made of others

__all__ = ["DISC", "NO_FIGURE", "POLYGON", "RECT", "Figure"]
