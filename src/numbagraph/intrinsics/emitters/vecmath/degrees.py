"""Trigonometric functions of degrees. Multiples of right angles are subtracted without an error."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Bits, Number, absolute, copysign, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import coefficients_of, format_of, math_function
from numbagraph.intrinsics.emitters.vecmath.tables.trigonometric import DEGREE
from numbagraph.intrinsics.emitters.vecmath.trigonometric import quotient_of_rest, sine_of_rest, with_sign_of_parity

LARGEST = 1e14
"""The number beyond which SciPy gives 0."""
MULTIPLES = tuple(90.0 * n for n in range(-4, 5))


def radians_of(rest: Number) -> tuple[Number, Number]:
    """Return an angle of at most a right angle in radians: a number, and what to subtract from it."""
    degree, degree_error = coefficients_of(DEGREE, rest)
    angle = rest * degree
    return angle, -fma(rest, degree_error, fma(rest, degree, -angle))


def in_range(x: Number, value: Number) -> Number:
    return (absolute(x) > LARGEST).where(0.0, value)


def exact(name: str) -> Any:
    """Return mpmath's function, evaluated at the rest to a multiple of 180 degrees, so that zeros and poles are
    exact."""

    def function(mp: Any, x: Any) -> Any:
        if abs(x) > LARGEST:
            return mp.mpf(0)
        half_turns = mp.nint(x / 180)
        rest = x - 180 * half_turns
        if (rest == 0 and name in ("sin", "tan")) or (abs(rest) == 90 and name in ("cos", "cot")):
            return mp.mpf(0)
        value = getattr(mp, name)(mp.radians(rest))
        return -value if name in ("sin", "cos") and half_turns % 2 else value

    return function


def sine(rest: Number, count: Bits) -> Number:
    return with_sign_of_parity(sine_of_rest(*radians_of(rest)), count)


@math_function(libm.scipy("sindg"), exact("sin"), domain=[(-1000.0, 1000.0)], near=MULTIPLES, ulp=2.5)
@wide
def sindg(x: Number) -> Number:
    magic = format_of(x).magic
    shifted = fma(x, 1 / 180, magic)
    return in_range(x, sine(fma(shifted - magic, -180.0, x), shifted.bits))


@math_function(libm.scipy("cosdg"), exact("cos"), domain=[(-1000.0, 1000.0)], near=MULTIPLES, ulp=2.5)
@wide
def cosdg(x: Number) -> Number:
    """Return the sine of the rest to an odd multiple of 90 degrees."""
    magic = format_of(x).magic
    shifted = fma(x, 1 / 180, 0.5) + magic
    return in_range(x, sine(fma(shifted - magic - 0.5, -180.0, x), shifted.bits))


def tangent(x: Number, inverted_parity: int, least: float) -> Number:
    """Return the tangent of the rest to a number of right angles, inverted if that number has the given parity.

    A rest up to ``least`` counts as 0.
    """
    magic = format_of(x).magic
    shifted = fma(x, 1 / 90, magic)
    rest = fma(shifted - magic, -90.0, x)
    numerator, denominator = quotient_of_rest(*radians_of(rest))
    inverted = (shifted.bits & 1).compare("==", inverted_parity)
    quotient = inverted.where(denominator, numerator) / inverted.where(numerator, denominator)
    quotient = absolute(rest).equals(45.0).where(copysign(x.constant(1.0), quotient), quotient)
    # At zeros and poles there is no sign, as SciPy has it.
    special = inverted.where(x.constant(math.inf), 0.0)
    return in_range(x, (absolute(rest) <= least).where(special, with_sign_of_parity(quotient, shifted.bits)))


@math_function(libm.scipy("tandg"), exact("tan"), domain=[(-1000.0, 1000.0)], near=MULTIPLES, ulp=3.5)
@wide
def tandg(x: Number) -> Number:
    return tangent(x, 1, 0.0)


@math_function(libm.scipy("cotdg"), exact("cot"), domain=[(-1000.0, 1000.0)], near=MULTIPLES, ulp=3.5)
@wide
def cotdg(x: Number) -> Number:
    """Return the cotangent; as SciPy's, it is infinite as soon as the difference to 90 rounds to it."""
    return tangent(x, 0, 2.0**-47)
