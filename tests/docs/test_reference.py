"""The reference pages name every public thing, and nothing that is not there."""

from __future__ import annotations

import re
import subprocess
import sys

import typer

import vedette as vd
from tests.docs.blocks import ROOT
from vedette.cli import app

REFERENCE = ROOT / "docs" / "reference"


def test_example_public_names_are_documented() -> None:
    text = (REFERENCE / "python.md").read_text(encoding="utf-8")
    undocumented = [name for name in vd.__all__ if not re.search(rf"`(?:vd\.)?{name}\b", text)]
    assert not undocumented


def test_example_documented_names_are_public() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    unknown = sorted({name for name in re.findall(r"\bvd\.(\w+)", text) if not hasattr(vd, name)})
    assert not unknown


def test_example_all_is_what_it_says() -> None:
    assert len(set(vd.__all__)) == len(vd.__all__)
    for name in vd.__all__:
        assert hasattr(vd, name)


def test_example_every_error_code_is_documented() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py"))
    raised = set(re.findall(r"\bVD\d{3}\b", sources))
    documented = set(re.findall(r"\bVD\d{3}\b", (ROOT / "docs" / "language.md").read_text(encoding="utf-8")))
    assert raised - documented == set()
    assert documented - raised == set()


def test_example_import_is_light() -> None:
    """Importing starts no Spark, compiles nothing and loads no plotting."""
    heavy = ("matplotlib", "pyspark", "pandas", "py4j")
    code = f"import sys, vedette; print([name for name in {heavy!r} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "src")
    assert said.stdout.strip() == "[]"


def test_example_every_option_of_every_command_is_documented() -> None:
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## vedette (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    commands = getattr(typer.main.get_command(app), "commands")  # noqa: B009 - typed as a plain command
    assert set(sections) == set(commands)
    for name, command in commands.items():
        options = {flag for parameter in command.params for flag in parameter.opts if flag.startswith("--")} - {
            "--help"
        }
        assert options == set(re.findall(r"`(--[a-z-]+)", sections[name])), name
