"""Densities of the gamma and beta distributions, and the slopes of inverse distribution functions.

Their derivatives are right at the edges of the domain, where a quotient or a difference of infinities would be NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.values import Value
from numbagraph.ops.comparison import equal, minimum
from numbagraph.ops.exponentials import exp, log, log1p
from numbagraph.ops.identity import with_derivative
from numbagraph.ops.selection import where
from numbagraph.ops.special.error_functions import digamma, gammaln, xlog1py, xlogy

Cotangents = tuple[Value | None, ...]

ONE = as_value(1.0)
NEARLY_INFINITE = 1e30
"""A number for which the exponential of the negative is 0, while a power of it has a logarithm that is no larger."""


def times(factor: Value, value: Value) -> Value:
    """Return a product that is 0 where the factor is, also where the value is infinite."""
    is_zero = equal(factor, 0.0)
    return where(is_zero, 0.0, where(is_zero, 1.0, factor) * value)


# ---- powers times exponentials, and times logarithms: what derivatives of densities are made of ----
#
# Their factors are operands: a derivative of a product with a mask would be 0 times infinity beside the mask.


def gamma_weight(factor: Value, power: Value, scale: Value, x: Value, logs: int = 0) -> Value:
    """``factor * x**power * exp(scale - x) * log(x)**logs``."""
    value = exp(xlogy(power, minimum(x, NEARLY_INFINITE)) - x + scale)
    for _ in range(logs):
        value = xlogy(value, x)
    return _gamma_weight.bind(times(factor, value), factor, power, scale, x, logs=logs)


def gamma_weight_vjp(
    g: Value, y: Value, value: Value, factor: Value, power: Value, scale: Value, x: Value, *, logs: int
) -> Cotangents:
    slope = gamma_weight(factor * power, power - 1, scale, x, logs) - y
    if logs:
        slope = slope + gamma_weight(logs * factor, power - 1, scale, x, logs - 1)
    by_factor = gamma_weight(ONE, power, scale, x, logs)
    by_power = gamma_weight(factor, power, scale, x, logs + 1)
    return None, g * by_factor, g * by_power, g * y, g * slope


def beta_weight(factor: Value, a: Value, b: Value, scale: Value, x: Value, logs: int = 0, other_logs: int = 0) -> Value:
    """``factor * x**a * (1 - x)**b * exp(scale) * log(x)**logs * log1p(-x)**other_logs``."""
    value = exp(xlogy(a, x) + xlog1py(b, -x) + scale)
    for _ in range(logs):
        value = xlogy(value, x)
    for _ in range(other_logs):
        value = xlog1py(value, -x)
    return _beta_weight.bind(times(factor, value), factor, a, b, scale, x, logs=logs, other_logs=other_logs)


def beta_weight_vjp(
    g: Value,
    y: Value,
    value: Value,
    factor: Value,
    a: Value,
    b: Value,
    scale: Value,
    x: Value,
    *,
    logs: int,
    other_logs: int,
) -> Cotangents:
    slope = beta_weight(factor * a, a - 1, b, scale, x, logs, other_logs)
    slope = slope - beta_weight(factor * b, a, b - 1, scale, x, logs, other_logs)
    if logs:
        slope = slope + beta_weight(logs * factor, a - 1, b, scale, x, logs - 1, other_logs)
    if other_logs:
        slope = slope - beta_weight(other_logs * factor, a, b - 1, scale, x, logs, other_logs - 1)
    by_factor = beta_weight(ONE, a, b, scale, x, logs, other_logs)
    by_a = beta_weight(factor, a, b, scale, x, logs + 1, other_logs)
    by_b = beta_weight(factor, a, b, scale, x, logs, other_logs + 1)
    return None, g * by_factor, g * by_a, g * by_b, g * y, g * slope


_gamma_weight = with_derivative("gamma_weight", gamma_weight_vjp)
_beta_weight = with_derivative("beta_weight", beta_weight_vjp)


# ---- densities ----


def gamma_density(a: Value, x: Value, logs: int = 0) -> Value:
    return gamma_weight(ONE, a - 1, -gammaln(a), x, logs)


def beta_density(a: Value, b: Value, x: Value, logs: int = 0, other_logs: int = 0) -> Value:
    return beta_weight(ONE, a - 1, b - 1, gammaln(a + b) - gammaln(a) - gammaln(b), x, logs, other_logs)


# ---- the slope of an inverse distribution function is the reciprocal of the density ----


def reciprocal_density(
    name: str,
    density: Callable[..., Value],
    falls: Callable[..., Value],
    bends: Callable[..., Value],
    by_parameters: Callable[..., Sequence[Value]],
    falls_by_parameters: Callable[..., Sequence[Value]],
) -> Callable[..., Value]:
    """Return ``1 / density`` as a function. The derivative of its logarithm by the number is ``falls``, and the
    derivative of that is ``bends``."""

    def slope(*at: Value) -> Value:
        return _slope.bind(1 / density(*at), *at)

    def bend(*at: Value) -> Value:
        return _bend.bind(slope(*at) * falls(*at), *at)

    def slope_vjp(g: Value, y: Value, value: Value, *at: Value) -> Cotangents:
        return (None, *[g * (y * each) for each in by_parameters(*at)], g * bend(*at))

    def bend_vjp(g: Value, y: Value, value: Value, *at: Value) -> Cotangents:
        pairs = zip(by_parameters(*at), falls_by_parameters(*at), strict=True)
        by = [g * (y * each + slope(*at) * other) for each, other in pairs]
        return (None, *by, g * (slope(*at) * (falls(*at) * falls(*at) + bends(*at))))

    _slope, _bend = with_derivative(name, slope_vjp), with_derivative(f"{name}_bend", bend_vjp)
    return slope


def per(a: Value, x: Value) -> Value:
    """``a / x``, and 0 where ``a`` is."""
    is_zero = equal(a, 0.0)
    return where(is_zero, 0.0, a / where(is_zero, 1.0, x))


per_gamma_density = reciprocal_density(
    "per_gamma_density",
    gamma_density,
    lambda a, x: 1 - per(a - 1, x),
    lambda a, x: per(a - 1, x * x),
    lambda a, x: (digamma(a) - log(x),),
    lambda a, x: (-1 / x,),
)
per_beta_density = reciprocal_density(
    "per_beta_density",
    beta_density,
    lambda a, b, x: per(b - 1, 1 - x) - per(a - 1, x),
    lambda a, b, x: per(b - 1, (1 - x) * (1 - x)) + per(a - 1, x * x),
    lambda a, b, x: (digamma(a) - digamma(a + b) - log(x), digamma(b) - digamma(a + b) - log1p(-x)),
    lambda a, b, x: (-1 / x, 1 / (1 - x)),
)


def times_slope(value: Value, slope: Value) -> Value:
    """Return a product that is 0 where ``value`` is: at the edges of the domain, where the slope is infinite."""
    is_zero = equal(value, 0.0)
    return where(is_zero, 0.0, value * where(is_zero, 1.0, slope))
