"""Exact sums of doubles: a fixed-point number wide enough for every double, in 32-bit limbs.

In: doubles to add and to take away. Out: their sum, rounded once. Because nothing is lost in between, the order of the
terms cannot matter, nor where they were added up; partial sums simply add.
"""

from __future__ import annotations

import math

import numpy as np

from vedette.compiled import inline, jit
from vedette.kernels.arrays import I64

LIMBS = 68  # 2,098 bits from the smallest subnormal to the largest double, and 78 bits of headroom for carries
_MASK = 0xFFFFFFFF


@inline
def accumulate(limbs: I64, value: float, times: int) -> None:
    """Add a finite value (times = 1) or take it away (times = -1). Carries stay in the limbs."""
    if value == 0.0:
        return
    fraction, exponent = math.frexp(abs(value))
    mantissa = np.int64(fraction * 9007199254740992.0)
    bit = exponent - 53 + 1074
    if bit < 0:
        mantissa >>= -bit
        bit = 0
    i = bit // 32
    shift = bit % 32
    if value < 0.0:
        times = -times
    low = (mantissa & _MASK) << shift
    high = (mantissa >> 32) << shift
    limbs[i] += times * (low & _MASK)
    limbs[i + 1] += times * ((low >> 32) + (high & _MASK))
    limbs[i + 2] += times * (high >> 32)


@inline
def settle(limbs: I64) -> None:
    """Carry on, so that all limbs but the last are in [0, 2^32)."""
    for i in range(LIMBS - 1):
        carry = limbs[i] >> 32
        limbs[i] -= carry << 32
        limbs[i + 1] += carry


@jit
def rounded(limbs: I64) -> float:
    """The value, correctly rounded (half to even)."""
    settle(limbs)
    digits = limbs.copy()
    negative = digits[LIMBS - 1] < 0
    if negative:
        for i in range(LIMBS):
            digits[i] = -digits[i]
        settle(digits)
    top = LIMBS - 1
    while top >= 0 and digits[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    length = 0
    while digits[top] >> length:
        length += 1
    high = 32 * top + length - 1  # number of the highest set bit
    low = max(0, high - 52)  # the lowest bit that fits a double
    mantissa = 0
    for bit in range(high, low - 1, -1):
        mantissa = 2 * mantissa + ((digits[bit // 32] >> (bit % 32)) & 1)
    if low > 0:
        half = (digits[(low - 1) // 32] >> ((low - 1) % 32)) & 1
        if half:
            rest = mantissa & 1
            below = low - 1
            if digits[below // 32] & ((1 << (below % 32)) - 1):
                rest = 1
            for i in range(below // 32):
                if digits[i]:
                    rest = 1
            mantissa += rest
    value = math.ldexp(float(mantissa), low - 1074)
    return -value if negative else value
