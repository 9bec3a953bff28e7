"""Logarithms."""

from __future__ import annotations

import math

import numpy as np

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Bits, Number, copysign, fma
from numbagraph.intrinsics.emitters.vecmath.declare import (
    coefficients_of,
    constant_of,
    format_of,
    math_function,
    polynomial,
)
from numbagraph.intrinsics.emitters.vecmath.tables.exponential import LOG, LOG2_E, LOG10_2, LOG10_E, LOG_2, LOG_OF_RATIO

INFINITY, NAN = math.inf, math.nan


def above_least(x: Number) -> Bits:
    """Return bits in which the exponent of ``x`` stands as it is, signed, when ``x`` is scaled to lie around 1."""
    return x.bits - least_of(x)


def least_of(x: Number) -> int:
    """Return the bits of sqrt(1/2), from which on numbers count as being around 1, up to sqrt(2)."""
    return int(np.asarray(math.sqrt(0.5), x.dtype).view(f"i{x.dtype.itemsize}"))


def split(x: Number) -> tuple[Number, Number]:
    """Return the m around 1 and the integer k for which ``x = m * 2**k``, for a positive normal number x."""
    digits, above = format_of(x).digits, above_least(x)
    fraction = (above & ((1 << digits) - 1)) + least_of(x)
    return fraction.number, above.signed_shift(digits).converted()


def inverse_power(above: Bits) -> tuple[Number, Number]:
    """Return ``2**-k`` and k, for the exponent k that stands in bits as `above_least` gives them."""
    layout = format_of(above)
    one = above.constant(layout.bias << layout.digits)
    return (one - (above & -layout.one_exponent)).number, above.signed_shift(layout.digits).converted()


def log1p_of_rest(rest: Number) -> Number:
    """Return ``log(1 + rest)`` for a sum around 1."""
    # log((1 + s) / (1 - s)) = 2 * (s + s**3 / 3 + ...), of which 2 * s is written as rest - s * rest
    ratio = rest / (rest + 2.0)
    square = ratio * ratio
    return fma(-ratio, fma(-square, polynomial(square, coefficients_of(LOG, rest)), rest), rest)


def split_any(x: Number) -> tuple[Number, Number]:
    """Return m and k as `split` does, for any number. Where the logarithm is infinite or NaN, so is k."""
    layout = format_of(x)
    power = layout.digits + 2
    unusual = (x.bits - layout.one_exponent).from_(layout.infinity - layout.one_exponent)
    scaled = unusual.where(fma(x, 2.0**power, 0.0), x)
    fraction, exponent = split(scaled)
    # -inf of 0, which has no sign any more, and NaN of negative numbers, whose bits are moved into those of -inf
    outside = ((scaled.bits << 1 >> (layout.width - layout.digits)) | (layout.infinity | layout.sign)).number
    return fraction, unusual.where(exponent + (x > 0.0).where(x - float(power), outside), exponent)


@math_function(libm.log, lambda mp, x: mp.log(x), domain=[(0.0, 50.0)], near=(1.0,), ulp=1.5, serial=True)
def log(x: Number) -> Number:
    fraction, exponent = split_any(x)
    return fma(exponent, constant_of(LOG_2, x), log1p_of_rest(fraction - 1.0))


@math_function(libm.log2, lambda mp, x: mp.log(x, 2), domain=[(0.0, 50.0)], near=(1.0,), ulp=2.0, serial=True)
def log2(x: Number) -> Number:
    fraction, exponent = split_any(x)
    return fma(log1p_of_rest(fraction - 1.0), constant_of(LOG2_E, x), exponent)


@math_function(libm.log10, lambda mp, x: mp.log10(x), domain=[(0.0, 50.0)], near=(1.0,), ulp=2.5)
def log10(x: Number) -> Number:
    fraction, exponent = split_any(x)
    return fma(exponent, constant_of(LOG10_2, x), log1p_of_rest(fraction - 1.0) * constant_of(LOG10_E, x))


def log1p_of(x: Number, high: Number, power: int) -> Number:
    """Return ``log(1 + x)`` of a positive x, or of one from -1 on, plus ``power * log(2)`` where ``high`` holds.

    An x that is so large that ``2**-k`` is not a normal number is for the caller to scale down.
    """
    inverse, exponent = inverse_power(above_least(x + 1.0))
    exponent = high.where(exponent + float(power), exponent)
    rest = log1p_of_rest(fma(x, inverse, inverse - 1.0))
    return (x <= format_of(x).largest).where(fma(exponent, constant_of(LOG_2, x), rest), x)


@math_function(libm.log1p, lambda mp, x: mp.log1p(x), domain=[(-1.0, 50.0)], near=(-1.0, 0.0), ulp=2.0)
def log1p(x: Number) -> Number:
    high = x > 2.0 ** (format_of(x).bias - 2)
    result = copysign(log1p_of(high.where(x * 2.0**-4, x), high, 4), x)
    return (x <= -1.0).where(x.equals(-1.0).where(x.constant(-INFINITY), NAN), result)


def unit_parts(x: Number) -> tuple[Number, Number]:
    """Return the rest in ``1 + x = (1 + rest) * 2**high``, for a number from 0 to 1, and the truth value ``high``."""
    high = x > math.sqrt(2) - 1
    return high.where(fma(x, 0.5, -0.5), x), high


def log1p_of_unit(x: Number) -> Number:
    """Return ``log(1 + x)`` of a number from 0 to 1."""
    rest, high = unit_parts(x)
    result = log1p_of_rest(rest)
    return high.where(result + constant_of(LOG_2, x), result)


def above_least_ratio(x: Number, y: Number) -> Bits:
    """Return the bits of `above_least` for about ``x / y``."""
    return x.bits - y.bits + (format_of(x).one_exponent >> 1)


def twice_arctanh(numerator: Number, denominator: Number, exponent: Number, factor: float) -> Number:
    """Return ``factor * (log((1 + s) / (1 - s)) + exponent * log(2))`` for a quotient s."""
    ratio = numerator / denominator
    square = ratio * ratio
    series = polynomial(square, [factor * each for each in coefficients_of(LOG_OF_RATIO, ratio)])
    return fma(exponent, factor * constant_of(LOG_2, ratio), fma(ratio * square, series, ratio * (2 * factor)))
