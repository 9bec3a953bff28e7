"""The tables of the integrals of the hyperbolic sine and cosine."""

from __future__ import annotations

import mpmath
from minimax import Parts, Piece, Piecewise
from mpmath import mpf
from tables.exponential_integrals import LESS, MORE, SERIES, asymptotic


def shi_rest(square):
    """``P`` in ``Shi(x) = x + x * x**2 * P(x**2)``"""
    return sum(square ** (k - 1) / ((2 * k + 1) * mpmath.factorial(2 * k + 1)) for k in range(1, 40))


def chi_rest(square):
    """``P`` in ``Chi(x) = euler + log(x) + x**2 * P(x**2)``"""
    return sum(square ** (k - 1) / (2 * k * mpmath.factorial(2 * k)) for k in range(1, 40))


def worth(square):
    """What an error of `shi_rest` makes."""
    return square / (1 + square * shi_rest(square))


def scaled(function, low, high, degree):
    """The piece of ``2 * function(x) * x * exp(-x)`` of ``1 / x``."""

    def of_inverse(inverse):
        if inverse < mpf("1e-40"):
            return mpf(1)
        x = 1 / inverse
        return asymptotic(x) if x > SERIES else 2 * function(x) * x * mpmath.exp(-x)

    return Piece(of_inverse, (LESS / high, MORE / low), degree)


def table(name, near, function):
    pieces = near, scaled(function, 3, 8, 26), scaled(function, 8, 20, 23), scaled(function, 20, mpf("1e60"), 25)
    return Piecewise(name, pieces)


TABLES = [
    Parts("EULER", lambda: mpmath.euler, ((53,), (24,))),
    table("SHI", Piece(shi_rest, (0, 9 * MORE), 10, worth), mpmath.shi),
    table("CHI", Piece(chi_rest, (0, 9 * MORE), 9), mpmath.chi),
]
