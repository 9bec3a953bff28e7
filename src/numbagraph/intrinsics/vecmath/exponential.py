"""Exponentials."""

from __future__ import annotations

from numbagraph.intrinsics import libm
from numbagraph.intrinsics.formula import Bits, Number, absolute, fma
from numbagraph.intrinsics.vecmath.foundation import (
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
from numbagraph.intrinsics.vecmath.tables.exponential import EXP, EXP2, LOG2_E, LOG_2_PARTS


def reduce_by_log_2(x: Number) -> tuple[Number, Bits]:
    """``x - n * log(2)`` for the integer n that makes it smallest, rounded once; and n."""
    high, low = coefficients_of(LOG_2_PARTS, x)
    n, count = round_product(x, constant_of(LOG2_E, x))
    return fma(n, -low, fma(n, -high, x)), count


def expm1_of(x: Number) -> tuple[Number, Bits]:
    """``exp(x) / 2**n - 1`` and n, of an x that is not too large."""
    rest, count = reduce_by_log_2(x)
    return fma(rest * rest, polynomial(rest, coefficients_of(EXP, rest)), rest), count


def exp_of(x: Number) -> Number:
    """``exp`` of a number whose exponential is not too large."""
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


@math_function(libm.expm1, lambda mp, x: mp.expm1(x), domain=[(-40.0, 710.0)], near=(0.0, 709.78), ulp=2.5)
def expm1(x: Number) -> Number:
    bounded = at_least(at_most(x, by_format(x, 710.0, 89.0)), by_format(x, -40.0, -20.0))
    reduced, count = expm1_of(bounded)
    half = power_of_two(count, -1)  # 2**n may be too large
    result = fma(half, reduced, half - 0.5)
    return (absolute(x) < by_format(x, 2.0**-54, 2.0**-25)).where(x, result + result)
