"""The error function, and its complement with and without the exponential factor."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma
from numbagraph.intrinsics.emitters.vecmath import without_fma
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_most,
    by_format,
    coefficients_of,
    constant_of,
    format_of,
    horner,
    math_function,
    polynomial,
    scale,
    two_product,
)
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum, expm1_of_sum
from numbagraph.intrinsics.emitters.vecmath.logarithm import above_least, inverse_power, log1p_of_rest
from numbagraph.intrinsics.emitters.vecmath.tables.error_function import ERF_NEAR_0, ERF_ROOT, ERF_SLOPE, ERFCX
from numbagraph.intrinsics.emitters.vecmath.tables.exponential import LOG_2

MIDDLE = 2.5
"""The zero of the variable of `erfcx_of_size`."""


def exact_erfc(mp: Any, x: Any) -> Any:
    return mp.erfc(x) if x < 1000 else mp.mpf(0)


def exact_erfcx(mp: Any, x: Any) -> Any:
    """Return the function with mpmath. For huge numbers, of which mpmath has no exponential, two terms of the
    asymptotic series are enough."""
    if x < -1000:
        return mp.inf
    return mp.exp(x * x) * mp.erfc(x) if x < 1e6 else (1 - 0.5 / (x * x)) / (x * mp.sqrt(mp.pi))


def exact_ndtr(mp: Any, x: Any) -> Any:
    return exact_erfc(mp, -x / mp.sqrt(2)) / 2


def exact_log_ndtr(mp: Any, x: Any) -> Any:
    if x > 0:
        return mp.log1p(-exact_ndtr(mp, -x))
    return mp.log(exact_erfcx(mp, -x / mp.sqrt(2)) / 2) - x * x / 2


@math_function(libm.erf, lambda mp, x: mp.erf(x), domain=[(-6.0, 6.0)], near=(0.0,), room=3)
def erf(x: Number) -> Number:
    """Return ``1 - (1 - u / 4)**4`` of ``u = 4 - 4 * erfc(x)**(1/4)``, which is a short polynomial."""
    size = at_most(absolute(x), by_format(x, 5.925, 3.915))  # from there on it rounds to 1, of these to exactly that
    slope, slope_error = coefficients_of(ERF_SLOPE, x)
    root = fma(size, slope, size * polynomial(size, (slope_error, *coefficients_of(ERF_ROOT, x))))
    # v = u - u**2 / 8 of u, and v - v**2 / 4 of that; the rounding error of the first goes into the second.
    part = root * -0.125
    half = fma(part, root, root)
    error = fma(part, root, root - half)
    return copysign(half + fma(half * -0.25, half, error), x)


def erfcx_of_size(size: Number) -> Number:
    """Return ``erfcx`` of a number that is not negative, by a polynomial of ``(size - MIDDLE) / (size + MIDDLE)``."""
    divisor = size + MIDDLE
    inverse = 1.0 / divisor
    lowest, *higher = coefficients_of(ERFCX, size)
    variable = fma(inverse, -2.0 * MIDDLE, 1.0)
    rest = horner(variable, higher)
    scaled = fma(variable, rest, lowest)
    scaled_error = fma(variable, rest, lowest - scaled)
    # The error of the inverse is in the result, and in the polynomial, about 1.5 times as much as in its variable.
    error = fma(-inverse, size - (divisor - MIDDLE), fma(-inverse, divisor, 1.0))
    error = (error < 1.0).where(error, 0.0)  # of infinity it is NaN
    of_polynomial = fma(scaled, error * fma(inverse, 1.5 * MIDDLE, 1.0), scaled_error)
    tiny = size < 2.0 ** -(format_of(size).digits + 2)
    return tiny.where(1.0, fma(inverse, scaled, inverse * of_polynomial))


@math_function(libm.erfc, exact_erfc, domain=[(-6.0, 27.0)], near=(0.0, -0.5, 0.5), ulp=4.0, room=3)
def erfc(x: Number) -> Number:
    size = at_most(absolute(x), by_format(x, 28.0, 11.0))
    square, error = two_product(size, size)
    tail = exp_of_sum(-square, -error, erfcx_of_size(size))
    beyond = (x < 0.0).where(2.0 - tail, tail)
    near = fma(x, polynomial(square, coefficients_of(ERF_NEAR_0, x)), x)
    return (size < 0.5).where(1.0 - near, beyond)


@math_function(libm.erfcx, exact_erfcx, domain=[(-26.0, 100.0)], near=(0.0,), room=2)
def erfcx(x: Number) -> Number:
    size = absolute(x)
    tail = erfcx_of_size(size)
    less_1, count = expm1_of_sum(*two_product(size, size))
    # Up to 9/16 the count is zero, and the difference of 2 and the tail has a smaller rounding error.
    negative = (x < -0.5625).where(scale(fma(less_1, 2.0, 2.0), count) - tail, fma(less_1, 2.0, 2.0 - tail))
    return (x < 0.0).where(negative, tail)


def exp_of_half_square(x: Number, factor: Number) -> Number:
    """Return ``exp(-x**2 / 2) * factor``."""
    square, error = two_product(x, x)
    return exp_of_sum(square * -0.5, error * -0.5, factor)


@math_function(without_fma.ndtr, exact_ndtr, domain=[(-38.0, 8.0)], near=(0.0,), ulp=4.0, room=2)
def ndtr(x: Number) -> Number:
    size = absolute(x)
    tail = exp_of_half_square(size, erfcx_of_size(size * math.sqrt(0.5)) * 0.5)
    return (x > 0.0).where(1.0 - tail, tail)


@math_function(without_fma.log_ndtr, exact_log_ndtr, domain=[(-50.0, 30.0)], near=(0.0,), ulp=4.5, room=3)
def log_ndtr(x: Number) -> Number:
    """Return the function by the logarithm of ``erfcx`` on the left side, and by that of 1 less the right tail on the
    other one."""
    size, left = absolute(x), x < 0.0
    scaled = erfcx_of_size(size * math.sqrt(0.5)) * 0.5
    start, rest = left.where(x.constant(0.0), 1.0), left.where(scaled, -exp_of_half_square(size, scaled))
    inverse, exponent = inverse_power(above_least(start + rest))
    log = fma(exponent, constant_of(LOG_2, x), log1p_of_rest(fma(rest, inverse, fma(start, inverse, -1.0))))
    return left.where(fma(size * -0.5, size, log), -absolute(log))
