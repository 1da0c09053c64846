"""The kinds of standing query beside QUERY, and what the passes of the language do with each: a line a kind.

A kind is a file of its own; `KINDS` maps the word behind CREATE to its passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from lark import Token, Tree

from vedette.lang import triggers
from vedette.lang.alerts import AlertKind
from vedette.lang.draft import Draft
from vedette.lang.shapes import RegionName, SpaceKind
from vedette.lang.source import Report
from vedette.lang.types import Finding
from vedette.model import Inside, Schema, Standing


class Kind(Protocol):
    """The passes of one kind."""

    def build(self, action: Tree[Token], draft: Draft, space: SpaceKind, report: Report) -> None:
        """Fill in the draft's body: everything the statement says by itself."""

    def findings(self, body: Any, schema: Schema | None) -> list[Finding]:
        """What does not fit the stream, in a fixed order; `body` is that of a draft, or the record of the model."""

    def bind(self, draft: Draft, place: Callable[[RegionName], Inside | None], report: Report) -> Standing | None:
        """The record, with named regions by value; None after a problem, or where a region's own statement is wrong."""

    def print(self, standing: Any, space: SpaceKind) -> str:
        """The canonical text behind the name."""


class _Triggers:
    build = staticmethod(triggers.build)
    findings = staticmethod(triggers.findings)
    bind = staticmethod(triggers.bind)
    print = staticmethod(triggers.print_trigger)


KINDS: dict[str, Kind] = {"TRIGGER": _Triggers(), "ALERT": AlertKind()}
