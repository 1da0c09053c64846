"""Motion patterns over small streams that a person can check: who is in the answer, from when and until when.

Objects move along a line (y is 0) through three areas: A from 0 to 1, B from 2 to 3, C from 4 to 5; 9 is nowhere. The
object z is never in an answer: it lets time go on, as nothing happens after the last update.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import vedette as vd
from tests.oracle.compare import read_changes
from vedette.runtime.local import LocalRun

A, B, C = "(0, -1, 1, 1)", "(2, -1, 3, 1)", "(4, -1, 5, 1)"


def rows(text: str) -> list[dict[str, Any]]:
    """Updates `oid t x`, parted by semicolons."""
    parts = (part.split() for part in text.split(";"))
    return [{"oid": oid, "t": int(t), "x": float(x), "y": 0.0} for oid, t, x in parts]


def lines(changes: Any) -> list[str]:
    """`t: +oid score` or `t: -oid`, with the pattern's name in front where it is not p."""
    found = []
    for c in read_changes(changes):
        assert c.members is None
        name, value = "" if c.query == "p" else f"{c.query} ", "" if c.value is None else c.value
        found.append((c.t, f"{name}{c.t}: {'-+'[c.sign > 0]}{c.oid} {value}".rstrip()))
    return [line for _, line in sorted(found)]


def told(run: LocalRun, text: str) -> list[str]:
    return lines(run.feed(rows(text)))


def answers(pattern: str, text: str, **options: Any) -> list[str]:
    """All changes of a pattern p over a stream."""
    run = vd.local(vd.Watch(queries=f"CREATE PATTERN p AS {pattern};", **options))
    return [*told(run, text), *lines(run.finish())]


def test_example_both_borders_of_a_window_and_of_an_area_belong_to_it() -> None:
    """An update at 5 lies in [t - 3, t - 1] from 6 to 8."""
    assert answers(f"INSIDE {A} BETWEEN 3 AND 1 AGO EVERY 1", "a 5 0.5; a 6 9; z 12 9") == ["6: +a", "9: -a"]
    border = "a 5 1.0; b 5 1.0000001; c 5 -1e-9; d 5 0.0; z 12 9"
    assert answers(f"INSIDE {A} BETWEEN 3 AND 1 AGO EVERY 1", border) == ["6: +a", "6: +d", "9: -a", "9: -d"]
    assert answers(f"INSIDE {A} BETWEEN 2 AND 2 AGO EVERY 1", "a 5 0.5; z 12 9") == ["7: +a", "8: -a"]


def test_example_changes_tell_where_the_object_is_by_then() -> None:
    run = vd.local(vd.Watch(queries=f"CREATE PATTERN p AS INSIDE {A} BETWEEN 3 AND 1 AGO EVERY 1;"))
    found = read_changes(run.feed(rows("a 5 0.5; a 6 7; a 8 8; z 12 9")))
    assert [(c.t, c.sign, c.oid, c.x, c.y) for c in found] == [(6, 1, "a", 7.0, 0.0), (9, -1, "a", 8.0, 0.0)]


def test_example_who_is_silent_is_not_always_somewhere() -> None:
    """ALWAYS wants an update in the window: silence ends it, and the update at 17 spoils all windows that hold it."""
    pattern = f"INSIDE {A} ALWAYS BETWEEN 4 AND 0 AGO EVERY 1"
    assert answers(pattern, "a 10 0.5; a 17 9; a 18 0.5; z 30 9") == ["10: +a", "15: -a", "22: +a", "23: -a"]
    # one more update before the last one leaves the windows
    assert answers(pattern, "a 17 9; a 18 0.5; a 20 1; z 30 9") == ["22: +a", "25: -a"]


def test_example_disjoint_is_neither_inside_nor_on_the_border() -> None:
    """At 6 a stands on the border: all windows up to 9 hold that."""
    pattern = f"DISJOINT {A} ALWAYS BETWEEN 3 AND 0 AGO EVERY 1"
    assert answers(pattern, "a 1 5; a 6 1; a 7 1.5; z 20 0") == ["1: +a", "5: -a", "10: +a", "11: -a"]
    assert answers(f"DISJOINT {A} BETWEEN 1 AND 0 AGO EVERY 1", "a 1 5; a 2 1; z 9 0") == ["1: +a", "3: -a"]


def test_example_a_first_step_without_a_window_may_lie_long_ago() -> None:
    pattern = f"INSIDE {A} THEN INSIDE {B} BETWEEN 2 AND 0 AGO EVERY 1"
    assert answers(pattern, "a 1 0.5; a 3 2.5; a 4 9; a 99 2.5; z 200 9") == ["3: +a", "6: -a", "99: +a", "102: -a"]
    assert answers(pattern, "b 3 2.5; b 5 0.5; b 6 9; z 20 9") == []  # the other way round
    # one update may witness both steps: witnesses do not decrease
    both = "INSIDE (0, -1, 2.5, 1) THEN INSIDE (2, -1, 3, 1) BETWEEN 2 AND 0 AGO EVERY 1"
    assert answers(both, "c 7 2.2; z 20 9") == ["7: +c", "10: -c"]


def test_example_a_step_without_a_window_between_two_that_have_one() -> None:
    """Of b the first C comes before B, the second one behind it; c was in B before A."""
    pattern = f"INSIDE {A} BETWEEN 9 AND 4 AGO THEN INSIDE {B} THEN INSIDE {C} BETWEEN 3 AND 0 AGO EVERY 1"
    stream = """
        c 1 2.5; a 1 0.5; c 2 0.5; b 2 0.5; a 3 2.5; c 4 4.5; b 5 4.5; a 6 4.5; b 7 2.5; b 8 4.5; z 20 9
    """
    # a: A at 1 counts from 5 to 10, C at 6 from 6 to 9; b: A at 2 counts from 6 to 11, C at 8 from 8 to 11
    assert answers(pattern, stream) == ["6: +a", "8: +b", "10: -a", "12: -b"]


def test_example_a_last_step_without_a_window() -> None:
    pattern = f"INSIDE {A} BETWEEN 4 AND 2 AGO THEN INSIDE {B} EVERY 1"
    stream = "a 1 0.5; b 1 2.5; c 1 0.5; a 2 2.5; b 2 0.5; c 4 2.5; z 20 9"
    assert answers(pattern, stream) == ["3: +a", "4: +c", "6: -a", "6: -c"]


def test_example_always_stands_for_its_whole_window() -> None:
    """Who comes before it comes before its begin, who follows it comes behind its end."""
    then = f"INSIDE {A} ALWAYS BETWEEN 5 AND 2 AGO THEN INSIDE {B} EVERY 1"
    # at 6 the window [1, 4] holds the update in B
    assert answers(then, "a 1 0.5; a 3 0.5; a 4 2.5; z 20 9") == ["4: +a", "6: -a"]
    # overlapping areas: until 6 the update at 4 lies at the window's end or behind it, then nothing follows it
    wide = "INSIDE (0, -1, 3, 1) ALWAYS BETWEEN 5 AND 2 AGO THEN INSIDE (2, -1, 3, 1) EVERY 1"
    assert answers(wide, "a 1 0.5; a 3 0.5; a 4 2.5; z 20 9") == ["4: +a", "7: -a"]
    before = f"INSIDE {B} THEN INSIDE {A} ALWAYS BETWEEN 5 AND 2 AGO EVERY 1"
    # at 6 B is at the window's begin, so that the window holds it; at 9 the window [4, 7] is empty
    assert answers(before, "a 1 2.5; a 3 0.5; z 20 9") == ["7: +a", "9: -a"]
    wide = "INSIDE (2, -1, 3, 1) THEN INSIDE (0, -1, 3, 1) ALWAYS BETWEEN 5 AND 2 AGO EVERY 1"
    assert answers(wide, "a 1 2.5; a 3 0.5; z 20 9") == ["6: +a", "9: -a"]


def test_example_the_heist() -> None:
    """In the first bank all the time, then in the second and the third, then in the fourth."""
    banks = [f"CREATE REGION bank{n} AS RECT ({10 * n}, -1, {10 * n + 1}, 1);" for n in range(1, 5)]
    sql = """
        CREATE PATTERN p AS
          INSIDE (bank1) ALWAYS BETWEEN 30 AND 20 AGO THEN INSIDE (bank2) THEN INSIDE (bank3)
          THEN INSIDE (bank4) SOMETIME BETWEEN 10 AND 5 AGO EVERY 1;
    """
    stream = """
        a 0 10; b 0 10; a 5 10; b 5 10; a 9 10; b 9 10; a 12 20; b 12 30; a 15 30; b 15 20; a 22 40; b 22 40; z 60 0
    """
    # the fourth bank counts from 27 to 32; at 32 the first window, [2, 12], holds an update in the second bank.
    # b was in the third bank before it was in the second
    run = vd.local(vd.Watch(queries="\n".join([*banks, sql])))
    assert told(run, stream) == ["27: +a", "32: -a"]


def test_example_a_limit_on_the_score() -> None:
    """SOMETIME takes the least distance, ALWAYS the greatest; scores are added."""
    stream = "a 1 5; a 2 3; a 3 4; a 6 2; z 20 99"
    sometime = "DIST (0, 0) SOMETIME BETWEEN 2 AND 0 AGO"
    # the least of [t - 2, t] from 1 on: 5, 3, 3, 3, 4, 2, 2, 2
    assert answers(f"{sometime} SCORE <= 3 EVERY 1", stream) == ["2: +a 3.0", "5: -a", "6: +a 2.0", "9: -a"]
    always = f"DIST {A} ALWAYS BETWEEN 2 AND 0 AGO"
    # the greatest, from the border at 1: 4, 4, 4, 3, 3, 1, 1, 1
    limited = answers(f"{always} SCORE >= 4 EVERY 1", stream)
    assert [line for line in limited if "z" not in line] == ["1: +a 4.0", "4: -a"]
    # 9, 7, 7, 6, 7, 3, 3, 3
    assert answers(f"{sometime} THEN {always} SCORE <= 6 EVERY 1", stream) == [
        "4: +a 6.0",
        "5: -a",
        "6: +a 3.0",
        "9: -a",
    ]


def test_example_the_lowest() -> None:
    """Ties go by the bytes of ids; a member's new score is no change."""
    pattern = "DIST (0, 0) SOMETIME BETWEEN 1 AND 0 AGO LOWEST 1 EVERY 1"
    stream = "9 1 2; 10 1 -2; 9 2 1; 9 3 0.5; z 10 99; z 11 99"
    assert answers(pattern, stream) == ["1: +10 2.0", "2: +9 1.0", "2: -10", "5: -9", "10: +z 99.0"]


def test_example_the_highest_two() -> None:
    """Asked at even times: at 4 the window [2, 4] has lost b and brings a's 9."""
    pattern = "DIST (0, 0) ALWAYS BETWEEN 2 AND 0 AGO HIGHEST 2 EVERY 2"
    stream = "a 1 1; b 1 2; c 2 3; a 4 9; z 12 0.5"
    assert answers(pattern, stream) == [
        "2: +b 2.0",
        "2: +c 3.0",
        "4: +a 9.0",
        "4: -b",
        "6: -c",
        "8: -a",
        "12: +z 0.5",
    ]


def test_example_attributes_are_those_of_the_latest_update() -> None:
    """What was true when the object was inside does not matter; unknown is not satisfied."""
    sql = f"CREATE PATTERN p AS INSIDE {A} BETWEEN 9 AND 0 AGO WHERE occupied = 1 EVERY 1;"
    run = vd.local(vd.Watch(queries=sql))
    steps = [(1, 0.5, 1), (2, 9, 0), (3, 9, 1), (5, 9, None), (7, 9, 1), (12, 0.5, 0), (14, 9, 1), (30, 9, 1)]
    found = lines(run.feed([{"oid": "a", "t": t, "x": x, "y": 0.0, "occupied": o} for t, x, o in steps]))
    assert found == ["1: +a", "2: -a", "3: +a", "5: -a", "7: +a", "11: -a", "14: +a", "22: -a"]


@pytest.mark.parametrize("restored", [False, True])
def test_example_a_pattern_that_comes_later_knows_nothing_of_what_was(restored: bool) -> None:
    watch = vd.Watch(queries=f"CREATE PATTERN p AS INSIDE {A} BETWEEN 9 AND 0 AGO EVERY 1;")
    run = vd.local(watch)
    assert told(run, "a 1 0.5; b 1 9; z 3 9") == ["1: +a"]
    watch.add(f"CREATE PATTERN q AS INSIDE {A} BETWEEN 9 AND 0 AGO EVERY 1;")  # acts at 3, which is open
    watch.add(f"CREATE PATTERN r AS INSIDE {A} ALWAYS BETWEEN 9 AND 0 AGO EVERY 1;")
    if restored:
        run = vd.local(watch, state=run.save())
    # that b was outside at 1 does not count for r; a is outside before it comes back
    assert told(run, "b 3 0.5; a 4 9; a 5 0.5; z 6 9") == ["3: +b", "q 3: +b", "r 3: +b", "q 5: +a"]
    watch.add("DROP PATTERN q;", at=7)
    # the updates at 3 and 5 count until 12 and 14; only the window [5, 14] does not hold a's update at 4
    assert told(run, "z 20 9") == ["q 7: -a", "q 7: -b", "13: -b", "r 13: -b", "r 14: +a", "15: -a", "r 15: -a"]


def test_example_instants_are_multiples_wherever_the_stream_begins() -> None:
    pattern = f"INSIDE {A} BETWEEN 2 AND 0 AGO EVERY 5"
    # the windows are [8, 10], [13, 15], [18, 20]
    assert answers(pattern, "a 7 0.5; b 8 0.5; c 11 0.5; d 15 0.5; z 30 9") == ["10: +b", "15: +d", "15: -b", "20: -d"]
    assert answers(pattern, "a -7 0.5; b -3 0.5; c -2 0.5; z 30 9") == ["-5: +a", "0: +c", "0: -a", "5: -c"]


def test_example_instants_of_timestamps_are_whole_minutes() -> None:
    noon = datetime(2008, 5, 31, 12, tzinfo=UTC)
    sql = f"CREATE PATTERN p AS INSIDE {A} BETWEEN 90 S AND 30 S AGO EVERY 1 MIN;"
    run = vd.local(vd.Watch(queries=sql))
    steps = [("a", noon.replace(second=20), 0.5), ("b", noon.replace(second=31), 0.5), ("z", noon.replace(hour=13), 9)]
    run.feed([{"oid": oid, "t": t, "x": x, "y": 0.0} for oid, t, x in steps])
    found = {(c["t"].strftime("%H:%M:%S"), c["sign"], c["oid"]) for c in run.last.changes.to_pylist()}
    # the window of 12:01 ends at 12:00:30, that of 12:02 begins there
    assert found == {("12:01:00", 1, "a"), ("12:02:00", -1, "a"), ("12:02:00", 1, "b"), ("12:03:00", -1, "b")}


def test_example_a_named_region_is_bound_when_the_pattern_is_made() -> None:
    watch = vd.Watch(queries=f"CREATE REGION yard AS RECT {A};")
    watch.add("CREATE PATTERN old AS INSIDE yard BETWEEN 2 AND 0 AGO EVERY 1;")
    run = vd.local(watch)
    assert told(run, "a 1 0.5; a 2 9; z 6 9") == ["old 1: +a", "old 4: -a"]
    watch.add(f"CREATE OR REPLACE REGION yard AS RECT {B};")
    watch.add("CREATE PATTERN new AS INSIDE yard BETWEEN 2 AND 0 AGO EVERY 1;")
    assert told(run, "a 7 0.5; b 7 2.5; z 20 9") == ["new 7: +b", "old 7: +a", "new 10: -b", "old 10: -a"]


def test_example_late_updates_are_not_seen_and_timeouts_do_not_matter() -> None:
    watch = vd.Watch(queries=f"CREATE PATTERN p AS INSIDE {A} BETWEEN 9 AND 0 AGO EVERY 1;", timeout=2)
    run = vd.local(watch)
    assert told(run, "a 1 0.5; z 5 9") == ["1: +a"]  # a has been gone since 3
    assert told(run, "b 4 0.5; z 20 9") == ["11: -a"]
    assert run.totals["late"] == 1


def test_example_distances_in_metres_across_the_antimeridian() -> None:
    """A tenth of a degree on the equator is 11.12 km."""
    sql = "CREATE PATTERN p AS DIST (180, 0) BETWEEN 2 AND 0 AGO SCORE <= 12 KM EVERY 1;"
    run = vd.local(vd.Watch(space=vd.lonlat(), queries=sql))
    steps = [("a", 1, -179.9), ("b", 1, 179.9), ("c", 1, -179.8), ("z", 9, 0.0)]
    found = read_changes(run.feed([{"oid": oid, "t": t, "lon": lon, "lat": 0.0} for oid, t, lon in steps]))
    assert sorted((c.t, c.sign, c.oid) for c in found) == [(1, 1, "a"), (1, 1, "b"), (4, -1, "a"), (4, -1, "b")]
    assert [c.value for c in found if c.sign > 0] == [pytest.approx(11_119.5, abs=0.1)] * 2
