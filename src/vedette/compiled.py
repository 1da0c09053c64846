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

# Nobody takes a kernel as a C function. Wrappers for that, and for calls from Python, take a fifth of all compile time.
OPTIONS: Any = {"cache": True, "error_model": "numpy", "boundscheck": False, "no_cfunc_wrapper": True}


def jit(function: F) -> F:
    """Compile a kernel on first use, and keep the result on disk."""
    return _compiled(function, _nrt=True)


def inline(function: F) -> F:
    """Compile a small function that kernels call in their innermost loops."""
    return _compiled(function, inline="never", _nrt=True)


def bare(function: F) -> F:
    """Compile a function that makes no arrays: those that it is handed are not counted while it runs.

    Where it is not taken into its caller, a call hands over every array in its named tuples, field by field: with some
    dozens of them that takes 50 to 100 ns (measured). What is called for every update should be `folded`.
    """
    return _compiled(function, _nrt=False)


def folded(function: F) -> F:
    """Compile a function that makes no arrays into each of its callers, which are kernels: nothing is handed over."""
    return _compiled(function, _nrt=False, forceinline=True, no_cpython_wrapper=True)


def _compiled(function: F, **more: Any) -> F:
    return cast(F, numba.njit(**OPTIONS, **more)(function))
