"""Derivatives of drawn numbers by the parameters of their distribution."""

from __future__ import annotations

from numbagraph.ir.values import Value
from numbagraph.ops.exponentials import exp
from numbagraph.ops.identity import with_derivative
from numbagraph.ops.selection import where
from numbagraph.ops.special.error_functions import digamma, gammaln
from numbagraph.ops.special.incomplete_gamma import gammainc_by_a

NEARLY_ZERO = 1e-12
"""The number below which the distribution function of a gamma number is its first term, up to rounding."""


def log_gamma_slope(a: Value, logarithm: Value) -> Value:
    """Return the derivative of the logarithm of a gamma number by its parameter, at a fixed probability.

    By the implicit function theorem it is that of the distribution function by the parameter, over the density by the
    logarithm, with the other sign. Figurnov, Mohamed, Mnih: Implicit reparameterization gradients (2018).
    """
    number = exp(logarithm)
    is_small = number < NEARLY_ZERO
    safe = where(is_small, 1.0, number)
    density = exp(a * where(is_small, 0.0, logarithm) - safe - gammaln(a))
    return where(is_small, (digamma(a + 1) - logarithm) / a, -gammainc_by_a(a, safe) / density)


_sampled_log_gamma = with_derivative("sampled_log_gamma", lambda g, y, value, a: (None, g * log_gamma_slope(a, y)))


def sampled_log_gamma(value: Value, a: Value) -> Value:
    """Return logarithms of gamma numbers, drawn in any way, as a function of the parameter."""
    return _sampled_log_gamma.bind(value, a)
