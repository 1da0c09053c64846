"""Alerts and combinations in small streams that a person can check."""

from __future__ import annotations

import pytest

import vedette as vd
from vedette.runtime.local import LocalRun


def rows(text: str) -> list[dict[str, object]]:
    """`id t x y`, a row a line."""
    return [
        {"oid": oid, "t": int(t), "x": float(x), "y": float(y)}
        for oid, t, x, y in (line.split() for line in text.split(";"))
    ]


def told(run: LocalRun, text: str) -> list[tuple[int, str, int]]:
    run.feed(rows(text))
    changes = run.last.changes.select(["t", "query", "sign"]).to_pylist()
    return sorted((c["t"], c["query"], c["sign"]) for c in changes)


def test_example_an_alert_that_starts_with_not_speaks_at_the_first_tick() -> None:
    run = vd.local(vd.Watch(queries="CREATE ALERT far WHEN NOT DIAMETER(a, nobody) < 3;"))
    assert told(run, "z 7 0 0; z 8 0 0") == [(7, "far", 1)]


def test_example_a_constraint_without_a_position_is_false_whatever_it_says() -> None:
    run = vd.local(
        vd.Watch(queries="CREATE ALERT less WHEN DIAMETER(a, b) < 3; CREATE ALERT more WHEN DIAMETER(a, b) > 3;")
    )
    assert told(run, "a 1 0 0; z 2 0 0") == []
    assert told(run, "b 3 3 0; b 4 3.5 0; b 5 1 0; z 6 0 0") == [(4, "more", 1), (5, "less", 1), (5, "more", -1)]


def test_example_gone_at_exactly_the_timeout() -> None:
    run = vd.local(vd.Watch(queries="CREATE ALERT near WHEN DIAMETER(a, b) < 3;", timeout=5))
    assert told(run, "a 1 0 0; b 2 1 0; z 20 9 9; z 21 9 9") == [(2, "near", 1), (6, "near", -1)]


@pytest.mark.parametrize(("buckets", "regions"), [(1, 1), (3, 4)])
def test_example_rknn_counts_who_is_strictly_closer(buckets: int, regions: int) -> None:
    """The point is at (0, 0), the object at (3, 0): only what is nearer to it than 3 counts."""
    run = vd.local(vd.Watch(queries="CREATE ALERT mine WHEN RKNN((0, 0), 1, p);", buckets=buckets, regions=regions))
    assert told(run, "p 1 3 0; a 2 6 0; a 3 5.9 0; a 4 3 3; p 5 3 0.5; z 6 90 90") == [
        (1, "mine", 1),
        (3, "mine", -1),
        (4, "mine", 1),
        (5, "mine", -1),
    ]


def test_example_replacing_tells_the_difference_and_dropping_the_end() -> None:
    watch = vd.Watch(queries="CREATE ALERT near WHEN DIAMETER(a, b) < 3;", buckets=3)
    run = vd.local(watch)
    assert told(run, "a 1 0 0; b 1 1 0; z 2 0 0") == [(1, "near", 1)]
    watch.add("CREATE OR REPLACE ALERT near WHEN DIAMETER(a, b) < 9;")
    assert told(run, "z 4 0 0; z 5 0 0") == []
    watch.add("DROP ALERT near; CREATE ALERT near WHEN DISTANCE((0, 0), a, b) < 9;")
    assert told(run, "z 6 0 0; z 7 0 0") == []
    watch.add("DROP ALERT near;")
    assert told(run, "z 8 0 0; z 9 0 0") == [(7, "near", -1)]


def test_example_an_id_that_no_object_can_have() -> None:
    """Ids of the stream are numbers: nobody is called abc, and nothing is near it."""
    run = vd.local(
        vd.Watch(
            queries="CREATE QUERY k AS SELECT oid FROM objects KNN 1 AROUND abc;"
            "CREATE ALERT r WHEN RKNN((0, 0), 1, abc); CREATE ALERT n WHEN NOT RKNN((0, 0), 1, abc);"
        )
    )
    run.feed([{"oid": oid, "t": t, "x": 0.0, "y": 0.0} for t, oid in enumerate((1, 4, 1))])
    assert [(c["query"], c["sign"]) for c in run.last.changes.to_pylist()] == [("n", 1)]


def test_example_the_paper_s_bus_stop() -> None:
    run = vd.local(vd.Watch(queries="CREATE ALERT bus WHEN DISTANCE((3, 4), p1) < 50 AND DISTANCE((3, 4), p2) < 200;"))
    assert told(run, "p1 1 10 10; p2 2 500 4; p2 3 190 4; p1 4 53 4; z 5 0 0") == [(3, "bus", 1), (4, "bus", -1)]


def test_example_a_focal_is_left_out_of_its_own_term_only() -> None:
    sql = "CREATE QUERY q AS SELECT oid FROM objects WHERE INSIDE CIRCLE (2) AROUND m OR INSIDE (0, 0, 1, 1);"
    run = vd.local(vd.Watch(queries=sql))
    run.feed(rows("m 1 0.5 0.5; a 1 2 0.5; b 2 9 9"))
    assert sorted(c["oid"] for c in run.last.changes.to_pylist()) == ["a", "m"]


def test_example_combinations_that_come_later_share_terms_and_know_where_everybody_is() -> None:
    watch = vd.Watch(queries="CREATE QUERY one AS SELECT oid FROM objects WHERE INSIDE (0, 0, 9, 9) AND KNN (2, 0, 0);")
    run = vd.local(watch)
    run.feed(rows("a 1 1 1; b 1 2 2; c 1 3 3; a 2 4 4; z 3 50 50"))
    watch.add("CREATE QUERY two AS SELECT oid FROM objects WHERE INSIDE (0, 0, 9, 9) AND NOT KNN (2, 0, 0);")
    run.feed(rows("z 4 50 50; z 5 50 50"))
    assert [(c["query"], c["t"], c["oid"], c["x"]) for c in run.last.changes.to_pylist()] == [("two", 3, "a", 4.0)]


def test_example_an_update_costs_what_changed() -> None:
    """Formulas whose constraints did not change are not walked, constraints of others are not computed."""
    queries = "".join(
        f"CREATE ALERT n{i} WHEN DIAMETER(a{i}, b{i}) < 3 AND NOT INSIDE(a{i}, RECT (0, 0, 1, 1));" for i in range(50)
    )
    run = vd.local(vd.Watch(queries=queries))
    run.feed(rows(";".join(f"a{i} 1 5 {9 * i};b{i} 1 6 {9 * i}" for i in range(50)) + ";z 2 0 0"))
    shard = run._answers[0]._parts["ALERT"].shard  # type: ignore[attr-defined]
    shard.tally[:] = 0
    run.feed(rows("a7 3 5.5 63; z 4 0 0"))
    touched, computed, inferred, changed, walked = shard.tally.tolist()
    assert (touched, computed, inferred, changed, walked) == (2, 2, 0, 0, 0)
    run.feed(rows("a7 5 15.5 63; z 6 0 0"))
    assert shard.tally.tolist() == [4, 4, 0, 1, 1]
