"""The conditions that registered triggers put on single events: each distinct one is a bit (CCQ's query index).

In: the conjuncts of conditions, and rows. Out: a word of bits per row. A conjunct that compares one column with
constants, in whatever way, is looked up in a table: on the stretches between its constants it cannot change its mind,
so it is evaluated once for each of them, by the same code that would evaluate it for each row. Strings are looked up by
their distinct values. What is left (several columns, arithmetic, INSIDE) is evaluated for all rows, once each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from vedette.conditions import evaluate
from vedette.families.ranges import plan_inside
from vedette.kernels.arrays import F64, U64
from vedette.kernels.events.sift import are_inside, clear, narrow, stretches, units
from vedette.kernels.shapes import NO_EDGES, PARAMETERS, Edges
from vedette.lang import print_expr
from vedette.model import Between, Binary, Column, Expr, In, Inside, IsNull, Schema, Unary, Value, Within
from vedette.model.places import insides, terms, with_terms
from vedette.pipeline.rows import Rows
from vedette.space import Space

Conjuncts: TypeAlias = tuple[Expr, ...]
_COMPARES = ("=", "<>", "<", "<=", ">", ">=")
_EXACT = 2**53  # whole numbers up to here are floats, too


@dataclass
class _Table:
    """A row of bits for each stretch of a numeric column; the last one for null."""

    breaks: F64
    bits: U64


class UnaryIndex:
    """Conditions as bits, in the order given. `needs`: for each, columns of `known` that must have a value."""

    def __init__(self, conditions: Sequence[tuple[Conjuncts, tuple[int, ...]]], space: Space, schema: Schema) -> None:
        self._space, self._schema = space, schema
        self.count = len(conditions)
        self._words = (self.count + 63) // 64
        self._needs: dict[int, list[int]] = {}
        self._strings: dict[str, list[tuple[int, Expr]]] = {}
        self._general: dict[str, tuple[Expr, list[int]]] = {}
        numeric: dict[str, list[tuple[int, Expr]]] = {}
        kinds = {"x": "double", "y": "double", **dict(schema.attributes)}
        if schema.time == "long":
            kinds["t"] = "long"
        for bit, (conjuncts, needs) in enumerate(conditions):
            for number in needs:
                self._needs.setdefault(number, []).append(bit)
            for conjunct in conjuncts:
                column = _only_column(conjunct)
                kind = kinds.get(column or "", "")
                if kind in ("double", "long") and _is_stepwise(conjunct):
                    numeric.setdefault(column or "", []).append((bit, conjunct))
                elif kind in ("string", "bool"):
                    self._strings.setdefault(column or "", []).append((bit, conjunct))
                else:
                    self._general.setdefault(print_expr(conjunct), (conjunct, []))[1].append(bit)
        self._tables = {name: self._table(name, kinds[name], atoms) for name, atoms in numeric.items()}

    def bits(self, rows: Rows, known: Callable[[int], Any]) -> U64:
        """The conditions that each row satisfies; `known(n)`: which rows have a value for side n."""
        n = len(rows)
        words = np.full((n, self._words), ~np.uint64(0))
        if n == 0:
            return words
        columns = rows.columns(self._schema.time)
        for name, table in self._tables.items():
            values, is_known = _as_floats(columns[name])
            narrow(words, table.bits, stretches(values, table.breaks, is_known))
        for name, atoms in self._strings.items():
            codes = columns[name].dictionary_encode()
            distinct = codes.dictionary
            by_value = self._filled(atoms, {name: pa.concat_arrays([distinct, pa.nulls(1, distinct.type)])})
            stretch = codes.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False).astype(np.int64)
            narrow(words, by_value, stretch)
        for expr, bits in self._general.values():
            clear(words, np.array(bits, np.int64), self._evaluated(expr, columns, rows))
        for number, bits in self._needs.items():
            clear(words, np.array(bits, np.int64), np.asarray(known(number)))
        if self.count % 64:
            words[:, -1] &= np.uint64((1 << (self.count % 64)) - 1)
        return words

    def _filled(self, atoms: Iterable[tuple[int, Expr]], values: dict[str, pa.Array]) -> U64:
        """A row of bits for each value: those of conditions without an atom here stay."""
        n = len(next(iter(values.values())))
        table = np.full((n, self._words), ~np.uint64(0))
        for bit, expr in atoms:
            clear(table, np.array([bit], np.int64), evaluate(expr, values, n))
        return table

    def _table(self, name: str, kind: str, atoms: list[tuple[int, Expr]]) -> _Table:
        constants = sorted({c for _, expr in atoms for c in _constants(expr)})
        breaks = np.array(constants, np.float64)
        at: list[float | None] = []
        for k, value in enumerate(constants):
            at += [(constants[k - 1] + value) / 2 if k else value - 1, value]
        at += [constants[-1] + 1 if constants else 0.0, None]
        samples = pa.array(at, pa.float64())
        return _Table(breaks, self._filled(atoms, {name: samples}))

    def _evaluated(self, expr: Expr, columns: dict[str, pa.Array], rows: Rows) -> Any:
        """A condition that may have INSIDE terms, which become columns."""
        extra: dict[str, pa.Array] = {}

        def column(term: Within) -> Column:
            name = f"\0{len(extra)}"
            extra[name] = pa.array(inside(term.place, rows, self._space))
            return Column(name)

        plain = with_terms(expr, Within, column)
        if isinstance(plain, Column) and plain.name in extra:
            return extra[plain.name].to_numpy(zero_copy_only=False)
        return evaluate(plain, {**columns, **extra}, len(rows))


def inside(place: Inside, rows: Rows, space: Space) -> Any:
    """Which rows lie in a still area."""
    figure = plan_inside(place.shape, space)
    edges = NO_EDGES
    if figure.edges:
        each = np.array(figure.edges, np.float64)
        edges = Edges(np.array([0, len(each)], np.int64), *(np.ascontiguousarray(c) for c in each.T))
    p = np.zeros((1, PARAMETERS))
    p[0, : len(figure.p)] = figure.p
    return are_inside(figure.kind, p, edges, rows.x, rows.y, units(rows.x, rows.y, space.is_lonlat), space.is_lonlat)


# ------------------------------------------------------------------------------------- stepwise conditions


def _only_column(expr: Expr) -> str | None:
    """The one column that an expression is about."""
    names = {column.name for column in terms(expr, Column)}
    return names.pop() if len(names) == 1 and not any(insides(expr)) else None


def _is_stepwise(expr: Expr) -> bool:
    """Whether the truth can change only at the constants: no arithmetic, no constant that a float cannot hold."""
    match expr:
        case Binary("AND" | "OR", left, right):
            return _is_stepwise(left) and _is_stepwise(right)
        case Unary("NOT", inner):
            return _is_stepwise(inner)
        case Binary(op, left, right) if op in _COMPARES:
            return _is_leaf(left) and _is_leaf(right)
        case In(inner, items, _):
            return all(_is_leaf(each) for each in (inner, *items))
        case Between(inner, low, high, _):
            return all(_is_leaf(each) for each in (inner, low, high))
        case IsNull(inner, _):
            return _is_leaf(inner)
        case Value(value):
            return isinstance(value, bool)
        case _:
            return False


def _is_leaf(expr: Expr) -> bool:
    if isinstance(expr, Column):
        return True
    if not isinstance(expr, Value):
        return False
    return expr.value is None or (type(expr.value) in (int, float) and abs(expr.value) < _EXACT)  # type: ignore[arg-type]


def _constants(expr: Expr) -> Iterable[float]:
    return (float(v.value) for v in terms(expr, Value) if type(v.value) in (int, float))  # type: ignore[arg-type]


def _as_floats(column: pa.Array) -> tuple[F64, Any]:
    """A column as floats; a long beyond 2^53 is beyond every constant, and rounding does not bring it back."""
    is_known = np.asarray(column.is_valid())
    filled = column.fill_null(0) if column.null_count else column
    return np.ascontiguousarray(filled.to_numpy(zero_copy_only=False).astype(np.float64)), is_known
