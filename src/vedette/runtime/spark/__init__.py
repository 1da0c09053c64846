"""The stations on Spark Structured Streaming: the only folder that knows pyspark.

In: a DataFrame of updates (and one of commands). Out: a DataFrame of changes, in one streaming query.

    session.py     a session with settings that suit, warnings for one that the user brings
    keys.py        which key goes to which partition
    packing.py     DataFrames to parcels, parcels to DataFrames
    processor.py   a station as a stateful processor: state in pages, decoded state kept in the worker
    cellar.py      values beside the state, read one by one
    worker.py      what keeps a Python worker fast
    chain.py       the plan: pack, track, participate, assemble
    pieces.py      a bounded list of files as a source that ends with a punctuation
    bounded.py     a bounded run, resumable, batch by batch into any sink: what `vedette run` does
"""

from importlib import import_module
from typing import TYPE_CHECKING

from vedette.runtime.spark.session import session

if TYPE_CHECKING:
    from vedette.runtime.spark.chain import changes_over, command_folder, outputs_over

__all__ = ["changes_over", "command_folder", "outputs_over", "session"]


def __getattr__(name: str) -> object:
    """Loaded when asked for, so that processes which only open a plan do not load the kernels: see `vedette`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("vedette.runtime.spark.chain"), name)
