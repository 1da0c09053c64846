"""What all stages of one run agree on, fixed when the first batch tells the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vedette.kernels.regions import Regions
from vedette.model import Schema
from vedette.space import Space


@dataclass(frozen=True)
class Setup:
    """Times are in ticks of the stream. `timeout`, `max_ahead` None: never."""

    space: Space
    schema: Schema
    lateness: int
    timeout: int | None
    max_ahead: int | None
    late: Literal["apply", "drop"]
    buckets: int
    regions: Regions

    @property
    def wraps(self) -> bool:
        """Whether longitudes go round."""
        return self.space.is_lonlat
