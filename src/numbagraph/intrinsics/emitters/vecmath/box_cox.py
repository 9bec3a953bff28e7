"""Box and Cox's transformations and their inverses. They use a logarithm with more digits than a number has, so that
the rest of it in a large exponent is right, too."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import (
    coefficients_of,
    fast_two_sum,
    math_function,
    scale,
    two_product,
)
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum, expm1_of_parts, expm1_of_sum, log_in_parts
from numbagraph.intrinsics.emitters.vecmath.tables.powers import LOG_2_SHORT

INFINITY, NAN = math.inf, math.nan
LARGE, SHIFT = 700.0, 1022
"""The exponent from which on an exponential could be too large before it is divided, and the power of two by which it
is scaled down."""
POWERS = [(0.01, 50.0), (-20.0, 20.0)]


def log_of_any(x: Number, rest: Number) -> tuple[Number, Number]:
    """Return the logarithm of ``x + rest``, where the rest is as small as a rounding error; NaN for negative
    numbers."""
    log, error = log_in_parts(x)
    share = ((x > 0.0) & (x < INFINITY)).where(rest / x, 0.0)
    high, low = fast_two_sum((x < 0.0).where(NAN, log), error + share)
    return high, (absolute(high) < INFINITY).where(low, 0.0)


def plus_1(x: Number) -> tuple[Number, Number]:
    """Return the sum of a number and 1, and its rounding error."""
    total, below = x + 1.0, absolute(x) < 1.0
    larger, smaller = below.where(1.0, x), below.where(x, 1.0)
    return total, (absolute(x) < 2.0**60).where(smaller - (total - larger), 0.0)


def transformed(log: Number, log_error: Number, power: Number) -> Number:
    """Return ``(exp(power * logarithm) - 1) / power``."""
    exponent, error = two_product(log, power)
    log_2, log_2_error = coefficients_of(LOG_2_SHORT, log)
    large, factor = exponent > LARGE, 1.0 / power
    less_1, count = expm1_of_sum(
        large.where(exponent - SHIFT * log_2, exponent),
        fma(log_error, power, error) - large.where(log.constant(SHIFT * log_2_error), 0.0),
    )
    scaled = large.where(factor * 2.0**SHIFT, factor)
    result = (absolute(exponent) < 0.34).where(less_1 * factor, scale(fma(less_1, scaled, scaled), count) - factor)
    result = exponent.equals(INFINITY).where(copysign(exponent, power), result)
    result = (absolute(power).equals(INFINITY) & ~(exponent < 0.0)).where(NAN, result)
    return ((absolute(power) < 1e-19) | (absolute(exponent) < 2.0**-54)).where(log + log_error, result)


def exact_boxcox(mp: Any, x: Any, power: Any) -> Any:
    return mp.expm1(power * mp.log(x)) / power if power else mp.log(x)


def exact_boxcox1p(mp: Any, x: Any, power: Any) -> Any:
    return mp.expm1(power * mp.log1p(x)) / power if power else mp.log1p(x)


@math_function(libm.scipy("boxcox"), exact_boxcox, domain=POWERS, near=(0.5, 1.0), everywhere=False, ulp=4.0, room=4)
@wide
def boxcox(x: Number, power: Number) -> Number:
    return transformed(*log_of_any(x, x.constant(0.0)), power)


@math_function(
    libm.scipy("boxcox1p"), exact_boxcox1p, domain=POWERS, near=(0.5, 1.0), everywhere=False, ulp=4.0, room=4
)
@wide
def boxcox1p(x: Number, power: Number) -> Number:
    return transformed(*log_of_any(*plus_1(x)), power)


def log1p_of_product_per(x: Number, power: Number) -> tuple[Number, Number, Number]:
    """Return ``log(1 + power * x) / power`` as a sum, and the product."""
    product, error = two_product(x, power)
    overflown = absolute(product).equals(INFINITY) & (absolute(x) < INFINITY)
    total, rest = plus_1(product)
    total = overflown.where((x * 2.0**-512) * (power * 2.0**-512), total)
    high, low = log_of_any(total, overflown.where(0.0, rest + error))
    log_2, log_2_error = coefficients_of(LOG_2_SHORT, x)
    high, low = overflown.where(high + 1024 * log_2, high), overflown.where(low + 1024 * log_2_error, low)
    quotient = high / power
    rest = (fma(-quotient, power, high) + low) / power
    none = power.equals(0.0)
    return none.where(x, quotient), none.where(0.0, rest), product


def exact_inv_boxcox(mp: Any, x: Any, power: Any) -> Any:
    return mp.exp(mp.log1p(power * x) / power) if power * x >= -1 else mp.nan


def exact_inv_boxcox1p(mp: Any, x: Any, power: Any) -> Any:
    return mp.expm1(mp.log1p(power * x) / power) if power * x >= -1 else mp.nan


@math_function(
    libm.scipy("inv_boxcox"), exact_inv_boxcox, domain=POWERS, near=(0.5, 1.0), everywhere=False, ulp=4.0, room=4
)
@wide
def inv_boxcox(x: Number, power: Number) -> Number:
    high, low, _ = log1p_of_product_per(x, power)
    return exp_of_sum(high, low)


@math_function(
    libm.scipy("inv_boxcox1p"), exact_inv_boxcox1p, domain=POWERS, near=(0.5, 1.0), everywhere=False, ulp=4.0, room=4
)
@wide
def inv_boxcox1p(x: Number, power: Number) -> Number:
    """Return the inverse; as SciPy's, it is x where its product with the power is tiny."""
    high, low, product = log1p_of_product_per(x, power)
    return ((absolute(product) < 1e-154) & power.differs(0.0)).where(x, expm1_of_parts(high, low))
