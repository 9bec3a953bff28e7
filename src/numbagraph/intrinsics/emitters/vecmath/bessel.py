"""Bessel functions of the orders 0 and 1: polynomials up to 2, and beyond that an amplitude times a sine.

The phase of the sine is the number itself and a bit less or more, whose polynomial has no zeros. So errors near the
zeros of the functions are as small as those of the sine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, fma, formula, lifted, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.declare import (
    MathFunction,
    coefficients_of,
    fast_two_sum,
    format_of,
    math_function,
    polynomial,
)
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.rare import by_call, only_where
from numbagraph.intrinsics.emitters.vecmath.tables.bessel import (
    AMPLITUDE_0,
    AMPLITUDE_1,
    J0,
    J1,
    PHASE_0,
    PHASE_1,
    Y0,
    Y1,
)
from numbagraph.intrinsics.emitters.vecmath.tables.trigonometric import PI
from numbagraph.intrinsics.emitters.vecmath.trigonometric import (
    is_huge,
    less_multiple,
    sine_of_rest,
    with_sign_of_parity,
)

TAIL = 2.0
"""The number from which on the functions are an amplitude times a sine."""
FAR = 100
"""The number from which on the asymptotic series has all digits of mpmath's precision."""
PER_PI = 2 / math.pi

_sin, _cos = lifted(libm.sin), lifted(libm.cos)


class Wave(NamedTuple):
    """A function of large numbers: ``amplitude * sin(x + phase + quarters * pi / 4)``."""

    eighths: int
    """The limit of the phase times the number, at infinity."""
    amplitude: dict[str, Any]
    """The polynomial of the amplitude times ``sqrt(x + 1)``."""
    phase: dict[str, Any]
    """The polynomial of the phase times ``x + 1``."""
    quarters: int
    """An odd number of eighths of a turn."""
    middle: float = 1 / 6
    """The zero of the variable of the polynomials."""


OF_J0, OF_Y0 = Wave(-1, AMPLITUDE_0, PHASE_0, 1), Wave(-1, AMPLITUDE_0, PHASE_0, -1)
OF_J1, OF_Y1 = Wave(3, AMPLITUDE_1, PHASE_1, -1), Wave(3, AMPLITUDE_1, PHASE_1, -3)


def far_away(wave: Wave) -> Callable[[Number], Number]:
    """Return the function of numbers for which `is_huge` holds: two terms of the asymptotic series are enough. For
    infinity it is NaN, as SciPy's."""

    def function(x: Number) -> Number:
        sine, cosine = _sin(x), _cos(x)
        for _ in range(wave.quarters % 8 // 2):
            sine, cosine = cosine, -sine
        phase = wave.eighths / 8 / x
        return fma(phase, cosine - sine, sine + cosine) / (sqrt(x) * math.sqrt(math.pi))

    return function


def oscillating(x: Number, inverse: Number, wave: Wave) -> Number:
    """Return the function of large numbers, for which ``1 / (x + 1)`` is given."""
    huge = is_huge(x)
    name = f"bessel.far.{wave.eighths}.{wave.quarters}"
    of_huge = only_where(huge, by_call(name, formula(far_away(wave))), x)
    t, magic, turn = inverse - wave.middle, format_of(x).magic, wave.quarters / 4
    phase = polynomial(t, coefficients_of(wave.phase, x)) * inverse
    shifted = fma(x + phase, 1 / math.pi, turn) + magic
    rest, error = less_multiple(x, (shifted - magic) - turn, coefficients_of(PI, x))
    angle, less = fast_two_sum(rest, phase - error)
    amplitude = polynomial(t, coefficients_of(wave.amplitude, x)) * sqrt(inverse)
    return huge.where(of_huge, with_sign_of_parity(amplitude * sine_of_rest(angle, -less), shifted.bits))


def near_0(x: Number, square: Number) -> Number:
    """Return ``J0(x)`` up to `TAIL`. The terms that cancel there are rounded once."""
    return fma(square * square, polynomial(square, coefficients_of(J0, x)), fma(x * 0.25, -x, 1.0))


def near_1(x: Number, square: Number) -> Number:
    """Return ``J1(x) / x`` up to `TAIL`."""
    return fma(square * square, polynomial(square, coefficients_of(J1, x)), fma(x * 0.0625, -x, 0.5))


def asymptotic(mp: Any, order: int, x: Any) -> tuple[Any, Any]:
    """Return the functions of the first and of the second kind."""
    total, term, k = mp.mpc(1), mp.mpc(1), 1
    while abs(term) > mp.eps:
        term *= 1j * mp.mpf(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
        k += 1
    value = total * mp.mpc(mp.cos(x), mp.sin(x)) * mp.expj(-mp.pi / 4 - order * mp.pi / 2) / mp.sqrt(mp.pi * x / 2)
    return value.real, value.imag


def exact_near(mp: Any, order: int, x: Any) -> Any:
    """Return a function of the second kind up to `FAR`, by the series around 0 and the Wronskian: mpmath's takes
    long."""
    with mp.workprec(mp.mp.prec + 3 * FAR):
        first, total, term, harmonic, k = mp.besselj(0, x), mp.mpf(0), mp.mpf(1), mp.mpf(0), 1
        while k < x or abs(term) * k > mp.eps:
            term *= -x * x / (4 * k * k)
            harmonic += mp.mpf(1) / k
            total += term * harmonic
            k += 1
        value = ((mp.log(x / 2) + mp.euler) * first - total) * 2 / mp.pi
        return (mp.besselj(1, x) * value - 2 / (mp.pi * x)) / first if order else value


def exact_first(order: int) -> Callable[[Any, Any], Any]:
    def function(mp: Any, x: Any) -> Any:
        if abs(x) < FAR:
            return mp.besselj(order, x)
        return asymptotic(mp, order, abs(x))[0] * (-1 if order and x < 0 else 1)

    return function


def exact_second(order: int) -> Callable[[Any, Any], Any]:
    def function(mp: Any, x: Any) -> Any:
        if x <= 0:
            return mp.nan
        return exact_near(mp, order, x) if x < FAR else asymptotic(mp, order, x)[1]

    return function


def amplitude_from(start: float) -> Callable[[Any], Any]:
    """Return a function for the size that errors are relative to, as for SciPy's: from some number on, the amplitude of
    the oscillation."""
    return lambda x: np.where(np.abs(x) < start, 0.0, np.sqrt(PER_PI / np.maximum(np.abs(x), start)))


def first_kind(order: int) -> Callable[[Callable[[Number], Number]], MathFunction]:
    return math_function(
        libm.scipy(f"j{order}"),
        exact_first(order),
        domain=[(-50.0, 50.0)],
        near=(0.0, TAIL, 2.0**27),
        beside=amplitude_from(TAIL),
        ulp=4.0,
        room=3,
    )


def second_kind(order: int, start: float) -> Callable[[Callable[[Number], Number]], MathFunction]:
    return math_function(
        libm.scipy(f"y{order}"),
        exact_second(order),
        domain=[(0.0, 50.0)],
        near=(TAIL, 2.0**27),
        beside=amplitude_from(start),
        ulp=4.0,
        room=4,
    )


@first_kind(0)
@wide
def j0(x: Number) -> Number:
    size = absolute(x)
    far = oscillating(size, 1.0 / (size + 1.0), OF_J0)
    return (size > TAIL).where(far, near_0(x, x * x))


@first_kind(1)
@wide
def j1(x: Number) -> Number:
    size = absolute(x)
    far = oscillating(size, 1.0 / (size + 1.0), OF_J1)
    signed = (far.bits ^ (x.bits & format_of(x).sign)).number
    return (size > TAIL).where(signed, x * near_1(x, x * x))


@second_kind(0, 0.5)
@wide
def y0(x: Number) -> Number:
    far = oscillating(x, 1.0 / (x + 1.0), OF_Y0)
    square = x * x
    rest = polynomial(square, coefficients_of(Y0, x))
    return (x > TAIL).where(far, fma(log.of(x) * PER_PI, near_0(x, square), rest))


@second_kind(1, 1.5)
@wide
def y1(x: Number) -> Number:
    tail = x > TAIL
    inverse = 1.0 / tail.where(x + 1.0, absolute(x))
    far = oscillating(x, inverse, OF_Y1)
    square = x * x
    rest = polynomial(square, coefficients_of(Y1, x))
    logarithm = log.of(x.equals(0.0).where(1.0, x)) * PER_PI
    return tail.where(far, fma(fma(logarithm, near_1(x, square), rest), x, inverse * -PER_PI))
