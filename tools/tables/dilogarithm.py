"""The table of the dilogarithm, as a polynomial of the square of a logarithm."""

from __future__ import annotations

import mpmath
from minimax import Polynomial
from mpmath import mpf


def spence_rest(square):
    """``(s - v + v**2 / 4) / v**3`` of the dilogarithm s of ``1 - exp(-v)``, which is even"""
    v = mpmath.sqrt(square)
    return (mpmath.polylog(2, 1 - mpmath.exp(-v)) - v + square / 4) / v**3


ALMOST_0, LARGEST = mpf("1e-12"), (mpmath.log(2) * 1.001) ** 2

TABLES = [Polynomial("SPENCE", spence_rest, (ALMOST_0, LARGEST), (6, None), lambda square: square)]
