"""Conditions over columns against a plain evaluator that takes one row after the other."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vedette.conditions import evaluate, format_timestamp, parse_timestamp
from vedette.model import Between, Binary, Column, Expr, In, IsNull, Like, Unary, Value

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC without a zone

# ------------------------------------------------------------------------------------------ the plain way


class Id:
    """An id: matches as text."""

    def __init__(self, value: int | str) -> None:
        self.value = value


def plain(expr: Expr, row: dict[str, Any]) -> Any:
    """The value for one row; None is NULL or unknown. Timestamps are datetimes."""
    match expr:
        case Column("oid", _):
            return None if row["oid"] is None else Id(row["oid"])
        case Column(name, _):
            value = row[name]
            return None if isinstance(value, float) and math.isnan(value) else value
        case Value(value):
            return value
        case Unary("NOT", inner):
            return negation(plain(inner, row))
        case Unary(_, inner):
            return arithmetic("-", 0.0, plain(inner, row))
        case Binary("AND", left, right):
            return conjunction(plain(left, row), plain(right, row))
        case Binary("OR", left, right):
            return negation(conjunction(negation(plain(left, row)), negation(plain(right, row))))
        case Binary(op, left, right) if op in "+-*/%":
            return arithmetic(op, plain(left, row), plain(right, row))
        case Binary(op, left, right):
            return comparison(op, plain(left, row), plain(right, row))
        case In(inner, items, negated):
            found: bool | None = False
            for item in items:
                found = negation(
                    conjunction(negation(found), negation(comparison("=", plain(inner, row), plain(item, row))))
                )
            return negation(found) if negated else found
        case Between(inner, low, high, negated):
            value = plain(inner, row)
            inside = conjunction(comparison(">=", value, plain(low, row)), comparison("<=", value, plain(high, row)))
            return negation(inside) if negated else inside
        case Like(inner, pattern, negated):
            value = plain(inner, row)
            value = str(value.value) if isinstance(value, Id) else value
            return None if value is None else matches(value, pattern) != negated
        case IsNull(inner, negated):
            return (plain(inner, row) is None) != negated


def truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def negation(value: Any) -> bool | None:
    value = truth(value)
    return None if value is None else not value


def conjunction(a: Any, b: Any) -> bool | None:
    a, b = truth(a), truth(b)
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def arithmetic(op: str, a: Any, b: Any) -> float | None:
    a, b = (v.value if isinstance(v, Id) else v for v in (a, b))
    if a is None or b is None:
        return None
    x, y = float(a), float(b)
    if op in "/%" and y == 0:
        return None
    if op == "%":
        result = math.nan if math.isinf(x) else math.fmod(x, y)
    else:
        result = {"+": x + y, "-": x - y, "*": x * y, "/": x / y if y else math.nan}[op]
    return None if math.isnan(result) else result


def comparison(op: str, a: Any, b: Any) -> bool | None:
    if a is None or b is None:
        return None
    if isinstance(a, Id) or isinstance(b, Id):
        a, b = (v.value if isinstance(v, Id) else v for v in (a, b))
        if isinstance(a, str) or isinstance(b, str):
            a, b = (repr(v).removesuffix(".0") if isinstance(v, (int, float)) else v for v in (a, b))
    if isinstance(a, datetime) and isinstance(b, str):
        b = EPOCH + timedelta(microseconds=parse_timestamp(b) or 0)
    if isinstance(b, datetime) and isinstance(a, str):
        a = EPOCH + timedelta(microseconds=parse_timestamp(a) or 0)
    return bool({"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op])


def matches(text: str, pattern: str) -> bool:
    """LIKE by trying, one character of the pattern at a time."""
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "%":
        return any(matches(text[n:], rest) for n in range(len(text) + 1))
    if first == "\\" and rest:
        first, rest = rest[0], rest[1:]
    elif first == "_":
        return bool(text) and matches(text[1:], rest)
    return text[:1] == first and matches(text[1:], rest)


# ------------------------------------------------------------------------------------------------- random

LONGS = st.integers(-3, 3) | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63), 42])
DOUBLES = (
    st.floats(-3, 3)
    | st.integers(-3, 3).map(float)
    | st.sampled_from([math.inf, -math.inf, 2.0**53, 2.0**63, -(2.0**63), 1e308])
)
TEXTS = st.text("ab%_\\é\n'", max_size=4)
TIMES = st.integers(0, 3).map(lambda n: EPOCH + timedelta(days=n))
ROWS = st.fixed_dictionaries(
    {
        "a": st.none() | LONGS,
        "b": st.none() | LONGS,
        "d": st.none() | DOUBLES | st.just(math.nan),
        "e": st.none() | DOUBLES,
        "s": st.none() | TEXTS,
        "u": st.none() | TEXTS,
        "f": st.none() | st.booleans(),
        "t": st.none() | TIMES,
    }
)
TYPES = {
    "a": pa.int64(),
    "b": pa.int64(),
    "d": pa.float64(),
    "e": pa.float64(),
    "s": pa.string(),
    "u": pa.string(),
    "f": pa.bool_(),
    "t": pa.timestamp("us", tz="UTC"),
}
COMPARISONS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
NULL = st.just(Value(None))


def columns(*names: str) -> st.SearchStrategy[Expr]:
    return st.sampled_from([Column(n) for n in names])


def values(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Expr]:
    return st.builds(Value, strategy) | NULL


NUMBER_LEAVES = columns("a", "b", "d", "e") | values(LONGS | DOUBLES.filter(math.isfinite))
NUMBERS = st.recursive(
    NUMBER_LEAVES,
    lambda inner: st.builds(Unary, st.just("-"), inner) | st.builds(Binary, st.sampled_from("+-*/%"), inner, inner),
    max_leaves=4,
)
STRINGS = columns("s", "u") | values(TEXTS)
MOMENTS = columns("t") | values(TIMES.map(lambda t: t.isoformat() + "Z"))
ID_LITERALS = values(st.sampled_from([42, -3, "42", "042", "a", "-3", "9223372036854775808", 2**63 - 1, 1.5]))
FLAG = st.booleans()


def pairs(kind: st.SearchStrategy[Expr], first: st.SearchStrategy[Expr] | None = None) -> st.SearchStrategy[Expr]:
    """Comparisons, IN and BETWEEN of one kind."""
    left = first if first is not None else kind
    return (
        st.builds(Binary, COMPARISONS, left, kind)
        | st.builds(In, left, st.lists(kind, max_size=4).map(tuple), FLAG)
        | st.builds(Between, left, kind, kind, FLAG)
    )


LEAVES: dict[str, st.SearchStrategy[Expr]] = {
    "numbers": pairs(NUMBERS) | st.builds(IsNull, NUMBERS, FLAG),
    "longs and doubles": pairs(NUMBER_LEAVES),
    "strings": pairs(STRINGS) | st.builds(IsNull, STRINGS, FLAG),
    "patterns": st.builds(Like, columns("s", "u"), TEXTS | st.text("a%_\\", max_size=4), FLAG),
    "times": pairs(MOMENTS, columns("t")) | st.builds(IsNull, columns("t"), FLAG),
    "ids": pairs(ID_LITERALS | columns("oid"), columns("oid"))
    | st.builds(IsNull, columns("oid"), FLAG)
    | st.builds(Like, columns("oid"), st.sampled_from(["4_", "%2", "-%", "a%_b", "%\\", "42", "%"]), FLAG),
    "flags": columns("f")
    | values(st.booleans())
    | st.builds(Binary, COMPARISONS, columns("f"), values(st.booleans()) | NUMBERS),
}
LEAVES["all"] = st.one_of(*LEAVES.values())


def grown(leaves: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(Unary, st.just("NOT"), inner)
            | st.builds(Binary, st.sampled_from(["AND", "OR"]), inner, inner)
            | st.builds(IsNull, inner, FLAG)
        ),
        max_leaves=4,
    )


CONDITIONS = {kind: grown(leaves) for kind, leaves in LEAVES.items()}


@pytest.mark.parametrize("oid", ["long", "string"])
@pytest.mark.parametrize("kind", CONDITIONS)
@given(data=st.data())
def test_oracle_rows_that_satisfy(kind: str, oid: str, data: st.DataObject) -> None:
    expr: Expr = data.draw(CONDITIONS[kind])
    ids = st.sampled_from([42, -3, 2**63 - 1, 0]) if oid == "long" else st.sampled_from(["42", "042", "a", "-3", "ab"])
    rows = data.draw(st.lists(st.tuples(ROWS, st.none() | ids), min_size=1, max_size=5))
    full = [{**row, "oid": each} for row, each in rows]
    types = {**TYPES, "oid": pa.int64() if oid == "long" else pa.string()}
    table = {name: pa.array([row[name] for row in full], type_) for name, type_ in types.items()}
    got = evaluate(expr, table, len(full)).tolist()
    assert got == [plain(expr, row) is True for row in full]


@given(expr=CONDITIONS["all"], n=st.integers(0, 3), swap=st.booleans())
def test_agrees_wrong_types_never_raise(expr: Expr, n: int, swap: bool) -> None:
    kinds = list(TYPES.values())
    shuffled = dict(zip(TYPES, kinds[::-1] if swap else kinds[3:] + kinds[:3], strict=True))
    table = {name: pa.nulls(n, kind) for name, kind in shuffled.items()}
    assert evaluate(expr, table, n).shape == (n,)
    assert not evaluate(Binary("AND", Value(False), expr), {}, n).any()


# ----------------------------------------------------------------------------------------------- examples


def holds(expr: Expr, array: Any, name: str = "a") -> list[bool]:
    return [bool(v) for v in evaluate(expr, {name: array}, len(array))]


def test_example_in_with_null_is_unknown_unless_matched() -> None:
    a = pa.array([1, 2, None])
    assert holds(In(Column("a"), (Value(1), Value(None))), a) == [True, False, False]
    assert holds(In(Column("a"), (Value(1), Value(None)), negated=True), a) == [False, False, False]
    assert holds(In(Column("a"), (Value(1),), negated=True), a) == [False, True, False]


def test_example_ids_not_in_a_list_of_texts() -> None:
    longs, texts = pa.array([42, 7, None]), pa.array(["42", "7", None])
    for items in ((Value("x"),), (Value("x"), Value("042")), (Value("x"), Value("7"))):
        expected = [True, Value("7") not in items, False]
        assert holds(In(Column("oid"), items, negated=True), longs, "oid") == expected
        assert holds(In(Column("oid"), items, negated=True), texts, "oid") == expected


def test_example_division_and_remainder() -> None:
    a = pa.array([7.0, -7.0, 0.0, None])
    assert holds(Binary("=", Binary("%", Column("a"), Value(4)), Value(3)), a) == [True, False, False, False]
    assert holds(Binary("=", Binary("%", Column("a"), Value(4)), Value(-3)), a) == [False, True, False, False]
    assert holds(IsNull(Binary("/", Value(1), Column("a"))), a) == [False, False, True, True]


def test_example_long_ids_are_compared_exactly() -> None:
    a = pa.array([2**53, 2**53 + 1])
    assert holds(Binary("=", Column("oid"), Value(2**53 + 1)), a, "oid") == [False, True]
    assert holds(Binary("=", Column("oid"), Value(str(2**53 + 1))), a, "oid") == [False, True]


def test_example_longs_and_doubles_are_compared_exactly() -> None:
    a = pa.array([2**53, 2**53 + 1, 2**63 - 1])
    assert holds(Binary("=", Column("a"), Value(2.0**53)), a) == [True, False, False]
    assert holds(Binary(">", Column("a"), Value(2.0**53)), a) == [False, True, True]
    assert holds(Binary("<", Column("a"), Value(2.0**63)), a) == [True, True, True]
    assert holds(Binary("<=", Value(2.0**53), Column("a")), a) == [True, True, True]


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.uint64(),
        pa.float32(),
        pa.decimal128(22, 1),
        pa.large_string(),
        pa.dictionary(pa.int8(), pa.string()),
    ],
)
def test_example_other_column_types(kind: pa.DataType) -> None:
    words = pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)
    array = pa.array([None, 1, 2] if not words else [None, "1", "2"]).cast(kind)
    literal = Value("2") if words else Value(2)
    assert holds(Binary("=", Column("a"), literal), array) == [False, False, True]
    assert holds(Binary("=", Column("a"), literal), pa.chunked_array([array])) == [False, False, True]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_example_timestamps_of_every_unit(unit: str) -> None:
    array = pa.array([0, 86_400, None], pa.int64()).cast(pa.timestamp("s")).cast(pa.timestamp(unit))
    assert holds(Binary(">=", Column("a"), Value("1970-01-02")), array) == [False, True, False]


@example(0)
@example(-1)
@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_agrees_timestamps_printed_and_parsed(microseconds: int) -> None:
    assert parse_timestamp(format_timestamp(microseconds)) == microseconds
