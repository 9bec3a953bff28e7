"""The tables of the trigonometric functions, as polynomials of the square of the argument."""

from __future__ import annotations

import mpmath
from minimax import Parts, Polynomial
from mpmath import mp, mpf


def sine_rest(square):
    """``(x - sin(x)) / x**3``"""
    x = mpmath.sqrt(square)
    return (x - mpmath.sin(x)) / x**3


def tangent_rest(square):
    """``(tan(x) - x) / x**3`` times what is zero at the first two poles"""
    x = mpmath.sqrt(square)
    return (mpmath.tan(x) - x) / x**3 * (1 - (2 * x / mp.pi) ** 2) * (1 - (2 * x / (3 * mp.pi)) ** 2)


def relative_to_x(square):
    return square + mpf("1e-9")


HALF_PI, QUARTER_PI = mp.pi / 2 * 1.0005, mp.pi / 4 * 1.0005

TABLES = [
    # The second part is positive: zero times it, subtracted from -0.0, leaves that.
    Parts("PI", lambda: mp.pi, ((53, 53, 53), (23, 24, 24))),
    Parts("HALF_PI", lambda: mp.pi / 2, ((53, 53, 53), (23, 24, 24))),
    Parts("DEGREE", lambda: mp.pi / 180, ((53, 53), ())),
    Polynomial("SINE", sine_rest, (0, HALF_PI**2), (7, 3), relative_to_x),
    Polynomial("TANGENT", tangent_rest, (0, QUARTER_PI**2), (5, 2), relative_to_x),
]
