"""One input row as the oracle sees it, and what makes a row bad (DESIGN part 2: Input, Bad rows, Identity).

In: a dict as the user wrote it. Out: a `Row`, or the reason why there is none.
Invariant: a Row is finite, its longitude lies in [-180, 180), NaN attributes are None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

Oid: TypeAlias = int | str
Scalar: TypeAlias = float | int | str | bool | None

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(eq=False, slots=True)
class Row:
    """ "Object `oid` is at (x, y) from `t` on", with its attributes by lower-case name."""

    oid: Oid
    t: int
    x: float
    y: float
    attributes: dict[str, Scalar]
    vector: tuple[float, float, float] | None = None  # unit vector, in a lon/lat space

    def identity_order(self) -> tuple[Any, ...]:
        """Rows with one (oid, t): "the smallest (x, y, then attributes by column name, nulls first) wins"."""
        by_name = ((value is not None, value) for _, value in sorted(self.attributes.items()))
        return (self.x, self.y, *by_name)


def oid_order(oid: Oid) -> tuple[int, bytes]:
    """Long ids numerically, strings by their UTF-8 bytes."""
    return (oid, b"") if isinstance(oid, int) else (0, oid.encode())


def ticks_of(t: int | datetime) -> int:
    """A time as an int: itself, or microseconds since the epoch."""
    return (t - EPOCH) // timedelta(microseconds=1) if isinstance(t, datetime) else int(t)


def wrap_longitude(lon: float) -> float:
    """The same meridian in [-180, 180). Exact: fmod is, and so is the subtraction that may follow it."""
    if -180.0 <= lon < 180.0:
        return lon
    rest = math.fmod(lon, 360.0)
    if rest >= 180.0:
        return rest - 360.0
    if rest < -180.0:
        return rest + 360.0
    return rest


def read_row(raw: Mapping[str, Any], kind: str) -> Row | str:
    """The row, or why it is bad."""
    fields = {name.lower(): value for name, value in raw.items()}
    oid, t = fields.pop("oid", None), fields.pop("t", None)
    x = fields.pop("lon") if "lon" in fields and kind == "lonlat" else fields.pop("x", None)
    y = fields.pop("lat") if "lat" in fields and kind == "lonlat" else fields.pop("y", None)
    if oid is None:
        return "no id"
    if t is None:
        return "no time"
    if x is None or y is None or not math.isfinite(x) or not math.isfinite(y):
        return "no finite position"
    x, y = float(x), float(y)
    if kind == "lonlat":
        if not -90.0 <= y <= 90.0:
            return "latitude outside [-90, 90]"
        x = wrap_longitude(x)
    attributes = {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in fields.items()
    }
    return Row(oid, ticks_of(t), x + 0.0, y + 0.0, attributes)  # + 0.0: there is no -0.0
