"""Pictures for people, drawn off screen: a map of fences and crossings; an object that matched a motion pattern."""

from vedette.pictures.map import FENCES, INK, PAPER, QUIET, Fence, draw_map
from vedette.pictures.match import draw_match

__all__ = ["FENCES", "INK", "PAPER", "QUIET", "Fence", "draw_map", "draw_match"]
