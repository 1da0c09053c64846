"""Comparing an engine's tables with what the oracle expects, with a message that a person can act on.

In: pyarrow tables of the engine, an `Expected`. Out: nothing, or an AssertionError that names the first tick and query
that differ, both sides' rows there, and the SQL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tests.oracle.answers import Change, Member
from tests.oracle.rows import oid_order, ticks_of

if TYPE_CHECKING:
    from tests.oracle.expect import Expected


def order(change: Change) -> tuple[Any, ...]:
    """By time, then query, then object, then events."""
    oid = (0, b"") if change.oid is None else oid_order(change.oid)
    events = [(member.t, oid_order(member.oid)) for member in change.members or ()]
    return (change.t, change.query, change.oid is not None, oid, change.sign, events)


def read_changes(table: Any) -> list[Change]:
    """A changes table as the oracle's records, in the table's order."""
    rows = table.select(list(Change._fields)).to_pylist()
    return [Change(**{**row, "t": ticks_of(row["t"]), "members": read_members(row["members"])}) for row in rows]


def read_members(members: list[dict[str, Any]] | None) -> tuple[Member, ...] | None:
    """The events behind an alert."""
    return None if members is None else tuple(Member(**{**m, "t": ticks_of(m["t"])}) for m in members)


def assert_same_changes(got: Any, expected: Expected | list[Change]) -> None:
    """The table (or list of changes) holds exactly the expected changes, sorted by t."""
    found = got if isinstance(got, list) else read_changes(got)
    wanted, sql = (expected, []) if isinstance(expected, list) else (expected.changes, expected.sql)
    times = [change.t for change in found]
    assert times == sorted(times), f"changes are not sorted by t: {times}"
    missing, surplus = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    if not missing and not surplus:
        return
    first = min([*missing, *surplus], key=order)
    lines = [
        f"{missing.total()} changes missing, {surplus.total()} too many",
        f"the first difference is at t = {first.t} in query {first.query!r}:",
        *(f"  missing  {show(change)}" for change in sorted(missing.elements(), key=order)[:12]),
        *(f"  too many {show(change)}" for change in sorted(surplus.elements(), key=order)[:12]),
        f"all changes of {first.query!r} up to there, as expected:",
        *(f"  {show(c)}" for c in sorted(wanted, key=order) if c.query == first.query and c.t <= first.t),
        "and as found:",
        *(f"  {show(c)}" for c in sorted(found, key=order) if c.query == first.query and c.t <= first.t),
        "SQL:",
        *(f"  {sql}" for sql in sql),
    ]
    raise AssertionError("\n".join(lines))


def show(change: Change) -> str:
    """One change on one line."""
    at = "" if change.x is None else f" at ({change.x!r}, {change.y!r})"
    value = "" if change.value is None and change.sign else f" value {change.value!r}"
    who = f"{change.oid!r}{at}{value}" if change.members is None else ", ".join(map(show_member, change.members))
    return f"t={change.t} {change.query} {change.sign:+d} {who}"


def show_member(member: Member) -> str:
    """One event, short."""
    return f"{member.variable}: {member.oid!r} t={member.t} ({member.x!r}, {member.y!r})"


def assert_same_rows(got: Any, expected: Iterable[Sequence[Any]], what: str) -> None:
    """The table holds these (oid, t, x, y) rows, in any order."""
    names = {name.lower(): name for name in got.column_names}
    columns = [
        got.column(names[name] if name in names else names[{"x": "lon", "y": "lat"}[name]]).to_pylist()
        for name in ("oid", "t", "x", "y")
    ]
    found, wanted = (
        Counter((repr(oid), None if t is None else ticks_of(t), repr(x), repr(y)) for oid, t, x, y in side)
        for side in (zip(*columns, strict=True), expected)
    )
    assert found == wanted, f"{what}: missing {dict(wanted - found)}, too many {dict(found - wanted)}"
