"""A road network as flat arrays, ready for compiled loops.

In: node coordinates and undirected edges with a class of street, from memory or from two CSV files.
Out: `Network`, the largest connected part, every street as two directed edges in compressed rows.
Invariant: every node can reach every other; `twin[e]` is `e` driven the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from vedette.errors import SourceError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOTORWAY, MAIN, SIDE = 0, 1, 2
STREETS = ("motorway", "main", "side")


@dataclass(frozen=True)
class Network:
    """Nodes, and the directed edges of node n at `first[n]:first[n + 1]`. Coordinates and lengths in metres.

    `water` is scenery: polylines (n, 2) that a picture may draw.
    """

    x: Floats
    y: Floats
    first: Ints
    source: Ints
    target: Ints
    twin: Ints
    length: Floats
    street: Ints
    water: tuple[Floats, ...] = ()

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 of all nodes."""
        return float(self.x.min()), float(self.y.min()), float(self.x.max()), float(self.y.max())

    def segments(self, street: int) -> Floats:
        """The streets of one class as an array (n, 2, 2) of end points, each once."""
        once = (self.street == street) & (self.source < self.target)
        a, b = self.source[once], self.target[once]
        ends = np.stack([self.x[a], self.y[a], self.x[b], self.y[b]], axis=1)
        return ends.reshape(-1, 2, 2)


def build_network(x: Floats, y: Floats, a: Ints, b: Ints, street: Ints, water: tuple[Floats, ...] = ()) -> Network:
    """The network of the undirected edges a[i] - b[i]; loops and repeats are dropped, small islands too."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((street, high, low))  # of repeats the greatest street stays
    low, high, street = low[order], high[order], street[order]
    keep = low != high
    keep[1:] &= (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    low, high, street = low[keep], high[keep], street[keep]
    if len(low) == 0:
        raise SourceError("the network has no street between two different nodes")

    island = _islands(len(x), low, high)
    greatest = np.bincount(island[low], minlength=len(x)).argmax()
    stays = island == greatest
    number = np.cumsum(stays) - 1
    kept = stays[low]
    low, high, street = number[low[kept]], number[high[kept]], street[kept]
    x, y = x[stays], y[stays]

    count = len(low)
    source, target = np.concatenate([low, high]), np.concatenate([high, low])
    twin = np.concatenate([np.arange(count, 2 * count), np.arange(count)])
    order = np.lexsort((target, source))
    place = np.empty_like(order)
    place[order] = np.arange(2 * count)
    source, target, twin = source[order], target[order], place[twin[order]]
    first = np.searchsorted(source, np.arange(len(x) + 1)).astype(np.int64)
    length = np.hypot(x[target] - x[source], y[target] - y[source])
    return Network(x, y, first, source, target, twin, length, np.concatenate([street, street])[order], water)


def _islands(nodes: int, a: Ints, b: Ints) -> Ints:
    """For each node the least node of its connected part: labels sink along the edges, halving paths."""
    label = np.arange(nodes, dtype=np.int64)
    while True:
        least = np.minimum(label[a], label[b])
        sunk = label.copy()
        np.minimum.at(sunk, label[a], least)
        np.minimum.at(sunk, label[b], least)
        sunk = sunk[sunk]
        if np.array_equal(sunk, label):
            return label
        label = sunk


def read_network(nodes: str | Path, edges: str | Path) -> Network:
    """A network from two CSV files: `node_id, x, y` and `src, dst` with an optional `class` (0 is the fastest).

    Classes 0, 1-2 and 3 upward become motorways, main and side streets; coordinates are taken as metres.
    """
    places = _read_table(nodes, ("node_id", "x", "y"))
    streets = _read_table(edges, ("src", "dst"))
    ids = places["node_id"].combine_chunks()
    a = pc.index_in(streets["src"].combine_chunks(), value_set=ids)
    b = pc.index_in(streets["dst"].combine_chunks(), value_set=ids)
    if a.null_count or b.null_count:
        lost = a.null_count + b.null_count
        raise SourceError(f"{edges}: {lost} ends of edges name a node that is not in {nodes}")
    if "class" in streets.column_names:
        rank = streets["class"].to_numpy()
        street = np.where(rank <= 0, MOTORWAY, np.where(rank <= 2, MAIN, SIDE)).astype(np.int64)
    else:
        street = np.full(len(a), SIDE, dtype=np.int64)
    x = places["x"].cast(pa.float64()).to_numpy()
    y = places["y"].cast(pa.float64()).to_numpy()
    return build_network(x, y, a.to_numpy().astype(np.int64), b.to_numpy().astype(np.int64), street)


def _read_table(path: str | Path, needed: tuple[str, ...]) -> pa.Table:
    try:
        table = pyarrow.csv.read_csv(str(path))
    except (OSError, pa.ArrowInvalid) as error:
        raise SourceError(f"cannot read {path} as CSV: {error}") from error
    table = table.rename_columns([name.strip().lower() for name in table.column_names])
    missing = [name for name in needed if name not in table.column_names]
    if missing:
        found = ", ".join(table.column_names)
        raise SourceError(f"{path}: no column {', '.join(missing)}; found {found}, needed {', '.join(needed)}")
    if any(table[name].null_count for name in needed) or table.num_rows == 0:
        raise SourceError(f"{path}: rows without {', '.join(needed)}, or no rows at all")
    return table
