"""Joined tables, bound by value: which objects a table names when the query is created.

In: a draft whose FROM names a table, and the tables. Out: its condition with the table gone: the one equality between
an object column and a table column becomes an IN list of the values that the table holds after its own conditions;
a table without such values gives a condition that is never true.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from vedette.conditions import evaluate, format_timestamp
from vedette.lang.draft import Draft
from vedette.lang.source import Node, Report
from vedette.lang.types import Kind, Types
from vedette.lang.words import did_you_mean
from vedette.model import Between, Binary, Column, Expr, In, IsNull, Like, Unary, Value, Within


def bind_table(draft: Draft, report: Report, tables: Mapping[str, Any]) -> None:
    """Replace the condition of a draft that joins a table; without one, nothing happens."""
    if not draft.tables:
        return
    name, alias, node = draft.tables[0]
    table = _find(tables, name, node, report)
    if draft.condition is None:
        if draft.condition_node is None:
            report.add("VD161", f"{name} is joined without a condition", node, f"write WHERE oid = {alias}.oid")
        return
    links: list[Binary] = []
    filters: list[Expr] = []
    for part in conjuncts(draft.condition):
        owners = {c.table for c in columns_of(part)}
        if owners == {alias}:
            filters.append(part)
        elif alias in owners and isinstance(part, Binary) and part.op == "=" and _is_link(part):
            links.append(part)
        elif alias in owners:
            hint = "join them with AND: one equality, and conditions on the table alone"
            where = draft.origin.get(id(part), node)
            report.add("VD162", f"a condition cannot mix columns of the objects and of {name}", where, hint)
            return
    if len(links) != 1:
        found = "none" if not links else str(len(links))
        where = draft.origin.get(id(links[1]), node) if links else node
        message = f"{name} needs one equality with a column of the objects; found {found}"
        report.add("VD161", message, where, f"an example: oid = {alias}.oid")
        return
    if table is not None:
        _bind(draft, report, table, links[0], filters)


def _find(tables: Mapping[str, Any], name: str, node: Node, report: Report) -> pa.Table | None:
    found = next((t for key, t in tables.items() if key.lower() == name), None)
    if found is None:
        hint = did_you_mean(name, tables) or (None if tables else "tables are given to the watch by name")
        report.add("VD160", f"there is no table {name}", node, hint)
        return None
    try:
        return _arrow_table(found)
    except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
        report.add("VD160", f"{name} is not a table: {str(error).splitlines()[0][:120]}", node)
        return None


def _bind(draft: Draft, report: Report, table: pa.Table, link: Binary, filters: list[Expr]) -> None:
    if not _fits_table(draft, report, table, [link, *filters]):
        return
    left, right = link.left, link.right
    assert isinstance(left, Column)
    assert isinstance(right, Column)
    ours, theirs = (left, right) if left.table is None else (right, left)
    columns = {name: table.column(name) for name in table.column_names}
    for condition in filters:
        rows = evaluate(condition, columns, table.num_rows)
        table = table.filter(pa.array(rows))
        columns = {name: table.column(name) for name in table.column_names}
    items = _values(table.column(theirs.name), as_text=ours.name == "oid")
    bound: Expr = In(ours, tuple(Value(v) for v in items)) if items else Value(False)
    draft.origin[id(bound)] = draft.origin[id(link)]
    kept = [bound if p is link else p for p in conjuncts(draft.condition) if p is link or p not in filters]
    condition = kept[0]
    for part in kept[1:]:
        condition = Binary("AND", condition, part)
    draft.condition = condition


def _fits_table(draft: Draft, report: Report, table: pa.Table, parts: list[Expr]) -> bool:
    """Unknown columns and wrong types in the conditions on the table."""
    kinds = {name: _kind(table.schema.field(name).type) for name in table.column_names}

    def kind_of(column: Column) -> Kind | None:
        return "any" if column.table is None else kinds.get(column.name)

    types = Types(kind_of, sorted(kinds))
    for part in parts:
        types.condition(part)
    for f in types.findings:
        where = draft.origin.get(id(f.subject)) or draft.tables[0][2]
        if f.code == "VD150" and isinstance(f.subject, Column):
            report.add("VD163", f"{draft.tables[0][0]} has no column {f.subject.name}", where, f.hint)
        else:
            report.add(f.code, f.message, where, f.hint)
    return not types.findings


def _kind(kind: pa.DataType) -> Kind:
    if pa.types.is_boolean(kind):
        return "true or false"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return "timestamp"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "string"
    return "any"


def _arrow_table(found: Any) -> pa.Table:
    """A table with lower-case column names (the first of those that fall together)."""
    if isinstance(found, pa.RecordBatch):
        found = pa.Table.from_batches([found])
    if not isinstance(found, pa.Table):
        found = pa.Table.from_pandas(found, preserve_index=False)
    columns: dict[str, Any] = {}
    for name, column in zip(found.column_names, found.columns, strict=True):
        columns.setdefault(str(name).lower(), column)
    return pa.table(columns)


def _values(column: Any, as_text: bool) -> list[Any]:
    """The different values as literals of the language, sorted; no nulls, no NaN."""
    kind = column.type
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("ms"))
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        return sorted(filter(None, map(_moment, micros.unique().drop_null().to_pylist())))
    values = (_plain(v, as_text) for v in column.unique().to_pylist())
    return sorted({v for v in values if v is not None}, key=lambda v: (isinstance(v, str), v))


def _moment(micros: int) -> str | None:
    try:
        return format_timestamp(micros)
    except OverflowError:
        return None  # outside the years that can be written


def _plain(value: Any, as_text: bool) -> Any:
    """A value as a literal, None if it cannot be one. Whole floats are ints: pandas makes floats of ids with gaps."""
    if isinstance(value, (float, Decimal)):
        if not math.isfinite(value):
            return None
        value = int(value) if value == int(value) else float(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        value = str(value) if as_text else float(value)
    if value is None or (not as_text and isinstance(value, (bool, int, float))):
        return value
    return str(value)


def conjuncts(expr: Expr | None) -> list[Expr]:
    """The parts of a condition that AND joins at the top."""
    if expr is None:
        return []
    if isinstance(expr, Binary) and expr.op == "AND":
        return [*conjuncts(expr.left), *conjuncts(expr.right)]
    return [expr]


def columns_of(expr: Expr) -> list[Column]:
    """All columns in an expression, from left to right."""
    match expr:
        case Column():
            return [expr]
        case Value() | Within():
            return []
        case Unary(_, inner) | Like(inner, _, _) | IsNull(inner, _):
            return columns_of(inner)
        case Binary(_, left, right):
            return columns_of(left) + columns_of(right)
        case In(inner, items, _):
            return [c for e in (inner, *items) for c in columns_of(e)]
        case Between(inner, low, high, _):
            return [c for e in (inner, low, high) for c in columns_of(e)]


def _is_link(part: Binary) -> bool:
    return isinstance(part.left, Column) and isinstance(part.right, Column)
