"""The tables of the exponential integrals, and of the hyperbolic ones."""

from __future__ import annotations

import mpmath
from minimax import Parts, Piece, Piecewise
from mpmath import mpf

MORE, LESS = mpf("1.0001"), mpf("0.9999")
ALMOST_0 = mpf("1e-20")
ROOT = mpmath.findroot(mpmath.ei, mpf("0.3725"))
MIDDLE = 2
"""Where the variable of `exp1_scaled` is zero."""
SERIES = 120
"""From here on asymptotic series have enough digits."""


def around_0(x):
    """``Ei(x) - log(abs(x))``"""
    terms = [x**k / (k * mpmath.factorial(k)) for k in range(1, 70)]
    return mpmath.euler + sum(terms)


def from_root(x):
    """``P`` in ``Ei(x) = log(x / ROOT) + (x - ROOT) * P(x)``"""
    if abs(x - ROOT) < ALMOST_0:
        x = ROOT + ALMOST_0
    return (around_0(x) + mpmath.log(ROOT)) / (x - ROOT)


def asymptotic(x):
    """``Ei(x) * x * exp(-x)`` of a large number, of any sign."""
    return sum(mpmath.factorial(k) / x**k for k in range(60))


def exp1_scaled(t):
    """``exp1(x) * exp(x) * (x + MIDDLE)`` of ``t = (x - MIDDLE) / (x + MIDDLE)``"""
    if t > 1 - mpf("1e-40"):
        return mpf(1)
    x = MIDDLE * (1 + t) / (1 - t)
    scaled = asymptotic(-x) if x > SERIES else mpmath.exp(x) * mpmath.e1(x) * x
    return scaled * (1 + MIDDLE / x)


def beside_root(x):
    """``Ei(x) / (x - ROOT)``"""
    return mpmath.ei(x) / (x - ROOT)


def expi_scaled(inverse):
    """``Ei(x) * x * exp(-x)`` of ``1 / x``"""
    if inverse < mpf("1e-40"):
        return mpf(1)
    x = 1 / inverse
    return asymptotic(x) if x > SERIES else mpmath.ei(x) * x * mpmath.exp(-x)


def share_at(x):
    return mpf(x - MIDDLE) / (x + MIDDLE)


OF_TAIL = Piece(exp1_scaled, (share_at(1) - mpf("1e-5"), 1), 28)


def of_inverse(low, high, degree):
    return Piece(expi_scaled, (LESS / high, MORE / low), degree)


TABLES = [
    Parts("EXPI_ROOT", lambda: ROOT, ((53, 53), ())),
    Parts("EXPI_ROOT_LOG", lambda: mpmath.log(ROOT), ((53,), ())),
    Piecewise(
        "EXP1", (Piece(lambda x: -around_0(-x), (0, MORE), 13, lambda x: 1 / mpmath.e1(max(x, ALMOST_0))), OF_TAIL)
    ),
    Piecewise(
        "EXPI",
        (
            Piece(from_root, (0, 6 * MORE), 21, lambda x: abs((x - ROOT) / mpmath.ei(max(x, ALMOST_0)))),
            Piece(beside_root, (mpf("0.25") * LESS, mpf("0.55") * MORE), 22),
            Piece(around_0, (-MORE, 0), 13, lambda x: 1 / mpmath.e1(max(-x, ALMOST_0))),
            OF_TAIL,
            of_inverse(6, 16, 24),
            of_inverse(16, mpf("1e60"), 28),
        ),
    ),
]
