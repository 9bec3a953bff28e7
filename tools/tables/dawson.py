"""The tables of Dawson's integral."""

from __future__ import annotations

import mpmath
from minimax import Piece, Piecewise
from mpmath import mp, mpf

LIMITS = mpf(3), mpf("13.5")
"""Squares from which on there is another polynomial. From the second one on the variable is the share."""
MORE, LESS = mpf("1.0001"), mpf("0.9999")


def share(square):
    return 1 / (1 + 2 * square)


def dawson_of_square(square):
    """``dawsn(x) / (x * share(x**2))`` of ``x**2``"""
    if square < mpf("1e-40"):
        return mpf(1)
    x = mpmath.sqrt(square)
    if square < 1000:
        return mpmath.sqrt(mp.pi) / 2 * mpmath.exp(-square) * mpmath.erfi(x) / (x * share(square))
    terms = [mpmath.fac2(2 * k - 1) / (2 * square) ** k for k in range(40)]
    return sum(terms) * (1 + 1 / (2 * square))


def rest_of_square(square):
    """``(dawson_of_square(square) - 1) / square``, which is 4/3 at 0"""
    if square < mpf("1e-8"):
        terms = [(-2) ** k / mpmath.fac2(2 * k + 1) for k in range(8)]  # of dawsn(x) / x
        return sum((2 * terms[k] + terms[k + 1]) * square**k for k in range(7))
    return (dawson_of_square(square) - 1) / square


def dawson_of_share(part):
    """The same of ``share(x**2)``"""
    return dawson_of_square((1 / part - 1) / 2) if part > mpf("1e-40") else mpf(1)


TABLES = [
    Piecewise(
        "DAWSON",
        (
            Piece(rest_of_square, (0, LIMITS[0] * MORE), 18, lambda square: square / dawson_of_square(square)),
            Piece(dawson_of_square, (LIMITS[0] * LESS, LIMITS[1] * MORE), 26),
            Piece(dawson_of_share, (0, share(LIMITS[1]) * MORE), 30),
        ),
    ),
]
