"""Elementary functions that are formulas of other mathematical functions."""

from __future__ import annotations

import math

from llvmlite import ir

from numbagraph.intrinsics import libm
from numbagraph.intrinsics.emitter import Emitter, Operand
from numbagraph.intrinsics.formula import Number, formula, lifted, wrap

_sin = lifted(libm.sin)

LARGEST_POWER, SMALLEST_POWER = 8, -4
"""Integer powers between these are multiplications, which cost 4 units in the last place at most."""


def power(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    exponent = y.value.constant if isinstance(y.value, ir.Constant) else None
    if isinstance(exponent, float) and exponent.is_integer() and SMALLEST_POWER <= exponent <= LARGEST_POWER:
        return integer_power(wrap(emitter, x), int(exponent)).value
    return libm.power(emitter, x, y)


def integer_power(x: Number, exponent: int) -> Number:
    """By repeated squaring; a negative power is one of the inverse, which neither over- nor underflows too soon."""
    if exponent < 0:
        return integer_power(1.0 / x, -exponent)
    result, square = x.constant(1.0), x
    while exponent:
        if exponent & 1:
            result = square if isinstance(result.value, ir.Constant) else result * square
        exponent >>= 1
        square = square * square if exponent else square
    return result


@formula
def sinc(x: Number) -> Number:
    angle = x.equals(0.0).where(1e-20, x) * math.pi
    return _sin(angle) / angle
