"""Sources of updates and sinks of changes, each behind one small protocol.

In: paths. Out: Arrow tables of updates, micro-batch by micro-batch; and files of changes, late rows and rejects.
May not know: queries, stages, how an answer is found. Any engine with `feed` and `finish` can be driven from here.

    protocol.py    what a source, a sink and an engine have to offer
    cells.py       text cells become typed columns; what does not parse becomes null
    layout.py      which column is which, and the types that the first file pins
    formats.py     one file of Parquet, CSV or JSON lines as Arrow tables
    files.py       a file, glob or folder as a source
    parts.py       a folder of part files as a sink
    checkpoint.py  where a run stands, in one file
    replay.py      source -> engine -> sink, resumable
"""

from vedette.connectors.checkpoint import Checkpoint
from vedette.connectors.files import FileSource, read_table
from vedette.connectors.parts import PartFiles
from vedette.connectors.protocol import Piece, Sink, Source
from vedette.connectors.replay import replay

__all__ = ["Checkpoint", "FileSource", "PartFiles", "Piece", "Sink", "Source", "read_table", "replay"]
