"""What the documentation shows is true: its Python prints what is shown, its SQL is accepted, its commands work.

Python blocks of a page share one namespace and one empty folder, in order. A `text` block right after a Python block
is what that block prints. A `sql` block is a file of its own, accepted in a planar space (`sql lonlat`: in a lon/lat
space; `sql refused`: not accepted, and the `text` block after it is what is said). `sql FILE` also leaves the text in
FILE for the commands after it. Lines of a `console` block that begin with `$ vedette` are run; what follows two blanks
and a `#` is a comment.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

import vedette as vd
from tests.docs.blocks import ROOT, Block, blocks_of, pages


def _marks(page: Path) -> list[pytest.MarkDecorator]:
    """Pages that start Spark run where the other tests do that need a session."""
    needs_spark = any(b.language == "python" and "spark" in b.text for b in blocks_of(page))
    return [pytest.mark.xdist_group("spark")] if needs_spark else []


PAGES = [pytest.param(page, id=str(page.relative_to(ROOT)), marks=_marks(page)) for page in pages()]
KINDS = {"python", "text", "sql", "console", "sh", ""}
WITHOUT_END = {"demo", "bench"}  # these take a minute; they have tests of their own


def shown_after(blocks: list[Block], index: int) -> str | None:
    """The text that a block is said to print, if the page shows it."""
    if index + 1 < len(blocks) and blocks[index + 1].language == "text" and not blocks[index + 1].follows.strip():
        return blocks[index + 1].text
    return None


def check_sql(block: Block, shown: str | None) -> None:
    space = vd.lonlat() if "lonlat" in block.words else vd.planar()
    if "refused" not in block.words:
        vd.Watch(space=space, queries=block.text)
        return
    with pytest.raises(vd.QueryError) as refused:
        vd.Watch(space=space, queries=block.text)
    assert shown is None or str(refused.value).strip() == shown.strip()


def run_commands(block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    from vedette.cli import main

    for line in block.text.splitlines():
        words = shlex.split(line.split("  #")[0])
        if words[:2] != ["$", "vedette"] or words[2] in WITHOUT_END:
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", words[1:])
            with pytest.raises(SystemExit) as stop:
                sys.exit(main())
        said = capfd.readouterr()
        assert stop.value.code in (0, None), f"{line}\n{said.out}{said.err}"


@pytest.mark.parametrize("page", PAGES)
def test_example_page_does_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    blocks = blocks_of(page)
    namespace: dict[str, object] = {"__name__": "__docs__"}
    for index, block in enumerate(blocks):
        assert block.language in KINDS, f"{page.name}:{block.line}: a {block.language} block is not checked by anything"
        shown = shown_after(blocks, index)
        if block.language == "python":
            capfd.readouterr()
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
            printed = capfd.readouterr().out
            assert shown is None or printed.rstrip() == shown.rstrip(), f"{page.name}:{block.line} prints\n{printed}"
        elif block.language == "sql":
            check_sql(block, shown)
            for word in block.words:
                if word.endswith(".sql"):
                    Path(word).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            run_commands(block, capfd)


def test_example_links_lead_somewhere() -> None:
    for page in [*pages(), *ROOT.glob("*.md"), ROOT / "tests" / "README.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), (
                    f"{page.relative_to(ROOT)} links to {target}, which is not there"
                )
