"""Short names for kinds of arrays; arrays that belong together in a named tuple, treated as one; room for more.

In: arrays, or a named tuple of them. Out: new ones of the same kind, so that compiled code never meets a new type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

F64: TypeAlias = NDArray[np.float64]
I8: TypeAlias = NDArray[np.int8]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
U8: TypeAlias = NDArray[np.uint8]
U64: TypeAlias = NDArray[np.uint64]
B1: TypeAlias = NDArray[np.bool_]

Arrays = TypeVar("Arrays", bound=NamedTuple)
Kind = TypeVar("Kind", bound=np.generic)


def each(function: Callable[[NDArray[Any]], NDArray[Any]], arrays: Arrays) -> Arrays:
    """The named tuple with `function` applied to every array of it."""
    return arrays._make(map(function, arrays))


def rows_of(arrays: Arrays, which: NDArray[Any] | slice) -> Arrays:
    """The same rows of every array: by a mask, by numbers or a slice."""
    return each(lambda array: array[which], arrays)


def enlarged(array: NDArray[Kind], rows: int) -> NDArray[Kind]:
    """A copy with room for more rows; new room is zero, NaN or -1 as the array's kind asks."""
    shape = (rows, *array.shape[1:])
    new: NDArray[Any]
    if array.dtype == np.float64:
        new = np.full(shape, np.nan)
    elif array.dtype in (np.int32, np.int64):
        new = np.full(shape, -1, array.dtype)
    else:
        new = np.zeros(shape, array.dtype)
    new[: len(array)] = array
    return new


def all_enlarged(arrays: Arrays, rows: int) -> Arrays:
    """Room for more rows in every array."""
    return each(lambda array: enlarged(array, rows), arrays)


def widened(array: NDArray[Kind], columns: int) -> NDArray[Kind]:
    """A matrix with more columns: filter bits 0, values NaN."""
    if array.shape[1] >= columns:
        return array
    shape = (len(array), columns)
    new: NDArray[Any] = np.zeros(shape, array.dtype) if array.dtype == np.uint64 else np.full(shape, np.nan)
    new[:, : array.shape[1]] = array
    return new
