"""The tables of the exponentials and logarithms."""

from __future__ import annotations

import mpmath
from minimax import Parts, Polynomial
from mpmath import mpf

HALF_LOG_2 = mpmath.log(2) / 2


def expm1_rest(x):
    """``(exp(x) - 1 - x) / x**2``"""
    return (mpmath.expm1(x) - x) / x**2


def log_rest(square):
    """``P`` in ``log((1 + s) / (1 - s)) = 2 * s + s * P(s**2) * s**2``"""
    s = mpmath.sqrt(square)
    return (2 * mpmath.atanh(s) - 2 * s) / s**3


def power_of_two_rest(x):
    """``(2**x - 1) / x``"""
    return mpmath.expm1(x * mpmath.log(2)) / x


def sinh_rest(square):
    """``(sinh(x) - x) / x**3`` of ``x**2``"""
    x = mpmath.sqrt(square)
    return (mpmath.sinh(x) - x) / x**3


def cosh_rest(square):
    """``(cosh(x) - 1) / x**2`` of ``x**2``"""
    return 2 * (mpmath.sinh(mpmath.sqrt(square) / 2)) ** 2 / square


def largest_ratio(power):
    """``s**2`` of the s for which ``(1 + s) / (1 - s)`` is that power of 2."""
    return mpmath.tanh(power * mpmath.log(2) / 2) ** 2


ALMOST_0 = mpf("1e-20")

TABLES = [
    Parts("LOG_2", lambda: mpmath.log(2), ((53,), (24,))),
    # Short enough for exact products of the first part with any exponent
    Parts("LOG_2_PARTS", lambda: mpmath.log(2), ((42, 53), (16, 24))),
    Parts("LOG2_E", lambda: 1 / mpmath.log(2), ((53,), (24,))),
    Parts("LOG10_2", lambda: mpmath.log10(2), ((53,), (24,))),
    Parts("LOG10_2_PARTS", lambda: mpmath.log10(2), ((42, 53), (16, 24))),
    Parts("LOG2_10", lambda: 1 / mpmath.log10(2), ((53,), (24,))),
    Parts("LOG_10", lambda: mpmath.log(10), ((53,), (24,))),
    Parts("LOG10_E", lambda: 1 / mpmath.log(10), ((53,), (24,))),
    Polynomial("EXP", expm1_rest, (-HALF_LOG_2 * 1.002, HALF_LOG_2 * 1.002), (9, 4), lambda x: x * x + mpf("1e-9")),
    Polynomial("EXP2", power_of_two_rest, (-0.501, 0.501), (10, 5), lambda x: abs(x) + mpf("1e-9")),
    Polynomial("SINH", sinh_rest, (ALMOST_0, HALF_LOG_2**2 * 1.002), (4, 1), lambda square: square),
    Polynomial("COSH", cosh_rest, (ALMOST_0, HALF_LOG_2**2 * 1.002), (4, 2), lambda square: square),
    Polynomial("LOG", log_rest, (ALMOST_0, largest_ratio(0.5) * 1.001), (6, 2), lambda square: square),
    # The binary logarithm is off by up to 0.0861 when it is read from the difference of the bits of two numbers.
    Polynomial("LOG_OF_RATIO", log_rest, (ALMOST_0, largest_ratio(0.5861) * 1.001), (7, 3), lambda square: square),
]
