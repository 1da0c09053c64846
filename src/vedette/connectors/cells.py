"""Text cells become typed columns; a cell that does not parse becomes null and is counted, the run goes on.

In: columns of strings. Out: columns of long, double, bool, string or timestamp, and what was lost on the way.
The whole column is cast at once; only where that fails are cells sorted out, by regular expressions first, and one by
one (distinct values only) where a cell has the right form and still no value, such as the 31st of February.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from vedette.errors import SourceError

LONG, DOUBLE, STRING, BOOL = pa.int64(), pa.float64(), pa.string(), pa.bool_()
NAIVE, ZONED = pa.timestamp("us"), pa.timestamp("us", tz="UTC")

WHOLE = r"^[+-]?[0-9]+(\.0*)?$"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|infinity|nan)$"
OFFSET = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
MOMENT = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T ][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{1,9}})?)?{OFFSET}?)?$"
ZONE = rf"[T ].*{OFFSET}$"
NOTHING = r"^(?i:na|n/a|nan|none|null|-|\?)?$"
TRUTH = r"^(?i:true|false)$"
ZERO_LED = r"^[+-]?0[0-9]"


@dataclass(frozen=True)
class Cast:
    """A typed column, how many cells did not parse, and one of them."""

    column: pa.ChunkedArray
    lost: int = 0
    example: str = ""


def cast_text(column: pa.ChunkedArray, to: pa.DataType) -> Cast:
    """The column of strings as type `to`; cells that do not parse are null."""
    if to == STRING:
        return Cast(column)
    try:
        return Cast(column.cast(to))
    except pa.ArrowInvalid:
        pass
    trimmed = pc.utf8_trim_whitespace(column)
    shaped = _shape(trimmed, to)
    try:
        cast = shaped.cast(to)
    except pa.ArrowInvalid:
        cast = _cast_one_by_one(shaped, to)
    bad = trimmed.filter(pc.and_(pc.is_null(cast), pc.is_valid(column)))
    bad = bad.filter(pc.invert(pc.match_substring_regex(bad, NOTHING)))
    return Cast(cast, len(bad), bad[0].as_py() if len(bad) else "")


def _shape(cells: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    """Cells of the right form, brought into the one form that the cast reads; the others null."""
    if to == LONG:
        bare = pc.replace_substring_regex(cells, r"^\+|\.0*$", "")
        return _only(bare, pc.match_substring_regex(cells, WHOLE))
    if to == DOUBLE:
        return _only(pc.utf8_ltrim(cells, "+"), pc.match_substring_regex(cells, NUMBER))
    if to == BOOL:
        return _only(pc.utf8_lower(cells), pc.match_substring_regex(cells, r"^(?i:true|false|0|1)$"))
    moments = _only(cells, pc.match_substring_regex(cells, MOMENT))
    # A date alone cannot carry a zone: give it its midnight first.
    full = pc.replace_substring_regex(moments, r"^(.{10})$", r"\1T00:00")
    zoned = pc.match_substring_regex(full, ZONE)
    utc = pc.if_else(zoned, full, pc.binary_join_element_wise(full, "Z", ""))
    if to.tz is None:
        return utc.cast(ZONED).cast(NAIVE).cast(STRING) if _parses(utc) else _naive_one_by_one(utc)
    return utc


def _only(cells: pa.ChunkedArray, keep: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(keep, cells, pa.scalar(None, STRING))


def _parses(cells: pa.ChunkedArray) -> bool:
    try:
        cells.cast(ZONED)
    except pa.ArrowInvalid:
        return False
    return True


def _naive_one_by_one(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    return _cast_one_by_one(cells, ZONED).cast(NAIVE).cast(STRING)


def _cast_one_by_one(cells: pa.ChunkedArray, to: pa.DataType) -> pa.ChunkedArray:
    """Parse each distinct cell in Python; what still fails is null."""
    parse = _PARSERS.get(to, _moment)
    coded = pc.dictionary_encode(cells).combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # no chunk at all
        return pa.chunked_array([], type=to)
    values = pa.array([_attempt(parse, cell) for cell in coded.dictionary.to_pylist()], type=to)
    return pa.chunked_array([values.take(coded.indices)])


def _attempt(parse: Callable[[str], Any], cell: str) -> Any:
    try:
        return parse(cell)
    except (ValueError, OverflowError):
        return None


def _long(cell: str) -> int:
    value = int(cell)
    if not -(2**63) <= value < 2**63:
        raise OverflowError(cell)
    return value


def _moment(cell: str) -> datetime:
    return datetime.fromisoformat(cell).astimezone(UTC)


_PARSERS: dict[pa.DataType, Callable[[str], Any]] = {
    LONG: _long,
    DOUBLE: float,
    BOOL: lambda cell: cell in ("true", "1"),
}

# ------------------------------------------------------------------------------- what type it will be


def guess_id(cells: pa.ChunkedArray) -> pa.DataType:
    """Long where every cell is a whole number written plainly, else string (007 is a name, not 7)."""
    said = cells.drop_null()
    plain = pc.match_substring_regex(said, r"^(0|-?[1-9][0-9]{0,17})$")
    return LONG if len(said) and pc.all(plain).as_py() else STRING


def guess_time(cells: pa.ChunkedArray, where: str) -> pa.DataType:
    """Long or timestamp, whichever most cells are."""
    said = pc.utf8_trim_whitespace(cells.drop_null())
    whole, number, moment = (_count(said, form) for form in (WHOLE, NUMBER, MOMENT))
    if len(said) == 0:
        return LONG
    if moment == 0 and number == 0:
        raise SourceError(
            f"{where}: {said[0].as_py()!r} is not a time; "
            "expected whole numbers, or ISO times such as 2008-05-31T03:20:00Z"
        )
    if moment >= number:
        return ZONED if _count(said, ZONE) else NAIVE
    if 2 * whole < number:
        odd = said.filter(pc.invert(pc.match_substring_regex(said, WHOLE)))[0].as_py()
        raise SourceError(f"{where}: {odd} is not a whole number; times are whole numbers (of any unit) or ISO times")
    return LONG


def guess_attribute(cells: pa.ChunkedArray) -> pa.DataType:
    """The narrowest type that every cell fits. Plain numbers are doubles, since a later file may bring decimals."""
    said = pc.utf8_trim_whitespace(cells.drop_null())
    said = said.filter(pc.invert(pc.match_substring_regex(said, NOTHING)))
    size = len(said)
    if size == 0 or _count(said, ZERO_LED + r"[0-9]*$"):
        return STRING
    if _count(said, TRUTH) == size:
        return BOOL
    if _count(said, WHOLE) == size and pc.max(pc.utf8_length(said)).as_py() > 15:
        return LONG if pc.max(pc.utf8_length(said)).as_py() <= 18 else STRING  # long digits are ids, keep them all
    if _count(said, NUMBER) == size:
        return DOUBLE
    if _count(said, MOMENT) == size:
        return ZONED if _count(said, ZONE) else NAIVE
    return STRING


def _count(cells: pa.ChunkedArray, form: str) -> int:
    return int(pc.sum(pc.match_substring_regex(cells, form)).as_py() or 0)
