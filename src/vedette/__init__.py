"""Vedette: standing queries over things that move.

    import vedette as vd

    watch = vd.Watch(space=vd.lonlat(), queries="queries.sql")
    run = vd.local(watch)
    changes = run.feed(batch)

Importing starts nothing and compiles nothing.
"""

from vedette.errors import ConfigError, Problem, QueryError, SourceError, StateError, VedetteError
from vedette.runtime.local import LocalRun, Outcome, local
from vedette.space import Space, lonlat, planar
from vedette.watch import Watch

__version__ = "0.1.0"

__all__ = [
    "ConfigError",
    "LocalRun",
    "Outcome",
    "Problem",
    "QueryError",
    "SourceError",
    "Space",
    "StateError",
    "VedetteError",
    "Watch",
    "local",
    "lonlat",
    "planar",
]
