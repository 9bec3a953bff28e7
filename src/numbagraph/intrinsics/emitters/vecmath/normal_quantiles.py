"""The quantile of the normal distribution, for the logarithm of a probability."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, fma, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.declare import at_least, at_most, fast_two_sum, math_function, polynomial
from numbagraph.intrinsics.emitters.vecmath.exponential import expm1
from numbagraph.intrinsics.emitters.vecmath.inverse_error_function import inverse_by_log, log_of
from numbagraph.intrinsics.emitters.vecmath.logarithm import log

LOG_2_REST = 2.3190468138462996e-17
"""The difference of log(2) and the nearest number."""
ASYMPTOTIC = 2.0, -5.0, 74 / 3, -353 / 2
"""The coefficients, for powers of the inverse square, of the logarithm of Mills' ratio."""
LEAST = -740.0
"""The logarithm from which on the polynomial for tails is right: the least number of these has a logarithm of -744."""


def exact_ndtri_exp(mp: Any, y: Any) -> Any:
    """Return the quantile with mpmath, by Newton's method on the logarithm."""
    x = -mp.sqrt(-2 * y) if y < -1 else mp.sqrt(2) * mp.erfinv(2 * mp.exp(y) - 1)
    for _ in range(30):
        tail = mp.erfc(-x / mp.sqrt(2)) / 2
        x -= (mp.log(tail) - y) * tail * mp.exp(x * x / 2) * mp.sqrt(2 * mp.pi)
    return x


def deep(y: Number) -> Number:
    """Return the quantile where the probability underflows: its square s is the root of ``s + log(s) + c(s) = t``.

    One step of Newton's method from three terms of the root. All is divided by 4, so that nothing is too large.
    """
    t = fma(y, -0.5, -0.25 * math.log(2 * math.pi))
    inverse, logarithm = 0.25 / t, log.of(t) + math.log(4)
    start = t - 0.25 * fma(2.0 - logarithm, inverse, logarithm)
    inverse = 0.25 / start
    correction = inverse * polynomial(inverse, ASYMPTOTIC)
    rest = (start - t) + 0.25 * (log.of(start) + (math.log(4) + correction))
    quantile = -2.0 * sqrt(start - rest / fma(fma(inverse, -2.0, 1.0), inverse, 1.0))
    return y.equals(-math.inf).where(y, quantile)


@math_function(
    libm.scipy("ndtri_exp"),
    exact_ndtri_exp,
    domain=[(-1e5, -1.0)],
    near=(-1.5, LEAST),
    everywhere=False,
    ulp=5.0,
    room=4,
)
@wide
def ndtri_exp(y: Number) -> Number:
    """Return the quantile. In the lower tail, the logarithm is known; around 1/2, the error is small relative to 1."""
    less_1, left = expm1.of(y), y < -math.log(2)
    tail = left.where(at_least(fma(less_1, 2.0, 2.0), 0.01), less_1 * -2.0)
    high, low = fast_two_sum(y, y.constant(math.log(2)))
    right_high, right_low = log_of(tail)
    logarithm, error = left.where(high, right_high), left.where(low + LOG_2_REST, right_low)
    result = inverse_by_log(fma(less_1, 2.0, 1.0), tail, logarithm, error, 2.0)
    return (y < LEAST).where(deep(at_most(y, LEAST)), (y > 0.0).where(math.nan, result))
