"""What all standing queries have in common, whatever their family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Standing:
    """A query that stands until it is dropped. One namespace for all of them: changes say who speaks by the name."""

    kind: ClassVar[str] = "QUERY"  # the word in CREATE and DROP

    name: str
