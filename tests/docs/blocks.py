"""Fenced blocks of the documentation, as data for the tests.

In: a Markdown file. Out: its blocks in order, each with the language, the words after it, the text and the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block; `follows` is what lies between it and the block before."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int
    follows: str


def pages() -> list[Path]:
    """Every page whose blocks are a promise: the README and the docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    source = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in FENCE.finditer(source):
        language, *words = match["info"].split() or [""]
        line = source.count("\n", 0, match.start()) + 2
        found.append(Block(language, tuple(words), match["text"], line, source[end : match.start()]))
        end = match.end()
    return found
