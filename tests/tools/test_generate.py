"""The generator: same seed, same traffic; objects stay on streets; trips begin and end once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from vedette.errors import ConfigError, SourceError
from vedette.generate import city, read_network, traffic
from vedette.generate.network import MOTORWAY, build_network
from vedette.generate.routes import next_hops


def all_rows(**options: object) -> pa.Table:
    settings: dict[str, object] = {"objects": 60, "ticks": 40, "seed": 5} | options
    return pa.concat_tables(traffic(**settings)).combine_chunks()  # type: ignore[arg-type]


def test_example_rows_have_the_promised_columns() -> None:
    table = all_rows()
    assert table.schema.names == ["oid", "t", "x", "y", "class", "speed", "event"]
    assert table.schema.field("oid").type == pa.int64()
    assert table["t"].unique().to_pylist() == [10 * tick for tick in range(40)]
    assert set(table["event"].to_pylist()) == {"new", "move", "end"}


def test_example_ids_times_and_places_as_asked() -> None:
    table = all_rows(ids="text", time="timestamp", lonlat=(4.9, 52.37))
    assert table.schema.names[:4] == ["oid", "t", "lon", "lat"]
    assert table.schema.field("t").type == pa.timestamp("us", tz="UTC")
    kind, number = table["oid"][0].as_py().split("-")
    assert kind == table["class"][0].as_py()
    assert number == "1"
    assert abs(np.median(table["lon"].to_numpy()) - 4.9) < 0.1
    assert abs(np.median(table["lat"].to_numpy()) - 52.37) < 0.1


def test_agrees_for_the_same_seed_and_any_cut_into_tables() -> None:
    assert all_rows().equals(all_rows(ticks_per_table=7))
    assert not all_rows().equals(all_rows(seed=6))


def test_example_each_trip_begins_once_and_ends_at_most_once() -> None:
    table = all_rows(ticks=120)
    trips: dict[int, list[str]] = {}
    for oid, event in zip(table["oid"].to_pylist(), table["event"].to_pylist(), strict=True):
        trips.setdefault(oid, []).append(event)
    assert all(events[0] == "new" for events in trips.values())
    assert all("new" not in events[1:] and "end" not in events[:-1] for events in trips.values())
    assert sum(events[-1] == "end" for events in trips.values()) > 10


def test_example_population_stays_unless_a_rate_is_given() -> None:
    counts = all_rows(ticks=60).group_by("t").aggregate([("oid", "count"), ("event", "list")]).to_pylist()
    assert all(row["oid_count"] - row["event_list"].count("end") == 60 for row in counts)
    grows = all_rows(rate=9, ticks=10)
    assert pc.sum(pc.equal(grows["event"], "new")).as_py() == 60 + 9 * 9


def test_oracle_positions_lie_on_streets_and_speeds_are_kept() -> None:
    network = city(5)
    table = all_rows(network=network, ticks=5)
    a = np.stack([network.x[network.source], network.y[network.source]], axis=1)
    b = np.stack([network.x[network.target], network.y[network.target]], axis=1)
    for x, y in zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True):
        along = np.clip((((x, y) - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1), 0, 1)
        nearest = np.hypot(*((x, y) - (a + along[:, None] * (b - a))).T).min()
        assert nearest < 1e-6
    assert table["speed"].to_numpy().max() <= 39.0


def test_oracle_next_hops_follow_shortest_paths() -> None:
    network = city(2, radius_m=1500)
    hops = next_hops(network, np.array([0]), network.length, wobble=0.0, seed=0)[0]
    nodes = len(network.x)
    best = np.full(nodes, np.inf)
    best[0] = 0.0
    for _ in range(nodes):  # Bellman and Ford, slow and plain
        reach = best.copy()
        np.minimum.at(reach, network.target, best[network.source] + network.length)
        if np.array_equal(reach, best):
            break
        best = reach
    assert hops[0] == -1
    for node in range(1, nodes):
        edge = hops[node]
        assert network.source[edge] == node
        assert best[node] == pytest.approx(network.length[edge] + best[network.target[edge]])


def test_example_networks_keep_their_largest_part_and_every_twin() -> None:
    x = np.array([0.0, 1.0, 2.0, 50.0, 51.0])
    network = build_network(
        x, np.zeros(5), np.array([0, 1, 1, 3, 2]), np.array([1, 2, 0, 4, 2]), np.zeros(5, dtype=np.int64)
    )
    assert network.x.tolist() == [0.0, 1.0, 2.0]
    assert len(network.target) == 4
    for edge, twin in enumerate(network.twin):
        assert (network.source[edge], network.target[edge]) == (network.target[twin], network.source[twin])
    assert (city(1).street == MOTORWAY).sum() > 100


def test_example_a_city_is_one_piece_whatever_the_seed() -> None:
    for seed in range(6):
        assert len(city(seed).x) > 1200


def test_example_what_cannot_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="objects must be at least 1"):
        traffic(0)
    with pytest.raises(ConfigError, match="lat 89"):
        traffic(5, lonlat=(0, 89))
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text("id,x,y\n1,0,0\n")
    edges.write_text("src,dst\n1,2\n")
    with pytest.raises(SourceError, match="no column node_id; found id, x, y"):
        read_network(nodes, edges)
    nodes.write_text("node_id,x,y\n1,0,0\n")
    with pytest.raises(SourceError, match="1 ends of edges name a node"):
        read_network(nodes, edges)


def test_example_oldenburg(data: Path) -> None:
    folder = data / "oldenburg"
    network = read_network(folder / "nodes.csv", folder / "edges.csv")
    assert len(network.x) > 6000
    assert all_rows(network=network, ticks=3).num_rows >= 180
