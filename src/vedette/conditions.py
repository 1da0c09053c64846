"""Which rows satisfy a condition: SQL's three-valued logic over columns.

In: an expression and Arrow columns by lower-case name. Out: one boolean per row, true only where the condition is
true (unknown is not satisfied). Invariant: no data makes this raise; what cannot be computed or compared is unknown.

Two whole numbers are compared exactly, a whole number and a float too; arithmetic is in float64, a division by zero
and NaN are NULL. Ids match as text: a string beside a long `oid` is compared with its digits, a number beside a string
`oid` by the number's digits. A string literal beside a timestamp is read as ISO 8601.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from vedette.model import Between, Binary, Column, Expr, In, IsNull, Like, Unary, Value, Within

Bools: TypeAlias = npt.NDArray[np.bool_]

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - all arithmetic here is on UTC without a zone
_MICROSECOND = timedelta(microseconds=1)
_LONGS = range(-(2**63), 2**63)
_TWO_63 = 2.0**63


# --------------------------------------------------------------------------------------------- timestamps


def parse_timestamp(text: str) -> int | None:
    """Microseconds since the epoch of an ISO 8601 time (UTC if it names no zone); None if it is not one."""
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) // _MICROSECOND


def format_timestamp(microseconds: int) -> str:
    """ISO 8601 in UTC; the fraction only where there is one."""
    return (_EPOCH + microseconds * _MICROSECOND).isoformat() + "Z"


# ----------------------------------------------------------------------------------- values of expressions


@dataclass(frozen=True)
class Truth:
    """Three-valued: rows that are true, rows that are false; the rest is unknown."""

    yes: Bools
    no: Bools


@dataclass(frozen=True)
class Numbers:
    """Longs (int64) or doubles (float64, never NaN where valid)."""

    data: npt.NDArray[Any]
    valid: Bools


@dataclass(frozen=True)
class Times:
    """Microseconds since the epoch."""

    data: npt.NDArray[np.int64]
    valid: Bools


@dataclass(frozen=True)
class Texts:
    """Strings: one per row, or one literal for all."""

    data: Any  # pa.Array of string, or str


@dataclass(frozen=True)
class Ids:
    """The column `oid`, which matches as text."""

    data: Numbers | Texts


@dataclass(frozen=True)
class Nothing:
    """NULL, or something that has no value here."""


Operand: TypeAlias = Truth | Numbers | Times | Texts | Ids | Nothing
_TRUE, _FALSE = np.array(True), np.array(False)
_UNKNOWN = Truth(_FALSE, _FALSE)


def evaluate(expr: Expr, columns: Mapping[str, Any], n: int) -> Bools:
    """For each of n rows: is the condition true?"""
    truth = _condition(_operand(expr, columns))
    return np.broadcast_to(truth.yes, (n,)).copy()


def compute(expr: Expr, columns: Mapping[str, Any], n: int) -> pa.Array:
    """The value of an expression for each of n rows; null where it has none."""
    operand = _operand(expr, columns)
    if isinstance(operand, Ids):
        operand = operand.data
    match operand:
        case Truth(yes, no):
            return pa.array(np.broadcast_to(yes, (n,)), mask=~np.broadcast_to(yes | no, (n,)))
        case Numbers(data, valid):
            return pa.array(np.broadcast_to(data, (n,)), mask=~np.broadcast_to(valid, (n,)))
        case Times(data, valid):
            values = pa.array(np.broadcast_to(data, (n,)), mask=~np.broadcast_to(valid, (n,)))
            return values.cast(pa.timestamp("us", "UTC"))
        case Texts(data):
            return pa.array([data] * n, pa.string()) if isinstance(data, str) else data
        case _:
            return pa.nulls(n, pa.float64())


def _operand(expr: Expr, columns: Mapping[str, Any]) -> Operand:
    match expr:
        case Column(name, _):
            return _column(name, columns)
        case Value(value):
            return _literal(value)
        case Unary("NOT", inner):
            truth = _condition(_operand(inner, columns))
            return Truth(truth.no, truth.yes)
        case Unary(_, inner):
            return _arithmetic("-", Numbers(np.array(0.0), _TRUE), _operand(inner, columns))
        case Binary("AND", left, right):
            return _and(_condition(_operand(left, columns)), _condition(_operand(right, columns)))
        case Binary("OR", left, right):
            return _or(_condition(_operand(left, columns)), _condition(_operand(right, columns)))
        case Binary(op, left, right):
            how = _arithmetic if op in "+-*/%" else _compare
            return how(op, _operand(left, columns), _operand(right, columns))
        case In(inner, items, negated):
            return _negated(_in(_operand(inner, columns), items, columns), negated)
        case Between(inner, low, high, negated):
            middle = _operand(inner, columns)
            above = _compare(">=", middle, _operand(low, columns))
            return _negated(_and(above, _compare("<=", middle, _operand(high, columns))), negated)
        case Like(inner, pattern, negated):
            return _negated(_like(_operand(inner, columns), pattern), negated)
        case Within():
            raise TypeError("an INSIDE term has to be known before, as a column")
        case IsNull(inner, negated):
            known = _known(_operand(inner, columns))
            return _negated(Truth(~known, known), negated)


# ------------------------------------------------------------------------------------- three-valued logic


def _and(a: Truth, b: Truth) -> Truth:
    return Truth(a.yes & b.yes, a.no | b.no)


def _or(a: Truth, b: Truth) -> Truth:
    return Truth(a.yes | b.yes, a.no & b.no)


def _negated(truth: Truth, negated: bool) -> Truth:
    return Truth(truth.no, truth.yes) if negated else truth


def _condition(operand: Operand) -> Truth:
    return operand if isinstance(operand, Truth) else _UNKNOWN


def _known(operand: Operand) -> Bools:
    """Where there is a value."""
    if isinstance(operand, Truth):
        return operand.yes | operand.no
    if isinstance(operand, Ids):
        return _known(operand.data)
    if isinstance(operand, Texts):
        return _TRUE if isinstance(operand.data, str) else _bools(pc.is_valid(operand.data))
    return _FALSE if isinstance(operand, Nothing) else operand.valid


# -------------------------------------------------------------------------------------------------- leaves


def _literal(value: float | int | str | bool | None) -> Operand:
    if value is None:
        return Nothing()
    if isinstance(value, bool):
        return Truth(np.array(value), np.array(not value))
    if isinstance(value, str):
        return Texts(value)
    if isinstance(value, int) and value in _LONGS:
        return Numbers(np.array(value, dtype=np.int64), _TRUE)
    return Numbers(np.array(float(value)), _TRUE)


def _column(name: str, columns: Mapping[str, Any]) -> Operand:
    if name not in columns:
        return Nothing()
    values = _vector(columns[name])
    if name == "oid" and isinstance(values, (Numbers, Texts)):
        return Ids(values)
    return values


def _vector(array: Any) -> Operand:
    """An Arrow column of any type that has a meaning here."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return Texts(array.cast(pa.string()) if not pa.types.is_string(kind) else array)
    valid = _bools(pc.is_valid(array))
    if pa.types.is_boolean(kind):
        data = _bools(pc.fill_null(array, False))
        return Truth(data & valid, ~data & valid)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        if pa.types.is_date(kind):
            array = array.cast(pa.timestamp("ms"))
        micros = pc.cast(array, pa.timestamp("us", tz=array.type.tz), safe=False)
        return Times(_filled(micros.cast(pa.int64())), valid)
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return Numbers(_filled(array.cast(pa.int64())), valid)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _doubles(_filled(pc.cast(array, pa.float64(), safe=False)), valid)
    return Nothing()


def _filled(array: Any) -> npt.NDArray[Any]:
    return np.asarray(pc.fill_null(array, 0))


def _bools(array: Any) -> Bools:
    return np.asarray(pc.fill_null(array, False)).astype(np.bool_, copy=False)


def _doubles(data: npt.NDArray[Any], valid: Bools) -> Numbers:
    """Floats where NaN counts as NULL."""
    return Numbers(data, valid & ~np.isnan(data))


# ---------------------------------------------------------------------------------------------- arithmetic


def _arithmetic(op: str, left: Operand, right: Operand) -> Numbers | Nothing:
    a, b = _as_numbers(left), _as_numbers(right)
    if a is None or b is None:
        return Nothing()
    x, y = a.data.astype(np.float64), b.data.astype(np.float64)
    with np.errstate(all="ignore"):
        if op in "/%":
            data = np.where(y != 0, np.true_divide(x, y) if op == "/" else np.fmod(x, y), np.nan)
        else:
            data = {"+": np.add, "-": np.subtract, "*": np.multiply}[op](x, y)
    return _doubles(np.asarray(data), a.valid & b.valid)


def _as_numbers(operand: Operand) -> Numbers | None:
    if isinstance(operand, Ids):
        operand = operand.data
    if isinstance(operand, Truth):
        return Numbers(operand.yes.astype(np.int64), operand.yes | operand.no)
    return operand if isinstance(operand, Numbers) else None


# --------------------------------------------------------------------------------------------- comparisons


def _compare(op: str, left: Operand, right: Operand) -> Truth:
    """`left op right`; unknown where the two have nothing in common."""
    if isinstance(left, Ids) or isinstance(right, Ids):
        return _compare_ids(op, left, right)
    if isinstance(left, Times) or isinstance(right, Times):
        a, b = _as_times(left), _as_times(right)
        return _ordered(op, _sign(a.data, b.data), a.valid & b.valid) if a and b else _UNKNOWN
    if isinstance(left, Texts) and isinstance(right, Texts):
        return _compare_texts(op, left.data, right.data)
    x, y = _as_numbers(left), _as_numbers(right)
    if x is None or y is None:
        return _UNKNOWN
    return _ordered(op, _sign(x.data, y.data), x.valid & y.valid)


def _compare_ids(op: str, left: Operand, right: Operand) -> Truth:
    """Ids match as text wherever one side is a string."""
    a = left.data if isinstance(left, Ids) else left
    b = right.data if isinstance(right, Ids) else right
    if isinstance(a, Texts) or isinstance(b, Texts):
        return _compare_texts(op, _digits(a), _digits(b))
    return _compare(op, a, b)


def _digits(operand: Operand) -> Any:
    """Numbers as they are written; None for what is no text."""
    if isinstance(operand, Texts):
        return operand.data
    if not isinstance(operand, Numbers):
        return None
    if operand.data.ndim == 0:
        value = operand.data.item()
        return repr(value).removesuffix(".0")
    if operand.data.dtype != np.int64:
        return None
    return pa.array(operand.data, mask=~operand.valid).cast(pa.string())


def _compare_texts(op: str, a: Any, b: Any) -> Truth:
    if a is None or b is None:
        return _UNKNOWN
    if isinstance(a, str) and isinstance(b, str):
        return _ordered(op, np.array((a > b) - (a < b)), _TRUE)
    compute = {
        "=": pc.equal,
        "<>": pc.not_equal,
        "<": pc.less,
        "<=": pc.less_equal,
        ">": pc.greater,
        ">=": pc.greater_equal,
    }[op]
    return _truth_of(compute(_arrow(a), _arrow(b)))


def _arrow(text: Any) -> Any:
    return pa.scalar(text, pa.string()) if isinstance(text, str) else text


def _truth_of(array: Any) -> Truth:
    """Arrow's booleans with nulls."""
    yes, valid = _bools(array), _bools(pc.is_valid(array))
    return Truth(yes, valid & ~yes)


def _as_times(operand: Operand) -> Times | None:
    if isinstance(operand, Times):
        return operand
    if isinstance(operand, Texts) and isinstance(operand.data, str):
        moment = parse_timestamp(operand.data)
        return None if moment is None else Times(np.array(moment, dtype=np.int64), _TRUE)
    return None


def _sign(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """-1, 0 or 1, exactly, also between longs and doubles."""
    if a.dtype == b.dtype:
        return (a > b).astype(np.int8) - (a < b).astype(np.int8)
    if a.dtype == np.int64:
        return _sign_long_double(a, b)
    return -_sign_long_double(b, a)


def _sign_long_double(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rounding a long to a double keeps the order, so only what rounds to a tie is looked at twice."""
    rounded = a.astype(np.float64)
    sign = (rounded > b).astype(np.int8) - (rounded < b).astype(np.int8)
    beyond = b >= _TWO_63
    with np.errstate(all="ignore"):
        whole = np.where(beyond | (b < -_TWO_63) | (b != b), 0.0, b).astype(np.int64)
    exact = (a > whole).astype(np.int8) - (a < whole).astype(np.int8)
    return np.where(rounded == b, np.where(beyond, -1, exact), sign)


def _ordered(op: str, sign: npt.NDArray[Any], valid: Bools) -> Truth:
    tests: dict[str, Callable[[Any, Any], Any]] = {
        "=": np.equal,
        "<>": np.not_equal,
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
    }
    holds = np.asarray(tests[op](sign, 0))
    return Truth(holds & valid, ~holds & valid)


# ---------------------------------------------------------------------------------------------- IN and LIKE


def _in(operand: Operand, items: tuple[Expr, ...], columns: Mapping[str, Any]) -> Truth:
    """Literals of the operand's own kind are looked up in a set; the rest is compared one by one."""
    inner = operand.data if isinstance(operand, Ids) else operand
    texts: list[str] = []
    longs: list[int] = []
    result = Truth(_FALSE, _TRUE)  # what no item says anything about is false
    for item in items:
        value = item.value if isinstance(item, Value) else None
        if isinstance(value, str) and isinstance(inner, Texts) and not isinstance(inner.data, str):
            texts.append(value)
        elif isinstance(value, str) and isinstance(operand, Ids) and isinstance(inner, Numbers):
            number = _whole(value)
            if number is not None:
                longs.append(number)
            else:
                result = _or(result, Truth(_FALSE, _known(inner)))
        elif type(value) is int and value in _LONGS and isinstance(inner, Numbers) and inner.data.dtype == np.int64:
            longs.append(value)
        else:
            result = _or(result, _compare("=", operand, _operand(item, columns)))
    if texts and isinstance(inner, Texts):
        found = _bools(pc.is_in(inner.data, value_set=pa.array(texts, pa.string())))
        known = _known(inner)
        result = _or(result, Truth(found & known, ~found & known))
    if longs and isinstance(inner, Numbers):
        found = np.isin(inner.data, np.array(longs, dtype=np.int64))
        result = _or(result, Truth(found & inner.valid, ~found & inner.valid))
    return result


def _whole(text: str) -> int | None:
    """The long that is written exactly like this."""
    if not re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text, re.ASCII):
        return None
    return int(text) if int(text) in _LONGS else None


def _like(operand: Operand, pattern: str) -> Truth:
    text = _digits(operand.data if isinstance(operand, Ids) else operand if isinstance(operand, Texts) else Nothing())
    if text is None:
        return _UNKNOWN
    if isinstance(text, str):
        matches = re.fullmatch(like_regex(pattern), text, re.DOTALL) is not None
        return Truth(np.array(matches), np.array(not matches))
    try:
        return _truth_of(pc.match_substring_regex(text, rf"\A(?s:{like_regex(pattern)})\z"))
    except pa.ArrowException:  # a pattern larger than Arrow's engine takes
        compiled = re.compile(like_regex(pattern), re.DOTALL)
        rows = [None if v is None else compiled.fullmatch(v) is not None for v in text.to_pylist()]
        return _truth_of(pa.array(rows, pa.bool_()))


def like_regex(pattern: str) -> str:
    """% is any run, _ any one character, a backslash takes the next character (or itself, at the end) literally."""
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\" and position + 1 < len(pattern):
            position += 1
            parts.append(re.escape(pattern[position]))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
        position += 1
    return "".join(parts)
