"""The telling: feed the city to the engine tick by tick, show what changes, end with a table and a map.

In: a folder, a seed, whether to hurry. Out: FOLDER/updates.parquet, queries.sql, changes.parquet, map.png.
"""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.live import Live
from rich.text import Text

from vedette.connectors.parts import write_file
from vedette.connectors.protocol import Run
from vedette.demo.scene import STEP_S, TICKS, TIMEOUT, Scene, build_scene
from vedette.demo.view import Tally, queries_table, render_frame
from vedette.errors import ConfigError
from vedette.lang import parse
from vedette.model import Combination, CreateQuery, Inside, MovingCircle, MovingRect, Nearest
from vedette.pictures import Fence, draw_map
from vedette.space import planar

STORY_S = 48.0  # how long the ticks take in a terminal


def tell_story(folder: Path, *, fast: bool, seed: int = 7) -> None:
    """Tell the story on stdout and leave its files in `folder`."""
    import vedette as vd

    console = Console(highlight=False)
    console.print(Text("Vedette: standing queries over things that move\n", style="bold"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror}") from error
    with console.status("Building a city, waking up its traffic, compiling the engine (only once) ..."):
        scene = build_scene(seed)
        _warm_up(scene)
    (folder / "queries.sql").write_text(scene.sql, encoding="utf-8")
    write_file(folder / "updates.parquet", pa.concat_tables(scene.ticks), "parquet")

    run = vd.local(vd.Watch(space=vd.planar(), queries=scene.sql, timeout=TIMEOUT))
    tally = Tally(scene)
    began = time.monotonic()
    told = _tell_fast(console, scene, run, tally) if fast else _tell_live(console, scene, run, tally)
    changes = pa.concat_tables(told)
    seconds = time.monotonic() - began

    write_file(folder / "changes.parquet", changes, "parquet")
    picture = _draw(folder / "map.png", scene, changes)
    console.print()
    console.print(queries_table(tally))
    _close(console, scene, tally, run.totals, seconds, fast)
    console.print(f"\nThe map with the fences and who crossed them: [bold]{picture}[/bold]", soft_wrap=True)
    console.print(f"Updates, queries and changes of this story: [bold]{folder}[/bold]", soft_wrap=True)


def _warm_up(scene: Scene) -> None:
    """Compile what the story will call, on a run that is thrown away."""
    import vedette as vd

    run = vd.local(vd.Watch(space=vd.planar(), queries=scene.sql, timeout=TIMEOUT))
    for table in scene.ticks[:3]:
        run.feed(table)
    run.finish()


def _tell_fast(console: Console, scene: Scene, run: Run, tally: Tally) -> list[pa.Table]:
    """The chapters as lines of text, without a pause."""
    told = []
    for tick, table in enumerate(scene.ticks):
        if tick in scene.chapters:
            console.print(f"{table['t'][0].as_py():%H:%M:%S}  {scene.chapters[tick]}", soft_wrap=True)
        told.append(run.feed(table))
        tally.take(told[-1])
    told.append(run.finish())
    tally.take(told[-1])
    return told


def _tell_live(console: Console, scene: Scene, run: Run, tally: Tally) -> list[pa.Table]:
    """A live view, paced so that the whole takes about a minute."""
    told, said = [], ""
    began = time.monotonic()
    with Live(console=console, refresh_per_second=12) as live:
        for tick, table in enumerate(scene.ticks):
            said = scene.chapters.get(tick, said)
            told.append(run.feed(table))
            tally.take(told[-1])
            clock = table["t"][0].as_py()
            live.update(render_frame(tally, clock, (tick + 1) / TICKS, said))
            time.sleep(max(0.0, began + STORY_S * (tick + 1) / TICKS - time.monotonic()))
        told.append(run.finish())
        tally.take(told[-1])
        live.update(render_frame(tally, clock, 1.0, "Everything that was seen is closed now."))
    return told


def _close(console: Console, scene: Scene, tally: Tally, totals: dict[str, int], seconds: float, fast: bool) -> None:
    """A few sentences about what happened."""
    updates, changes = totals["updates"], totals["changes"]
    span = timedelta(seconds=TICKS * STEP_S)
    busiest, times = min(tally.visits.items(), key=lambda item: (-item[1], item[0]))
    console.print(
        f"\n{updates:,} updates in {span} of the city's time; {changes:,} changes were told, one for every "
        f"{updates / max(1, changes):.0f} updates. Nobody joined more answers than {busiest}: {times} times.",
        soft_wrap=True,
    )
    if fast:
        console.print(f"That took {seconds:.1f} s, {updates / seconds:,.0f} updates a second.", soft_wrap=True)


def _draw(path: Path, scene: Scene, changes: pa.Table) -> Path:
    """The map: every fence, the trails, and the marks of those who crossed the fences."""
    updates = pa.concat_tables(scene.ticks)
    mine = updates.filter(pc.equal(updates["oid"], scene.van))
    trail = np.stack([mine["x"].to_numpy(), mine["y"].to_numpy()], axis=1)
    fences: list[Fence] = []
    for statement in parse(scene.sql, space=planar()):
        action = statement.action
        if not isinstance(action, CreateQuery) or action.query.aggregate is not None:
            continue
        place = action.query.where
        if isinstance(place, Combination):
            continue  # its terms are answers, not fences
        shape = place.shape if isinstance(place, Inside) else place
        if (isinstance(shape, Nearest) and shape.focal) or any(fence.shape == shape for fence in fences):
            continue  # on the map already, in another query's name
        moves = isinstance(shape, MovingRect | MovingCircle)
        fences.append(Fence(action.query.name, shape, trail if moves else None))
    first, last = (scene.ticks[at]["t"][0].as_py() for at in (0, -1))
    return draw_map(
        path, network=scene.network, fences=fences, tracks=updates, changes=changes, unit="m",
        title="Who crossed which fence", subtitle=f"{first:%H:%M} to {last:%H:%M}: {updates.num_rows:,} positions of "
        f"{pc.count_distinct(updates['oid']).as_py():,} objects, {changes.num_rows:,} changes of answers",
    )  # fmt: skip
