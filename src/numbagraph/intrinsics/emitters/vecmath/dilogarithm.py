"""Spence's function, the dilogarithm of 1 less a number."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import coefficients_of, math_function, polynomial
from numbagraph.intrinsics.emitters.vecmath.logarithm import log, log1p
from numbagraph.intrinsics.emitters.vecmath.tables.dilogarithm import SPENCE

AT_ZERO = math.pi**2 / 6


def exact_spence(mp: Any, x: Any) -> Any:
    """Return the function with mpmath; for small numbers by their difference to 1, beside which they would be lost."""
    if x < 0.5:
        return mp.pi**2 / 6 - mp.log(x) * mp.log1p(-x) - mp.polylog(2, x) if x else mp.pi**2 / 6
    return mp.polylog(2, 1 - x) if x < 2 else -(mp.log(x - 1) ** 2) / 2 - mp.pi**2 / 6 - mp.polylog(2, 1 / (1 - x))


@math_function(
    libm.scipy("spence"),
    exact_spence,
    domain=[(0.0, 20.0)],
    near=(0.5, 1.0, 2.0),
    everywhere=False,
    ulp=4.0,
)
@wide
def spence(x: Number) -> Number:
    """Return the function by a short series of the logarithm of x, or of 1 less x or its inverse."""
    small, large = x < 0.5, x > 2.0
    logarithm = log.of(x)
    of_rest = log1p.of(-large.where(1.0 / x, small.where(x, 0.5)))
    v = -(small | large).where(of_rest, logarithm)
    square = v * v
    series = fma(square * v, polynomial(square, coefficients_of(SPENCE, x)), fma(square, -0.25, v))
    product = logarithm * of_rest
    of_small = AT_ZERO - (product + series)
    of_large = series - (fma(0.5 * logarithm, logarithm, product) + AT_ZERO)
    result = small.where(of_small, large.where(of_large, series))
    return x.equals(0.0).where(AT_ZERO, result)
