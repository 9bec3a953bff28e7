"""Logarithms and exponentials with more digits than a number has: as the sum of a high and a low part."""

from __future__ import annotations

import math

import numpy as np

from numbagraph.intrinsics.emitters.formula import Bits, Number, absolute, fma
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_least,
    at_most,
    by_format,
    coefficients_of,
    constant_of,
    fast_two_sum,
    format_of,
    polynomial,
    power_of_two,
    round_product,
    scale,
)
from numbagraph.intrinsics.emitters.vecmath.tables.exponential import EXP, LOG2_E
from numbagraph.intrinsics.emitters.vecmath.tables.powers import (
    ABOVE_1,
    BELOW_1,
    FAR_ABOVE_1,
    LOG_2_SHORT,
    LOG_IN_PARTS,
)

INFINITY = math.inf

LEAST = -0.2345, -0.22
"""The logarithms, in float64 and float32, of the least fraction that a number has beside a power of two."""

MIDDLES = ((BELOW_1, False, -0.078), (ABOVE_1, True, 0.078), (FAR_ABOVE_1, True, 0.234)), ((FAR_ABOVE_1, True, 0.22),)
"""Numbers whose logarithm is short, and the fractions that they are for: those below or above the number with a
logarithm.

The rest of a fraction's logarithm is then so small that only the first term of its series needs a low part.
"""


def log_in_parts(x: Number) -> tuple[Number, Number]:
    """Return the logarithm of a positive number or zero as a sum with 8 bits more than a number has."""
    fraction, exponent = split_above(x, by_format(x, *LEAST))
    middle, start = x.constant(1.0), x.constant(0.0)
    for table, above, limit in by_format(x, *MIDDLES):
        chosen = fraction > math.exp(limit) if above else fraction < math.exp(limit)
        number, log = coefficients_of(table, x)
        middle, start = chosen.where(number, middle), chosen.where(log, start)
    log_2, log_2_error = coefficients_of(LOG_2_SHORT, x)
    start = fma(exponent, log_2, start)  # without an error
    # log((1 + s / 2) / (1 - s / 2)) = s + s**3 / 12 + ..., where s = rest / divisor
    rest = fraction - middle
    divisor = fma(rest, 0.5, middle)
    inverse = 1.0 / divisor
    ratio = rest * inverse
    remainder = fma(-ratio, fma(rest, 0.5, middle - divisor), fma(-ratio, divisor, rest))
    total, error = fast_two_sum(start, ratio)
    error = fma(remainder, inverse, fma(exponent, log_2_error, error))
    square = ratio * ratio
    error = fma(square * ratio, polynomial(square, coefficients_of(LOG_IN_PARTS, x)), error)
    # What is added is zero, if not infinity or NaN.
    return x.equals(0.0).where(-INFINITY, total + (x - at_most(x, format_of(x).largest))), error


def split_above(x: Number, log_of_least: float) -> tuple[Number, Number]:
    """Return the fraction m, not below the least, and the integer k for which ``x = m * 2**k``, of a positive
    number."""
    layout = format_of(x)
    least = int(np.asarray(math.exp(log_of_least), x.dtype).view(f"i{x.dtype.itemsize}"))
    denormal = x < layout.tiny
    above = denormal.where(x * 2.0**64, x).bits - least
    fraction = (above & (layout.one_exponent - 1)) + least
    exponent = above.signed_shift(layout.digits).converted()
    return fraction.number, denormal.where(exponent - 64.0, exponent)


def expm1_of_sum(high: Number, low: Number) -> tuple[Number, Bits]:
    """Return ``exp(high + low) / 2**n - 1`` and n. The low part does not count where the high one is out of bounds."""
    bounded = at_least(at_most(high, by_format(high, 720.0, 90.0)), by_format(high, -760.0, -110.0))
    # So written, a low part that is NaN, as beside infinity, becomes a number.
    low = (low < 1.0).where(low, 1.0)
    low = (low > -1.0).where(low, -1.0)
    n, count = round_product(bounded + low, constant_of(LOG2_E, high))
    log_2, log_2_error = coefficients_of(LOG_2_SHORT, high)
    rest = fma(n, -log_2, bounded) + fma(n, -log_2_error, low)
    return fma(rest * rest, polynomial(rest, coefficients_of(EXP, rest)), rest), count


def expm1_of_parts(high: Number, low: Number) -> Number:
    """Return ``exp(high + low) - 1``."""
    highest, lowest = by_format(high, (710.0, -40.0), (89.0, -20.0))
    low = ((high < highest) & (high > lowest)).where(low, 0.0)
    reduced, count = expm1_of_sum(at_least(at_most(high, highest), lowest), low)
    half = power_of_two(count, -1)  # 2**n may be too large
    result = fma(half, reduced, half - 0.5)
    return (absolute(high) < by_format(high, 2.0**-54, 2.0**-25)).where(high + low, result + result)


def exp_of_sum(high: Number, low: Number, factor: Number | float = 1.0) -> Number:
    """Return ``exp(high + low) * factor``, as `expm1_of_sum`."""
    less_1, count = expm1_of_sum(high, low)
    return scale(fma(less_1, factor, factor), count)
