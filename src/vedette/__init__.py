"""Vedette: standing queries over things that move.

    import vedette as vd

    watch = vd.Watch(space=vd.lonlat(), queries="queries.sql")
    run = vd.local(watch)
    changes = run.feed(batch)

Importing starts nothing and compiles nothing. What brings the kernels along (and with them 0.7 s of imports) is loaded
when it is first asked for: Spark starts half a dozen processes for a query that only have to open its plan.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from vedette.errors import ConfigError, Problem, QueryError, SourceError, StateError, VedetteError

if TYPE_CHECKING:
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

_LATER = {
    "LocalRun": "vedette.runtime.local",
    "Outcome": "vedette.runtime.local",
    "Space": "vedette.space",
    "Watch": "vedette.watch",
    "local": "vedette.runtime.local",
    "lonlat": "vedette.space",
    "planar": "vedette.space",
}


def __getattr__(name: str) -> object:
    """A name that is loaded when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module 'vedette' has no attribute {name!r}")
    found: object = getattr(import_module(_LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
