"""Inverse trigonometric functions."""

from __future__ import annotations

import math

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, sqrt
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_least,
    at_most,
    coefficients_of,
    format_of,
    math_function,
    polynomial,
)
from numbagraph.intrinsics.emitters.vecmath.tables.inverse_trigonometric import ARCSINE, ARCTANGENT, QUARTER_PI

INFINITY = math.inf


def arcsine_of_half(x: Number) -> tuple[Number, Number]:
    """Return the arcsine of the size of x up to 1/2; beyond, that of ``sqrt((1 - abs(x)) / 2)``; and whether it is
    beyond.

    The arccosine of a number beyond 1/2 is twice the latter.
    """
    size = absolute(x)
    beyond = size > 0.5
    square = beyond.where(fma(size, -0.5, 0.5), x * x)
    sine = beyond.where(sqrt(square), size)
    return fma(square * sine, polynomial(square, coefficients_of(ARCSINE, x)), sine), beyond


@math_function(libm.arcsin, lambda mp, x: mp.asin(x), domain=[(-1.0, 1.0)], near=(-1.0, -0.5, 0.0, 0.5, 1.0))
def arcsin(x: Number) -> Number:
    angle, beyond = arcsine_of_half(x)
    return copysign(beyond.where(fma(angle, -2.0, math.pi / 2), angle), x)


@math_function(libm.arccos, lambda mp, x: mp.acos(x), domain=[(-1.0, 1.0)], near=(-1.0, -0.5, 0.0, 0.5, 1.0))
def arccos(x: Number) -> Number:
    angle, beyond = arcsine_of_half(x)
    start = beyond.where((x < 0.0).where(x.constant(math.pi), 0.0), math.pi / 2)
    return fma(copysign(angle, x), beyond.where(x.constant(2.0), -1.0), start)


def arctangent_of_ratio(smaller: Number, larger: Number) -> Number:
    """Return the arctangent of a quotient up to 1; that of equal numbers is right whatever they are."""
    difference = smaller - larger
    # tan(pi / 8) is sqrt(2) - 1. So written, it is true of infinity by infinity, and not of zero by zero.
    upper = ~(difference <= smaller * -math.sqrt(2))
    ratio = upper.where(difference, smaller) / upper.where(smaller + larger, larger)
    ratio = smaller.equals(larger).where(0.0, ratio)
    square = ratio * ratio
    quarter, error = (upper.where(ratio.constant(part), 0.0) for part in coefficients_of(QUARTER_PI, ratio))
    return (quarter + ratio) + fma(square * ratio, polynomial(square, coefficients_of(ARCTANGENT, ratio)), error)


@math_function(
    libm.arctan, lambda mp, x: mp.atan(x), domain=[(-4.0, 4.0)], near=(0.0, 2**0.5 - 1, 1.0, 2**0.5 + 1), serial=True
)
def arctan(x: Number) -> Number:
    size = absolute(x)
    angle = arctangent_of_ratio(at_most(size, 1.0), at_least(size, 1.0))
    return copysign((size > 1.0).where(math.pi / 2 - angle, angle), x)


@math_function(libm.arctan2, lambda mp, y, x: mp.atan2(y, x), domain=[(-4.0, 4.0), (-4.0, 4.0)], serial=True)
def arctan2(y: Number, x: Number) -> Number:
    height, width = absolute(y), absolute(x)
    steep = height > width
    smaller, larger = steep.where(width, height), steep.where(height, width)
    factor = (larger > format_of(x).largest / 4).where(x.constant(0.25), 1.0)  # for the sum of both
    angle = arctangent_of_ratio(smaller * factor, larger * factor)
    angle = steep.where(math.pi / 2 - angle, angle)
    angle = x.bits.compare("<", 0).where(math.pi - angle, angle)
    return copysign(angle, y)
