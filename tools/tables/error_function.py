"""The tables of the error functions."""

from __future__ import annotations

import mpmath
from minimax import Parts, Polynomial
from mpmath import mp, mpf

SLOPE = 2 / mpmath.sqrt(mp.pi)


def root_rest(x):
    """``(4 - 4 * erfc(x)**(1/4) - SLOPE * x) / x**2``"""
    return ((4 - 4 * mpmath.root(mpmath.erfc(x), 4)) / x - SLOPE) / x


def worth_of_root(x):
    """What an error of `root_rest` makes of the error function."""
    return x**2 * mpmath.erfc(x) ** mpf("0.75") / mpmath.erf(x)


def erf_rest(square):
    """``erf(x) / x - 1`` of ``x**2``"""
    x = mpmath.sqrt(square)
    return mpmath.erf(x) / x - 1


MIDDLE = mpf("2.5")


def scaled_tail(t):
    """``erfcx(x) * (x + MIDDLE)`` of ``t = (x - MIDDLE) / (x + MIDDLE)``"""
    x = MIDDLE * (1 + t) / (1 - t)
    if x < 50:
        return mpmath.exp(x * x) * mpmath.erfc(x) * (x + MIDDLE)
    terms = [(-1) ** k * mpmath.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(25)]
    return sum(terms) * (1 + MIDDLE / x) / mpmath.sqrt(mp.pi)


ALMOST_0, ALMOST_1 = mpf("1e-12"), 1 - mpf("1e-15")

TABLES = [
    Parts("ERF_SLOPE", lambda: SLOPE, ((53, 53), (24, 24))),
    Polynomial("ERF_ROOT", root_rest, ((ALMOST_0, mpf("5.93")), (ALMOST_0, mpf("3.93"))), (24, 8), worth_of_root),
    Polynomial("ERF_NEAR_0", erf_rest, (ALMOST_0, mpf("0.2501")), (8, 4), lambda square: mpf(1), first=1),
    Polynomial("ERFCX", scaled_tail, (-1, ALMOST_1), (24, 10), lambda t: 1 / scaled_tail(t)),
]
