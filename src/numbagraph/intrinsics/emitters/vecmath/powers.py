"""Powers and roots."""

from __future__ import annotations

import math

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, intrinsic, lifted, sqrt
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_least,
    at_most,
    coefficients_of,
    format_of,
    horner,
    math_function,
    polynomial,
    two_product,
)
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum, log_in_parts
from numbagraph.intrinsics.emitters.vecmath.tables.powers import CBRT, INVERSE_CBRT
from numbagraph.ir.types import FLOAT32

INFINITY, NAN = math.inf, math.nan

CBRT_OFFSET = 0.06802
"""The offset for which the error of `inverse_cbrt_guess` is equal to both sides, a tenth of its cube."""

_round = lifted(intrinsic("rint"))


@math_function(
    libm.power, lambda mp, x, y: mp.power(x, y), domain=[(0.0, 20.0), (-20.0, 20.0)], ulp=4.0, room=3, serial=True
)
def power(x: Number, y: Number) -> Number:
    """Return ``exp(y * log(x))``, with the values of the C standard for negative numbers."""
    size = absolute(x)
    log, log_error = log_in_parts(size)
    product, error = two_product(log, y)
    result = exp_of_sum(product, fma(log_error, y, error))
    result = (size.equals(1.0) | y.equals(0.0)).where(1.0, result)
    half = y * 0.5
    whole = _round(y).equals(y)
    odd = whole & _round(half).differs(half)
    result = odd.where(copysign(result, x), result)
    layout = format_of(x)
    negative = (x.bits - (layout.sign + 1)).below(layout.infinity - 1)  # and finite
    return (negative & ~whole).where(NAN, result)


def inverse_cbrt_guess(x: Number) -> Number:
    """Return a number near ``x**(-1/3)``: bits, taken as an integer, are almost a logarithm."""
    layout = format_of(x)
    shift, unit = layout.width - layout.digits, 2.0**layout.digits
    integer_bits = (
        layout.bias + layout.digits
    ) << layout.digits  # those of the unit: beside them, integers are numbers
    log = ((x.bits >> shift) | integer_bits).number
    offset = unit / 3 + (layout.bias * 4 / 3 - CBRT_OFFSET) * 2.0 ** (layout.digits - shift)
    return (fma(log, -1 / 3, unit + offset).bits << shift).number


def cbrt_of_normal(x: Number) -> Number:
    """Return the cube root of a normal number, by a guess of the inverse, improved by a polynomial of the guess's
    error.

    In single precision that gives the root. In double it gives a better inverse, and Newton's method the root.
    """
    guess = inverse_cbrt_guess(x)
    if x.dtype == FLOAT32:
        root = x * (guess * guess)
        error = fma(-root, guess, 1.0)  # of the rounded root, so two thirds of its rounding error vanish
        return fma(root * error, horner(error, coefficients_of(CBRT, x)), root)
    error = fma(-(x * guess), guess * guess, 1.0)
    inverse = fma(guess * error, polynomial(error, coefficients_of(INVERSE_CBRT, x)), guess)
    inverse_square = inverse * inverse
    root = x * inverse_square
    return fma(fma(-(root * root), root, x), inverse_square * (1 / 3), root)


@math_function(libm.cbrt, lambda mp, x: mp.sign(x) * mp.cbrt(abs(x)), domain=[(-20.0, 20.0)], ulp=2.0)
def cbrt(x: Number) -> Number:
    layout, size = format_of(x), absolute(x)
    denormal = size < layout.tiny
    root = cbrt_of_normal(denormal.where(size * 2.0**54, size))
    root = denormal.where(root * 2.0**-18, root)
    return copysign((size <= layout.largest).where(root, size), x)


@math_function(libm.hypot, lambda mp, x, y: mp.hypot(x, y), domain=[(-20.0, 20.0), (-20.0, 20.0)], ulp=1.5)
def hypot(x: Number, y: Number) -> Number:
    """Return the length by the sum of the squares, where the larger operand is scaled to lie around 1."""
    layout = format_of(x)
    larger, smaller = by_bits(">", absolute(x), absolute(y)), by_bits("<", absolute(x), absolute(y))
    bounded = at_least(at_most(larger, 2.0 ** (layout.bias - 1)), layout.tiny)
    power = bounded.bits & -layout.one_exponent
    inverse = (power.constant(2 * layout.bias << layout.digits) - power).number
    first, second = larger * inverse, smaller * inverse
    result = sqrt(fma(first, first, second * second)) * power.number
    return smaller.equals(INFINITY).where(INFINITY, result)  # infinity beside NaN


def by_bits(predicate: str, x: Number, y: Number) -> Number:
    """Return the larger or the smaller of two numbers without a sign, where NaN is larger than infinity."""
    return x.bits.compare(predicate, y.bits).where(x, y)
