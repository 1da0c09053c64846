"""CREATE TRIGGER: several events, constraints on each and between any two of them.

    build      conjuncts sorted: what is about one event, what is between two
    findings   attributes and units that do not fit the stream
    bind       named regions by value; the closed graph has no contradiction and bounds all times
    print      the canonical text

In a draft, and in the record, columns carry no table: which variable they belong to is said by where they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from lark import Token, Tree

from vedette.lang.closure import Contradiction, close
from vedette.lang.conjuncts import Conjuncts, conjuncts_of
from vedette.lang.draft import Draft
from vedette.lang.print import print_area, print_distance, print_duration, print_expr
from vedette.lang.shapes import RegionName, SpaceKind, name_of, trees
from vedette.lang.source import Report
from vedette.lang.types import Finding, Kind, Types, columns_in, duration_findings, kind_in
from vedette.lang.words import did_you_mean, one_of, quote_name
from vedette.model import (
    MICROSECONDS,
    Apart,
    Binary,
    Column,
    Compare,
    Constraint,
    Duration,
    Expr,
    Inside,
    Lag,
    Schema,
    Span,
    Trigger,
    Variable,
    Within,
)
from vedette.model.places import with_insides, with_terms

MOST_EVENTS = 12
STRATEGIES = ("CELLS", "LOOSE", "TIGHT", "DOMAINS")


@dataclass
class Body:
    """A trigger whose named regions are not bound yet."""

    variables: tuple[Variable, ...]
    constraints: tuple[Constraint, ...]
    strategy: str | None
    regions: dict[str, RegionName] = field(default_factory=dict)


# --------------------------------------------------------------------------------------------------- build


def build(action: Tree[Token], draft: Draft, space: SpaceKind, report: Report) -> None:
    """Fill in the draft's body."""
    variables = _variables(trees(action, "event"), draft, report)
    when = next(i for i, c in enumerate(action.children) if isinstance(c, Token) and c.type == "WHEN")
    condition = action.children[when + 1]
    assert isinstance(condition, Tree)
    draft.condition_node = condition
    counts = {v.name: v.count for v in variables}
    sorted_out = Conjuncts(counts, draft, space, report)
    for conjunct in conjuncts_of(condition):
        sorted_out.take(conjunct)
    word = next((c for c in action.children[when + 2 :] if isinstance(c, Token) and c.type == "NAME"), None)
    if word is not None and word.upper() not in STRATEGIES:
        expected = f"expected {one_of(STRATEGIES)}"
        report.add("VD177", f"{word} is not a strategy; {expected}", word, did_you_mean(word, STRATEGIES))
    draft.body = Body(
        tuple(Variable(v.name, v.count, sorted_out.condition(v.name)) for v in variables),
        tuple(sorted_out.constraints),
        None if word is None else word.upper(),
        sorted_out.regions,
    )


def _variables(events: list[Tree[Token]], draft: Draft, report: Report) -> list[Variable]:
    found: dict[str, Variable] = {}
    total = 0
    for event in events:
        number = event.children[0]
        source, named = trees(event, "name")
        name = name_of(named)
        draft.nodes[name] = named
        if name_of(source) != "e":
            report.add("VD179", f"FOR takes E, the events; found {name_of(source)}", source, "an example: FOR E AS v1")
        count = 1
        if isinstance(number, Token):
            if not number.isdigit() or not 1 <= int(number) <= MOST_EVENTS:
                message = f"FOR n E takes a whole number from 1 to {MOST_EVENTS}; found {number[:40]}"
                report.add("VD176", message, number)
            else:
                count = int(number)
        total += count
        if name in found:
            report.add("VD170", f"two variables are called {name}", named)
        found[name] = Variable(name, count)
    if total > MOST_EVENTS:
        report.add("VD176", f"a trigger takes at most {MOST_EVENTS} events; found {total}", draft.name_node)
    return list(found.values())


# ------------------------------------------------------------------------------------------------ findings


def findings(body: Body | Trigger, schema: Schema | None) -> list[Finding]:
    """Types of conditions, units of lengths."""

    def kind_of(column: Column) -> Kind | None:
        return kind_in(schema, column.name)

    types = Types(kind_of, columns_in(schema), schema.oid if schema else None)
    for variable in body.variables:
        if variable.condition is not None:
            types.condition(variable.condition)
    for c in body.constraints:
        if isinstance(c, Compare):
            before, whole = len(types.findings), Binary(c.op, c.left, c.right)
            types.condition(whole)
            for n, found in enumerate(types.findings[before:], before):
                if found.subject is whole:  # which was never written as such
                    types.findings[n] = replace(found, subject=c.left)
    told = types.findings
    if schema is not None:
        for name, length in lengths(body.constraints):
            told += duration_findings(name, length, schema)
    return told


def lengths(constraints: tuple[Constraint, ...]) -> list[tuple[str, Duration]]:
    """All lengths of time, with the words that they stand behind."""
    found = []
    for c in constraints:
        if isinstance(c, Lag):
            found += [(f"{c.later}.t - {c.earlier}.t", d) for d in (c.low, c.high) if d is not None]
        elif isinstance(c, Span):
            found.append((f"SPAN({', '.join(c.variables)})", c.length))
    return found


# ---------------------------------------------------------------------------------------------------- bind


def bind(draft: Draft, place: Callable[[RegionName], Inside | None], report: Report) -> Trigger | None:
    """The trigger; None after a problem."""
    body: Body = draft.body
    regions = {name: place(region) for name, region in body.regions.items()}
    if any(bound is None for bound in regions.values()):
        return None
    bound = with_insides(body.variables, lambda p: (regions[p.region] or p) if p.region is not None else p)
    trigger = Trigger(draft.name, bound, body.constraints, body.strategy)  # type: ignore[arg-type]
    units = {length.unit is None for _, length in lengths(body.constraints) if length.value}
    if len(units) > 1:
        return trigger  # some with a unit, some without: no stream takes both, and whichever comes will say so
    try:
        closure = close(trigger, in_ticks)
    except Contradiction as found:
        message = f"this can never happen: {one_of(found.constraints, 'and')} contradict each other"
        if len(found.constraints) == 1:
            message = f"this can never happen: {found.constraints[0]}"
        report.add("VD174", message, draft.condition_node or draft.name_node)
        return None
    pair = closure.unbounded()
    if pair is not None:
        a, b = (trigger.variables[closure.slots[s]].name for s in pair)
        what = f"{a} and {b}" if a != b else f"two events of {a}"
        example = f"{b}.t - {a}.t IN [0, 10]" if a != b else f"SPAN({a}) <= 10"
        message = f"nothing bounds the time between {what}: events would have to be kept for ever"
        report.add("VD175", message, draft.nodes.get(b) or draft.name_node, f"add a bound, as in {example}")
        return None
    return trigger


def in_ticks(length: Duration) -> int:
    """Whole ticks: microseconds where the length has a unit, else as it stands."""
    return round(length.value * (1 if length.unit is None else MICROSECONDS[length.unit]))


# --------------------------------------------------------------------------------------------------- print


def print_trigger(trigger: Trigger, space: SpaceKind) -> str:
    """The canonical text behind the name."""
    events = ", ".join(f"{f'{v.count} ' if v.count != 1 else ''}E AS {quote_name(v.name)}" for v in trigger.variables)
    parts = [_condition(v, space) for v in trigger.variables if v.condition is not None]
    parts += [print_constraint(c, space) for c in trigger.constraints]
    using = f" USING {trigger.strategy}" if trigger.strategy else ""
    return f"FOR {events} WHEN {' AND '.join(parts)}{using}"


def _condition(variable: Variable, space: SpaceKind) -> str:
    assert variable.condition is not None
    name = quote_name(variable.name)

    def within(term: Within) -> str:
        shape = term.place.shape
        return f"INSIDE ({name}, {print_area(shape, space)})"  # type: ignore[arg-type]

    owned = owned_by(variable.condition, variable.name)
    return " AND ".join(
        f"({text})" if isinstance(part, Binary) and part.op == "OR" else text
        for part in conjuncts_in(owned)
        for text in [print_expr(part, within)]
    )


def conjuncts_in(expr: Expr) -> list[Expr]:
    """The parts that AND joins at the top."""
    if isinstance(expr, Binary) and expr.op == "AND":
        return [*conjuncts_in(expr.left), *conjuncts_in(expr.right)]
    return [expr]


def owned_by(expr: Expr, variable: str) -> Expr:
    """The expression with its columns as they are written in a trigger."""
    return with_terms(expr, Column, lambda column: Column(column.name, variable))


def print_constraint(constraint: Constraint, space: SpaceKind) -> str:
    """A constraint between events."""
    match constraint:
        case Apart(a, b, op, distance):
            return f"DISTANCE({quote_name(a)}, {quote_name(b)}) {op} {print_distance(distance, space)}"
        case Lag(earlier, later, op, low, high):
            difference = f"{quote_name(later)}.t - {quote_name(earlier)}.t"
            if high is not None:
                return f"{difference} IN [{print_duration(low)}, {print_duration(high)}]"
            return f"{difference} {op} {print_duration(low)}"
        case Span(variables, op, length):
            return f"SPAN({', '.join(map(quote_name, variables))}) {op} {print_duration(length)}"
        case Compare(a, b, op, left, right):
            return f"{print_expr(owned_by(left, a))} {op} {print_expr(owned_by(right, b))}"
