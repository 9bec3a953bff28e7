"""Probabilities of counts by saddle points: the difference of logarithms of factorials without their cancellation.

Loader, Fast and accurate computation of binomial probabilities (2000). Each takes numbers inside of the support, and
the shapes. At edges, where no counts or probabilities are left, the plain formulas cancel nothing and have derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from numbagraph.library.scipy.arguments import differentiated

Function = Callable[..., Any]

HALF_LOG_TAU = 0.5 * np.log(2.0 * np.pi)
FEW = 16.0
"""The bound below which logarithms of factorials are small enough to be subtracted; from it on the series has all
digits."""
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
NEAR = 0.1
ODD = [1.0 / k for k in range(3, 27, 2)]
"""Factors of the series of ``atanh(v) - v``, as many as give its derivative all digits below NEAR."""


def series(coefficients: Any, x: Any) -> Any:
    first, *rest = reversed(coefficients)
    result = first + 0.0 * x
    for each in rest:
        result = result * x + each
    return result


def factorial_rest(n: Any) -> Any:
    """``log(n!)`` without Stirling's ``(n + 1/2) * log(n) - n + log(2 pi) / 2``."""
    few = n < FEW
    small, large = np.where(few, n, 1.0), np.where(few, FEW, n)
    direct = special.gammaln(small + 1.0) - (small + 0.5) * np.log(small) + small - HALF_LOG_TAU
    return np.where(few, direct, series(STIRLING, 1.0 / (large * large)) / large)


def deviance(x: Any, mean: Any) -> Any:
    """``x * log(x / mean) + mean - x``, which is small where both are nearly equal."""
    apart = x - mean
    ratio = apart / (x + mean)
    near = np.abs(ratio) < NEAR
    v = np.where(near, ratio, 0.0)
    square = v * v
    close = apart * v + 2.0 * x * v * square * series(ODD, square)
    return np.where(near, close, x * np.log(np.where(near, 1.0, x / mean)) - apart)


def binomial(k: Any, n: Any, p: Any, q: Any) -> Any:
    """The logarithm of the probability of ``k`` out of ``n``, which need not be whole. Neither ``k`` nor ``n - k`` may
    be 0."""
    rest = n - k
    corrections = factorial_rest(n) - factorial_rest(k) - factorial_rest(rest)
    return corrections - deviance(k, n * p) - deviance(rest, n * q) - HALF_LOG_TAU - 0.5 * np.log(k * (rest / n))


def inside(edge: Any, plain: Any, formula: Function, numbers: tuple[Any, ...], others: Any) -> Any:
    """Evaluate a formula, and the plain one at edges, where the formula is evaluated at other numbers that it can
    take."""
    safe = [np.where(edge, other, number) for number, other in zip(numbers, others, strict=True)]
    return np.where(edge, plain, formula(*safe))


def binomial_log_ways(k: Any, n: Any) -> Any:
    return special.gammaln(n + 1.0) - (special.gammaln(k + 1.0) + special.gammaln(n - k + 1.0))


def binomial_log_density(k: Any, n: Any, p: Any) -> Any:
    k = np.floor(k)
    edge = (k == 0) | (k == n) | (p == 0) | (p == 1)
    plain = binomial_log_ways(k, n) + special.xlogy(k, p) + special.xlog1py(n - k, -p)
    return inside(edge, plain, lambda k, n, p: binomial(k, n, p, 1.0 - p), (k, n, p), (1.0, 2.0, 0.5))


def negative_binomial_log_density(k: Any, n: Any, p: Any) -> Any:
    """The logarithm of the probability of ``k`` failures before ``n`` successes: the last of ``n + k`` draws is a
    success."""
    edge = (k == 0) | (p == 1)
    plain = special.xlogy(n, p) + special.xlog1py(k, -p) + special.gammaln(n + k)
    plain = plain - special.gammaln(k + 1.0) - special.gammaln(n)

    def formula(k: Any, n: Any, p: Any) -> Any:
        return binomial(n, n + k, p, 1.0 - p) + np.log(n / (n + k))

    return inside(edge, plain, formula, (k, n, p), (1.0, 1.0, 0.5))


def poisson_log_density(k: Any, mu: Any) -> Any:
    edge = (k == 0) | (mu == 0)
    plain = special.xlogy(k, mu) - special.gammaln(k + 1.0) - mu

    def formula(k: Any, mu: Any) -> Any:
        return -factorial_rest(k) - deviance(k, mu) - HALF_LOG_TAU - 0.5 * np.log(k)

    return inside(edge, plain, formula, (k, mu), (1.0, 1.0))


# ---- probabilities at edges of the parameter, where the logarithm is infinite and its derivative, too ----


def with_edges(value: Function, edge: Function, powers: Function, inner: float) -> Function:
    """Return a probability whose derivatives at ``edge``s of the last shape are those of a product of powers. ``inner``
    is a number that is no edge."""

    def probability(k: Any, *shapes: Any) -> Any:
        *others, last = shapes
        at_edge = edge(last)
        elsewhere = value(k, *others, np.where(at_edge, inner, last))
        form = np.where(at_edge, powers(k, *others, np.where(at_edge, last, inner)), elsewhere)
        return differentiated(value(k, *shapes), form)

    return probability


def ways(log_ways: Any) -> Any:
    """The number of ways, from its logarithm. Where that would overflow, powers of 0 are 0, and so are their
    derivatives."""
    return np.exp(np.minimum(log_ways, 700.0))


def binomial_powers(k: Any, n: Any, p: Any) -> Any:
    return ways(binomial_log_ways(k, n)) * p**k * (1.0 - p) ** (n - k)


def negative_binomial_powers(k: Any, n: Any, p: Any) -> Any:
    log_ways = special.gammaln(n + k) - special.gammaln(k + 1.0) - special.gammaln(n)
    return ways(log_ways) * p**n * (1.0 - p) ** k


binomial_density = with_edges(
    lambda k, n, p: np.exp(binomial_log_density(k, n, p)), lambda p: (p == 0) | (p == 1), binomial_powers, 0.5
)
negative_binomial_density = with_edges(
    lambda k, n, p: np.exp(negative_binomial_log_density(k, n, p)), lambda p: p == 1, negative_binomial_powers, 0.5
)
poisson_density = with_edges(
    lambda k, mu: np.exp(poisson_log_density(k, mu)),
    lambda mu: mu == 0,
    lambda k, mu: mu**k * np.exp(-mu - special.gammaln(k + 1.0)),
    1.0,
)
geometric_cdf = with_edges(
    lambda k, p: -np.expm1(np.log1p(-p) * np.floor(k)),
    lambda p: p == 1,
    lambda k, p: 1.0 - (1.0 - p) ** np.floor(k),
    0.5,
)
geometric_sf = with_edges(
    lambda k, p: np.exp(np.floor(k) * np.log1p(-p)), lambda p: p == 1, lambda k, p: (1.0 - p) ** np.floor(k), 0.5
)
