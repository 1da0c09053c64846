"""Source -> engine -> sink, micro-batch by micro-batch, resumable at any of them.

In: a source, a way to start the engine from a saved state or from nothing, a sink, perhaps a checkpoint.
Out: the sink is filled; the engine's run is returned for its totals.
Order that makes a kill harmless: parts of micro-batch n, then the checkpoint that counts it. The closing punctuation is
written as one more part and never checkpointed: a later run with more files replaces it, one without repeats it.
"""

from __future__ import annotations

from collections.abc import Callable

from vedette.connectors.checkpoint import Checkpoint
from vedette.connectors.protocol import Outcome, Piece, Run, Sink, Source


def replay(
    source: Source,
    start: Callable[[bytes | None], Run],
    sink: Sink,
    checkpoint: Checkpoint | None = None,
    progress: Callable[[Piece | None, Run], None] | None = None,
) -> Run:
    """Drain the source. `start(state)` gives the engine's run; `progress` is told after each piece and at the end."""
    done = checkpoint.batches if checkpoint else 0
    run = start(checkpoint.state or None if checkpoint else None)
    if checkpoint and done == 0:
        checkpoint.save(0, (0, 0), b"", source.identity)
    sink.trim(done)
    for piece in source.pieces(done, checkpoint.position if checkpoint else (0, 0)):
        run.feed(piece.table)
        sink.write(piece.number, _outcome(run))
        done = piece.number + 1
        if checkpoint:
            checkpoint.save(done, piece.position, run.save(), source.identity)
        if progress:
            progress(piece, run)
    run.finish()
    sink.write(done, _outcome(run), is_end=True)
    if progress:
        progress(None, run)
    return run


def _outcome(run: Run) -> Outcome:
    assert run.last is not None  # only so before the first batch
    return run.last
