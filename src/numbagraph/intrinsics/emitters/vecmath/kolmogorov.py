"""The limit of the distribution of Kolmogorov's statistic."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import at_least, at_most, math_function, two_product
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum

MIDDLE = 0.82
"""The number at which the function goes from one series to the other; Jacobi's identity turns them into each other."""


def exact_kolmogorov(mp: Any, x: Any) -> Any:
    if x < 0.01:
        return mp.mpf(1)
    if x < 1:
        powers = sum(mp.exp(-(((2 * k - 1) * mp.pi / x) ** 2) / 8) for k in range(1, 20))
        return 1 - mp.sqrt(2 * mp.pi) / x * powers
    return 2 * sum((-1) ** (k - 1) * mp.exp(-2 * (k * x) ** 2) for k in range(1, 20)) if x < 1e3 else mp.mpf(0)


@math_function(libm.scipy("kolmogorov"), exact_kolmogorov, domain=[(0.0, 19.0)], near=(0.04, MIDDLE), ulp=4.0, room=2)
@wide
def kolmogorov(x: Number) -> Number:
    """Return ``1 - w * (u + u**9)``, or ``2 * (v - v**4 + v**9 - v**16 + v**25)``: one exponential gives u or v."""
    positive = at_most(at_least(x, 0.04), 40.0)
    low, inverse = positive < MIDDLE, 1.0 / positive
    square, error = two_product(positive, positive)
    root = inverse * (math.pi / math.sqrt(8))
    power = exp_of_sum(low.where(-(root * root), square * -2.0), low.where(0.0, error * -2.0))
    second = power * power
    third, fourth = second * power, second * second
    of_low = fma(inverse * -math.sqrt(2 * math.pi), fma(fourth * fourth, power, power), 1.0)
    fifth = third * second
    seventh = fifth * second
    inner = fma(fifth, fma(seventh, fma(seventh, -second, 1.0), -1.0), 1.0)
    return low.where(of_low, 2.0 * fma(power * third, -inner, power))
