"""However the stream and the work are cut, the changes are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.engine.drive import expect, play, table
from tests.strategies import EVERYTHING, Raw, Story, stories

KINDS = pytest.mark.parametrize("kind", ["planar", "lonlat"])
UNCOMMANDED = EVERYTHING.but(commands=False, disorder=False)


def in_one_batch(story: Story) -> Story:
    """All rows at once, in time order (rows without a time first); nothing can be late or too far ahead."""
    flat = [row for rows, _ in story.batches for row in rows]
    flat.sort(key=lambda row: (row["t"] is not None, row["t"] if row["t"] is not None else 0))
    return replace(story, batches=[(flat, [])], max_ahead=None, lateness=0)


@st.composite
def other_batches(draw: st.DrawFn, whole: Story) -> Story:
    """The rows of a one-batch story in other batches, each in any order, with any lateness: still no row is late."""
    ((flat, _),) = whole.batches
    cuts = sorted(draw(st.lists(st.integers(0, len(flat)), max_size=6)))
    parts = [flat[a:b] for a, b in zip([0, *cuts], [*cuts, len(flat)], strict=True)]
    return replace(
        whole,
        batches=[(draw(st.permutations(part)), []) for part in parts],
        lateness=draw(st.integers(0, 5)),
    )


@KINDS
@given(data=st.data())
def test_any_batches_and_any_order_within_them(kind: str, data: st.DataObject) -> None:
    whole = in_one_batch(data.draw(stories(kind, UNCOMMANDED)))
    other = data.draw(other_batches(whole))
    played = play(other)
    assert played.totals["late"] == 0
    oracle.assert_same_changes(played.changes, play(whole).changes)


@KINDS
@given(data=st.data())
def test_any_number_of_buckets_and_regions(kind: str, data: st.DataObject) -> None:
    story = data.draw(stories(kind, EVERYTHING))
    buckets, regions = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 9))
    one, many = play(story), play(story, buckets=buckets, regions=regions)
    for feed, same in zip(many.feeds, one.feeds, strict=True):
        oracle.assert_same_changes(feed, same)
    assert many.late.sort_by([("t", "ascending"), ("oid", "ascending")]).equals(
        one.late.sort_by([("t", "ascending"), ("oid", "ascending")])
    )
    assert many.totals == one.totals


@KINDS
@given(data=st.data())
def test_what_stood_before_the_first_query_does_not_matter(kind: str, data: st.DataObject) -> None:
    """Regions in which nothing stands hear less of what happens there; queries that come find all that they need."""
    story = data.draw(stories(kind, EVERYTHING.but(commands=False)))
    comes = data.draw(st.integers(0, len(story.batches) - 1))
    batches = [(rows, story.queries if n == comes else []) for n, (rows, _) in enumerate(story.batches)]
    watcher = "CREATE QUERY watcher AS SELECT oid FROM objects INSIDE (0, 0, 1, 1);"
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    alone = play(replace(story, queries=[], batches=batches), buckets=buckets, regions=regions)
    watched = play(replace(story, queries=[watcher], batches=batches), buckets=buckets, regions=regions)
    for feed, same in zip(alone.feeds, watched.feeds, strict=True):
        oracle.assert_same_changes(feed, [change for change in same if change.query != "watcher"])


@KINDS
@given(data=st.data())
def test_many_buckets_and_regions_say_what_the_oracle_says(kind: str, data: st.DataObject) -> None:
    story = data.draw(stories(kind, EVERYTHING.but(max_rows=36)))
    buckets, regions = data.draw(st.integers(2, 7)), data.draw(st.integers(2, 9))
    oracle.assert_same_changes(play(story, buckets=buckets, regions=regions).changes, expect(story))


@KINDS
@given(data=st.data())
def test_saving_and_restoring_between_batches(kind: str, data: st.DataObject) -> None:
    story = data.draw(stories(kind, EVERYTHING))
    saved = data.draw(st.sets(st.integers(0, len(story.batches)), min_size=1))
    buckets, regions = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    straight = play(story, buckets=buckets, regions=regions)
    resumed = play(story, saved_before=saved.__contains__, buckets=buckets, regions=regions)
    for feed, same in zip(resumed.feeds, straight.feeds, strict=True):
        oracle.assert_same_changes(feed, same)
    assert resumed.totals == straight.totals


@KINDS
@given(data=st.data())
def test_the_sum_of_the_changes_is_the_answer(kind: str, data: st.DataObject) -> None:
    story = data.draw(stories(kind, EVERYTHING))
    answers = expect(story).answers
    members: dict[str, set[Any]] = {name: set() for name, answer in answers.items() if isinstance(answer, set)}
    for change in play(story).changes:
        if change.sign:
            present = members.setdefault(change.query, set())
            assert (change.oid in present) == (change.sign < 0), f"{change} joins twice or leaves without having joined"
            (present.add if change.sign > 0 else present.remove)(change.oid)
    wanted = {name: answer for name, answer in answers.items() if isinstance(answer, set)}
    assert {name: answer for name, answer in members.items() if answer or name in wanted} == wanted


def as_record_batch(story: Story, rows: list[Raw]) -> Any:
    whole = table(story, rows).combine_chunks()
    return whole.to_batches()[0] if rows else pa.RecordBatch.from_pylist([], schema=whole.schema)


def as_shouted_columns(story: Story, rows: list[Raw]) -> Any:
    whole = table(story, rows)
    return whole.rename_columns([name.upper() for name in whole.column_names])


def as_chunks(story: Story, rows: list[Raw]) -> Any:
    return pa.concat_tables([table(story, [row]) for row in rows]) if rows else table(story, rows)


@pytest.mark.parametrize("form", [as_record_batch, as_shouted_columns, as_chunks])
@given(data=st.data())
def test_the_form_of_a_batch_does_not_matter(form: Any, data: st.DataObject) -> None:
    story = data.draw(stories("planar", EVERYTHING.but(max_rows=12, max_queries=2)))
    oracle.assert_same_changes(play(story, batch_of=form).changes, play(story).changes)
