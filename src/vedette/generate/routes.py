"""Which street to take next: one table row per destination, looked up by node.

In: a network, a pool of destinations, a cost per street. Out: `hops[d, n]`, the directed edge to take from node n
toward destination d (-1 at the destination itself).
A row is the shortest-path tree of one run of Dijkstra's algorithm. Each row sees costs of its own (a seeded wobble), so
that objects with different destinations spread over near-shortest routes as Brinkhoff's do. The pool is bounded, so
memory and set-up grow with the network, not with its square: 512 rows of Oldenburg (6,105 nodes) take 12 MB.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vedette.compiled import jit
from vedette.generate.network import Floats, Ints, Network

Hops = npt.NDArray[np.int32]

TABLE_CELLS = 16_000_000  # 64 MB of next hops at the most


def pool_size(nodes: int) -> int:
    """How many destinations one profile of routing gets in a network of this size."""
    return int(max(8, min(256, nodes // 4, TABLE_CELLS // (2 * nodes))))


def next_hops(network: Network, destinations: Ints, cost: Floats, wobble: float, seed: int) -> Hops:
    """The tables toward all destinations; costs are stretched by up to `1 + wobble`, differently in each row."""
    hops = np.empty((len(destinations), len(network.x)), dtype=np.int32)
    for row, destination in enumerate(destinations):
        stretch = 1 + wobble * np.random.default_rng([seed, row]).random(len(cost))
        _tree(int(destination), network.first, network.target, network.twin, cost * stretch, hops[row])
    return hops


@jit
def _tree(root: int, first: Ints, target: Ints, twin: Ints, cost: Floats, hop: Hops) -> None:
    """Dijkstra backwards from the root; a binary heap in two arrays, stale entries skipped when they surface."""
    best = np.full(len(first) - 1, np.inf)
    keys = np.empty(len(target) + 1)
    nodes = np.empty(len(target) + 1, dtype=np.int64)
    hop[:] = -1
    best[root] = 0.0
    keys[0], nodes[0], size = 0.0, root, 1
    while size > 0:
        key, node = keys[0], nodes[0]
        size -= 1
        last_key, last_node = keys[size], nodes[size]
        at = 0
        while 2 * at + 1 < size:
            child = 2 * at + 1
            if child + 1 < size and keys[child + 1] < keys[child]:
                child += 1
            if keys[child] >= last_key:
                break
            keys[at], nodes[at] = keys[child], nodes[child]
            at = child
        keys[at], nodes[at] = last_key, last_node
        if key > best[node]:
            continue
        for edge in range(first[node], first[node + 1]):
            other, toward = target[edge], twin[edge]
            reach = key + cost[toward]
            if reach < best[other]:
                best[other] = reach
                hop[other] = toward
                at = size
                size += 1
                while at > 0 and keys[(at - 1) // 2] > reach:
                    keys[at], nodes[at] = keys[(at - 1) // 2], nodes[(at - 1) // 2]
                    at = (at - 1) // 2
                keys[at], nodes[at] = reach, other
