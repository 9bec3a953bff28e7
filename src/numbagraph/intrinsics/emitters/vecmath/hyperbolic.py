"""Hyperbolic functions and their inverses."""

from __future__ import annotations

import math

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, sqrt
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_least,
    at_most,
    by_format,
    coefficients_of,
    constant_of,
    format_of,
    math_function,
    opposite,
    polynomial,
    power_of_two,
    round_to_power,
)
from numbagraph.intrinsics.emitters.vecmath.exponential import reduce_by_log_2
from numbagraph.intrinsics.emitters.vecmath.logarithm import above_least_ratio, inverse_power, log1p_of, twice_arctanh
from numbagraph.intrinsics.emitters.vecmath.tables.exponential import COSH, EXP, LOG2_E, LOG_2, SINH

INFINITY, NAN = math.inf, math.nan


def halves(x: Number) -> tuple[Number, Number, Number, Number]:
    """Return half of `sinh` and `cosh` of the part in log(2) of an ``x >= 0``, and `sinh` and `cosh - 1` of the
    rest."""
    rest, count = reduce_by_log_2(at_most(x, by_format(x, 710.6, 89.5)))
    square = rest * rest
    sinh_of_rest = fma(square * rest, polynomial(square, coefficients_of(SINH, x)), rest)
    cosh_of_rest = square * polynomial(square, coefficients_of(COSH, x))
    growing, falling = power_of_two(count, -2), power_of_two(opposite(count, -64), -2)
    return growing - falling, growing + falling, sinh_of_rest, cosh_of_rest


@math_function(libm.sinh, lambda mp, x: mp.sinh(x), domain=[(-710.5, 710.5)], near=(0.0,), ulp=2.5)
def sinh(x: Number) -> Number:
    size = absolute(x)
    sinh_n, cosh_n, sinh_of_rest, cosh_of_rest = halves(size)
    half = sinh_n + fma(sinh_n, cosh_of_rest, cosh_n * sinh_of_rest)
    is_itself = size < by_format(x, 2.0**-28, 2.0**-13)  # and half of a subnormal number may be none
    return copysign(is_itself.where(size, half + half), x)


@math_function(libm.cosh, lambda mp, x: mp.cosh(x), domain=[(-710.5, 710.5)], near=(0.0,), ulp=2.0)
def cosh(x: Number) -> Number:
    sinh_n, cosh_n, sinh_of_rest, cosh_of_rest = halves(absolute(x))
    half = cosh_n + fma(cosh_n, cosh_of_rest, sinh_n * sinh_of_rest)
    return half + half


@math_function(libm.tanh, lambda mp, x: mp.tanh(x), domain=[(-20.0, 20.0)], near=(0.0,), ulp=2.5)
def tanh(x: Number) -> Number:
    """Return the function by the exponential that falls: quotients of numbers below 1 and 2 have the smaller rounding
    errors.

    The smaller the exponential is, the less it counts: where multiples of log(2) are large, their error does not
    matter.
    """
    bounded = at_least(-absolute(x + x), by_format(x, -44.0, -20.0))
    n, power = round_to_power(bounded, constant_of(LOG2_E, x))
    rest = fma(n, -constant_of(LOG_2, x), bounded)
    less_1 = fma(rest * rest, polynomial(rest, coefficients_of(EXP, x)), rest)
    return copysign(fma(power, less_1, power - 1.0) / fma(power, less_1, power + 1.0), x)


@math_function(libm.arcsinh, lambda mp, x: mp.asinh(x), domain=[(-50.0, 50.0)], near=(0.0,), ulp=2.5)
def arcsinh(x: Number) -> Number:
    size = absolute(x)
    square = size * size
    high = size > 2.0 ** (format_of(x).bias // 2 - 1)  # its square may be too large
    argument = high.where(size * 2.0**-4, size + square / (sqrt(square + 1.0) + 1.0))
    return copysign(log1p_of(argument, high, 5), x)


@math_function(libm.arccosh, lambda mp, x: mp.acosh(x), domain=[(1.0, 50.0)], near=(1.0,), ulp=2.5)
def arccosh(x: Number) -> Number:
    above = x - 1.0
    high = x > 2.0 ** (format_of(x).bias // 2 - 1)  # its square may be too large
    argument = high.where(x * 2.0**-4, above + sqrt(fma(above, above, above + above)))
    return (x < 1.0).where(NAN, log1p_of(argument, high, 5))


@math_function(libm.arctanh, lambda mp, x: mp.atanh(x), domain=[(-1.0, 1.0)], near=(-1.0, 0.0, 1.0), ulp=2.5)
def arctanh(x: Number) -> Number:
    size = absolute(x)
    above, below = size + 1.0, 1.0 - size
    inverse, exponent = inverse_power(above_least_ratio(above, below))
    # The scaled sum less the difference, and plus it. Up to 1/2, where neither of the two is exact, rounded only once.
    exact, less, more = size > 0.5, inverse - 1.0, inverse + 1.0
    numerator = exact.where(fma(above, inverse, -below), fma(size, more, less))
    denominator = exact.where(fma(above, inverse, below), fma(size, less, more))
    result = copysign(twice_arctanh(numerator, denominator, exponent, 0.5), x)
    return (size < 1.0).where(result, size.equals(1.0).where(copysign(x.constant(INFINITY), x), NAN))
