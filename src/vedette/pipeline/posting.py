"""Statements that reach a run that is under way: texts from a stream of commands, and a file of queries that changed.

In: SQL, and what is registered or waits in a TRACK bucket. Out: checked statements. Every bucket does this for itself
and comes to the same result, because each knows the same catalogue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vedette.errors import QueryError
from vedette.lang import Catalog, parse, print_statement
from vedette.model import Create, CreateRegion, Drop, Statement
from vedette.pipeline.messages import BEFORE_TIME
from vedette.pipeline.track import Track
from vedette.space import Space


@dataclass(frozen=True)
class Refused:
    """A command that cannot be accepted: its text, and why."""

    sql: str
    reason: str


def read_commands(
    texts: Sequence[str], track: Track, given: Sequence[Statement], tables: Mapping[str, Any]
) -> tuple[list[Statement], list[Refused]]:
    """The statements of command texts, in order; a text is accepted as a whole or refused as a whole.

    `given` are statements that come in the same step, before these.
    """
    now = None if track.frontier == BEFORE_TIME else track.frontier
    names = known_names(track)
    for statement in given:
        names.apply(statement, now)
    accepted: list[Statement] = []
    refused: list[Refused] = []
    for text in texts:
        try:
            statements = parse(
                text,
                space=track.setup.space,
                schema=track.setup.schema,
                tables=tables,
                catalog=names,
                now=now,
                filename="<command>",
            )
        except QueryError as error:
            refused.append(Refused(text, str(error)))
            continue
        for statement in statements:
            names.apply(statement, now)
        accepted += statements
    return accepted, refused


def known_names(track: Track) -> Catalog:
    """The names of queries and regions in a bucket, now and at the ticks of what waits."""
    names = Catalog()
    for name, area in track.catalogue.regions.items():
        names.apply(Statement(CreateRegion(name, area)))
    for entry in track.catalogue.all():
        names.apply(Statement(Create(entry.query)))
    for c, statement in track.waiting():
        names.apply(replace(statement, at=None if c == BEFORE_TIME else c))
    return names


@dataclass(frozen=True)
class Posted:
    """A statement that was posted: its canonical text, regions and tables by value, and the name that it creates."""

    text: str
    kind: str = ""
    name: str = ""


@dataclass(frozen=True)
class Amendment:
    """What turns the statements of one file into those of another: statements to post, texts to withdraw."""

    statements: list[Statement]
    withdrawn: list[str]


def posted(statements: Sequence[Statement], space: Space) -> list[Posted]:
    """Statements in the form in which they are remembered and compared."""
    return [Posted(print_statement(s, space), *_created(s)) for s in statements]


def amend(old: Sequence[Posted], new: Sequence[Statement], space: Space) -> Amendment:
    """From the statements posted so far to new ones.

    What is in both stays untouched, what is new or different takes the place of what has its name, and names that the
    new statements do not create any more are dropped. Statements that still wait for their tick are withdrawn.
    """
    left = Counter(o.text for o in old)
    came: list[Statement] = []
    for statement, now in zip(new, posted(new, space), strict=True):
        if left[now.text] > 0:
            left[now.text] -= 1
            continue
        action = statement.action
        came.append(statement if isinstance(action, Drop) else replace(statement, action=replace(action, replace=True)))
    stays = {_created(s) for s in new}
    gone = dict.fromkeys((o.kind, o.name) for o in old if o.kind and (o.kind, o.name) not in stays)
    drops = [Statement(Drop(kind, name)) for kind, name in gone]
    return Amendment([*drops, *came], list(left.elements()))


def _created(statement: Statement) -> tuple[str, str]:
    action = statement.action
    if isinstance(action, Create):
        return (action.query.kind, action.query.name)
    if isinstance(action, CreateRegion):
        return ("REGION", action.name)
    return ("", "")
