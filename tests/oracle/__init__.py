"""The oracle: what the answers of a stream are, by brute force, straight from DESIGN parts 2 and 3.

In: the queries, batches of rows with the commands that arrive beside them, the options of a watch.
Out: all changes, late rows, rejects and counts that an engine must produce.
It may know the records of `vedette.model` and the parser of `vedette.lang`; it knows no kernel, no stage, no space.
"""

from __future__ import annotations

from tests.oracle.answers import Change, Member
from tests.oracle.compare import assert_same_changes
from tests.oracle.expect import Expected, run

__all__ = ["Change", "Expected", "Member", "assert_same_changes", "run"]
