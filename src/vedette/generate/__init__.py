"""Made-up traffic: objects that move along the streets of a network, in the spirit of Brinkhoff's generator.

In: a road network (a procedural city, or nodes and edges from files), how many objects, how many ticks, a seed.
Out: Arrow tables of updates (oid, t, x, y, class, speed, event), the same for the same seed on every machine run.
May not know: queries, engines, the command line.

    network.py  a road network as flat arrays; reading one from CSV files
    city.py     a procedural city: blocks, avenues, a ring motorway, a river with bridges
    routes.py   next-hop tables toward a pool of destinations
    traffic.py  objects appear, follow their table, disappear
"""

from vedette.generate.city import city
from vedette.generate.network import Network, read_network
from vedette.generate.traffic import traffic

__all__ = ["Network", "city", "read_network", "traffic"]
