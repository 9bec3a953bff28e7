"""Exponentials."""

from __future__ import annotations

import math

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Bits, Number, absolute, fma
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_least,
    at_most,
    by_format,
    coefficients_of,
    constant_of,
    math_function,
    polynomial,
    power_of_two,
    round_product,
    scale,
)
from numbagraph.intrinsics.emitters.vecmath.tables.exponential import (
    EXP,
    EXP2,
    LOG2_10,
    LOG2_E,
    LOG10_2_PARTS,
    LOG_2_PARTS,
    LOG_10,
)


def less_logarithm_of_2(x: Number, parts: tuple[float, ...], inverse: float) -> tuple[Number, Bits]:
    """Return ``x - n * logarithm`` for the integer n that makes it smallest, rounded once; and n."""
    high, low = parts
    n, count = round_product(x, inverse)
    return fma(n, -low, fma(n, -high, x)), count


def reduce_by_log_2(x: Number) -> tuple[Number, Bits]:
    return less_logarithm_of_2(x, coefficients_of(LOG_2_PARTS, x), constant_of(LOG2_E, x))


def expm1_of_rest(rest: Number) -> Number:
    """Return ``exp(rest) - 1`` for the rest of a number after `less_logarithm_of_2`."""
    return fma(rest * rest, polynomial(rest, coefficients_of(EXP, rest)), rest)


def expm1_of(x: Number) -> tuple[Number, Bits]:
    """Return ``exp(x) / 2**n - 1`` and n, for an x that is not too large."""
    rest, count = reduce_by_log_2(x)
    return expm1_of_rest(rest), count


def exp_of(x: Number) -> Number:
    """Return ``exp`` of a number whose exponential is not too large."""
    reduced, count = expm1_of(at_least(x, by_format(x, -746.0, -104.0)))
    return scale(reduced + 1.0, count)


@math_function(
    libm.exp, lambda mp, x: mp.exp(x), domain=[(-746.0, 710.0)], near=(0.0, -708.4, 709.78), ulp=1.5, serial=True
)
def exp(x: Number) -> Number:
    return exp_of(at_most(x, by_format(x, 709.79, 88.8)))


@math_function(
    libm.exp2, lambda mp, x: mp.mpf(2) ** x, domain=[(-1076.0, 1024.0)], near=(0.0, -1022.0), ulp=1.5, serial=True
)
def exp2(x: Number) -> Number:
    x = at_least(at_most(x, by_format(x, 1024.0, 128.0)), by_format(x, -1076.0, -151.0))
    n, count = round_product(x, 1.0)
    rest = x - n
    return scale(fma(rest, polynomial(rest, coefficients_of(EXP2, rest)), 1.0), count)


@math_function(
    libm.scipy("exp10"), lambda mp, x: mp.mpf(10) ** x, domain=[(-307.0, 308.25)], near=(0.0, -307.6), ulp=1.5
)
def exp10(x: Number) -> Number:
    """Return the power of 10; as SciPy's, it is zero below the least number whose opposite has a finite power."""
    bounded = at_least(at_most(x, by_format(x, 308.3, 38.6)), by_format(x, -308.3, -46.0))
    rest, count = less_logarithm_of_2(bounded, coefficients_of(LOG10_2_PARTS, x), constant_of(LOG2_10, x))
    result = scale(expm1_of_rest(rest * constant_of(LOG_10, x)) + 1.0, count)
    return (x < by_format(x, -308.2547155599167, -math.inf)).where(0.0, result)


@math_function(libm.expm1, lambda mp, x: mp.expm1(x), domain=[(-40.0, 710.0)], near=(0.0, 709.78), ulp=2.5)
def expm1(x: Number) -> Number:
    bounded = at_least(at_most(x, by_format(x, 710.0, 89.0)), by_format(x, -40.0, -20.0))
    reduced, count = expm1_of(bounded)
    half = power_of_two(count, -1)  # 2**n may be too large
    result = fma(half, reduced, half - 0.5)
    return (absolute(x) < by_format(x, 2.0**-54, 2.0**-25)).where(x, result + result)
