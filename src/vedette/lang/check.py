"""Types: does a statement fit the stream?

In: a statement and what is known of the stream (without it, literals alone are checked). Out: problems: unknown
attributes, comparisons of what cannot be compared, arithmetic on strings, durations and times of the wrong kind.
The records of the model carry no positions; a statement with problems is read once more from its text to find them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vedette.errors import Problem
from vedette.lang.build import build
from vedette.lang.draft import Draft
from vedette.lang.kinds import KINDS
from vedette.lang.source import Node, Report, Source
from vedette.lang.syntax import read
from vedette.lang.types import Finding, Kind, Subject, Types, columns_in, duration_findings, kind_in
from vedette.model import Aggregate, Column, Create, Duration, Expr, Query, Schema, Statement


@dataclass(frozen=True)
class Subjects:
    """All of a query that depends on the stream."""

    condition: Expr | None
    aggregate: Aggregate | None
    dwell: Duration
    grace: Duration


def findings(subjects: Subjects, schema: Schema | None) -> list[Finding]:
    """What does not fit, in a fixed order."""

    def kind_of(column: Column) -> Kind | None:
        return "any" if column.table is not None else kind_in(schema, column.name)

    types = Types(kind_of, columns_in(schema), schema.oid if schema else None)
    if subjects.aggregate is not None and subjects.aggregate.argument is not None:
        types.findings = _aggregate(subjects.aggregate, types)
    if subjects.condition is not None:
        types.condition(subjects.condition)
    if schema is not None:
        types.findings += duration_findings("DWELL", subjects.dwell, schema)
        types.findings += duration_findings("GRACE", subjects.grace, schema)
    return types.findings


def _aggregate(aggregate: Aggregate, types: Types) -> list[Finding]:
    column = Column(aggregate.argument or "")
    kind = types.kind(column)
    found = [Finding("AGGREGATE", f.code, f.message, f.hint) for f in types.findings]
    if kind not in ("number", "any"):
        found.append(Finding("AGGREGATE", "VD152", f"{aggregate.function} takes numbers; {column.name} is a {kind}"))
    return found


def _at(at: int | None, is_timestamp: bool, schema: Schema | None) -> Iterator[Finding]:
    if at is None or schema is None:
        return
    if schema.time == "long" and is_timestamp:
        yield Finding("AT", "VD142", "AT names a time, but t is a long", "write the number")
    elif schema.time != "long" and not is_timestamp:
        hint = "an example: '2008-05-31T03:20:00Z'"
        yield Finding("AT", "VD142", "AT is a number, but t is a timestamp", hint)


def check_draft(draft: Draft, schema: Schema | None, report: Report) -> None:
    """Report what does not fit, where it was written."""
    if draft.kind in KINDS:
        found = [] if draft.body is None else KINDS[draft.kind].findings(draft.body, schema)
    else:
        timings = draft.duration("DWELL"), draft.duration("GRACE")
        found = findings(Subjects(draft.condition, draft.aggregate, *timings), schema)
    for finding in [*found, *_at(draft.at, draft.at_is_timestamp, schema)]:
        report.add(finding.code, finding.message, _node(draft, finding.subject), finding.hint)


def _node(draft: Draft, subject: Subject) -> Node:
    if isinstance(subject, str):
        if subject in draft.timings:
            return draft.timings[subject][1]
        if subject in draft.nodes:
            return draft.nodes[subject]
        return (draft.at_node if subject == "AT" else draft.aggregate_node) or draft.name_node
    return draft.origin.get(id(subject)) or draft.condition_node or draft.name_node


def check_schema(statement: Statement, schema: Schema) -> list[Problem]:
    """What does not fit the stream, once its schema is known."""
    found = _of_action(statement, schema)
    found += _at(statement.at, statement.at_is_timestamp, schema)
    if not found:
        return []
    for kind in ("lonlat", "planar"):
        located = _located(statement, schema, kind)
        if [(p.code, p.message) for p in located] == [(f.code, f.message) for f in found]:
            return located
    line = statement.text.split("\n")[0]
    source_line = " " * (statement.column - 1) + line if line else ""
    return [Problem(f.code, f.message, statement.line, statement.column, source_line, f.hint) for f in found]


def _of_action(statement: Statement, schema: Schema) -> list[Finding]:
    if not isinstance(statement.action, Create):
        return []
    query = statement.action.query
    if isinstance(query, Query):
        return findings(Subjects(query.condition, query.aggregate, query.dwell, query.grace), schema)
    return KINDS[query.kind].findings(query, schema)


@dataclass(frozen=True)
class _AnySpace:
    kind: str


def _located(statement: Statement, schema: Schema, kind: str) -> list[Problem]:
    """The problems of a statement read again from its own text, put back to where that text was."""
    text = statement.text
    source = Source("\n" * (statement.line - 1) + " " * (statement.column - 1) + text)
    base = len(source.text) - len(text)
    muted = Report(source, base, len(source.text))
    tree = read(text, muted)
    if tree is None:
        return []
    draft = build(tree, _AnySpace(kind), muted)
    report = Report(source, base, len(source.text))
    check_draft(draft, schema, report)
    return report.problems
