"""The tables of powers and roots."""

from __future__ import annotations

import mpmath
from minimax import Parts, Polynomial
from mpmath import mpf


def log_rest(square):
    """``(log((1 + s / 2) / (1 - s / 2)) - s) / s**3`` of ``s**2``"""
    s = mpmath.sqrt(square)
    return (2 * mpmath.atanh(s / 2) - s) / s**3


ALMOST_0 = mpf("1e-20")

TABLES = [
    # The first parts are multiples of 2**-42, so that sums of some of them are exact.
    Parts("LOG_2_SHORT", lambda: mpmath.log(2), ((42, 53), ())),
    Parts("LOG_4_5", lambda: mpmath.log(mpf(4) / 5), ((40, 53), ())),
    Parts("LOG_8_9", lambda: mpmath.log(mpf(8) / 9), ((39, 53), ())),
    Parts("LOG_8_7", lambda: mpmath.log(mpf(8) / 7), ((40, 53), ())),
    Parts("LOG_4_3", lambda: mpmath.log(mpf(4) / 3), ((41, 53), ())),
    Polynomial("LOG_IN_PARTS", log_rest, (ALMOST_0, mpf("0.1235") ** 2), (4, None), lambda square: square),
]
