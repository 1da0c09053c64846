"""A picture of a match: where an object was while the windows of a motion pattern were open, and what was asked there.

In: a pattern, the updates of one object, the instant of the match. Out: a PNG or SVG file. What the object did in the
window of a step has the colour of that step's area; before, between and after, its way is thin.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from vedette.columns import T
from vedette.conditions import parse_timestamp
from vedette.errors import ConfigError
from vedette.families.patterns import StepPlan, plan_pattern
from vedette.lang.patterns import print_step
from vedette.lang.print import print_area
from vedette.model import Create, MovingCircle, MovingRect, Pattern, Point, Schema, Step
from vedette.orders import Orders
from vedette.pictures.map import (
    FENCES,
    INK,
    PAPER,
    QUIET,
    TRAIL,
    Fence,
    Floats,
    draw_fence,
    draw_tracks,
    frame,
    points_of,
    scale_bar,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_match(
    path: str | Path,
    watch: Orders,
    name: str,
    track: pa.Table,
    at: int | str | datetime,
    *,
    others: pa.Table | None = None,
    unit: str = "",
) -> Path:
    """Write the picture of a match to `path` (.png or .svg) and return it.

    watch   holds the pattern `name`
    track   the updates of the object (t and x, y or lon, lat), in the order of time
    at      the instant of the match: `t` of the change, as a whole number, a time, or ISO 8601
    others  updates of other objects (oid too), drawn as thin trails
    unit    what a planar coordinate counts, for the scale bar
    """
    target = Path(path)
    if target.suffix.lower() not in (".png", ".svg"):
        raise ConfigError(f"a picture is a .png or .svg file, not {target.name!r}")
    if track.num_rows == 0:
        raise ConfigError("the object has no updates to draw")
    pattern = _pattern(watch, name)
    schema = watch.schema or Schema("string", "timestamp" if pattern.every.unit else "long")
    plan = plan_pattern(pattern, watch.space, schema)
    t, places, tau = _times(track), points_of(track), _instant(at)
    import matplotlib as mpl

    mpl.use("Agg", force=False)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 9), dpi=110, facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.13, 0.96, 0.78))
    axes.set_facecolor(PAPER)
    axes.set_axis_off()
    draw_tracks(axes, others)
    shown = (t >= tau - plan.horizon) & (t <= tau) if plan.horizon else t <= tau
    axes.plot(*places[shown].T, color=TRAIL, linewidth=0.9, zorder=6)
    drawn = [places[shown]]
    for number, (step, window) in enumerate(zip(pattern.steps, plan.steps, strict=True)):
        colour = FENCES[number % len(FENCES)]
        drawn.append(_draw_area(axes, step, number, colour, watch))
        if window.windowed:
            _draw_stretch(axes, places[_is_open(window, t, tau)], colour)
        words = f"{number + 1}   {_words(step, watch)}"
        figure.text(0.03, 0.10 - 0.026 * number, words, color=colour, fontsize=11, va="center")
    if shown.any():
        x, y = places[shown][-1]
        axes.scatter([x], [y], s=170, marker="*", color=INK, edgecolors="white", zorder=9)
    frame(axes, [box for box in drawn if box is not None and len(box)], watch.space)
    scale_bar(axes, watch.space, unit)
    figure.text(0.03, 0.955, f"{pattern.name}, matched at {at}", fontsize=17, fontweight="bold", color=INK, va="center")
    figure.text(0.97, 0.955, "star: where it was then", fontsize=10, color=QUIET, va="center", ha="right")
    target.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"metadata": {"Date": None}} if target.suffix.lower() == ".svg" else {}
    with mpl.rc_context({"svg.hashsalt": "vedette"}):
        figure.savefig(target, facecolor=PAPER, **options)
    return target


def _pattern(watch: Orders, name: str) -> Pattern:
    known = {}
    for statement in watch.statements:
        action = statement.action
        if isinstance(action, Create) and isinstance(action.query, Pattern):
            known[action.query.name] = action.query
    if name.lower() not in known:
        raise ConfigError(f"there is no pattern {name!r}; known: {', '.join(sorted(known)) or 'none'}")
    return known[name.lower()]


def _times(track: pa.Table) -> Any:
    """Times as whole numbers, as the engine counts them."""
    t = track[{column.lower(): column for column in track.column_names}[T]]
    if pa.types.is_timestamp(t.type):
        t = t.cast(pa.timestamp("us", t.type.tz)).cast(pa.int64())
    return t.to_numpy()


def _instant(at: int | str | datetime) -> int:
    if isinstance(at, int):
        return at
    tick = parse_timestamp(at if isinstance(at, str) else at.isoformat())
    if tick is None:
        raise ConfigError(f"at: expected a tick or an ISO 8601 time, found {at!r}")
    return tick


def _words(step: Step, watch: Orders) -> str:
    """A step as it is written, regions by their names."""
    words = print_step(step, watch.space)
    if isinstance(step.target, Point) or step.target.region is None:
        return words
    shape = step.target.shape
    assert not isinstance(shape, MovingRect | MovingCircle)
    return words.replace(print_area(shape, watch.space), step.target.region)


def _is_open(step: StepPlan, t: Any, tau: int) -> Any:
    return (t >= tau - step.a) & (t <= tau - step.b)


def _draw_stretch(axes: Axes, places: Floats, colour: str) -> None:
    """What the object did in a window."""
    axes.plot(*places.T, color=colour, linewidth=2.6, alpha=0.8, zorder=7)
    axes.scatter(places[:, 0], places[:, 1], s=16, color=colour, edgecolors="white", linewidths=0.5, zorder=8)


def _draw_area(axes: Axes, step: Step, number: int, colour: str, watch: Orders) -> Floats | None:
    """The area or point that a step asks about."""
    if isinstance(step.target, Point):
        axes.scatter([step.target.x], [step.target.y], s=90, marker="X", color=colour, edgecolors="white", zorder=8)
        return np.array([[step.target.x, step.target.y]])
    shape = step.target.shape
    assert not isinstance(shape, MovingRect | MovingCircle)
    label = step.target.region or str(number + 1)
    return draw_fence(axes, Fence(label, shape), colour, watch.space)
