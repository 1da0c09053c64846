from __future__ import annotations

import pytest

from tests.lang.pairs import SPACES, Case, cases
from vedette import lang
from vedette.errors import QueryError

ALL = cases()


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"{c.file}: {c.title}")
def test_example_written_and_given(case: Case) -> None:
    assert case.got() == case.gives, f"{case.file}: {case.title}\nwritten:\n{case.written}"


@pytest.mark.parametrize(
    "case", [c for c in ALL if "hint:" not in c.gives and ": VD" not in c.gives], ids=lambda c: f"{c.file}: {c.title}"
)
def test_example_canonical_text_is_its_own_canonical_text(case: Case) -> None:
    again = lang.parse(case.gives, space=case.space, schema=case.schema)
    assert "\n".join(lang.print_statement(s, case.space) for s in again) == case.gives


def test_example_windows_line_ends_and_byte_order_mark() -> None:
    sql = "\ufeffCREATE QUERY q AS SELECT oid\r\n  FROM objects INSDE (1, 2, 3, 4);\r\nDROP QUERY q;\r\n"
    with pytest.raises(QueryError) as caught:
        lang.parse(sql, space=SPACES["planar"])
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.source_line) == (2, 16, "  FROM objects INSDE (1, 2, 3, 4);")
    assert len(lang.parse(sql.replace("INSDE", "INSIDE"), space=SPACES["planar"])) == 2
