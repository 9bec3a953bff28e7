"""The tables of the Bessel functions of the orders 0 and 1."""

from __future__ import annotations

from functools import cache

import mpmath
from minimax import Polynomial
from mpmath import mp, mpf

TAIL = mpf(2)
"""From here on the functions are an amplitude times sines."""
MIDDLE = mpf(1) / 6
"""Where the variable of their polynomials is zero there."""
FAR = 60
"""Where the asymptotic series has all digits."""


def second(order, x):
    """``Y(x)``, up to `FAR`, by the series around 0 and the Wronskian. mpmath's own takes long."""
    with mpmath.workdps(mp.dps + FAR):
        first, square, total, term, harmonic = mpmath.besselj(0, x), -x * x / 4, mpf(0), mpf(1), mpf(0)
        for k in range(1, 4 * FAR):
            term *= square / k**2
            harmonic += mpf(1) / k
            total += term * harmonic
        value = 2 / mp.pi * ((mpmath.log(x / 2) + mpmath.euler) * first - total)
        return (mpmath.besselj(1, x) * value - 2 / (mp.pi * x)) / first if order else value


@cache
def slow(order, x):
    """``(J(x) + 1j * Y(x)) * sqrt(pi * x / 2)``, turned backwards: the asymptotic series, which is 1 at infinity."""
    if x < FAR:
        value = mpmath.mpc(mpmath.besselj(order, x), second(order, x))
        return value * mpmath.sqrt(mp.pi * x / 2) * mpmath.expj(mp.pi / 4 + order * mp.pi / 2 - x)
    total, term, k = mpmath.mpc(1), mpmath.mpc(1), 1
    while abs(term) > mpf(10) ** -mp.dps:
        term *= 1j * mpf(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
        k += 1
    return total


def amplitude(order):
    """Of ``1 / (x + 1) - MIDDLE``, times ``sqrt(x + 1)``"""

    def function(t):
        inverse = t + MIDDLE
        return abs(slow(order, 1 / inverse - 1)) * mpmath.sqrt(2 / mp.pi / (1 - inverse))

    return function


def phase(order):
    """Of ``1 / (x + 1) - MIDDLE``: what turns beside the number itself, times ``x + 1``"""
    return lambda t: mpmath.arg(slow(order, 1 / (t + MIDDLE) - 1)) / (t + MIDDLE)


def first_near(order):
    """Of ``x**2``, what ``J(x) / x**order`` is beside the first two terms of its series, per ``x**4``"""

    def function(square):
        return sum(
            (-square) ** (k - 2) / (mpf(4) ** k * mpf(2) ** order * mpmath.factorial(k) * mpmath.factorial(k + order))
            for k in range(2, 40)
        )

    return function


def worth(order):
    """What an error of `first_near` makes."""

    def function(square):
        x = mpmath.sqrt(square)
        return square**2 * x**order / mpmath.besselj(order, x)

    return function


def second_near_0(square):
    """``Y0(x) - 2 / pi * log(x) * J0(x)`` of ``x**2``"""
    x = mpmath.sqrt(square)
    return second(0, x) - 2 / mp.pi * mpmath.log(x) * mpmath.besselj(0, x)


def second_near_1(square):
    """``(Y1(x) - 2 / pi * (log(x) * J1(x) - 1 / x)) / x`` of ``x**2``"""
    x = mpmath.sqrt(square)
    return (second(1, x) - 2 / mp.pi * (mpmath.log(x) * mpmath.besselj(1, x) - 1 / x)) / x


ALMOST_0 = mpf("1e-12")
NEAR, BEYOND = (ALMOST_0, TAIL**2), (ALMOST_0 - MIDDLE, 1 / (TAIL + 1) - MIDDLE)

TABLES = [
    Polynomial("J0", first_near(0), NEAR, (7, None), worth(0)),
    Polynomial("J1", first_near(1), NEAR, (7, None), worth(1)),
    Polynomial("Y0", second_near_0, NEAR, (9, None)),
    Polynomial("Y1", second_near_1, NEAR, (9, None)),
    Polynomial("AMPLITUDE_0", amplitude(0), BEYOND, (20, None)),
    Polynomial("AMPLITUDE_1", amplitude(1), BEYOND, (22, None)),
    Polynomial("PHASE_0", phase(0), BEYOND, (21, None)),
    Polynomial("PHASE_1", phase(1), BEYOND, (23, None)),
]
