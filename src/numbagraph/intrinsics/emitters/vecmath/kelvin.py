"""Kelvin's functions: real and imaginary parts of ``I0(z)`` and ``K0(z)``, and of their derivatives by x, where
``z = x * exp(1j * pi / 4)``.

Those of the first kind are polynomials up to 8, those of the second kind polynomials and a logarithm up to 1. Beyond,
they are ``exp(z)`` and ``exp(-z)`` times factors that vary slowly. To the growing term, the first kind adds ``1j / pi``
times the second one, which counts up to 26. Numbers in brackets are those of the DLMF.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, fma, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.declare import (
    MathFunction,
    at_most,
    coefficients_of,
    fast_two_sum,
    format_of,
    math_function,
    polynomial,
    two_product,
)
from numbagraph.intrinsics.emitters.vecmath.exponential import exp
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.modified_bessel import times_exp
from numbagraph.intrinsics.emitters.vecmath.tables import kelvin as tables
from numbagraph.intrinsics.emitters.vecmath.tables.trigonometric import PI
from numbagraph.intrinsics.emitters.vecmath.trigonometric import less_multiple, sine_of_rest, with_sign_of_parity

FIRST_TAIL, SECOND_TAIL = 8.0, 1.0
"""The numbers from which on the functions of the first and of the second kind are exponentials times sines."""
FIRST_MIDDLE, SECOND_MIDDLE = 1 / 18, 1 / 4
"""The zeros of the variables of their polynomials there."""
ROOT, ROOT_REST = 0.7071067811865476, -4.833646656726457e-17
"""The root of 1/2 in two parts."""
FARTHEST = 2.0**27
"""The number beyond which signs of infinities and zeros are those of this number."""
TERMS = 5
"""The number of a polynomial's coefficients that count up to `SECOND_TAIL`."""
FAR = 100
"""The number from which on the asymptotic series has all digits of mpmath's precision."""

Pair = tuple[Number, Number]


class Turn(NamedTuple):
    """The parts of the functions of a number beyond the tails."""

    size: Number
    """The real and the imaginary part of z; `rest` is its rounding error."""
    rest: Number
    sine: Number
    cosine: Number
    inverse: Number
    """``1 / (x + 1)``."""

    def times_exp(self, factor: Number, sign: float) -> Number:
        """Return ``factor * exp(sign * size) / sqrt(x + 1)``."""
        factor = factor * sqrt(self.inverse)
        return times_exp(fma(factor, self.rest * sign, factor), self.size * sign)


def turn(x: Number) -> Turn:
    """Return the parts for a number. For infinity all are NaN, as SciPy's functions are."""
    known = x.equals(math.inf).where(math.nan, x)
    inside, magic, pi = at_most(known, FARTHEST), format_of(x).magic, coefficients_of(PI, x)
    size, error = two_product(inside, x.constant(ROOT))
    rest = fma(inside, ROOT_REST, error)

    def sine(shifted: Number, ahead: float) -> Number:
        """Return the sine of an angle that is ahead of the size by so many half turns."""
        left, less = less_multiple(size, (shifted - magic) - ahead, pi)
        angle, more = fast_two_sum(left, rest - less)
        return with_sign_of_parity(sine_of_rest(angle, -more), shifted.bits)

    half_turns = size * (1 / math.pi)
    return Turn(size, rest, sine(half_turns + magic, 0.0), sine((half_turns + 0.5) + magic, 0.5), 1.0 / (x + 1.0))


def slow(name: str, order: int, t: Number) -> Pair:
    real, imag = (coefficients_of(getattr(tables, f"{name}_{part}_{order}"), t) for part in ("REAL", "IMAG"))
    return polynomial(t, real), polynomial(t, imag)


def rising(x: Number, order: int) -> Pair:
    """Return the function of the first kind, or its derivative, beyond `FIRST_TAIL`. [10.67.3, 10.67.5]"""
    z = turn(x)
    t, falling = z.inverse - FIRST_MIDDLE, exp.of(-z.size)
    share = falling * falling * (1 / math.pi)
    real, imag = slow("RISING", order, t)
    less, more = slow("SHORT", order, t)
    along = fma(more, -share, real), fma(less, share, imag)
    across = fma(less, -share, imag), fma(more, share, real)
    return (
        z.times_exp(fma(along[0], z.cosine, -(across[0] * z.sine)), 1.0),
        z.times_exp(fma(along[1], z.cosine, across[1] * z.sine), 1.0),
    )


def falling(x: Number, order: int) -> Pair:
    """Return the function of the second kind, or its derivative, beyond `SECOND_TAIL`. [10.67.1]"""
    z = turn(x)
    real, imag = slow("FALLING", order, z.inverse - SECOND_MIDDLE)
    return (
        z.times_exp(fma(real, z.cosine, imag * z.sine), -1.0),
        z.times_exp(fma(imag, z.cosine, -(real * z.sine)), -1.0),
    )


def near_first(x: Number, name: str, count: int | None = None) -> Number:
    """Return a function up to `FIRST_TAIL`, or by the first ``count`` coefficients up to `SECOND_TAIL`; a derivative
    per number."""
    square = x * x
    q = square * square
    per_power = polynomial(q, coefficients_of(getattr(tables, name), x)[:count])
    if name == "BER":
        return fma(q, per_power, 1.0)
    return per_power if name == "BEIP" else square * per_power


def near_second(x: Number, name: str, of_first: str) -> Number:
    """Return a function up to `SECOND_TAIL`; a derivative without the pole and per number."""
    logarithm = log.of(x if name == "KER" else x.equals(0.0).where(1.0, x))
    return fma(-logarithm, near_first(x, of_first, TERMS), polynomial(x * x, coefficients_of(getattr(tables, name), x)))


def exact_near(mp: Any, x: Any) -> tuple[Any, ...]:
    """Return both functions, and their derivatives, by the series around 0. [10.65.1 to 10.65.5]"""
    if not x:
        return mp.mpc(1), mp.mpc(0), mp.mpc(mp.inf, -mp.pi / 4), mp.mpc(-mp.inf, 0)
    with mp.workprec(mp.mp.prec + 3 * FAR):
        term, harmonic, k = mp.mpc(1), mp.mpf(0), 0
        sums = [mp.mpc(0)] * 4
        while k < x or abs(term) * (k + 1) > mp.eps * x**4:
            shares = term, 2 * k * term, harmonic * term, 2 * k * harmonic * term
            sums = [total + share for total, share in zip(sums, shares, strict=True)]
            k += 1
            harmonic += mp.mpf(1) / k
            term *= mp.mpc(0, x * x / 4) / (k * k)
        first, first_slope, second, second_slope = sums[0], sums[1] / x, sums[2], sums[3] / x
        logarithm = mp.log(x / 2) + mp.euler + mp.mpc(0, mp.pi / 4)
        return (
            first,
            first_slope,
            second - logarithm * first,
            second_slope - logarithm * first_slope - first / x,
        )


def exact_far(mp: Any, x: Any) -> tuple[Any, ...]:
    """Return both functions, and their derivatives, by the asymptotic series."""
    turned = mp.expjpi(mp.mpf(1) / 4)
    z = x * turned

    def series(order: int, w: Any) -> Any:
        total, term, k = mp.mpc(1), mp.mpc(1), 1
        while abs(term) > mp.eps:
            term *= mp.mpf(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * w)
            total += term
            k += 1
        return total

    second = [mp.sqrt(mp.pi / 2 / z) * mp.exp(-z) * series(order, z) * (-turned) ** order for order in (0, 1)]
    first = [mp.exp(z) / mp.sqrt(2 * mp.pi * z) * series(order, -z) * turned**order for order in (0, 1)]
    return (*(rise + 1j / mp.pi * fall for rise, fall in zip(first, second, strict=True)), *second)


def exact(place: int, part: str, parity: int) -> Callable[[Any, Any], Any]:
    """Return a function for one of the results of `exact_near` and `exact_far`. ``parity`` is the factor for negative
    numbers; functions of the second kind, for which it is 0, are NaN there."""

    def function(mp: Any, x: Any) -> Any:
        if x < 0 and not parity:
            return mp.nan
        size = abs(x)
        value = getattr((exact_near if size < FAR else exact_far)(mp, size)[place], part)
        return value * parity if x < 0 else value

    return function


def size_from(start: float, growing: int) -> Callable[[Any], Any]:
    """Return a function for the size that errors are relative to: from some number on, that of the complex function."""

    def size(x: Any) -> Any:
        inside = np.clip(np.abs(x), start, 1000.0)
        factor = 1 / math.sqrt(2 * math.pi) if growing > 0 else math.sqrt(math.pi / 2)
        return np.where(np.abs(x) < start, 0.0, factor / np.sqrt(inside) * np.exp(growing * ROOT * inside))

    return size


def first_kind(place: int, part: str, start: float) -> Callable[[Callable[..., Number]], MathFunction]:
    def declare(function: Callable[..., Number]) -> MathFunction:
        return math_function(
            libm.scipy(function.__name__),
            exact(place, part, (-1) ** place),
            domain=[(-1000.0, 1000.0)],
            near=(0.0, FIRST_TAIL),
            everywhere=False,
            beside=size_from(start, 1),
            ulp=4.0,
            room=3,
        )(function)

    return declare


def second_kind(place: int, part: str, start: float) -> Callable[[Callable[..., Number]], MathFunction]:
    def declare(function: Callable[..., Number]) -> MathFunction:
        return math_function(
            libm.scipy(function.__name__),
            exact(place, part, 0),
            domain=[(0.0, 1000.0)],
            near=(SECOND_TAIL,),
            everywhere=False,
            beside=size_from(start, -1),
            ulp=6.0,
            room=4,
        )(function)

    return declare


def first(x: Number, name: str, part: int) -> Number:
    size = absolute(x)
    return (size > FIRST_TAIL).where(rising(size, 0)[part], near_first(x, name))


def first_slope(x: Number, name: str, part: int) -> Number:
    """Return an odd function. For -0.0 it is 0.0, as SciPy's."""
    size = absolute(x)
    far = (rising(size, 1)[part].bits ^ (x.bits & format_of(x).sign)).number
    return (size > FIRST_TAIL).where(far, fma(near_first(x, name), x, 0.0))


def second(x: Number, near: Number, order: int, part: int) -> Number:
    return (x > SECOND_TAIL).where(falling(x, order)[part], near)


@first_kind(0, "real", 2.0)
@wide
def ber(x: Number) -> Number:
    return first(x, "BER", 0)


@first_kind(0, "imag", 4.0)
@wide
def bei(x: Number) -> Number:
    return first(x, "BEI", 1)


@first_kind(1, "real", 5.0)
@wide
def berp(x: Number) -> Number:
    return first_slope(x, "BERP", 0)


@first_kind(1, "imag", 3.0)
@wide
def beip(x: Number) -> Number:
    return first_slope(x, "BEIP", 1)


@second_kind(2, "real", 1.2)
@wide
def ker(x: Number) -> Number:
    return second(x, near_second(x, "KER", "BER"), 0, 0)


@second_kind(2, "imag", 3.0)
@wide
def kei(x: Number) -> Number:
    return second(x, near_second(x, "KEI", "BEI"), 0, 1)


@second_kind(3, "real", 2.0)
@wide
def kerp(x: Number) -> Number:
    return second(x, fma(near_second(x, "KERP", "BERP"), x, -1.0 / absolute(x)), 1, 0)


@second_kind(3, "imag", 4.0)
@wide
def keip(x: Number) -> Number:
    return second(x, fma(near_second(x, "KEIP", "BEIP"), x, 0.0), 1, 1)
