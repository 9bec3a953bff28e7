"""Dawson's integral, and the error function of imaginary numbers."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import at_most, math_function, two_product
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum
from numbagraph.intrinsics.emitters.vecmath.piecewise_polynomials import piecewise
from numbagraph.intrinsics.emitters.vecmath.tables.dawson import DAWSON

LIMITS = 3.0, 13.5
"""The squares from which on there is another polynomial. From the second one on its variable is the share."""
FAR = 1e8
"""The number from which on Dawson's integral is half the inverse."""
LARGEST = 27.0
"""The number from which on the error function of the imaginary number is infinite."""


def dawson_of_size(size: Number) -> Number:
    """Return ``size * share``, where ``share = 1 / (1 + 2 * size**2)``, times a polynomial around 1."""
    far, square = size > FAR, size * size
    share = far.where(size.constant(0.5), 1.0) / far.where(size, fma(square, 2.0, 1.0))
    first, second = square > LIMITS[0], square > LIMITS[1]
    factor = piecewise(second.where(share, square), DAWSON, first, second)
    factor = first.where(factor, fma(square, factor, 1.0))
    return far.where(share, (size * share) * factor)


def exact_dawsn(mp: Any, x: Any) -> Any:
    """Return the integral with mpmath. For huge numbers, of which mpmath has no exponential, two terms of the
    asymptotic series are enough."""
    if abs(x) > 1e20:
        return 1 / (2 * x)
    return mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2


@math_function(
    libm.scipy("dawsn"), exact_dawsn, domain=[(-10.0, 10.0)], near=(0.0, *map(math.sqrt, LIMITS), FAR), ulp=4.0, room=2
)
@wide
def dawsn(x: Number) -> Number:
    return copysign(dawson_of_size(absolute(x)), x)


@math_function(
    libm.scipy("erfi"),
    lambda mp, x: mp.erfi(x) if abs(x) < 1000 else mp.sign(x) * mp.inf,
    domain=[(-27.0, 27.0)],
    near=(0.0, *map(math.sqrt, LIMITS)),
    ulp=4.5,
    room=3,
)
@wide
def erfi(x: Number) -> Number:
    size = at_most(absolute(x), LARGEST)
    square, error = two_product(size, size)
    return copysign(exp_of_sum(square, error, dawson_of_size(size) * (2 / math.sqrt(math.pi))), x)
