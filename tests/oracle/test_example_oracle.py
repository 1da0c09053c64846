"""The oracle itself, on examples small enough to be read: each table was worked out by hand from DESIGN."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests import oracle
from tests.oracle.rows import read_row, wrap_longitude
from tests.oracle.shapes import polygon_contains, ring_side
from vedette.model import Polygon

BOX = "CREATE QUERY q AS SELECT oid FROM objects INSIDE (0, 0, 10, 10)"
IN, OUT = 5.0, 50.0  # an x inside and an x outside BOX


def rows(text: str) -> list[dict[str, Any]]:
    """Rows 'oid t x [y [speed]]', parted by commas; y is 5 unless said."""
    found = []
    for row in filter(None, map(str.split, text.split(","))):
        y, speed, *_ = [*map(float, row[3:]), *((5.0, math.nan)[len(row) - 3 :])]
        x = {"in": IN, "out": OUT}.get(row[2]) or float(row[2])
        found.append({"oid": row[0], "t": int(row[1]), "x": x, "y": y, "speed": speed})
    return found


def told(queries: str, *batches: str | tuple[str, str], kind: str = "planar", **options: Any) -> list[str]:
    """The changes as 't query sign oid [value]'; a batch is rows, or rows and the commands that come with it."""
    fed = [(rows(b), []) if isinstance(b, str) else (rows(b[0]), [b[1]]) for b in batches]
    expected = oracle.run(kind, [queries], fed, **options)
    return [
        f"{c.t} {c.query} {c.sign:+d} {c.oid}" + ("" if c.sign else f" {c.value:g}" if c.value is not None else " null")
        for c in expected.changes
    ]


# ------------------------------------------------------------------------------------------- plain answers


def test_border_belongs_and_position_is_where_it_went() -> None:
    expected = oracle.run("planar", [BOX], [(rows("a 1 10 10, a 2 10.5 10, b 2 0 0"), [])])
    assert [change[:7] for change in expected.changes] == [
        ("q", 1, +1, "a", 10.0, 10.0, None),
        ("q", 2, -1, "a", 10.5, 10.0, None),
        ("q", 2, +1, "b", 0.0, 0.0, None),
    ]


def test_moving_rectangle_follows_and_leaves_its_focal_object_out() -> None:
    sql = "CREATE QUERY q AS SELECT oid FROM objects INSIDE RECT (4, 4) AROUND f"
    assert told(sql, "a 1 5 5, f 2 7 5, f 3 8 5, f 4 5 5") == ["2 q +1 a", "3 q -1 a", "4 q +1 a"]


def test_answer_is_empty_while_the_focal_object_is_gone() -> None:
    sql = "CREATE QUERY q AS SELECT oid FROM objects INSIDE CIRCLE (3) AROUND f"
    # f is heard of at 1 and 9, and gone at 1 + 4; a is heard of often enough
    stream = "f 1 5 5, a 2 5 8, a 4 5 8, a 6 5 8, a 8 5 8, f 9 5 5, a 9 5 9"
    assert told(sql, stream, timeout=4) == ["2 q +1 a", "5 q -1 a"]
    assert told(sql, stream + ", a 10 5 2", timeout=4) == ["2 q +1 a", "5 q -1 a", "10 q +1 a"]


def test_nearest_ties_go_to_the_smaller_id() -> None:
    sql = "CREATE QUERY q AS SELECT oid FROM objects KNN (2, 0, 0)"
    # 10 < 9 < a as text; all at distance 1, then 9 comes closer
    stream = "a 1 1 0, 9 1 0 1, 10 1 -1 0, 10 2 3 0, 9 3 9 9"
    assert told(sql, stream) == ["1 q +1 10", "1 q +1 9", "2 q -1 10", "2 q +1 a", "3 q +1 10", "3 q -1 9"]


def test_filtered_objects_do_not_exist_and_unknown_is_not_satisfied() -> None:
    sql = "CREATE QUERY q AS SELECT oid FROM objects WHERE NOT speed > 3 KNN (1, 0, 0)"
    assert told(sql, "a 1 1 0 9, b 1 2 0, c 1 3 0 1, a 2 1 0 2, a 3 1 0") == [
        "1 q +1 c",
        "2 q +1 a",
        "2 q -1 c",
        "3 q -1 a",
        "3 q +1 c",
    ]


def test_antimeridian_and_pole() -> None:
    box = "CREATE QUERY q AS SELECT oid FROM objects INSIDE (179, -1, -179, 1)"
    assert told(box, "a 1 -179 0, b 1 180 1, c 1 178.9 0, d 1 541 0", kind="lonlat") == [
        "1 q +1 a",
        "1 q +1 b",
        "1 q +1 d",
    ]
    cap = "CREATE QUERY q AS SELECT oid FROM objects INSIDE CIRCLE (0, 89.5, 111 KM)"
    # a is half a degree beyond the pole: one degree = 111.195 km away; b a little less
    assert told(cap, "a 1 180 89.5, b 1 180 89.6, c 1 90 90", kind="lonlat") == ["1 q +1 b", "1 q +1 c"]


# ---------------------------------------------------------------------------------------------- aggregates


def test_aggregates_start_silently_and_say_what_changes() -> None:
    stream = "a 1 in 5 2, b 2 in 5 4, b 3 in 6 4, b 4 in 5, a 5 out, b 6 out"
    for select, lines in {
        "COUNT(*)": ["1 q +0 None 1", "2 q +0 None 2", "5 q +0 None 1", "6 q +0 None 0"],
        "SUM(speed)": ["1 q +0 None 2", "2 q +0 None 6", "4 q +0 None 2", "5 q +0 None null"],
        "AVG(speed)": ["1 q +0 None 2", "2 q +0 None 3", "4 q +0 None 2", "5 q +0 None null"],
        "MIN(speed)": ["1 q +0 a 2", "5 q +0 None null"],
        "MAX(speed)": ["1 q +0 a 2", "2 q +0 b 4", "4 q +0 a 2", "5 q +0 None null"],
    }.items():
        assert told(BOX.replace("SELECT oid", f"SELECT {select}"), stream) == lines


def test_sums_are_exact() -> None:
    stream = "a 1 in 5 1e16, b 1 in 5 1, c 1 in 5 -1e16"
    assert told(BOX.replace("SELECT oid", "SELECT SUM(speed)"), stream) == ["1 q +0 None 1"]


# ------------------------------------------------------------------------------------------- dwell and grace


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        ("a 1 in, b 4 out", ["4 q +1 a"]),  # inside throughout [1, 4]
        ("a 1 in, b 3 out", []),  # nothing happens after the last update
        ("a 1 in, a 4 out, b 9 out", []),  # outside at 4: the interval is closed
        ("a 1 in, a 2 out, a 3 in, b 9 out", ["6 q +1 a"]),  # starts again
        ("a 1 in, a 2 in 6, a 3 in 7, b 9 out", ["4 q +1 a"]),  # moving about inside does not matter
    ],
)
def test_dwell(stream: str, lines: list[str]) -> None:
    assert told(BOX + " DWELL 3", stream) == lines


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        ("a 1 in, a 2 out, b 9 out", ["1 q +1 a", "4 q -1 a"]),  # outside throughout [2, 4]
        ("a 1 in, a 2 out, a 4 in, b 9 out", ["1 q +1 a"]),  # inside again at 4: the interval is closed
        ("a 1 in, a 2 out, a 3 in, a 4 out, b 9 out", ["1 q +1 a", "6 q -1 a"]),  # counts anew
        ("a 1 in, a 2 out, b 3 out", ["1 q +1 a"]),
    ],
)
def test_grace(stream: str, lines: list[str]) -> None:
    assert told(BOX + " GRACE 2", stream) == lines


def test_back_within_grace_needs_no_second_dwell_but_back_after_it_does() -> None:
    stream = "a 1 in, a 4 out, a 5 in, a 6 out, a 9 in, b 20 out"
    assert told(BOX + " DWELL 2 GRACE 2", stream) == ["3 q +1 a", "8 q -1 a", "11 q +1 a"]


def test_aggregate_counts_delayed_members() -> None:
    sql = BOX.replace("SELECT oid", "SELECT COUNT(*)") + " DWELL 2 GRACE 3"
    assert told(sql, "a 1 in, b 2 in, a 5 out, b 9 in") == ["3 q +0 None 1", "4 q +0 None 2", "8 q +0 None 1"]


def test_dwell_counts_from_the_registration() -> None:
    sql = "AT 3 " + BOX + " DWELL 2"
    assert told(sql, "a 1 in, b 9 out") == ["5 q +1 a"]


# --------------------------------------------------------------------------------------------- time and order


def test_timeout_at_exactly_t_plus_timeout() -> None:
    assert told(BOX, "a 1 in, b 9 out", timeout=3) == ["1 q +1 a", "4 q -1 a"]
    assert told(BOX, "a 1 in, a 4 in, b 9 out", timeout=3) == ["1 q +1 a", "7 q -1 a"]
    assert told(BOX, "a 1 in, a 5 in, b 9 out", timeout=3) == ["1 q +1 a", "4 q -1 a", "5 q +1 a", "8 q -1 a"]


def test_departure_by_timeout_carries_the_last_known_position() -> None:
    expected = oracle.run("planar", [BOX], [(rows("a 1 3 4, b 9 out"), [])], timeout=3)
    assert expected.changes[-1][:7] == ("q", 4, -1, "a", 3.0, 4.0, None)


def test_a_tick_may_be_spread_over_batches() -> None:
    assert told(BOX, "a 1 in", "b 1 in, b 2 out", "a 2 out") == ["1 q +1 a", "1 q +1 b", "2 q -1 a", "2 q -1 b"]


def test_smallest_of_differing_repeats_wins_while_the_tick_is_open() -> None:
    assert told(BOX, "a 1 in, a 1 out", "a 1 -1, b 2 out", "a 1 2") == []  # the last is a silent duplicate
    expected = oracle.run(
        "planar", [BOX], [(rows(text), []) for text in ("a 1 in, a 1 out", "a 1 -1, b 2 out", "a 1 2")]
    )
    assert expected.counts == {"late": 0, "late_applied": 0, "duplicates": 3, "rejects": 0}


def test_late_row_takes_effect_at_the_earliest_open_tick() -> None:
    # after the first batch the frontier is 5; a's row of 3 is newer than its last (1)
    assert told(BOX, "a 1 in, b 5 in", "a 3 out, b 6 in") == ["1 q +1 a", "5 q -1 a", "5 q +1 b"]
    assert told(BOX, "a 1 in, b 5 in", "a 3 out, b 6 in", late="drop") == ["1 q +1 a", "5 q +1 b"]


def test_late_rows_that_do_not_take_effect() -> None:
    batches = ["a 3 in, b 9 in", "a 2 out, a 4 out, a 5 out", "a 5 in, a 4 in, b 1 in", "b 10 in"]
    expected = oracle.run("planar", [BOX], [(rows(text), []) for text in batches])
    # a: 5 takes effect at 9, 2 and 4 are older; then 5 is a duplicate and 4 late; b: its row of 9 still waits,
    # so that of 1 is newer than nothing and takes effect at 9, where the row of 9 wins
    assert [(row.oid, row.t) for row in expected.late] == [("a", 2), ("a", 4), ("a", 4)]
    assert expected.counts == {"late": 5, "late_applied": 2, "duplicates": 1, "rejects": 0}
    assert [change[:4] for change in expected.changes] == [("q", 3, 1, "a"), ("q", 9, -1, "a"), ("q", 9, 1, "b")]


def test_repeats_among_late_rows_are_silent_unless_late_rows_are_dropped() -> None:
    batches: list[tuple[list[dict[str, Any]], list[str]]] = [
        (rows(text), []) for text in ("a 3 in, b 9 in", "a 3 out, a 4 out, a 4 in, a 2 in, b 10 in")
    ]
    expected = oracle.run("planar", [BOX], batches)
    # 3 repeats the last applied row; of the two of 4 the smaller x counts (in), the other is silent
    assert expected.counts == {"late": 2, "late_applied": 1, "duplicates": 2, "rejects": 0}
    assert [(row.oid, row.t) for row in expected.late] == [("a", 2)]
    assert [change[:4] for change in expected.changes] == [("q", 3, 1, "a"), ("q", 9, 1, "b")]
    dropped = oracle.run("planar", [BOX], batches, late="drop")
    assert dropped.counts == {"late": 4, "late_applied": 0, "duplicates": 0, "rejects": 0}
    assert [row.t for row in dropped.late] == [2, 3, 4, 4]


def test_late_row_that_has_timed_out_already() -> None:
    assert told(BOX, "b 9 out", "a 6 in, b 20 out", timeout=3) == []
    assert told(BOX, "b 9 out", "a 7 in, b 20 out", timeout=3) == ["9 q +1 a", "10 q -1 a"]


def test_lateness_keeps_ticks_open() -> None:
    assert told(BOX, "a 1 in, b 5 in", "a 3 out, b 6 in", lateness=2) == ["1 q +1 a", "3 q -1 a", "5 q +1 b"]


def test_bad_rows_are_rejected_and_move_nothing() -> None:
    bad: list[dict[str, Any]] = [
        {"oid": None, "t": 1, "x": 1.0, "y": 1.0},
        {"oid": "a", "t": None, "x": 1.0, "y": 1.0},
        {"oid": "a", "t": 99, "x": math.nan, "y": 1.0},
        {"oid": "a", "t": 99, "x": 1.0, "y": math.inf},
        {"oid": "a", "t": 99, "x": 1.0},
    ]
    expected = oracle.run("planar", [BOX], [(bad + rows("a 1 in"), []), (rows("a 4 out, a 9 in"), [])], max_ahead=3)
    assert len(expected.rejects) == 6  # the row of 9 is more than 3 ahead of 1
    assert expected.frontiers == [1, 4, 5]
    assert [change[:4] for change in expected.changes] == [("q", 1, 1, "a"), ("q", 4, -1, "a")]
    assert read_row({"oid": "a", "t": 1, "lon": 0.0, "lat": 90.1}, "lonlat") == "latitude outside [-90, 90]"


# ---------------------------------------------------------------------------------------------------- commands


def test_query_created_in_mid_stream_starts_with_the_answer_at_its_tick() -> None:
    create = BOX.replace(" q ", " late ")
    # frontier 3 when the command comes: b's update of 3 is part of the first answer, a's departure of 4 comes after
    assert told(BOX, "a 1 in, b 3 in", ("a 4 out, b 5 out", create)) == [
        "1 q +1 a",
        "3 late +1 a",
        "3 late +1 b",
        "3 q +1 b",
        "4 late -1 a",
        "4 q -1 a",
        "5 late -1 b",
        "5 q -1 b",
    ]


def test_dropping_emits_departures_with_positions_at_that_tick() -> None:
    expected = oracle.run("planar", [BOX], [(rows("a 1 in, b 3 in"), []), (rows("a 3 7, a 9 in"), ["DROP QUERY q"])])
    assert [change[:7] for change in expected.changes] == [
        ("q", 1, 1, "a", 5.0, 5.0, None),
        ("q", 3, -1, "a", 7.0, 5.0, None),
    ]


def test_replacing_emits_the_net_difference() -> None:
    replace = "CREATE OR REPLACE QUERY q AS SELECT oid FROM objects INSIDE (4, 0, 60, 10)"
    assert told(BOX, "a 1 in, b 1 3, c 1 out, d 3 99", ("d 4 99", replace)) == [
        "1 q +1 a",
        "1 q +1 b",
        "3 q -1 b",
        "3 q +1 c",
    ]
    assert told(BOX, "a 1 in, b 1 3, c 1 out, d 3 99", ("d 4 99", "DROP QUERY q; " + replace)) == [
        "1 q +1 a",
        "1 q +1 b",
        "3 q -1 b",
        "3 q +1 c",
    ]


def test_replacing_aggregates() -> None:
    count, total = BOX.replace("SELECT oid", "SELECT COUNT(*)"), BOX.replace("SELECT oid", "SELECT SUM(speed)")
    stream, more = "a 1 in 5 1, b 3 out", "b 4 out"
    again, other = (sql.replace("CREATE", "CREATE OR REPLACE") for sql in (count, total))
    back = BOX.replace("CREATE", "CREATE OR REPLACE")
    assert told(count, stream, (more, again)) == ["1 q +0 None 1"]
    assert told(count, stream, (more, other)) == ["1 q +0 None 1"]  # the sum is 1 too
    assert told(count, stream, (more, "DROP QUERY q; " + count)) == ["1 q +0 None 1", "3 q +0 None 1"]
    assert told(count, stream, (more, back)) == ["1 q +0 None 1", "3 q +1 a"]
    assert told(BOX, stream, (more, again)) == ["1 q +1 a", "3 q -1 a", "3 q +0 None 1"]


def test_command_in_the_future_waits_and_in_the_past_acts_at_once() -> None:
    assert told(BOX, "a 1 in, b 3 out", ("b 4 out", "AT 6 DROP QUERY q"), "b 6 out", "b 7 out") == [
        "1 q +1 a",
        "6 q -1 a",
    ]
    assert told(BOX, "a 1 in, b 3 out", ("b 4 out", "AT 2 DROP QUERY q")) == ["1 q +1 a", "3 q -1 a"]
    assert told(BOX, "a 1 in, b 3 out", ("b 4 out", "AT 9 DROP QUERY q")) == ["1 q +1 a"]


# ------------------------------------------------------------------------------------------------------ geometry


def test_polygon_with_a_hole_is_closed_on_both_borders() -> None:
    shell = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0))
    hole = ((1.0, 1.0), (1.0, 3.0), (3.0, 3.0), (3.0, 1.0), (1.0, 1.0))
    ring = Polygon(((shell, hole),))
    picture = ["".join(".#"[polygon_contains(ring, x / 2, y / 2)] for x in range(-1, 10)) for y in range(-1, 10)]
    assert picture == [
        "...........",
        ".#########.",
        ".#########.",
        ".#########.",
        ".###...###.",
        ".###...###.",
        ".###...###.",
        ".#########.",
        ".#########.",
        ".#########.",
        "...........",
    ]


def test_points_beside_a_slanted_edge_are_told_apart_exactly() -> None:
    triangle = ((0.0, 0.0), (3.0, 1.0), (0.0, 1.0), (0.0, 0.0))
    y = 1.0 / 3.0  # in float64 a little less than a third
    assert ring_side(triangle, 1.0, y) == -1
    assert ring_side(triangle, 1.0, math.nextafter(y, 1.0)) == 1
    assert ring_side(triangle, 1.5, 0.5) == 0


def test_longitudes_wrap_exactly() -> None:
    assert [wrap_longitude(lon) for lon in (180.0, -180.0, 190.25, -190.25, 540.0, 359.75, 720.5)] == [
        -180.0,
        -180.0,
        -169.75,
        169.75,
        -180.0,
        -0.25,
        0.5,
    ]
