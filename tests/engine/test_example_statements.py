"""What statements do while a stream runs, in small tables that a person can check."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import vedette as vd

BOX = "SELECT oid FROM objects INSIDE"


def told(run: vd.LocalRun, *rows: tuple[str, int, float]) -> list[tuple[str, int, int, str]]:
    """Feed (oid, t, x) rows; the changes as (query, t, sign, oid)."""
    changes = run.feed([{"oid": oid, "t": t, "x": x, "y": 0.0} for oid, t, x in rows])
    return sorted((c["query"], c["t"], c["sign"], c["oid"]) for c in changes.to_pylist())


@pytest.mark.parametrize("restored", [False, True])
def test_example_a_waiting_query_sees_the_region_of_its_own_tick(restored: bool) -> None:
    watch = vd.Watch(queries="CREATE REGION yard AS RECT (0, 0, 1, 1);")
    run = vd.local(watch)
    told(run, ("a", 1, 0.5), ("b", 1, 5.0))
    watch.add(f"CREATE QUERY late AS {BOX} yard;", at=10)
    watch.add(f"CREATE QUERY early AS {BOX} yard;")
    told(run, ("a", 2, 0.5))
    watch.add("CREATE OR REPLACE REGION yard AS RECT (4, 0, 6, 1);", at=5)
    told(run, ("a", 3, 0.5))
    if restored:
        run = vd.local(watch, state=run.save())
    assert told(run, ("a", 11, 0.5)) == [("late", 10, 1, "b")]
    watch.add(f"CREATE QUERY now AS {BOX} yard;")
    assert told(run, ("a", 12, 0.5)) == [("now", 11, 1, "b")]


def test_example_polygons_that_come_and_go_leave_nothing_behind() -> None:
    """The edges of dropped polygons are swept out; those that stay go on to answer."""
    watch = vd.Watch(queries=f"CREATE QUERY stays AS {BOX} POLYGON '((0 0, 2 0, 2 2, 0 2, 0 0))';")
    run = vd.local(watch)
    told(run, ("a", 0, 5.0))
    angles = np.linspace(0, 2 * np.pi, 1000, endpoint=False)
    ring = ", ".join(f"{x:.6f} {y:.6f}" for x, y in zip(9 + np.cos(angles), np.sin(angles), strict=True))
    for t in range(1, 13):
        watch.add(f"CREATE QUERY p{t} AS {BOX} POLYGON '(({ring}, 10.000000 0.000000))';")
        if t > 1:
            watch.drop(f"p{t - 1}")
        told(run, ("a", t, 5.0))
    assert len(run._regions[0]._edges.ax) < 7000  # 12 polygons of 1,000 edges came, one is left
    assert told(run, ("a", 20, 1.0), ("a", 21, 9.0)) == [("stays", 20, 1, "a")]
    assert [c["query"] for c in run.finish().to_pylist()] == ["stays", "p12"]


def test_example_a_batch_may_lack_attributes_and_bring_others() -> None:
    watch = vd.Watch(queries="CREATE QUERY fast AS SELECT oid FROM objects WHERE speed > 3 INSIDE (0, 0, 9, 9);")
    run = vd.local(watch)
    run.feed(pa.table({"oid": ["a"], "t": [1], "x": [1.0], "y": [1.0], "speed": [5.0]}))
    run.feed(pa.table({"oid": ["a"], "t": [2], "x": [1.0], "y": [1.0], "colour": ["red"]}))
    run.finish()
    assert [(c["t"], c["sign"]) for c in run.last.changes.to_pylist()] == [(2, -1)]


def test_example_a_focal_that_was_never_seen_inherits_no_place() -> None:
    """The number of a focal that nobody follows any more is given to another one, which is nowhere yet."""
    watch = vd.Watch(queries="CREATE QUERY q AS SELECT oid FROM objects INSIDE CIRCLE (1) AROUND bus;")
    run = vd.local(watch)
    assert told(run, ("bus", 0, 0.0), ("a", 0, 0.5), ("a", 1, 0.5)) == [("q", 0, 1, "a")]
    watch.drop("q")
    told(run, ("a", 2, 0.5))
    told(run, ("a", 3, 0.5))
    watch.add("CREATE QUERY r AS SELECT oid FROM objects INSIDE CIRCLE (1) AROUND cab;")
    assert told(run, ("a", 4, 0.5)) == []
    assert told(run, ("cab", 5, 1.2), ("a", 6, 0.5)) == [("r", 5, 1, "a")]


@pytest.mark.parametrize("at_once", [False, True])
def test_example_a_focal_that_moved_on_while_nobody_in_the_region_followed(at_once: bool) -> None:
    """KNN keeps the focal known; the region that it left long ago must not take a new range for one of its own."""
    around = "SELECT oid FROM objects INSIDE CIRCLE (1) AROUND bus"
    watch = vd.Watch(
        queries=f"CREATE QUERY q AS {around};\nCREATE QUERY n AS SELECT oid FROM objects KNN 1 AROUND bus;", regions=2
    )
    run = vd.local(watch)
    told(run, ("bus", 0, 0.0), ("a", 0, -0.5), ("b", 0, 100.0), ("c", 0, 101.0))
    told(run, ("a", 1, -0.5))
    watch.add("DROP QUERY q;", at=2)
    watch.add(f"CREATE QUERY r AS {around};", at=6)
    steps = [("bus", 3, 0.1), ("bus", 4, 50.0), ("bus", 5, 102.0), ("a", 7, -0.5)]
    changes = told(run, *steps) if at_once else [c for step in steps for c in told(run, step)]
    assert [c for c in changes if c[0] == "r"] == [("r", 6, 1, "c")]
