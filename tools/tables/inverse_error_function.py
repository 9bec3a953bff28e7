"""The tables of the inverse error function."""

from __future__ import annotations

from functools import cache

import mpmath
from minimax import Polynomial
from mpmath import mp, mpf

HALF_SQRT_PI = mpmath.sqrt(mp.pi) / 2


def erfinv_rest(square):
    """``erfinv(x) / x`` of ``x**2``"""
    x = mpmath.sqrt(square)
    return mpmath.erfinv(x) / x


@cache
def inverse_tail(root):
    """``erfcinv(exp(-root**2))``, by Newton's method on the logarithm."""
    y = mpmath.sqrt(root**2 - mpmath.log(max(root, 1)))
    while True:
        tail = mpmath.erfc(y)
        step = (mpmath.log(tail) + root**2) * tail * mpmath.exp(y**2) * HALF_SQRT_PI
        y += step
        if abs(step) < abs(y) * mpf(10) ** (5 - mp.dps):
            return y


MIDDLE = mpf("2.5")
"""Where the variable of `inverse_tail_rest` is zero."""


def variable(root):
    return (root - MIDDLE) / (root + MIDDLE)


def root_of(u):
    return MIDDLE * (1 + u) / (1 - u)


def inverse_tail_rest(u):
    """``erfcinv(exp(-root**2)) / root - 1`` of ``(root - MIDDLE) / (root + MIDDLE)``"""
    return inverse_tail(root_of(u)) / root_of(u) - 1


LEAST = mpmath.sqrt(mpmath.log(2)) * mpf("0.999")
LARGEST = mpf("27.3"), mpf("10.2")
"""The root of the logarithm of the least number."""

INTERVALS = tuple((variable(LEAST), variable(largest)) for largest in LARGEST)

TABLES = [
    Polynomial("ERFINV", erfinv_rest, (mpf("1e-12"), mpf("0.2501")), (14, 6)),
    Polynomial("ERFCINV", inverse_tail_rest, INTERVALS, (36, 11), lambda u: 1 / (inverse_tail_rest(u) + 1)),
]
