"""Tails of the logarithmic distribution: the rest of the series of ``-log1p(-p)``.

The first STEPS terms of the rest are added, and those behind them are Euler and Maclaurin's formula. [DLMF 2.10.1] Its
terms are moments of an exponential, which are positive, and its errors are largest where ``p`` is about 0.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from numbagraph.library.scipy.stats.counts import series
from numbagraph.ops.special.riemann_zeta import BERNOULLI

STEPS = 8
FAR = 100.0
"""The number from which on the scaled exponential integral is its asymptotic series. [DLMF 6.12.1]"""
ASYMPTOTIC = [(-1.0) ** k * math.factorial(k) for k in range(14)]


def tail(k: Any, p: Any) -> Any:
    """The probability of more than ``k``, which need not be whole."""
    return p**k * weight(k + 1.0, p) * (p / -np.log1p(-p))


def weight(m: Any, p: Any) -> Any:
    """The sum of ``p**i / (m + i)`` over all ``i`` from 0 on."""
    total = 1.0 / (m + (STEPS - 1))
    for i in reversed(range(STEPS - 1)):
        total = total * p + 1.0 / (m + i)
    rate, first = -np.log(p), m + STEPS
    inverse = 1.0 / first
    power, moment, rest = 1.0, inverse, 0.5 * inverse
    for j, number in enumerate(BERNOULLI, start=1):
        power = power * rate
        moment = (power + (2 * j - 1) * moment) * inverse
        rest = rest + number / math.factorial(2 * j) * moment
        power = power * rate
        moment = (power + 2 * j * moment) * inverse
    return total + p**STEPS * (scaled_exponential_integral(rate * first) + rest)


def scaled_exponential_integral(z: Any) -> Any:
    """``exp(z) * exp1(z)``, with both factors at the same rounded number. Further on, the small factor would underflow
    in derivatives of small probabilities."""
    far = z > FAR
    near, inverse = np.where(far, 1.0, z), 1.0 / np.where(far, z, FAR)
    return np.where(far, inverse * series(ASYMPTOTIC, inverse), np.exp(near) * special.exp1(near))
