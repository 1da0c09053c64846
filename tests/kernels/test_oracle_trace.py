"""Last positions, winners of ticks and timeouts against a dictionary that is looked at in every tick."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vedette.kernels.regions import Regions, region_of, split
from vedette.kernels.trace import FOREVER, Tracks, trace, winners

SLOTS, TICKS = 4, 16
Row = tuple[int, int, int, float, float, int]  # t, own t, slot, x, y, rank


@st.composite
def streams(draw: st.DrawFn) -> list[Row]:
    """Rows in time order; per object and tick at most one row that is older than the tick, as intake leaves them."""
    rows: list[Row] = []
    coordinates = st.sampled_from([0.0, 1.0, 2.0, 0.5])
    for t in sorted(draw(st.lists(st.integers(0, TICKS - 1), max_size=25))):
        slot = draw(st.integers(0, SLOTS - 1))
        late = not draw(st.integers(0, 5)) and not any(r[0] == t and r[2] == slot and r[1] < t for r in rows)
        rows.append(
            (
                t,
                t - draw(st.integers(1, 2)) if late else t,
                slot,
                draw(coordinates),
                draw(coordinates),
                draw(st.integers(0, 3)),
            )
        )
    return rows


def columns(rows: list[Row]) -> tuple[np.ndarray, ...]:
    kinds = (np.int64, np.int64, np.int32, np.float64, np.float64, np.int64)
    return tuple(np.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds))


@given(streams())
def test_oracle_winners(rows: list[Row]) -> None:
    t, own, slot, x, y, rank = columns(rows)
    last = np.full(SLOTS, -1, np.int64)
    keep, tied, repeats = winners(t, own, slot, x, y, rank, last)
    assert (last == -1).all()
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        groups[row[0], row[2]].append(i)
    expected = {
        min(group, key=lambda i: (-rows[i][1], *rows[i][3:])) for group in groups.values()
    }  # the first of equals
    assert set(np.flatnonzero(keep).tolist()) == expected
    assert repeats == len(rows) - len({(row[0], row[1], row[2]) for row in rows})
    for group in groups.values():
        best = next(i for i in group if i in expected)
        alike = [i for i in group if rows[i][:5] == rows[best][:5]]
        assert tied[alike].tolist() == [len(alike) > 1] * len(alike)
    for i in np.flatnonzero(tied).tolist():
        assert sum(row[:5] == rows[i][:5] for row in rows) > 1


REGIONS = split(np.array([0.0, 0.5, 1.0, 2.0, 1.0]), np.array([1.0, 0.0, 2.0, 1.0, 0.5]), 3)
Event = tuple[int, int, int, int, int, float, float]  # t, slot, row, old, new, x, y


def slow_trace(rows: list[Row], keep: list[bool], timeout: int | None, end: int, regions: Regions) -> Iterator[Event]:
    known: dict[int, tuple[int, float, float]] = {}
    for t in range(end):
        for i, (at, own, slot, x, y, _) in enumerate(rows):
            if at == t and keep[i]:
                old = region_of(regions, *known[slot][1:]) if slot in known else -1
                known[slot] = (own, x, y)
                yield t, slot, i, old, region_of(regions, x, y), x, y
        for slot, (own, x, y) in list(known.items()):
            if timeout is not None and own + timeout == t:
                del known[slot]
                yield t, slot, -1, region_of(regions, x, y), -1, x, y


@given(streams(), st.none() | st.integers(3, 9), st.integers(0, TICKS), st.integers(TICKS, 2 * TICKS), st.booleans())
def test_oracle_trace(rows: list[Row], timeout: int | None, cut: int, end: int, is_one_region: bool) -> None:
    """In two batches. A late row is never so late that it has timed out already: timeouts are above 2 here."""
    regions = split(np.zeros(0), np.zeros(0), 1) if is_one_region else REGIONS
    t, own, slot, x, y, rank = columns(rows)
    keep, _, _ = winners(t, own, slot, x, y, rank, np.full(SLOTS, -1, np.int64))
    tracks = Tracks(np.zeros(SLOTS, np.int64), np.zeros(SLOTS), np.zeros(SLOTS), np.full(SLOTS, -1, np.int32))
    found: list[Event] = []
    middle = int(np.searchsorted(t, cut))
    for first, stop, until in ((0, middle, cut), (middle, len(rows), end)):
        trail = trace(
            first, stop, keep, t, own, slot, x, y, FOREVER if timeout is None else timeout, until, regions, tracks
        )
        events = list(zip(*(column.tolist() for column in trail), strict=True))
        updates = [event for event in events if event[2] >= 0]
        assert updates == sorted(updates, key=lambda event: event[0])
        found += events
    assert sorted(found) == sorted(slow_trace(rows, keep.tolist(), timeout, end, regions))


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (5, [(0, 0), (5, 0), (10, -1)]),  # at the very tick of the timeout: it goes on
        (6, [(0, 0), (5, -1), (6, 0), (11, -1)]),  # one tick too late: it was gone
    ],
)
def test_example_an_update_at_the_timeout(second: int, expected: list[tuple[int, int]]) -> None:
    """Seen at 0 and once more, with a timeout of 5; (t, region reached) of all events."""
    rows: list[Row] = [(0, 0, 1, 0.0, 0.0, 0), (second, second, 1, 1.0, 1.0, 0)]
    t, own, slot, x, y, _ = columns(rows)
    tracks = Tracks(np.zeros(SLOTS, np.int64), np.zeros(SLOTS), np.zeros(SLOTS), np.full(SLOTS, -1, np.int32))
    one = split(np.zeros(0), np.zeros(0), 1)
    trail = trace(0, 2, np.ones(2, np.bool_), t, own, slot, x, y, 5, 20, one, tracks)
    assert sorted(zip(trail.t.tolist(), trail.new.tolist(), strict=True)) == expected
