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


LEAST = mpmath.sqrt(mpmath.log(2)) * mpf("0.999")
"""The root of the logarithm of 2, where tails begin."""


def of_tail(name, middle, largest, degree):
    """The table of ``erfcinv(exp(-root**2)) / root - 1 / 2`` of ``(root - middle) / (root + middle)``."""

    def root_of(u):
        return middle * (1 + u) / (1 - u)

    def ratio(u):
        return inverse_tail(root_of(u)) / root_of(u)

    low, high = ((root - middle) / (root + middle) for root in (LEAST, largest))
    return Polynomial(name, lambda u: ratio(u) - mpf("0.5"), (low, high), degree, lambda u: 1 / ratio(u))


TABLES = [
    Polynomial("ERFINV", erfinv_rest, (mpf("1e-12"), mpf("0.2501")), (14, 6)),
    # Up to the root of the logarithm of the least number
    of_tail("ERFCINV", mpf("2.5"), mpf("27.3"), (36, None)),
    of_tail("ERFCINV_SHORT", mpf("1.25"), mpf("10.2"), (None, 11)),
]
