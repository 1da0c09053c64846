"""The one way in which a function is compiled.

No fast-math anywhere: sums are done in the written order and multiplications are never fused with
additions, so that a compiled function, its plain Python twin and every CPU agree to the last bit.
Nothing is compiled on import; compiled code is cached on disk. `NUMBA_DISABLE_JIT=1` runs it all as Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile a kernel on first use, and keep the result on disk."""
    options: Any = {"cache": True, "error_model": "numpy", "boundscheck": False, "_nrt": True}
    return cast(F, numba.njit(**options)(function))


def inline(function: F) -> F:
    """Compile a small function that kernels call in their innermost loops."""
    options: Any = {"cache": True, "error_model": "numpy", "boundscheck": False, "inline": "never", "_nrt": True}
    return cast(F, numba.njit(**options)(function))


def bare(function: F) -> F:
    """Compile a function that makes no arrays: those that it is handed are not counted while it runs.

    Where it is not taken into its caller, a call hands over every array in its named tuples, field by field: with some
    dozens of them that takes 50 to 100 ns (measured). What is called for every update should be `folded`.
    """
    options: Any = {"cache": True, "error_model": "numpy", "boundscheck": False, "_nrt": False}
    return cast(F, numba.njit(**options)(function))


def folded(function: F) -> F:
    """Compile a function that makes no arrays into each of its callers, so that nothing is handed over."""
    options: Any = {"cache": True, "error_model": "numpy", "boundscheck": False, "_nrt": False, "forceinline": True}
    return cast(F, numba.njit(**options)(function))
