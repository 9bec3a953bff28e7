"""The tables of the gamma function's logarithm and its derivative."""

from __future__ import annotations

import mpmath
from minimax import Parts, Polynomial
from mpmath import mp, mpf

ROOT = mpmath.findroot(mpmath.digamma, mpf("1.4616321449683623"))
MIDDLE = mpf("1.75")
"""Of the interval from 1 to 2.5, where both functions are polynomials."""
TAIL = mpf("4.5")
"""Where the asymptotic series begin."""


def gammaln_rest(x):
    """``log(gamma(t)) / ((t - 1) * (t - 2))`` of ``t = x + MIDDLE``"""
    t = x + MIDDLE
    return mpmath.loggamma(t) / ((t - 1) * (t - 2))


def gammaln_tail(square):
    """``x * (log(gamma(x)) - (x - 1/2) * log(x) + x - log(2 * pi) / 2)`` of ``x**-2``"""
    x = 1 / mpmath.sqrt(square)
    return x * (mpmath.loggamma(x) - (x - 0.5) * mpmath.log(x) + x - mpmath.log(2 * mp.pi) / 2)


def digamma_rest(x):
    """``digamma(t) * t / (t - ROOT)`` of ``t = x + MIDDLE``, which has no pole at 0"""
    t = x + MIDDLE
    return mpmath.digamma(t) * t / (t - ROOT)


def digamma_tail(square):
    """``x**2 * (log(x) - 1 / (2 * x) - digamma(x))`` of ``x**-2``"""
    x = 1 / mpmath.sqrt(square)
    return x * x * (mpmath.log(x) - 1 / (2 * x) - mpmath.digamma(x))


ALMOST_0 = mpf("1e-12")
AROUND_MIDDLE = mpf("-0.7501"), mpf("0.7501")
BEYOND_TAIL = ALMOST_0, 1 / TAIL**2

TABLES = [
    Polynomial("GAMMALN", gammaln_rest, AROUND_MIDDLE, (23, 10)),
    # Stirling's log(2 * pi) / 2, less the 1/2 that (x - 1/2) * (log(x) - 1) has too much
    Parts("GAMMALN_LIMIT", lambda: (mpmath.log(2 * mp.pi) - 1) / 2, ((53,), (24,))),
    Polynomial("GAMMALN_TAIL", gammaln_tail, BEYOND_TAIL, (7, 2)),
    Parts("DIGAMMA_ROOT", lambda: ROOT, ((53, 53), (24, 24))),
    Polynomial("DIGAMMA", digamma_rest, AROUND_MIDDLE, (18, 8)),
    Polynomial("DIGAMMA_TAIL", digamma_tail, BEYOND_TAIL, (7, 2)),
]
