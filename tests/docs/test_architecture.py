"""ARCHITECTURE.md names what is there, and all of it."""

from __future__ import annotations

import re

from tests.docs.blocks import ROOT

PAGE = ROOT / "ARCHITECTURE.md"
PATHS = re.compile(r"`((?:src|tests|docs|bench|examples|\.ci)/[\w./-]*|[\w-]+\.(?:toml|txt|md)|Makefile)`")


def named() -> set[str]:
    return set(PATHS.findall(PAGE.read_text(encoding="utf-8")))


def test_example_every_path_in_it_exists() -> None:
    assert len(named()) > 20
    missing = sorted(path for path in named() if not (ROOT / path).exists())
    assert not missing


def test_example_every_module_has_its_place_in_it() -> None:
    modules = {str(file.relative_to(ROOT)) for file in (ROOT / "src" / "vedette").rglob("*.py")}
    unnamed = sorted(
        module
        for module in modules
        if not module.endswith("__init__.py") and not any(_covers(p, module) for p in named())
    )
    assert not unnamed


def _covers(path: str, module: str) -> bool:
    """A file covers itself; a folder covers its files, but `src/vedette/` alone says nothing."""
    return path == module or (path.endswith("/") and path != "src/vedette/" and module.startswith(path))
