"""The integrals from 0 of the Bessel functions of the order 0, and of the modified ones.

Those of J0 and Y0 are polynomials up to 5, and beyond that an amplitude times a sine, as the functions themselves. That
of I0 is a polynomial up to 16, and then one times the exponential; that of K0 is a series at 0 up to 2, and beyond that
its difference to pi / 2 is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.bessel import PER_PI, Wave, amplitude_from, oscillating
from numbagraph.intrinsics.emitters.vecmath.declare import (
    MathFunction,
    by_result,
    coefficients_of,
    math_function,
    polynomial,
)
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.modified_bessel import growing, times_exp
from numbagraph.intrinsics.emitters.vecmath.tables.bessel_integrals import (
    AMPLITUDE,
    DECAYING,
    DECAYING_TAIL,
    FIRST,
    GROWING,
    GROWING_SHORT,
    GROWING_TAIL,
    PHASE,
    SECOND,
)

WAVE_TAIL, FIRST_TAIL, SECOND_TAIL = 5.0, 16.0, 2.0
"""The numbers from which on the integrals of J0 and Y0 are waves, and those of I0 and K0 are scaled by exponentials."""
SQUARE, WAVE_MIDDLE, FIRST_MIDDLE, SECOND_MIDDLE = 12.5, 1 / 12, 1 / 32, 1 / 6
"""The zeros of the polynomials' variables: of the square up to `WAVE_TAIL`, and of inverses from each of the three
tails on."""
FAR = 180
"""The number from which on the asymptotic series has all digits of mpmath's precision."""

FIRST_WAVE, SECOND_WAVE = (Wave(-5, AMPLITUDE, PHASE, turn, WAVE_MIDDLE) for turn in (-1, -3))


def asymptotic(mp: Any, x: Any, turn: Any) -> Any:
    """Return the series of ``turn`` per number, which is 1 at infinity. [A&S 11.1.12]"""
    before, each, total, k = mp.mpf(0), mp.mpf(1), mp.mpc(0), 0
    while abs(each) > mp.eps * x**k:
        total += each * (turn / x) ** k
        following = 3 * (k + mp.mpf(1) / 2) * (k + mp.mpf(5) / 6) * each - (k + mp.mpf(1) / 2) ** 2 * (k - 0.5) * before
        before, each, k = each, following / (2 * k + 2), k + 1
    return total


def exact_near(mp: Any, x: Any, sign: int) -> tuple[Any, Any]:
    """Return the integrals of J0 and of Y0 without its factor, or of I0 and of -K0. [A&S 11.1.8, 11.1.9]"""
    with mp.workprec(mp.mp.prec + 20 + int(2 * x)):  # terms are up to exp(x)
        x = mp.mpf(x)
        first, second, term, harmonic, k = mp.mpf(0), mp.mpf(0), x, mp.mpf(0), 0
        logarithm = mp.log(x / 2) + mp.euler if x else mp.mpf(0)
        while k < x or abs(term) > mp.eps * x:
            share = term / (2 * k + 1)
            first += share
            second += share * (logarithm - harmonic - mp.mpf(1) / (2 * k + 1))
            k += 1
            term *= sign * x * x / (4 * k * k)
            harmonic += mp.mpf(1) / k
        return first, second


def wave(mp: Any, x: Any) -> Any:
    """The integral of ``J0 + 1j * Y0`` from a large number on."""
    return asymptotic(mp, x, mp.mpc(0, -1)) * mp.expj(mp.pi / 4 + x) / mp.sqrt(mp.pi * x / 2)


def exact_j(mp: Any, x: Any) -> Any:
    size = abs(x)
    return mp.sign(x) * (exact_near(mp, size, -1)[0] if size < FAR else 1 - wave(mp, size).real)


def exact_y(mp: Any, x: Any) -> Any:
    if x < 0:
        return mp.nan
    return exact_near(mp, x, -1)[1] * 2 / mp.pi if x < FAR else -wave(mp, x).imag


def exact_i(mp: Any, x: Any) -> Any:
    size = abs(x)
    if size < FAR:
        return mp.sign(x) * exact_near(mp, size, 1)[0]
    return mp.sign(x) * asymptotic(mp, size, 1).real / mp.sqrt(2 * mp.pi * size) * mp.exp(min(size, 10**4))


def exact_k(mp: Any, x: Any) -> Any:
    if x < 0:
        return mp.nan
    return -exact_near(mp, x, 1)[1] if x < FAR else mp.pi / 2


def integral(name: str, result: int, exact: Callable[..., Any], **measured: Any) -> Callable[..., MathFunction]:
    return math_function(
        partial(libm.scipy(name), result=result), exact, name=f"{name}.{result}", everywhere=False, **measured
    )


def of_j0(size: Number, square: Number) -> Number:
    """Return the integral of J0 per number, up to `WAVE_TAIL`."""
    return polynomial(square - SQUARE, coefficients_of(FIRST, size))


@integral("itj0y0", 0, exact_j, domain=[(-50.0, 50.0)], near=(0.0, WAVE_TAIL, 2.0**27), ulp=6.0, room=3)
@wide
def itj0(x: Number) -> Number:
    size = absolute(x)
    far = oscillating(size, 1.0 / (size + 1.0), FIRST_WAVE)
    return (size > WAVE_TAIL).where(copysign(1.0 + far, x), fma(of_j0(size, x * x), x, 0.0))


@integral(
    "itj0y0",
    1,
    exact_y,
    domain=[(0.0, 50.0)],
    near=(WAVE_TAIL, 2.0**27),
    beside=amplitude_from(1.5),
    ulp=14.0,
    room=4,
)
@wide
def ity0(x: Number) -> Number:
    far = oscillating(x, 1.0 / (x + 1.0), SECOND_WAVE)
    square = x * x
    logarithm = log.of(x.equals(0.0).where(1.0, x)) * PER_PI
    per_number = fma(logarithm, of_j0(x, square), polynomial(square - SQUARE, coefficients_of(SECOND, x)))
    return (x > WAVE_TAIL).where(far, fma(per_number, x, 0.0))


@integral("iti0k0", 0, exact_i, domain=[(-710.0, 710.0)], near=(0.0, FIRST_TAIL), ulp=8.0, room=2)
@wide
def iti0(x: Number) -> Number:
    size = absolute(x)
    per_number = polynomial(x * x, coefficients_of(GROWING, x))
    far = polynomial(1.0 / size - FIRST_MIDDLE, coefficients_of(GROWING_TAIL, x))
    return (size > FIRST_TAIL).where(copysign(growing(size, far), x), fma(per_number, x, 0.0))


@integral("iti0k0", 1, exact_k, domain=[(0.0, 40.0)], near=(SECOND_TAIL,), ulp=5.0, room=3)
@wide
def itk0(x: Number) -> Number:
    square, inverse = x * x, 1.0 / (x + 1.0)
    first, rest = (polynomial(square, coefficients_of(each, x)) for each in (GROWING_SHORT, DECAYING))
    logarithm = math.log(2) - log.of(x.equals(0.0).where(1.0, x))
    per_number = fma(logarithm, first, rest)
    far = polynomial(inverse - SECOND_MIDDLE, coefficients_of(DECAYING_TAIL, x)) * sqrt(inverse)
    return (x > SECOND_TAIL).where(math.pi / 2 - times_exp(far, -x), fma(per_number, x, 0.0))


itj0y0, iti0k0 = by_result(itj0, ity0), by_result(iti0, itk0)
