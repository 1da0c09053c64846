"""Triggers in small streams that a person can check: which events, and when."""

from __future__ import annotations

from typing import Any

import pytest

import vedette as vd
from tests.oracle.compare import read_changes

STRATEGIES = pytest.mark.parametrize("strategy", ["CELLS", "LOOSE", "TIGHT", "DOMAINS"])

# Hadjieleftheriou, Mamoulis and Tao, "Continuous Constraint Query Evaluation For Spatiotemporal Streams", figure 1b
COLLISION = """
CREATE TRIGGER collision FOR E AS v1, E AS v2, E AS v3
  WHEN v1.p = 'A' AND v2.p = 'B' AND v3.p = 'C'
   AND DISTANCE(v1.r, v2.r) < 1 AND v2.t - v1.t IN [0, 5]
   AND DISTANCE(v2.r, v3.r) < 1 AND v3.t - v2.t IN [1, 5]
   AND DISTANCE(v1.r, v3.r) < 2 AND v3.t - v1.t IN [0, 10]
"""


def rows(text: str) -> list[dict[str, Any]]:
    """Events 'oid t x y', one a line; p is the first letter of the oid as a capital."""
    found = []
    for oid, t, x, y in map(str.split, filter(str.strip, text.splitlines())):
        found.append({"oid": oid, "t": int(t), "x": float(x), "y": float(y), "p": oid[0].upper()})
    return found


def fired(queries: str, *batches: str, **options: Any) -> list[str]:
    """What fires: 't: oid@t oid@t ...', the events in variable order."""
    run = vd.local(vd.Watch(queries=queries, **options))
    changes = [change for batch in batches for change in read_changes(run.feed(rows(batch)))]
    changes += read_changes(run.finish())
    lines = []
    for change in changes:
        assert (change.sign, change.oid, change.x, change.y, change.value) == (1, None, None, None, None)
        assert change.members is not None
        assert change.t == max(member.t for member in change.members)
        lines.append((change.t, f"{change.t}: {' '.join(f'{m.oid}@{m.t}' for m in change.members)}"))
    return [line for _, line in sorted(lines)]


@STRATEGIES
def test_example_the_papers_figures_1b_and_2(strategy: str) -> None:
    stream = """
        a1  1  0.0  0.0
        b1  2  3.0  0.0
        b2  3  0.5  0.5
        c1  3  1.0  0.5
        c2  6  1.0  1.0
    """
    # b1 is too far from a1; c1 comes at the time of b2, and not one to five later; c2 is near b2, as b2 is near a1
    assert fired(f"{COLLISION} USING {strategy};", stream) == ["6: a1@1 b2@3 c2@6"]


@STRATEGIES
def test_example_events_fire_until_they_expire(strategy: str) -> None:
    stream = """
        a1  1  0.0  0.0
        b2  3  0.5  0.5
        c2  6  1.0  1.0
        b3  6  0.5  0.0
        c3  8  0.6  0.6
        c4  9  0.6  0.6
        c5  11 0.6  0.2
        c6  12 0.6  0.2
    """
    # a1 goes with b until 6, b2 with c until 8, b3 with c until 11; nothing is left for c6
    assert fired(f"{COLLISION} USING {strategy};", stream) == [
        "6: a1@1 b2@3 c2@6",
        "8: a1@1 b2@3 c3@8",
        "8: a1@1 b3@6 c3@8",
        "9: a1@1 b3@6 c4@9",
        "11: a1@1 b3@6 c5@11",
    ]


@STRATEGIES
def test_example_the_later_variable_may_be_there_first(strategy: str) -> None:
    """An interval that spans zero: the least upper bound of all variables would let c go before b and a come."""
    sql = f"""
        CREATE TRIGGER loosely FOR E AS v1, E AS v2, E AS v3
          WHEN v1.p = 'A' AND v2.p = 'B' AND v3.p = 'C'
           AND v2.t - v1.t IN [-9, 1] AND v3.t - v1.t IN [-9, 9] USING {strategy};
    """
    assert fired(sql, "b 1 0 0\na 2 5 5\nc 11 9 9") == ["11: a@2 b@1 c@11"]
    assert fired(sql, "c 1 0 0\nb 1 0 0\na 10 5 5") == ["10: a@10 b@1 c@1"]


@STRATEGIES
def test_example_at_the_same_time(strategy: str) -> None:
    sql = f"""
        CREATE TRIGGER pair FOR E AS v1, E AS v2
          WHEN v1.p = 'A' AND v2.p = 'B' AND v1.t = v2.t USING {strategy};
    """
    assert fired(sql, "b 1 0 0\na 1 5 5\nb 2 0 0\na 3 0 0") == ["1: a@1 b@1"]
    assert fired(sql, "b 1 0 0", "a 1 5 5\nb 2 0 0") == ["1: a@1 b@1"]  # the tick is spread over batches


@STRATEGIES
def test_example_a_set_fires_once(strategy: str) -> None:
    sql = f"CREATE TRIGGER crowd FOR 3 E AS v WHEN DISTANCE(v, v) <= 2 AND SPAN(v) <= 4 USING {strategy};"
    stream = """
        d  1  0 0
        b  1  1 0
        c  2  9 9
        a  3  2 0
        a  5  0 1
        a  6  0 1
    """
    # at 5 the two places of a are too far apart; at 6 those of 1 are too old
    assert fired(sql, stream) == ["3: b@1 d@1 a@3", "5: b@1 d@1 a@5"]
    # near each other two events of the same object count as two
    near = stream.replace("a  5  0 1", "a  5  1 0")
    assert fired(sql, near) == [
        "3: b@1 d@1 a@3",
        "5: b@1 a@3 a@5",
        "5: b@1 d@1 a@5",
        "5: d@1 a@3 a@5",
    ]


def test_example_a_set_and_one_more() -> None:
    """Constraints between a set and a variable hold for each event of the set; members come in variable order."""
    sql = """
        CREATE TRIGGER chase FOR 2 E AS cop, E AS thief
          WHEN cop.p = 'C' AND thief.p = 'T' AND cop.oid <> cop.oid
           AND DISTANCE(cop, thief) < 3 AND thief BEFORE cop WITHIN 5;
    """
    stream = """
        t1  1  0 0
        c2  2  1 0
        c2  3  2 0
        c1  3  0 5
        c1  4  0 1
        c3  6  0 2
        c3  7  0 2
    """
    assert fired(sql, stream) == [
        "4: c2@2 c1@4 t1@1",
        "4: c2@3 c1@4 t1@1",
        "6: c1@4 c3@6 t1@1",
        "6: c2@2 c3@6 t1@1",
        "6: c2@3 c3@6 t1@1",
    ]


def test_example_an_event_stands_for_one_variable_only() -> None:
    sql = "CREATE TRIGGER two FOR E AS v, E AS w WHEN v.t - w.t IN [-1, 1] AND DISTANCE(v, w) < 1;"
    assert fired(sql, "a 1 0 0\nb 5 0 0\na 6 0 0") == ["6: a@6 b@5", "6: b@5 a@6"]


def test_example_the_same_object_later_and_faster() -> None:
    sql = """
        CREATE TRIGGER rush FOR E AS v1, E AS v2
          WHEN v1.oid = v2.oid AND v1.x + 3 < v2.x AND v1 BEFORE v2 WITHIN 2;
    """
    assert fired(sql, "a 1 0 0\nb 1 9 0\na 2 3 0\nb 3 9 0\na 3 4 0\na 4 9 0\na 6 30 0") == [
        "3: a@1 a@3",
        "4: a@2 a@4",
        "4: a@3 a@4",
        "6: a@4 a@6",
    ]


def test_example_nothing_from_before_the_registration_and_nothing_after_the_drop() -> None:
    watch = vd.Watch(queries="CREATE TRIGGER early FOR E AS v, E AS w WHEN v BEFORE w WITHIN 2;")
    run = vd.local(watch)

    def told(text: str) -> list[str]:
        changes = read_changes(run.feed(rows(text)))
        return [f"{c.query} {c.t}: {' '.join(str(m.oid) for m in c.members or ())}" for c in changes]

    assert told("a 1 0 0\nb 2 0 0\nc 3 0 0") == ["early 2: a b"]
    watch.add("CREATE TRIGGER late FOR E AS v, E AS w WHEN v BEFORE w WITHIN 2;")  # acts at 3, which is open
    watch.add("DROP TRIGGER early;", at=4)
    assert sorted(told("d 3 0 0\ne 4 0 0\nf 5 0 0")) == [
        "early 3: a c",
        "early 3: a d",
        "early 3: b c",
        "early 3: b d",
        "late 4: c e",
        "late 4: d e",
    ]


def test_example_late_events_are_not_seen() -> None:
    sql = "CREATE TRIGGER pair FOR E AS v, E AS w WHEN v.t - w.t IN [0, 3] AND v.p = 'A' AND w.p = 'B';"
    assert fired(sql, "b 5 0 0", "a 4 0 0\na 6 0 0") == ["6: a@6 b@5"]
    assert fired(sql, "b 5 0 0", "a 4 0 0\na 6 0 0\nb 3 0 0", lateness=2) == ["4: a@4 b@3", "6: a@6 b@3", "6: a@6 b@5"]


def test_example_around_the_antimeridian() -> None:
    sql = "CREATE TRIGGER near FOR E AS v, E AS w WHEN DISTANCE(v, w) < 23 KM AND v BEFORE w WITHIN 3;"
    run = vd.local(vd.Watch(space=vd.lonlat(), queries=sql, regions=4))
    events = [{"oid": n, "t": n, "lon": lon, "lat": 0.0} for n, lon in ((1, 179.9), (2, -179.9), (3, 179.69))]
    (change,) = [*read_changes(run.feed(events)), *read_changes(run.finish())]
    assert change.members is not None
    assert change.members == (("v", 1, 1, 179.9, 0.0), ("w", 2, 2, -179.9, 0.0))
