"""The tables of the inverse trigonometric functions, as polynomials of the square of the argument."""

from __future__ import annotations

import mpmath
from minimax import Parts, Polynomial
from mpmath import mp, mpf


def arcsine_rest(square):
    """``(arcsin(x) - x) / x**3``"""
    x = mpmath.sqrt(square)
    return (mpmath.asin(x) - x) / x**3


def arctangent_rest(square):
    """``(arctan(x) - x) / x**3``"""
    x = mpmath.sqrt(square)
    return (mpmath.atan(x) - x) / x**3


def relative_to_x(square):
    return square + mpf("1e-9")


TABLES = [
    Parts("QUARTER_PI", lambda: mp.pi / 4, ((53, 53), (24, 24))),
    Polynomial("ARCSINE", arcsine_rest, (0, 0.2501), (11, 4), relative_to_x),
    Polynomial("ARCTANGENT", arctangent_rest, (0, (mpmath.sqrt(2) - 1) ** 2 * 1.001), (10, 4), relative_to_x),
]
