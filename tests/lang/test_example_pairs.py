from __future__ import annotations

import pytest

from tests.lang.pairs import Case, cases
from vedette import lang

ALL = cases()


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"{c.file}: {c.title}")
def test_example_written_and_given(case: Case) -> None:
    assert case.got() == case.gives, f"{case.file}: {case.title}\nwritten:\n{case.written}"


@pytest.mark.parametrize("case", [c for c in ALL if "VD1" not in c.gives], ids=lambda c: f"{c.file}: {c.title}")
def test_example_canonical_text_is_its_own_canonical_text(case: Case) -> None:
    again = lang.parse(case.gives, space=case.space, schema=case.schema)
    assert "\n".join(lang.print_statement(s, case.space) for s in again) == case.gives
