"""Trigonometric functions, reduced by multiples of pi in three parts. Huge arguments are left to a library."""

from __future__ import annotations

import math

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Bits, Number, absolute, fma
from numbagraph.intrinsics.emitters.vecmath.declare import (
    by_format,
    coefficients_of,
    format_of,
    horner,
    math_function,
    polynomial,
    two_product,
)
from numbagraph.intrinsics.emitters.vecmath.rare import only_where
from numbagraph.intrinsics.emitters.vecmath.tables.trigonometric import HALF_PI, PI, SINE, TANGENT

FIRST_POLE = (2 / math.pi) ** 2
POLES = 1.0, -FIRST_POLE * 10 / 9, FIRST_POLE**2 / 9
"""A polynomial of the square of x that is zero at the first two poles of the tangent."""


def is_huge(x: Number) -> Number:
    """Return whether three parts of pi are not enough, which they are as long as their multiples have some bits to
    spare."""
    return absolute(x) > by_format(x, 2.0**27, 2.0**15)


def less_multiple(x: Number, n: Number, parts: tuple[float, ...]) -> tuple[Number, Number]:
    """Return ``x - n * (first + second + third)`` as a number and what to subtract from it.

    Both subtractions of the first two parts have no error, if what is left of x is small.
    """
    first, second, third = parts
    near = fma(n, -first, x)
    product, error = two_product(n, x.constant(second))
    rest = near - product
    return rest, ((rest - near) + product) + fma(n, third, error)


def sine_of_rest(rest: Number, error: Number) -> Number:
    """Return ``sin(rest - error)``; for -0.0 that is -0.0."""
    square = rest * rest
    cubic = polynomial(square, coefficients_of(SINE, rest))
    return rest - fma(square * rest, cubic, error * fma(square, -0.5, 1.0))


def with_sign_of_parity(x: Number, count: Bits) -> Number:
    """Return ``-x`` if the lowest bit of ``count`` is set, else ``x``."""
    return (x.bits ^ (count << (8 * x.dtype.itemsize - 1))).number


@math_function(
    libm.sin,
    lambda mp, x: mp.sin(x),
    domain=[(-20.0, 20.0)],
    near=(0.0, *(math.pi * n for n in range(1, 9))),
    serial=True,
)
def sin(x: Number) -> Number:
    huge = is_huge(x)
    of_huge = only_where(huge, libm.sin, x)
    magic = format_of(x).magic
    shifted = fma(x, 1 / math.pi, magic)
    rest, error = less_multiple(x, shifted - magic, coefficients_of(PI, x))
    sine = with_sign_of_parity(sine_of_rest(rest, error), shifted.bits)
    return huge.where(of_huge, sine)


@math_function(
    libm.cos,
    lambda mp, x: mp.cos(x),
    domain=[(-20.0, 20.0)],
    near=tuple(math.pi * (n + 0.5) for n in range(9)),
    serial=True,
)
def cos(x: Number) -> Number:
    """Return the cosine as the sine of the rest to an odd multiple of pi / 2."""
    huge = is_huge(x)
    of_huge = only_where(huge, libm.cos, x)
    magic = format_of(x).magic
    shifted = fma(x, 1 / math.pi, 0.5) + magic
    rest, error = less_multiple(x, (shifted - magic) - 0.5, coefficients_of(PI, x))
    cosine = with_sign_of_parity(sine_of_rest(rest, error), shifted.bits)
    return huge.where(of_huge, cosine)


def quotient_of_rest(rest: Number, error: Number) -> tuple[Number, Number]:
    """Return the tangent of ``rest - error`` as a numerator and a denominator.

    A denominator that is zero at the nearest poles leaves a short polynomial for the numerator.
    """
    square = rest * rest
    denominator = horner(square, POLES)
    beyond_rest = fma(square * rest, polynomial(square, coefficients_of(TANGENT, rest)), -error)
    return fma(rest, denominator, beyond_rest), denominator


@math_function(libm.tan, lambda mp, x: mp.tan(x), domain=[(-20.0, 20.0)], near=tuple(math.pi / 2 * n for n in range(9)))
def tan(x: Number) -> Number:
    """Return the tangent by a quotient, inverted where x is closer to an odd multiple of pi / 2."""
    huge = is_huge(x)
    of_huge = only_where(huge, libm.tan, x)
    magic = format_of(x).magic
    shifted = fma(x, 2 / math.pi, magic)
    rest, error = less_multiple(x, shifted - magic, coefficients_of(HALF_PI, x))
    numerator, denominator = quotient_of_rest(rest, error)
    odd = (shifted.bits & 1).compare("!=", 0)
    tangent = odd.where(denominator, numerator) / odd.where(-numerator, denominator)
    return huge.where(of_huge, tangent)
