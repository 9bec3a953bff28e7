"""Carlson's symmetric elliptic integrals. Numbers in brackets are those of the DLMF.

The theorem of duplication brings the operands nearer to each other, in a number of steps that is enough for all
numbers, so that there is no branch; a series does the rest. Unlike SciPy's, values are right for denormal numbers
and for the largest ones, too.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, fma, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.declare import math_function
from numbagraph.intrinsics.emitters.vecmath.hyperbolic import arcsinh
from numbagraph.intrinsics.emitters.vecmath.inverse_trigonometric import arctan

INFINITY, NAN = math.inf, math.nan
LARGE, SMALL = 2.0**1021, 2.0**-900
"""The bounds beyond which numbers are scaled. In `elliprg`, a number in the middle that is small does not count beside
1."""
EVEN_EXPONENTS = 0x7FE << 52
TINY = sys.float_info.min

STEPS = 16
"""The number of duplications. Each takes the root of the quotient of operands of different sizes, and then a quarter of
their difference: 11 bring the greatest and the least number next to each other, and after 5 more the series has enough
digits."""
NEAR = 0.006
"""The relative difference of numbers below which they are left as they are, since each step has rounding errors."""


class Duplicated(NamedTuple):
    """The operands after duplications, with a sum and a weight: `elliprd` of the first operands is the sum plus the
    weight times `elliprd` of these."""

    a: Number
    b: Number
    c: Number
    total: Number
    weight: Number


def duplicated(a: Number, b: Number, c: Number) -> Duplicated:
    """Run the duplications. [19.26.18], [19.26.20]"""
    total, weight = a.constant(0.0), a.constant(1.0)
    for _ in range(STEPS):
        apart = absolute(a - b) + absolute(b - c) > NEAR * b
        roots = sqrt(a), sqrt(b), sqrt(c)
        shift = fma(roots[0], roots[1], roots[2] * (roots[0] + roots[1]))
        last = c + shift
        total = apart.where(total + 3.0 * weight / last / roots[2], total)
        weight = apart.where(weight * 0.25, weight)
        a, b, c = (apart.where(0.25 * each, old) for each, old in ((a + shift, a), (b + shift, b), (last, c)))
    return Duplicated(a, b, c, total, weight)


def first_kind(a: Number, b: Number, c: Number) -> Number:
    """Return `elliprf` of numbers that are close to each other. [19.36.1]"""
    mean = (a + b + c) * (1 / 3)
    inverse = 1.0 / mean
    x, y = fma(-a, inverse, 1.0), fma(-b, inverse, 1.0)
    z = -(x + y)
    second, third = fma(x, y, -(z * z)), x * y * z
    series = fma(second, fma(second, fma(second, -5 / 208, 1 / 24), -0.1), 1.0)
    of_third = fma(third, 3 / 104, fma(second, fma(second, 1 / 16, -3 / 44), 1 / 14))
    return fma(third, of_third, series) * sqrt(inverse)


def second_kind(a: Number, b: Number, c: Number) -> Number:
    """Return `elliprd` of numbers that are close to each other. [19.36.2]"""
    mean = (a + b + 3.0 * c) * 0.2
    inverse = 1.0 / mean
    x, y = fma(-a, inverse, 1.0), fma(-b, inverse, 1.0)
    z = (x + y) * (-1 / 3)
    product, square = x * y, z * z
    second, third = fma(square, -6.0, product), fma(product, 3.0, square * -8.0) * z
    fourth, fifth = 3.0 * (product - square) * square, product * square * z
    series = fma(second, fma(second, fma(second, -1 / 16, 9 / 88), -3 / 14), 1.0)
    series = fma(third, fma(third, 3 / 40, fma(second, fma(second, 45 / 272, -9 / 52), 1 / 6)), series)
    series = fma(fourth, fma(third, -9 / 68, fma(second, 3 / 20, -3 / 22)), series)
    series = fma(fifth, fma(second, -9 / 68, 3 / 26), series)
    return series * inverse * sqrt(inverse)


def fitting(*numbers: Number) -> tuple[list[Number], Number]:
    """Return the numbers times a factor for which their sums and inverses neither over- nor underflow, and the root of
    the factor."""
    any_large, all_small = absolute(numbers[0]) > LARGE, absolute(numbers[0]) < SMALL
    for each in numbers[1:]:
        any_large, all_small = any_large | (absolute(each) > LARGE), all_small & (absolute(each) < SMALL)
    root = any_large.where(numbers[0].constant(0.5), all_small.where(numbers[0].constant(2.0**100), 1.0))
    return [each * (root * root) for each in numbers], root


def any_infinite(*numbers: Number) -> Number:
    found = numbers[0].equals(INFINITY)
    for each in numbers[1:]:
        found = found | each.equals(INFINITY)
    return found


def all_known(*numbers: Number) -> Number:
    """Return whether no number is negative or NaN."""
    found = numbers[0] >= 0.0
    for each in numbers[1:]:
        found = found & (each >= 0.0)
    return found


def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return mpmath's function where it is real, else NaN."""
    return lambda mp, *numbers: function(mp, *numbers) if min(numbers) >= 0 else mp.nan


OPERANDS = (0.0, 10.0)


@math_function(
    libm.scipy("elliprf"),
    exact(lambda mp, *numbers: mp.elliprf(*numbers)),
    domain=[OPERANDS] * 3,
    ulp=5.0,
    room=6,
)
@wide
def elliprf(a: Number, b: Number, c: Number) -> Number:
    numbers, root = fitting(a, b, c)
    value = first_kind(*duplicated(*numbers)[:3]) * root
    zeros = a.equals(0.0) & (b.equals(0.0) | c.equals(0.0)) | b.equals(0.0) & c.equals(0.0)
    value = any_infinite(a, b, c).where(0.0, zeros.where(INFINITY, value))
    return all_known(a, b, c).where(value, NAN)


@math_function(
    libm.scipy("elliprd"),
    exact(lambda mp, *numbers: mp.elliprd(*numbers)),
    domain=[OPERANDS] * 3,
    ulp=6.0,
    room=6,
)
@wide
def elliprd(a: Number, b: Number, c: Number) -> Number:
    numbers, root = fitting(a, b, c)
    *near, total, weight = duplicated(*numbers)
    value = fma(second_kind(*near), weight, total) * (root * root * root)
    value = (a.equals(0.0) & b.equals(0.0)).where(INFINITY, value)
    value = c.equals(0.0).where(INFINITY, any_infinite(a, b, c).where(0.0, value))
    return all_known(a, b, c).where(value, NAN)


def even_power_of(x: Number) -> Number:
    """Return a power of 4 near a positive number, which is up to 8 times as much, or less if it is denormal."""
    power = ((x.bits & EVEN_EXPONENTS) - (1 << 52)).number
    return (x < 4 * TINY).where(TINY, power)


def sorted_numbers(a: Number, b: Number, c: Number) -> tuple[Number, Number, Number]:
    low, high = (b < a).where(b, a), (b < a).where(a, b)
    least, rest = (c < low).where(c, low), (c < low).where(low, c)
    return least, (rest < high).where(rest, high), (rest < high).where(high, rest)


@math_function(
    libm.scipy("elliprg"),
    exact(lambda mp, *numbers: mp.elliprg(*numbers)),
    domain=[OPERANDS] * 3,
    ulp=6.0,
    room=6,
)
@wide
def elliprg(a: Number, b: Number, c: Number) -> Number:
    """Return `elliprg` by the two other integrals, with the number in the middle as the last operand: all terms have
    one sign. [19.21.10]"""
    size = even_power_of(sorted_numbers(a, b, c)[2])
    least, middle, greatest = sorted_numbers(*(each * (1.0 / size) for each in (a, b, c)))
    *near, total, weight = duplicated(least, greatest, middle)
    of_second_kind = fma(second_kind(*near), weight, total)
    of_second_kind = (middle - least) * ((greatest - middle) * of_second_kind)
    roots = sqrt(least) * sqrt(greatest) / sqrt(middle)
    value = fma(middle, first_kind(*near), fma(of_second_kind, 1 / 3, roots)) * 0.5
    value = (middle < SMALL).where(sqrt(greatest) * 0.5, value) * sqrt(size)
    value = greatest.equals(INFINITY).where(INFINITY, value)
    return all_known(a, b, c).where(value, NAN)


@math_function(
    libm.scipy("elliprc"),
    lambda mp, a, b: mp.elliprc(a, b) if a >= 0 else mp.nan,
    domain=[OPERANDS, (-10.0, 10.0)],
    ulp=6.0,
    room=3,
)
@wide
def elliprc(a: Number, b: Number) -> Number:
    """Return `elliprc` by an arcus tangent or an inverse hyperbolic sine; a principal value where the second operand is
    negative. [19.2.17-20]"""
    known = (a >= 0.0) | b.equals(-INFINITY) & (a > -INFINITY)
    (a, b), scale = fitting(a, b)
    principal = b < 0.0
    first, second = principal.where(a - b, a + 0.0), absolute(b)  # 0.0 of -0.0
    above, root = first > second, sqrt(absolute(first - second))
    ratio = root / sqrt(above.where(second, first))
    value = above.where(arcsinh.of(ratio), arctan.of(ratio)) / root
    value = first.equals(second).where(1.0 / sqrt(first), value) * scale
    value = any_infinite(first, second).where(0.0, value)
    value = principal.where(value * (sqrt(absolute(a)) / sqrt(first)), value)
    return (known & second.differs(0.0)).where(value, NAN)
