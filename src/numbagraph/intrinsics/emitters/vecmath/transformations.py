"""Differences of exponentials, powers and cosines to 1, and transformations that are written with them."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, fma, intrinsic, lifted, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.declare import (
    by_format,
    math_function,
    two_product,
)
from numbagraph.intrinsics.emitters.vecmath.double_double import expm1_of_parts, log_in_parts
from numbagraph.intrinsics.emitters.vecmath.exponential import expm1
from numbagraph.intrinsics.emitters.vecmath.trigonometric import sin

INFINITY, NAN = math.inf, math.nan

_round = lifted(intrinsic("rint"))


def exact_exprel(mp: Any, x: Any) -> Any:
    return mp.expm1(x) / x if x else mp.mpf(1)


@math_function(libm.scipy("exprel"), exact_exprel, domain=[(-40.0, 709.7)], near=(0.0,), everywhere=False, ulp=3.5)
@wide
def exprel(x: Number) -> Number:
    """Return the function; as SciPy's, it is infinite as soon as the exponential is."""
    quotient = expm1.of(x) / x
    return (absolute(x) < 1e-16).where(1.0, (x > 717.0).where(INFINITY, quotient))


@math_function(libm.scipy("cosm1"), lambda mp, x: -2 * mp.sin(x / 2) ** 2, domain=[(-20.0, 20.0)], near=(0.0,), ulp=4.5)
@wide
def cosm1(x: Number) -> Number:
    sine = sin.of(x * 0.5)
    return fma(sine * -2.0, sine, 0.0)


def exact_powm1(mp: Any, x: Any, y: Any) -> Any:
    return mp.expm1(y * mp.log(x)) if x > 0 else mp.power(x, y) - 1


@math_function(
    libm.scipy("powm1"),
    exact_powm1,
    domain=[(0.0, 20.0), (-20.0, 20.0)],
    near=(1.0,),
    everywhere=False,
    ulp=4.0,
    room=3,
)
def powm1(x: Number, y: Number) -> Number:
    size = absolute(x)
    log, log_error = log_in_parts(size)
    product, error = two_product(log, y)
    result = expm1_of_parts(product, fma(log_error, y, error))
    tiny = absolute(product) < by_format(x, 2.0**-54, 2.0**-25)
    result = tiny.where((log + log_error) * y, result)
    half_y, negative = y * 0.5, x < 0.0
    whole = _round(y).equals(y) & (absolute(y) < INFINITY)
    odd = whole & _round(half_y).differs(half_y)
    result = (negative & odd).where(-2.0 - result, (negative & ~whole).where(NAN, result))
    # As SciPy has it, powers that are too large are 0 of numbers whose size is below 1.
    overflown = absolute(result).equals(INFINITY) & (size < 1.0) & (size > 0.0)
    return (x.equals(1.0) | y.equals(0.0) | overflown).where(0.0, result)


@math_function(
    libm.scipy("pseudo_huber"),
    lambda mp, delta, r: delta * delta * mp.sqrt(1 + (r / delta) ** 2) - delta * delta if delta else mp.mpf(0),
    domain=[(1e-3, 20.0), (-20.0, 20.0)],
    everywhere=False,
    ulp=4.0,
)
@wide
def pseudo_huber(delta: Number, r: Number) -> Number:
    """Return ``delta**2 * (sqrt(1 + v) - 1)`` for the square v of the quotient, without a difference."""
    quotient = r / delta
    square = quotient * quotient
    excess = square.equals(INFINITY).where(square, square / (sqrt(square + 1.0) + 1.0))
    inside = (delta.equals(0.0) | r.equals(0.0)).where(0.0, delta * delta * excess)
    return (delta < 0.0).where(INFINITY, inside)
