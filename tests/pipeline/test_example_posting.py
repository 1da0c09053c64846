"""Statements that reach a run under way: commands, and a file of queries that changed."""

from __future__ import annotations

import pyarrow as pa

import vedette as vd
from vedette.lang import parse, print_statement
from vedette.model import Schema, Statement
from vedette.pipeline.intake import bind
from vedette.pipeline.posting import amend, posted, read_commands
from vedette.pipeline.track import Track
from vedette.runtime.brief import brief_of

SPACE = vd.planar()
COLUMNS = pa.schema([("oid", pa.string()), ("t", pa.int64()), ("x", pa.float64()), ("y", pa.float64())])
REGION = "CREATE REGION yard AS RECT (0, 0, {}, 10);"
YARD = "CREATE QUERY in_yard AS SELECT oid FROM objects INSIDE yard;"
NEAR = "CREATE QUERY near AS SELECT oid FROM objects KNN (2, 0, 0);"
LATER = "AT 50 DROP QUERY near;"


def statements(*texts: str) -> list[Statement]:
    return parse("\n".join(texts), space=SPACE)


def told(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    amendment = amend(posted(statements(*old), SPACE), statements(*new), SPACE)
    return [print_statement(s, SPACE) for s in amendment.statements], amendment.withdrawn


def test_example_the_same_file_changes_nothing() -> None:
    file = [REGION.format(10), YARD, NEAR, LATER]
    assert told(file, file) == ([], [])
    assert told(file, [NEAR, REGION.format(10), YARD, LATER]) == ([], [])


def test_example_a_query_that_is_gone_is_dropped_and_a_new_one_created() -> None:
    far = "CREATE QUERY far AS SELECT oid FROM objects KNN 2 AROUND (9, 9);"
    assert told([NEAR], [far]) == (
        ["DROP QUERY near;", far.replace("CREATE", "CREATE OR REPLACE")],
        ["CREATE QUERY near AS SELECT oid FROM objects KNN 2 AROUND (0, 0);"],
    )


def test_example_a_region_that_changed_replaces_the_queries_bound_to_it() -> None:
    came, _ = told([REGION.format(10), YARD, NEAR], [REGION.format(20), YARD, NEAR])
    assert came == [
        "CREATE OR REPLACE REGION yard AS RECT (0, 0, 20, 10);",
        "CREATE OR REPLACE QUERY in_yard AS SELECT oid FROM objects INSIDE RECT (0, 0, 20, 10);",
    ]


def test_example_a_statement_that_waits_is_withdrawn() -> None:
    came, withdrawn = told([NEAR, LATER], [NEAR])
    assert (came, withdrawn) == ([], ["AT 50 DROP QUERY near;"])
    track = _track()
    track.step(track._empty, track._empty.t, statements(NEAR, LATER))
    assert len(track.waiting()) == 2  # nothing acts before the first update
    track.withdraw(withdrawn)
    assert [print_statement(s, SPACE) for _, s in track.waiting()] == [
        "CREATE QUERY near AS SELECT oid FROM objects KNN 2 AROUND (0, 0);"
    ]


def test_example_commands_know_what_waits_and_what_is_there() -> None:
    track = _track()
    given = statements(REGION.format(10), NEAR)
    accepted, refused = read_commands([YARD, NEAR, "DROP QUERY near;", NEAR, "DROP nothing"], track, given, {})
    assert [print_statement(s, SPACE).split()[:3] for s in accepted] == [
        ["CREATE", "QUERY", "in_yard"],
        ["DROP", "QUERY", "near;"],
        ["CREATE", "QUERY", "near"],
    ]
    assert [r.sql for r in refused] == [NEAR, "DROP nothing"]
    assert "query near exists already" in refused[0].reason
    assert "<command>:1:14" in refused[0].reason


def test_example_a_text_of_several_statements_is_accepted_or_refused_as_a_whole() -> None:
    accepted, refused = read_commands([f"{NEAR}\nDROP QUERY nobody;"], _track(), [], {})
    assert not accepted
    assert "there is no query nobody" in refused[0].reason


def _track() -> Track:
    watch = vd.Watch()
    brief = brief_of(watch, bind(COLUMNS, watch.space), 1, 1)
    assert brief.setup.schema == Schema("string", "long")
    return Track(brief.setup, 0, brief.intake.empty())
