"""A picture of the map: streets, fences, trails, and where objects went in and out.

In: a network, fences (the shapes of the model), tracks and changes as Arrow tables. Out: a PNG or SVG file.
Invariant: drawn off screen (Agg), the same input gives the same picture; a lon/lat map keeps its proportions at its
middle latitude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from vedette.columns import LAT, LON, OID, X, Y
from vedette.errors import ConfigError
from vedette.model import Circle, MovingCircle, MovingRect, Nearest, Polygon, Rect, Shape
from vedette.space import EARTH_RADIUS_M, Space, planar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

PAPER, INK, QUIET, WATER = "#faf9f6", "#2b2d33", "#8a8d94", "#cfe4ef"
STREET = (("#d8c48f", 2.8), ("#d5d0c5", 1.6), ("#e7e4dd", 0.7))  # motorway, main, side
TRAIL, GOES_IN, GOES_OUT = "#7c8697", "#12856f", "#d1495b"
FENCES = ("#2f6fde", "#8a4fd3", "#c7791a", "#0f8fa8", "#b03a86", "#5b7f1d", "#7a5c3e", "#3d4f8f")
METRES_PER_DEGREE = math.pi * EARTH_RADIUS_M / 180


class Streets(Protocol):
    """A road network as far as a picture needs it: `vedette.generate.Network` is one."""

    @property
    def x(self) -> Floats:
        """Where the nodes are."""

    @property
    def y(self) -> Floats:
        """Where the nodes are."""

    @property
    def water(self) -> tuple[Floats, ...]:
        """Rivers as polylines (n, 2)."""

    def segments(self, street: int) -> Floats:
        """Streets of class 0 (motorway), 1 (main) or 2 (side) as an array (n, 2, 2)."""


@dataclass(frozen=True)
class Fence:
    """A watched shape and its label. `path` (n, 2): where its focal object went, for the shapes that move."""

    label: str
    shape: Shape | Nearest
    path: Floats | None = None


def draw_map(
    path: str | Path,
    *,
    network: Streets | None = None,
    fences: Sequence[Fence] = (),
    tracks: pa.Table | None = None,
    changes: pa.Table | None = None,
    space: Space | None = None,
    unit: str = "",
    title: str = "",
    subtitle: str = "",
) -> Path:
    """Write the map to `path` (.png or .svg) and return it.

    tracks   updates (oid and x, y or lon, lat), drawn as thin trails in the order of rows
    changes  of the engine; rows with sign +1 and -1 become marks where the object was, and are counted per fence
    unit     what a planar coordinate counts, for the scale bar ("m" is shown as m and km)
    """
    target = Path(path)
    if target.suffix.lower() not in (".png", ".svg"):
        raise ConfigError(f"a picture is a .png or .svg file, not {target.name!r}")
    import matplotlib

    matplotlib.use("Agg", force=False)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    where = space or planar()
    figure = Figure(figsize=(12, 9), dpi=150, facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.03, 0.74, 0.86))
    axes.set_facecolor(PAPER)
    axes.set_axis_off()

    crossings = _crossings(changes)
    town, drawn = draw_network(axes, network), [draw_tracks(axes, tracks)]
    if town is not None:  # the town is the frame; who drives out of it drives off the paper
        drawn = [town]
    for number, fence in enumerate(fences):
        drawn.append(draw_fence(axes, fence, FENCES[number % len(FENCES)], where))
    marked = _draw_crossings(axes, crossings, fences)
    if town is None:
        drawn.append(marked)
    frame(axes, [box for box in drawn if box is not None], where)
    scale_bar(axes, where, unit)

    figure.text(0.03, 0.945, title, fontsize=19, fontweight="bold", color=INK, va="center")
    figure.text(0.03, 0.908, subtitle, fontsize=11, color=QUIET, va="center")
    _legend(figure, fences, crossings, tracks is not None)
    target.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"metadata": {"Date": None}} if target.suffix.lower() == ".svg" else {}
    with matplotlib.rc_context({"svg.hashsalt": "vedette"}):
        figure.savefig(target, facecolor=PAPER, **options)
    return target


# ----------------------------------------------------------------------------------------- layers


def draw_network(axes: Axes, network: Streets | None) -> Floats | None:
    """Water first, then the streets from side streets to motorways."""
    if network is None:
        return None
    from matplotlib.collections import LineCollection

    for course in network.water:
        axes.plot(course[:, 0], course[:, 1], color=WATER, linewidth=11, solid_capstyle="butt", zorder=1)
    for street in (2, 1, 0):
        colour, width = STREET[street]
        lines = LineCollection(list(network.segments(street)), colors=colour, linewidths=width, zorder=2)
        lines.set_capstyle("round")
        axes.add_collection(lines)
    # The outermost nodes lie on roads out of town; those may run off the paper.
    return np.array([[np.quantile(v, q) for v in (network.x, network.y)] for q in (0.008, 0.992)])


def draw_tracks(axes: Axes, tracks: pa.Table | None) -> Floats | None:
    """One thin line per object; a single update is a dot."""
    if tracks is None or tracks.num_rows == 0:
        return None
    from matplotlib.collections import LineCollection

    points = points_of(tracks)
    number = pc.dictionary_encode(tracks[OID]).combine_chunks().indices.to_numpy()
    order = np.argsort(number, kind="stable")
    cuts = np.flatnonzero(np.diff(number[order])) + 1
    lines = np.split(points[order], cuts)
    axes.add_collection(LineCollection([line for line in lines if len(line) > 1], colors=TRAIL, linewidths=0.5,
                                       alpha=0.25, zorder=3))  # fmt: skip
    last = np.array([line[-1] for line in lines])
    axes.scatter(last[:, 0], last[:, 1], s=5, color=TRAIL, linewidths=0, alpha=0.8, zorder=3)
    return points


def draw_fence(axes: Axes, fence: Fence, colour: str, space: Space) -> Floats | None:
    """Fill, border and label; moving shapes at the last place of their focal, with its way dashed."""
    shape, trail = fence.shape, fence.path
    if isinstance(shape, Nearest):
        spot = np.array([[shape.x, shape.y]]) if shape.focal is None else trail
        if spot is None or len(spot) == 0:
            return None
        _way(axes, trail, colour)
        axes.scatter(spot[-1:, 0], spot[-1:, 1], marker="*", s=260, color=colour, edgecolors="white", zorder=8)
        _label(axes, fence.label, spot[-1, 0], spot[-1, 1], colour)
        return np.asarray(spot[-1:], dtype=np.float64)
    if isinstance(shape, MovingRect | MovingCircle):
        if trail is None or len(trail) == 0:
            return None
        _way(axes, trail, colour)
        for ghost in trail[: -1 : max(1, len(trail) // 6)]:
            _fill(axes, _around(shape, ghost, space), colour, 0.03, 0.6, ":")
        rings = _around(shape, trail[-1], space)
        _fill(axes, rings, colour, 0.14, 1.8, "--")
    else:
        rings = _rings(shape, space)
        _fill(axes, rings, colour, 0.11, 1.8, "-")
    corners = np.concatenate(rings)
    _label(axes, fence.label, (corners[:, 0].min() + corners[:, 0].max()) / 2, corners[:, 1].max(), colour)
    return corners


def _way(axes: Axes, trail: Floats | None, colour: str) -> None:
    if trail is not None:
        axes.plot(trail[:, 0], trail[:, 1], color=colour, linewidth=1.6, linestyle=(0, (1, 1.5)), zorder=5)
        axes.scatter(trail[-1:, 0], trail[-1:, 1], s=42, color=colour, edgecolors="white", zorder=8)


def _fill(axes: Axes, rings: list[Floats], colour: str, alpha: float, width: float, style: str) -> None:
    """One compound path, so that holes stay open."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    outline = Outline.make_compound_path(*(Outline(ring, closed=True) for ring in rings))
    axes.add_patch(PathPatch(outline, facecolor=colour, edgecolor="none", alpha=alpha, zorder=4))
    edge = PathPatch(outline, facecolor="none", edgecolor=colour, linewidth=width, linestyle=style, zorder=6)
    axes.add_patch(edge)


def _label(axes: Axes, text: str, x: float, y: float, colour: str) -> None:
    from matplotlib.patheffects import withStroke

    axes.annotate(
        text, (x, y), xytext=(0, 7), textcoords="offset points", ha="center", va="bottom", fontsize=10.5,
        fontweight="bold", color=colour, zorder=10, path_effects=[withStroke(linewidth=3.5, foreground=PAPER)],
    )  # fmt: skip


def _draw_crossings(axes: Axes, crossings: pa.Table | None, fences: Sequence[Fence]) -> Floats | None:
    """Small filled marks: up and green where an object joined an answer, down and red where it left.

    Where fences are drawn, only their own crossings are: joining the nearest ones is no crossing.
    """
    if crossings is not None and fences:
        lines = [fence.label for fence in fences if not isinstance(fence.shape, Nearest)]
        crossings = crossings.filter(pc.is_in(crossings["query"], value_set=pa.array(lines, pa.string())))
    if crossings is None or crossings.num_rows == 0:
        return None
    size = 30 if crossings.num_rows < 300 else 16
    for sign, marker, colour in ((-1, "v", GOES_OUT), (1, "^", GOES_IN)):
        points = points_of(crossings.filter(pc.equal(crossings["sign"], sign)))
        axes.scatter(points[:, 0], points[:, 1], marker=marker, s=size, color=colour, edgecolors="white",
                     linewidths=0.5, alpha=0.9, zorder=7)  # fmt: skip
    return points_of(crossings)


# ------------------------------------------------------------------------------------------ shapes


def _rings(shape: Rect | Circle | Polygon, space: Space) -> list[Floats]:
    """The shape's outline as closed rings of points."""
    if isinstance(shape, Rect):
        x2 = shape.x2 + 360 if space.is_lonlat and shape.x2 < shape.x1 else shape.x2
        return [_box(shape.x1, shape.y1, x2, shape.y2)]
    if isinstance(shape, Circle):
        return [_disc(shape.x, shape.y, shape.radius, space)]
    return [_turned(np.array(ring), at == 0) for part in shape.parts for at, ring in enumerate(part)]


def _turned(ring: Floats, is_shell: bool) -> Floats:
    """Shells counterclockwise, holes clockwise: what the fill rule needs to leave holes open."""
    x, y = ring[:, 0], ring[:, 1]
    counterclockwise = float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) > 0
    return ring if counterclockwise == is_shell else ring[::-1]


def _around(shape: MovingRect | MovingCircle, place: Floats, space: Space) -> list[Floats]:
    x, y = float(place[0]), float(place[1])
    if isinstance(shape, MovingCircle):
        return [_disc(x, y, shape.radius, space)]
    return [_box(x - shape.w / 2, y - shape.h / 2, x + shape.w / 2, y + shape.h / 2)]


def _box(x1: float, y1: float, x2: float, y2: float) -> Floats:
    return np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2], [x1, y1]])


def _disc(x: float, y: float, radius: float, space: Space) -> Floats:
    """A circle of 96 points; on the sphere the great-circle disc, good enough for the eye."""
    angle = np.linspace(0, 2 * np.pi, 97)
    if not space.is_lonlat:
        return np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1)
    reach, lat = radius / EARTH_RADIUS_M, math.radians(y)
    lats = np.arcsin(math.sin(lat) * math.cos(reach) + math.cos(lat) * math.sin(reach) * np.sin(angle))
    east = np.arctan2(np.cos(angle) * math.sin(reach) * math.cos(lat), math.cos(reach) - math.sin(lat) * np.sin(lats))
    return np.stack([x + np.degrees(east), np.degrees(lats)], axis=1)


def points_of(table: pa.Table) -> Floats:
    """Positions (n, 2) of the rows."""
    names = {name.lower(): name for name in table.column_names}
    pair = (names[X], names[Y]) if X in names else (names[LON], names[LAT])
    return np.stack([table[name].to_numpy().astype(np.float64) for name in pair], axis=1)


def _crossings(changes: pa.Table | None) -> pa.Table | None:
    """The changes that have a place and a direction."""
    if changes is None:
        return None
    return changes.filter(pc.and_(pc.not_equal(changes["sign"], 0), pc.is_valid(changes[X])))


# ------------------------------------------------------------------------------------------- frame


def frame(axes: Axes, boxes: list[Floats], space: Space) -> None:
    """Show everything that was drawn, with a small margin and true proportions."""
    every = np.concatenate(boxes) if boxes else np.array([[0.0, 0.0], [1.0, 1.0]])
    low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
    margin = 0.03 * np.maximum(high - low, 1e-9)
    axes.set_xlim(low[0] - margin[0], high[0] + margin[0])
    axes.set_ylim(low[1] - margin[1], high[1] + margin[1])
    stretch = 1 / max(0.05, math.cos(math.radians((low[1] + high[1]) / 2))) if space.is_lonlat else 1.0
    axes.set_aspect(stretch, adjustable="datalim" if space.is_lonlat else "box", anchor="W")


def scale_bar(axes: Axes, space: Space, unit: str) -> None:
    """A bar of a round length in the lower left corner."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    per_unit = METRES_PER_DEGREE * math.cos(math.radians((y0 + y1) / 2)) if space.is_lonlat else 1.0
    wide = (x1 - x0) * per_unit
    power = 10.0 ** math.floor(math.log10(wide / 5))
    length = max(power * factor for factor in (1, 2, 5) if power * factor <= wide / 5)
    name = "m" if space.is_lonlat else unit
    text = f"{length / 1000:g} km" if name == "m" and length >= 1000 else f"{length:g} {name}".strip()
    left, low = x0 + 0.02 * (x1 - x0), y0 + 0.025 * (y1 - y0)
    axes.plot([left, left + length / per_unit], [low, low], color=INK, linewidth=2.5, solid_capstyle="butt", zorder=11)
    axes.annotate(text, (left + length / per_unit / 2, low), xytext=(0, 5), textcoords="offset points", ha="center",
                  fontsize=9.5, color=INK, zorder=11)  # fmt: skip


def _legend(figure: Any, fences: Sequence[Fence], crossings: pa.Table | None, has_tracks: bool) -> None:
    """The column on the right: what the marks mean, and each fence with its counts."""
    from matplotlib.lines import Line2D

    x, y = 0.785, 0.86

    def row(artist: dict[str, Any], text: str, note: str = "", colour: str = INK) -> None:
        nonlocal y
        ends = [x + 0.013] if "marker" in artist else [x + 0.004, x + 0.022]
        figure.add_artist(Line2D(ends, [y] * len(ends), transform=figure.transFigure, **artist))
        figure.text(x + 0.032, y, text, fontsize=10.5, color=colour, va="center")
        figure.text(0.975, y, note, fontsize=10, color=QUIET, va="center", ha="right")
        y -= 0.034

    def heading(text: str) -> None:
        nonlocal y
        figure.text(x, y, text, fontsize=9.5, fontweight="bold", color=QUIET, va="center")
        y -= 0.036

    if fences:
        heading("WATCHED")
    for number, fence in enumerate(fences):
        moving = isinstance(fence.shape, MovingRect | MovingCircle)
        line: dict[str, Any] = {"color": FENCES[number % len(FENCES)], "linewidth": 3.2}
        if isinstance(fence.shape, Nearest):
            line |= {"marker": "*", "markersize": 13, "linewidth": 0}
        elif moving:
            line["linestyle"] = (0, (2, 1))
        row(line, fence.label, _tally(fence.label, crossings), FENCES[number % len(FENCES)])
    y -= 0.02
    heading("ON THE MAP")
    if crossings is not None:
        row({"marker": "^", "color": GOES_IN, "linewidth": 0, "markersize": 8}, "joined an answer")
        row({"marker": "v", "color": GOES_OUT, "linewidth": 0, "markersize": 8}, "left an answer")
    if has_tracks:
        row({"color": TRAIL, "linewidth": 1}, "trail of an object")


def _tally(label: str, crossings: pa.Table | None) -> str:
    """How often objects joined and left the query of that name."""
    if crossings is None:
        return ""
    mine = crossings.filter(pc.equal(crossings["query"], label))["sign"]
    joined = pc.sum(pc.equal(mine, 1)).as_py() or 0
    left = pc.sum(pc.equal(mine, -1)).as_py() or 0
    return f"+{joined}  \N{MINUS SIGN}{left}"
