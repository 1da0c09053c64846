"""The map: a file that holds what was asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import vedette as vd
from vedette.errors import ConfigError
from vedette.generate import city, traffic
from vedette.model import Circle, MovingCircle, MovingRect, Nearest, Polygon, Rect
from vedette.pictures import Fence, draw_map, draw_match
from vedette.space import lonlat

SQUARE = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0))
HOLE = ((1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 2.0), (1.0, 1.0))


def test_example_svg_holds_labels_counts_and_scale(tmp_path: Path) -> None:
    network = city(1)
    updates = pa.concat_tables(traffic(20, 3, network=network))
    changes = pa.table(
        {
            "query": ["harbour", "harbour", "depot"],
            "sign": pa.array([1, -1, 0], pa.int8()),
            "x": [5000.0, 5100.0, None],
            "y": [5000.0, 5200.0, None],
        }
    )
    way = np.array([[3000.0, 3000.0], [3500.0, 3300.0]])
    fences = [
        Fence("harbour", Rect(4000, 4000, 6000, 6000)),
        Fence("station", Circle(2000, 2000, 500)),
        Fence("depot", Nearest(3, 7000.0, 7000.0)),
        Fence("escort", MovingCircle("a", 400), way),
        Fence("box", MovingRect("a", 400, 200), way),
        Fence("nowhere", MovingCircle("b", 400)),
    ]
    path = draw_map(
        tmp_path / "deep" / "map.svg", network=network, fences=fences, tracks=updates, changes=changes, unit="m",
        title="Hello", subtitle="there",
    )  # fmt: skip
    text = path.read_text()
    for said in ("harbour", "station", "depot", "escort", "nowhere", "Hello", "there", "km", "+1"):
        assert f"<!-- {said}" in text or f" {said} -->" in text, said


def test_example_png_of_a_lonlat_map(tmp_path: Path) -> None:
    fences = [
        Fence("zone", Polygon(((SQUARE, HOLE),))),
        Fence("disc", Circle(2, 2, 100_000)),
        Fence("date", Rect(179, 0, -179, 1)),
    ]
    path = draw_map(tmp_path / "map.png", fences=fences, space=lonlat())
    assert path.read_bytes().startswith(b"\x89PNG")


def test_agrees_with_itself(tmp_path: Path) -> None:
    fences = [Fence("zone", Polygon(((SQUARE, HOLE),)))]
    first, second = (draw_map(tmp_path / f"{n}.svg", fences=fences).read_text() for n in (1, 2))
    assert first == second


def test_example_empty_maps_and_wrong_suffixes(tmp_path: Path) -> None:
    assert draw_map(tmp_path / "empty.png").exists()
    with pytest.raises(ConfigError, match=r"\.png or \.svg"):
        draw_map(tmp_path / "map.gif")


def test_example_a_match_of_a_motion_pattern(tmp_path: Path) -> None:
    watch = vd.Watch(
        queries="""CREATE REGION port AS RECT (0, 0, 2, 2);
        CREATE PATTERN came AS INSIDE port SOMETIME BETWEEN 9 AND 5 AGO THEN DIST (8, 8) SOMETIME BETWEEN 4 AND 0 AGO
          SCORE <= 3 EVERY 1;"""
    )
    track = pa.table({"oid": ["a"] * 3, "t": [1, 6, 9], "x": [1.0, 5.0, 8.0], "y": [1.0, 5.0, 9.0]})
    text = draw_match(tmp_path / "deep" / "match.svg", watch, "came", track, 9, others=track, unit="m").read_text()
    for said in ("came, matched at 9", "INSIDE port SOMETIME BETWEEN 9 AND 5 AGO", "DIST (8, 8)", "port"):
        assert said in text, said
    assert draw_match(tmp_path / "match.svg", watch, "CAME", track, 9).read_text() != text
    with pytest.raises(ConfigError, match="there is no pattern 'gone'; known: came"):
        draw_match(tmp_path / "match.png", watch, "gone", track, 9)
    with pytest.raises(ConfigError, match="no updates"):
        draw_match(tmp_path / "match.png", watch, "came", track.slice(0, 0), 9)
    with pytest.raises(ConfigError, match="ISO 8601"):
        draw_match(tmp_path / "match.png", watch, "came", track, "noon")


def test_example_a_match_with_timestamps_on_the_globe(tmp_path: Path) -> None:
    watch = vd.Watch(
        space=vd.lonlat(),
        queries="CREATE PATTERN near AS INSIDE CIRCLE (4, 52, 10 KM) BETWEEN 2 H AND 0 H AGO EVERY 1 MIN;",
    )
    t = pa.array([datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (8, 9)], pa.timestamp("ms", "UTC"))
    track = pa.table({"oid": ["a"] * 2, "T": t, "Lon": [4.0, 4.01], "Lat": [52.0, 52.01]})
    for at in (datetime(2026, 1, 1, 9, tzinfo=UTC), "2026-01-01T09:00:00Z"):
        path = draw_match(tmp_path / "match.png", watch, "near", track, at)
        assert path.read_bytes().startswith(b"\x89PNG")
