"""Modified Bessel functions of the orders 0 and 1, as they are and scaled by exponentials."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, sqrt
from numbagraph.intrinsics.emitters.vecmath.declare import (
    MathFunction,
    at_least,
    at_most,
    by_format,
    coefficients_of,
    math_function,
    polynomial,
    scale,
)
from numbagraph.intrinsics.emitters.vecmath.exponential import exp, expm1_of
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.tables.modified_bessel import (
    I0,
    I0_SHORT,
    I0_TAIL,
    I1,
    I1_SHORT,
    I1_TAIL,
    K0,
    K0_TAIL,
    K1,
    K1_TAIL,
)

FIRST_TAIL, SECOND_TAIL = (8.0, 4.0), 1.0
"""The numbers from which on the functions of the first (in float64 and float32) and of the second kind are scaled by
exponentials."""
FIRST_MIDDLE, SECOND_MIDDLE = 1 / 16, 1 / 4
"""The zeros of the variables of their polynomials there."""
LEAST = 5e-324
"""The number whose half is zero: with the logarithm of that, SciPy has no finite value of the second kind."""
FAR = 100
"""The number from which on the asymptotic series has all digits of mpmath's precision."""


def asymptotic(mp: Any, order: int, x: Any, sign: int) -> Any:
    """Return the asymptotic series, which is 1 at infinity."""
    total, term, k = mp.mpf(1), mp.mpf(1), 1
    while abs(term) > mp.eps:
        term *= sign * mp.mpf(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
        k += 1
    return total


def exact_first(order: int, *, scaled: bool) -> Callable[[Any, Any], Any]:
    def function(mp: Any, x: Any) -> Any:
        size = abs(x)
        if size < FAR:
            return mp.besseli(order, x) * (mp.exp(-size) if scaled else 1)
        value = asymptotic(mp, order, size, -1) / mp.sqrt(2 * mp.pi * size) * (-1 if order and x < 0 else 1)
        return value if scaled else value * mp.exp(min(size, 10**4))

    return function


def exact_near(mp: Any, order: int, x: Any) -> Any:
    """Return a function of the second kind up to `FAR`, by the series around 0 and the Wronskian: mpmath's takes
    long."""
    with mp.workprec(mp.mp.prec + 3 * FAR):
        first, total, term, harmonic, k = mp.besseli(0, x), mp.mpf(0), mp.mpf(1), mp.mpf(0), 1
        while term * k > mp.eps * total:
            term *= x * x / (4 * k * k)
            harmonic += mp.mpf(1) / k
            total += term * harmonic
            k += 1
        value = total - (mp.log(x / 2) + mp.euler) * first
        return (1 / x - mp.besseli(1, x) * value) / first if order else value


def exact_second(order: int, *, scaled: bool) -> Callable[[Any, Any], Any]:
    def function(mp: Any, x: Any) -> Any:
        if x < FAR:
            return exact_near(mp, order, x) * (mp.exp(x) if scaled else 1) if x > LEAST else mp.nan
        value = asymptotic(mp, order, x, 1) * mp.sqrt(mp.pi / (2 * x))
        return value if scaled else value * mp.exp(-min(x, 10**4))

    return function


def first_kind(order: int, *, scaled: bool) -> Callable[[Callable[[Number], Number]], MathFunction]:
    return math_function(
        libm.scipy(f"i{order}{'e' * scaled}"),
        exact_first(order, scaled=scaled),
        domain=[(-30.0, 30.0) if scaled else (-714.0, 714.0)],
        near=(0.0, *FIRST_TAIL),
        ulp=4.5,
        room=2,
    )


def second_kind(order: int, *, scaled: bool) -> Callable[[Callable[[Number], Number]], MathFunction]:
    return math_function(
        libm.scipy(f"k{order}{'e' * scaled}"),
        exact_second(order, scaled=scaled),
        domain=[(0.0, 30.0) if scaled else (0.0, 745.0)],
        near=(SECOND_TAIL,),
        ulp=5.0,
        room=3,
    )


def times_exp(factor: Number, x: Number) -> Number:
    """Return ``factor * exp(x)``, with a single rounding to denormals, and also where the exponential alone
    overflows."""
    bounded = at_least(at_most(x, by_format(x, 1070.0, 136.0)), by_format(x, -750.0, -110.0))
    less_1, count = expm1_of(bounded)
    return scale(fma(less_1, factor, factor), count)


class FirstKind(NamedTuple):
    """A function of the first kind of a number's size."""

    tail: Number
    """Whether to take `far`, rather than `near`."""
    near: Number
    """The function up to `FIRST_TAIL`; per the number, if the order is 1."""
    far: Number
    """The scaled function beyond `FIRST_TAIL`, without the square root of the number."""


def of_first_kind(size: Number, near: dict[str, Any], tail: dict[str, Any]) -> FirstKind:
    return FirstKind(
        size > by_format(size, *FIRST_TAIL),
        polynomial(size * size, coefficients_of(near, size)),
        polynomial(1.0 / size - FIRST_MIDDLE, coefficients_of(tail, size)),
    )


def growing(size: Number, far: Number) -> Number:
    """Return a function of the first kind beyond `FIRST_TAIL`. For infinity it is NaN, as SciPy's."""
    return times_exp(far * (sqrt(size) / size), size)


@first_kind(0, scaled=False)
def i0(x: Number) -> Number:
    size = absolute(x)
    tail, near, far = of_first_kind(size, I0, I0_TAIL)
    return tail.where(growing(size, far), near)


@first_kind(0, scaled=True)
def i0e(x: Number) -> Number:
    size = absolute(x)
    tail, near, far = of_first_kind(size, I0, I0_TAIL)
    return tail.where(far / sqrt(size), near * exp.of(-at_most(size, by_format(size, *FIRST_TAIL))))


@first_kind(1, scaled=False)
def i1(x: Number) -> Number:
    """Return the function of the order 1. For -0.0 it is 0.0, as SciPy's."""
    size = absolute(x)
    tail, near, far = of_first_kind(size, I1, I1_TAIL)
    return tail.where(copysign(growing(size, far), x), fma(near, x, 0.0))


@first_kind(1, scaled=True)
def i1e(x: Number) -> Number:
    size = absolute(x)
    tail, near, far = of_first_kind(size, I1, I1_TAIL)
    moderate = near * exp.of(-at_most(size, by_format(size, *FIRST_TAIL)))
    return tail.where(copysign(far / sqrt(size), x), fma(moderate, x, 0.0))


def near_pole_0(x: Number) -> Number:
    """Return `k0` up to `SECOND_TAIL`: a sum of positive numbers. For `LEAST`, SciPy's is infinite."""
    square = x * x
    logarithm = log.of(x.equals(by_format(x, LEAST, 0.0)).where(0.0, x))
    first, rest = (polynomial(square, coefficients_of(each, x)) for each in (I0_SHORT, K0))
    return fma(-logarithm, first, rest)


def near_pole_1(x: Number) -> Number:
    """Return `k1` up to `SECOND_TAIL`. For `LEAST`, SciPy's is NaN."""
    square = x * x
    first, rest = (polynomial(square, coefficients_of(each, x)) for each in (I1_SHORT, K1))
    known = x.equals(by_format(x, LEAST, 0.0)).where(math.nan, x)
    logarithm = log.of(x.equals(0.0).where(1.0, known))
    return fma(fma(logarithm, first, -rest), x, 1.0 / absolute(x))


def falling(x: Number, tail: dict[str, Any]) -> Number:
    """Return a function of the second kind, scaled, from `SECOND_TAIL` on."""
    inverse = 1.0 / (x + 1.0)
    return polynomial(inverse - SECOND_MIDDLE, coefficients_of(tail, x)) * sqrt(inverse)


def decaying(x: Number, near: Number, tail: dict[str, Any]) -> Number:
    return (x > SECOND_TAIL).where(times_exp(falling(x, tail), -x), near)


def scaled(x: Number, near: Number, tail: dict[str, Any]) -> Number:
    return (x > SECOND_TAIL).where(falling(x, tail), near * exp.of(at_most(x, SECOND_TAIL)))


@second_kind(0, scaled=False)
def k0(x: Number) -> Number:
    return decaying(x, near_pole_0(x), K0_TAIL)


@second_kind(0, scaled=True)
def k0e(x: Number) -> Number:
    return scaled(x, near_pole_0(x), K0_TAIL)


@second_kind(1, scaled=False)
def k1(x: Number) -> Number:
    return decaying(x, near_pole_1(x), K1_TAIL)


@second_kind(1, scaled=True)
def k1e(x: Number) -> Number:
    return scaled(x, near_pole_1(x), K1_TAIL)
