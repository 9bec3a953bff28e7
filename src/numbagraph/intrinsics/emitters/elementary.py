"""Elementary functions that are written as formulas of other mathematical functions."""

from __future__ import annotations

import math

from llvmlite import ir

from numbagraph.intrinsics.emitters import vecmath
from numbagraph.intrinsics.emitters.emitter import Emitter, Operand
from numbagraph.intrinsics.emitters.formula import Number, absolute, formula, sqrt, wrap

LARGEST_POWER, SMALLEST_POWER = 8, -4
"""Powers between these that are multiples of 1/2 are multiplications and a square root, which cost 4 units in the last
place at most."""


def power(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    exponent = y.value.constant if isinstance(y.value, ir.Constant) else None
    if isinstance(exponent, float) and (2 * exponent).is_integer() and SMALLEST_POWER <= exponent <= LARGEST_POWER:
        number, whole = wrap(emitter, x), math.floor(exponent)
        if whole == exponent:
            return integer_power(number, whole).value
        return half_integer_power(number, whole).value
    return vecmath.power(emitter, x, y)


def half_integer_power(x: Number, whole: int) -> Number:
    """Return the power ``whole + 1/2``. For -0.0 and minus infinity it is the power of their size, unlike with sqrt."""
    if whole < 0:
        return 1.0 / half_integer_power(x, -whole - 1)
    root = absolute(sqrt(x.equals(-math.inf).where(math.inf, x)))
    return root * integer_power(absolute(x), whole) if whole else root


def integer_power(x: Number, exponent: int) -> Number:
    """Return an integer power by repeated squaring; a negative one is a power of the inverse, which neither over- nor
    underflows too soon."""
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
    return vecmath.sin.of(angle) / angle
