"""Elementary functions that are formulas of those of `libm`."""

from __future__ import annotations

import math

from llvmlite import ir

from numbagraph.intrinsics import libm
from numbagraph.intrinsics.emitter import Emitter, Operand
from numbagraph.intrinsics.formula import Number, absolute, formula, lifted, wrap

_exp, _exp2, _log1p, _sin = (lifted(each) for each in (libm.exp, libm.exp2, libm.log1p, libm.sin))

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


def _log_of_sum(x: Number, y: Number, exp, scale: float, of_equals: float) -> Number:
    """``log(exp(x) + exp(y))`` in some base; equal operands need not be finite."""
    difference = x - y
    larger = (difference > 0.0).where(x, y)
    return x.equals(y).where(x + of_equals, larger + _log1p(exp(-absolute(difference))) * scale)


logaddexp = formula(lambda x, y: _log_of_sum(x, y, _exp, 1.0, math.log(2)))
logaddexp2 = formula(lambda x, y: _log_of_sum(x, y, _exp2, 1 / math.log(2), 1.0))


@formula
def sinc(x: Number) -> Number:
    angle = x.equals(0.0).where(1e-20, x) * math.pi
    return _sin(angle) / angle
