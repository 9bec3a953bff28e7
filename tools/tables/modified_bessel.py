"""The tables of the modified Bessel functions."""

from __future__ import annotations

import mpmath
from minimax import Polynomial
from mpmath import mp, mpf

FIRST_TAIL, SECOND_TAIL = (mpf(8), mpf(4)), mpf(1)
"""Where the functions of the first (in float64 and float32) and of the second kind are scaled by exponentials."""
FIRST_MIDDLE, SECOND_MIDDLE = mpf(1) / 16, mpf(1) / 4
"""Where the variables of their polynomials are zero there."""
FAR = 60
"""Where the asymptotic series has all digits."""


def series(order, x, sign):
    """The asymptotic one, which is 1 at infinity"""
    total, term, k = mpf(1), mpf(1), 1
    while abs(term) > mpf(10) ** -mp.dps:
        term *= sign * mpf(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
        k += 1
    return total


def second(order, x):
    """``K(x)``, up to `FAR`, by the series around 0 and the Wronskian. mpmath's own takes ten times as long."""
    with mpmath.workdps(mp.dps + FAR):
        first, square, total, term, harmonic = mpmath.besseli(0, x), x * x / 4, mpf(0), mpf(1), mpf(0)
        for k in range(1, 4 * FAR):
            term *= square / k**2
            harmonic += mpf(1) / k
            total += term * harmonic
        value = total - (mpmath.log(x / 2) + mpmath.euler) * first
        return (1 / x - mpmath.besseli(1, x) * value) / first if order else value


def first_near(order):
    """``I(x) / x**order`` of ``x**2``"""

    def function(square):
        x = mpmath.sqrt(square)
        return mpmath.besseli(order, x) / x**order

    return function


def first_tail(order):
    """``I(x) * exp(-x) * sqrt(x)`` of ``1 / x - FIRST_MIDDLE``"""

    def function(t):
        x = 1 / (t + FIRST_MIDDLE)
        if x > FAR:
            return series(order, x, -1) / mpmath.sqrt(2 * mp.pi)
        return mpmath.besseli(order, x) * mpmath.exp(-x) * mpmath.sqrt(x)

    return function


def second_near_0(square):
    """``K0(x) + log(x) * I0(x)`` of ``x**2``"""
    x = mpmath.sqrt(square)
    return second(0, x) + mpmath.log(x) * mpmath.besseli(0, x)


def second_near_1(square):
    """``(1 / x - K1(x) + log(x) * I1(x)) / x`` of ``x**2``"""
    x = mpmath.sqrt(square)
    return (1 / x - second(1, x) + mpmath.log(x) * mpmath.besseli(1, x)) / x


def second_tail(order):
    """``K(x) * exp(x) * sqrt(x + 1)`` of ``1 / (x + 1) - SECOND_MIDDLE``"""

    def function(t):
        x = 1 / (t + SECOND_MIDDLE) - 1
        if x > FAR:
            return series(order, x, 1) * mpmath.sqrt(mp.pi / 2 * (1 + 1 / x))
        return second(order, x) * mpmath.exp(x) * mpmath.sqrt(x + 1)

    return function


def relative(function):
    return lambda x: 1 / function(x)


ALMOST_0 = mpf("1e-12")
NEAR_0 = (ALMOST_0, FIRST_TAIL[0] ** 2), (ALMOST_0, FIRST_TAIL[1] ** 2)
START = ALMOST_0 - FIRST_MIDDLE
TAIL = (START, 1 / FIRST_TAIL[0] - FIRST_MIDDLE), (START, 1 / FIRST_TAIL[1] - FIRST_MIDDLE)
NEAR_POLE, BEYOND_POLE = (ALMOST_0, SECOND_TAIL), (ALMOST_0 - SECOND_MIDDLE, SECOND_MIDDLE)

TABLES = [
    Polynomial("I0", first_near(0), NEAR_0, (15, 7), relative(first_near(0)), first=1),
    Polynomial("I1", first_near(1), NEAR_0, (15, 7), relative(first_near(1)), first=1),
    Polynomial("I0_TAIL", first_tail(0), TAIL, (23, 9)),
    Polynomial("I1_TAIL", first_tail(1), TAIL, (23, 9)),
    Polynomial("I0_SHORT", first_near(0), NEAR_POLE, (7, 4), first=1),
    Polynomial("I1_SHORT", first_near(1), NEAR_POLE, (7, 3), first=1),
    Polynomial("K0", second_near_0, NEAR_POLE, (7, 4)),
    Polynomial("K1", second_near_1, NEAR_POLE, (7, 3)),
    Polynomial("K0_TAIL", second_tail(0), BEYOND_POLE, (22, 9)),
    Polynomial("K1_TAIL", second_tail(1), BEYOND_POLE, (23, 10)),
]
