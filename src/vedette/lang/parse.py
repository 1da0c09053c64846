"""Text in, checked statements out: the passes of the language in their order.

    split    the text into statements                 quotes, semicolons
    read     each into a tree                         words in their places
    build    a draft from the tree                    numbers, units, forms
    bind     names, regions and tables by value       the catalogue
    check    types, if the stream's schema is known   attributes

Every statement goes as far as it can, so that all problems of a file are reported at once, in the order of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from lark import Token

from vedette.errors import Problem, QueryError
from vedette.lang.build import build
from vedette.lang.catalog import Act, Catalog, Kind, effective_tick
from vedette.lang.check import check_draft
from vedette.lang.combinations import bind_places
from vedette.lang.draft import Draft
from vedette.lang.join import bind_table
from vedette.lang.kinds import KINDS
from vedette.lang.shapes import RegionName, SpaceKind
from vedette.lang.source import Report, Source
from vedette.lang.split import split
from vedette.lang.syntax import read
from vedette.lang.words import did_you_mean
from vedette.model import Action, Create, CreateQuery, CreateRegion, Drop, Inside, Query, Schema, Statement

_CREATES = re.compile(r"CREATE\s+(?:OR\s+REPLACE\s+)?(QUERY|REGION|TRIGGER|PATTERN|ALERT)\s+(\w+)", re.IGNORECASE)


def parse(
    text: str,
    *,
    space: SpaceKind,
    schema: Schema | None = None,
    tables: Mapping[str, Any] | None = None,
    catalog: Catalog | None = None,
    now: int | None = None,
    filename: str = "<sql>",
) -> list[Statement]:
    """The statements of a text, checked and bound.

    `tables` maps names to pyarrow tables or pandas frames; `catalog` holds what is known so far and is not changed;
    `now` is the tick at which statements without AT act. Raises `QueryError` with all problems of the text.
    """
    text = text.removeprefix("\ufeff")  # some editors put a byte order mark in front
    source = Source(text)
    problems = unprintable(source)
    if problems:
        raise QueryError(problems, filename)
    cut = split(source)
    problems = list(cut.problems)
    drafts: list[tuple[Draft | None, Report]] = []
    for (start, end), whole in cut.statements:
        if not whole:
            continue
        report = Report(source, start, end)
        tree = read(text[start:end], report)
        report.unreadable = tree is None
        draft = build(tree, space, report) if tree is not None else _guess(text[start:end])
        drafts.append((draft, report))
    statements = _bind(drafts, catalog or Catalog(), tables or {}, schema, now)
    problems += [p for _, report in drafts for p in report.problems]
    if problems:
        raise QueryError(sorted(problems, key=lambda p: (p.line, p.column)), filename)
    return [s for s in statements if s is not None]


def unprintable(source: Source) -> list[Problem]:
    """Half characters (lone surrogates), which no file can hold, would fail much later otherwise."""
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        message = f"U+{ord(source.text[error.start]):04X} is half a character"
        line, column = source.place(error.start)
        return [Problem("VD103", message, line, column)]
    return []


def _guess(text: str) -> Draft | None:
    """What a statement that cannot be read was to create, so that others that name it are not called wrong too."""
    found = _CREATES.search(text)
    return Draft(found.group(1).upper(), found.group(2).lower(), Token("NAME", ""), replace=True) if found else None


def _bind(
    drafts: list[tuple[Draft | None, Report]],
    catalog: Catalog,
    tables: Mapping[str, Any],
    schema: Schema | None,
    now: int | None,
) -> list[Statement | None]:
    """Names first, for all drafts, since a region may be written after the query that comes after it in time."""
    catalog = catalog.copy()
    noted = [(d, report, _note(d, catalog, now)) for d, report in drafts if d is not None]
    _check_names(noted, catalog)
    return [_statement(*each, catalog, tables, schema) for each in noted if not each[1].unreadable]


def _kind(draft: Draft) -> Kind:
    return "REGION" if "REGION" in (draft.kind, draft.drops) else "QUERY"


def _note(draft: Draft, catalog: Catalog, now: int | None) -> Act:
    tick = effective_tick(draft.at, now)
    creates = draft.kind != "DROP"
    what = draft.kind if creates else draft.drops
    return catalog.put(
        _kind(draft), draft.name, tick, creates=creates, replace=draft.replace, area=draft.area, what=what
    )


def _check_names(noted: list[tuple[Draft, Report, Act]], catalog: Catalog) -> None:
    """Report names that are taken or missing at their tick, and take those acts back."""
    by_name: dict[tuple[Kind, str], dict[Act, tuple[Draft, Report]]] = {}
    for draft, report, act in noted:
        by_name.setdefault((_kind(draft), draft.name), {})[act] = (draft, report)
    for (kind, name), new in by_name.items():
        for failing, blamed in catalog.conflicts(kind, name, new):
            _blame(catalog, kind, failing, blamed, *new[blamed])
            if failing is blamed:
                catalog.remove(kind, name, failing)


def _blame(catalog: Catalog, kind: Kind, failing: Act, blamed: Act, draft: Draft, report: Report) -> None:
    label = f"{blamed.what.lower()} {draft.name}"
    there = catalog.known_as(kind, draft.name, failing)
    if failing is not blamed:
        doing, wish = ("created" if act.creates else "dropped" for act in (failing, blamed))
        message = f"{label} cannot be {wish} here: it is {doing} at {failing.tick} already"
        report.add("VD110", message, draft.name_node)
    elif failing.creates and there == failing.what:
        report.add("VD110", f"{label} exists already", draft.name_node, "CREATE OR REPLACE puts a new one in its place")
    elif failing.creates:
        hint = f"all kinds share their names: choose another, or DROP {there} {draft.name} first"
        report.add("VD110", f"{draft.name} exists already, as {_a(there)}", draft.name_node, hint)
    elif there is not None:
        hint = f"write DROP {there} {draft.name}"
        report.add("VD111", f"there is no {label} to drop: {draft.name} is {_a(there)}", draft.name_node, hint)
    else:
        known = [n for n in catalog.names(kind) if n != draft.name]
        report.add("VD111", f"there is no {label} to drop", draft.name_node, did_you_mean(draft.name, known))


def _a(what: str | None) -> str:
    return f"an {what.lower()}" if what == "ALERT" else f"a {(what or '').lower()}"


def _statement(
    draft: Draft, report: Report, act: Act, catalog: Catalog, tables: Mapping[str, Any], schema: Schema | None
) -> Statement | None:
    place = bind_places(draft, partial(_bind_region, act, catalog, report), report)
    bind_table(draft, report, tables)
    check_draft(draft, schema, report)
    standing = None
    if draft.kind in KINDS and not report.problems:
        standing = KINDS[draft.kind].bind(draft, partial(_bind_region, act, catalog, report), report)
    if report.problems or (draft.kind == "QUERY" and place is None) or (draft.kind in KINDS and standing is None):
        return None  # a place is missing without a problem of its own where the region's own statement is wrong
    action: Action
    if draft.kind == "DROP":
        action = Drop(draft.drops, draft.name)
    elif draft.kind == "REGION":
        assert draft.area is not None
        action = CreateRegion(draft.name, draft.area, draft.replace)
    elif standing is not None:
        action = Create(standing, draft.replace)
    else:
        assert place is not None
        query = Query(
            draft.name, place, draft.condition, draft.aggregate, draft.duration("DWELL"), draft.duration("GRACE")
        )
        action = CreateQuery(query, draft.replace)
    line, column = report.source.place(report.base)
    text = report.source.text[report.base : report.end]
    return Statement(action, draft.at, draft.at_is_timestamp, line, column, text)


def _bind_region(act: Act, catalog: Catalog, report: Report, place: RegionName) -> Inside | None:
    area = catalog.region(place.name, act)
    if area is not None:
        return Inside(area, place.name)
    if catalog.broken(place.name):
        return None  # its own statement is wrong and says so; once is enough
    later = catalog.later(place.name, act)
    if later is not None:
        hint: str | None = "create the region before the query"
    else:
        hint = did_you_mean(place.name, catalog.names("REGION"))
    report.add("VD112", f"there is no region {place.name}", place.node, hint)
    return None
