"""The tables of powers and roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
from minimax import Parts, Polynomial, pick, rounded
from mpmath import mpf

STEPS = mpf(2) ** -42, mpf(2) ** -16
"""Multiples of it are added without an error, of which the largest is the logarithm of the largest number."""


@dataclass(frozen=True)
class WithShortLogarithm:
    """A table: a number near ``exp(log)``, and its logarithm, which is all but a multiple of a `STEPS`."""

    name: str
    logs: tuple[Any, Any]

    def numbers(self, dtype: str) -> list[float]:
        log, step = pick(self.logs, dtype), pick(STEPS, dtype)
        if log is None:
            return []
        multiple = mpmath.nint(log / step)
        while True:
            number = rounded(mpmath.exp(multiple * step), dtype)
            if abs(mpmath.log(number) - multiple * step) < pick((mpf(2) ** -66, mpf(2) ** -34), dtype):
                return [number, float(multiple * step)]
            multiple += 1


def log_rest(square):
    """``(log((1 + s / 2) / (1 - s / 2)) - s) / s**3`` of ``s**2``"""
    s = mpmath.sqrt(square)
    return (2 * mpmath.atanh(s / 2) - s) / s**3


def inverse_cbrt_rest(x):
    """``((1 - x)**(-1/3) - 1) / x``"""
    return mpmath.expm1(-mpmath.log1p(-x) / 3) / x


def cbrt_rest(x):
    """``((1 - x)**(-2/3) - 1) / x``"""
    return mpmath.expm1(-2 * mpmath.log1p(-x) / 3) / x


ALMOST_0 = mpf("1e-20")
GUESS_ERRORS = mpf("-0.1025"), mpf("0.1025")
INTERVALS = (ALMOST_0, mpf("0.1145") ** 2), (ALMOST_0, mpf("0.23") ** 2)

TABLES = [
    Parts("LOG_2_SHORT", lambda: mpmath.log(2), ((42, 53), (16, 24))),
    WithShortLogarithm("BELOW_1", (-0.156, None)),
    WithShortLogarithm("ABOVE_1", (0.156, None)),
    WithShortLogarithm("FAR_ABOVE_1", (0.3465, 0.3465)),
    Polynomial("LOG_IN_PARTS", log_rest, INTERVALS, (4, 2), lambda square: square),
    Polynomial("INVERSE_CBRT", inverse_cbrt_rest, GUESS_ERRORS, (5, None), lambda x: abs(x)),
    Polynomial("CBRT", cbrt_rest, GUESS_ERRORS, (None, 4), lambda x: abs(x)),
]
