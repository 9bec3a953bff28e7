"""The tables of the complete elliptic integrals, by what the parameter leaves to 1."""

from __future__ import annotations

import mpmath
from minimax import Parts, WithLogarithm


def ellipk_rest(rest):
    """``P`` and ``Q`` in ``ellipkm1(p) = log(4) + p * P(p) - log(p) * (1/2 + p * Q(p))``"""
    return (mpmath.ellipk(1 - rest) - 2 * mpmath.log(2) + mpmath.log(rest) / 2) / rest


def ellipe_rest(rest):
    """``P`` and ``Q`` in ``ellipe(1 - p) = 1 + p * P(p) - log(p) * p * Q(p)``"""
    return (mpmath.ellipe(1 - rest) - 1) / rest


TABLES = [
    Parts("LOG_4", lambda: mpmath.log(4), ((53,), (24,))),
    WithLogarithm("ELLIPK", ellipk_rest, 9, lambda rest: rest / mpmath.ellipk(1 - rest)),
    WithLogarithm("ELLIPE", ellipe_rest, 9, lambda rest: rest / mpmath.ellipe(1 - rest)),
]
