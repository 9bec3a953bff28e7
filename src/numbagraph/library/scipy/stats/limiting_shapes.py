"""Distributions at shapes where SciPy has a formula for a limit: derivatives pass through the limit.

A choice between a formula and its limit has the derivative of the limit alone, which does not depend on the shape. And
a formula that is not chosen must not be given numbers at which its derivative is infinite or NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.stats.counts import series

Function = Callable[..., Any]

NEAR = 0.05
LOGARITHM = [(-1.0) ** k / (k + 1) for k in range(14)]
"""Factors of the series of ``log1p(u) / u``, as many as give it all digits below NEAR."""
EXPONENTIAL = [1.0 / math.factorial(k + 1) for k in range(9)]
"""Factors of the series of ``expm1(u) / u``."""
TERMS = 3
"""The number of terms of the series by the non-centrality, where that is 0: as many as third derivatives need."""
LOG_2_PI = math.log(2.0 * math.pi)


def product(c: Any, x: Any) -> Any:
    """``c * x``, and 0 where ``c`` is 0 and ``x`` infinite."""
    return c * np.where((c == 0) & np.isinf(x), 0.0, x)


def logarithm_by(x: Any, c: Any, factor: Any = 1.0) -> Any:
    """``factor * log1p(c * x) / c``, which is ``factor * x`` where ``c`` is 0."""
    u = product(c, x)
    near = np.abs(u) < NEAR
    close = factor * x * series(LOGARITHM, np.where(near, u, 0.0))
    return np.where(near, close, special.xlog1py(factor, np.where(near, 1.0, u)) / np.where(near, 1.0, c))


def rise(z: Any) -> Any:
    """Return 0 for numbers from 0 on. The derivative of the scaled Bessel function at 0 is the mean of both sides: this
    adds the rest of the derivative from the right."""
    return np.abs(z) - z


# ---- generalised Pareto's and extreme values ----


def pareto_logpdf(x: Any, c: Any) -> Any:
    return -logarithm_by(x, c, c + 1.0)


def pareto_logsf(x: Any, c: Any) -> Any:
    return -logarithm_by(x, c)


def extreme_logarithm(x: Any, c: Any) -> Any:
    """The logarithm of the negative logarithm of the distribution function."""
    return -logarithm_by(x, -c)


def extreme_logpdf(x: Any, c: Any) -> Any:
    none = (c * x == 1) | (x == -np.inf)
    inner = np.where(none, 0.0, x)
    log = extreme_logarithm(inner, c)
    value = log - np.exp(log) - np.log1p(-product(c, inner))
    return np.where(none, np.where((c == 1) & (x == 1), 0.0, -np.inf), value)


def extreme_logcdf(x: Any, c: Any) -> Any:
    return -np.exp(extreme_logarithm(x, c))


def extreme_quantile(x: Any, c: Any) -> Any:
    """A quantile, from one of Gumbel's distribution: ``expm1(-c * x) / -c``, which is ``x`` where ``c`` is 0."""
    u = -c * x
    near = np.abs(u) < NEAR
    close = x * series(EXPONENTIAL, np.where(near, u, 0.0))
    return np.where(near, close, np.expm1(np.where(near, 1.0, u)) / np.where(near, 1.0, -c))


# ---- the skew normal, Rice's, von Mises' ----


def skew_logpdf(x: Any, a: Any) -> Any:
    return math.log(2.0) - 0.5 * (x * x + LOG_2_PI) + special.log_ndtr(product(a, x))


def rice_exponent(x: Any, b: Any) -> Any:
    return -0.5 * (x - b) * (x - b) + rise(x * b)


def mises_exponent(x: Any, kappa: Any) -> Any:
    return kappa * special.cosm1(x) - rise(kappa)


# ---- the non-central chi-square distribution ----


def chi_square_logpdf(x: Any, df: Any) -> Any:
    return special.xlogy(0.5 * df - 1.0, x) - 0.5 * x - special.gammaln(0.5 * df) - 0.5 * math.log(2.0) * df


def non_central_logpdf(x: Any, df: Any, nc: Any) -> Any:
    """The logarithm of the non-central chi-square density. [R. J. Muirhead, Aspects of Multivariate Statistical Theory
    (1982), theorem 1.3.4]"""
    central = nc == 0
    inner, half = np.where(central, 1.0, nc), 0.5 * np.where(central, nc, 0.0)
    order, root = 0.5 * df - 1.0, np.sqrt(x * inner)
    shift = np.sqrt(x) - np.sqrt(inner)
    bessel = special.ive(order, root)
    found = (
        special.xlogy(0.5 * order, x / inner) - 0.5 * shift * shift + np.log(0.5 * np.where(bessel > 0, bessel, 1.0))
    )
    found = np.where(bessel > 0, found, -np.inf)
    term, more = 1.0, 0.0
    for j in range(1, TERMS + 1):
        term = term * (half * x) / (j * (df + 2.0 * (j - 1)))
        more = more + term
    return np.where(central, chi_square_logpdf(x, df) - half + np.log1p(more), found)


def non_central_cdf(x: Any, df: Any, nc: Any) -> Any:
    found = special.chndtr(x, df, nc)
    return differentiated(np.where(nc == 0, special.gammainc(0.5 * df, 0.5 * x), found), found)


def non_central_quantile(q: Any, df: Any, nc: Any) -> Any:
    found = special.chndtrix(q, df, nc)
    return differentiated(np.where(nc == 0, 2.0 * special.gammaincinv(0.5 * df, q), found), found)


# ---- Student's t ----

HALF_STEP = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224, -5461 / 425984)
"""Factors of odd powers of 1 / b in the logarithm of ``gamma(b + 1/2) / (gamma(b) * sqrt(b))``. [DLMF 5.11.8]"""
SHIFT = 8
"""The number from which on these factors give all digits."""


def student_logpdf(x: Any, df: Any) -> Any:
    """The logarithm of Student's density. The quotient of gamma functions half a step apart is a series; a recurrence
    leads from small numbers to those where the series is accurate."""
    normal = df == np.inf
    df = np.where(normal, 1.0, df)
    a = 0.5 * df
    few = a < SHIFT
    above = below = 1.0
    for k in range(SHIFT):
        above, below = above * (np.where(few, a, 1.0) + k), below * (np.where(few, a, 1.0) + (k + 0.5))
    b = np.where(few, a + SHIFT, a)
    ratio = np.where(few, above / below, 1.0) * np.sqrt(b / (np.pi * df))
    constant = np.log(ratio) + series(HALF_STEP, 1.0 / (b * b)) / b
    found = constant - 0.5 * (df + 1.0) * np.log1p(x * x / df)
    return np.where(normal, -0.5 * (x * x + LOG_2_PI), found)


# ---- two sides, of which one is chosen ----


def on_sides(right: Any, x: Any, of_right: Function, of_left: Function, other: float) -> Any:
    """Apply one function to each side. Each function gets ``other`` in place of the numbers on the other side."""
    return np.where(right, of_right(np.where(right, x, other)), of_left(np.where(right, other, x)))


def double_gamma_cdf(x: Any, a: Any) -> Any:
    def right(x: Any) -> Any:
        return 0.5 + 0.5 * special.gammainc(a, x)

    return on_sides(x > 0, np.where(x > 0, x, -x), right, lambda x: 0.5 * special.gammaincc(a, x), 1.0)


def double_gamma_quantile(q: Any, a: Any) -> Any:
    right, share = q > 0.5, np.where(q > 0.5, 2.0 * q - 1.0, 2.0 * q)
    return on_sides(right, share, lambda p: special.gammaincinv(a, p), lambda p: -special.gammainccinv(a, p), 0.5)


def triangular_quantile(q: Any, c: Any) -> Any:
    low = q < c
    area = np.where(low, c * q, (1.0 - c) * (1.0 - q))
    return on_sides(low, area, np.sqrt, lambda area: 1.0 - np.sqrt(area), 0.5)


LIMITING: dict[tuple[str, str], Function] = {
    ("genpareto", "logpdf"): pareto_logpdf,
    ("genpareto", "pdf"): lambda x, c: np.exp(pareto_logpdf(x, c)),
    ("genpareto", "logsf"): pareto_logsf,
    ("genextreme", "logpdf"): extreme_logpdf,
    ("genextreme", "pdf"): lambda x, c: np.exp(extreme_logpdf(x, c)),
    ("genextreme", "logcdf"): extreme_logcdf,
    ("genextreme", "cdf"): lambda x, c: np.exp(extreme_logcdf(x, c)),
    ("genextreme", "sf"): lambda x, c: -np.expm1(extreme_logcdf(x, c)),
    ("genextreme", "ppf"): lambda q, c: extreme_quantile(-np.log(-np.log(q)), c),
    ("genextreme", "isf"): lambda q, c: extreme_quantile(-np.log(-np.log1p(-q)), c),
    ("skewnorm", "logpdf"): skew_logpdf,
    ("skewnorm", "pdf"): lambda x, a: np.exp(-0.5 * (x * x + LOG_2_PI)) * (2.0 * special.ndtr(product(a, x))),
    ("rice", "logpdf"): lambda x, b: np.log(x) + rice_exponent(x, b) + np.log(special.i0e(x * b)),
    ("rice", "pdf"): lambda x, b: x * np.exp(rice_exponent(x, b)) * special.i0e(x * b),
    ("vonmises", "logpdf"): lambda x, k: mises_exponent(x, k) - LOG_2_PI - np.log(special.i0e(k)),
    ("vonmises", "pdf"): lambda x, k: np.exp(mises_exponent(x, k)) / (2.0 * np.pi * special.i0e(k)),
    ("t", "logpdf"): student_logpdf,
    ("t", "pdf"): lambda x, df: np.exp(student_logpdf(x, df)),
    ("ncx2", "logpdf"): non_central_logpdf,
    ("ncx2", "cdf"): non_central_cdf,
    ("ncx2", "ppf"): non_central_quantile,
    ("dgamma", "cdf"): double_gamma_cdf,
    ("dgamma", "sf"): lambda x, a: double_gamma_cdf(-x, a),
    ("dgamma", "ppf"): double_gamma_quantile,
    ("dgamma", "isf"): lambda q, a: -double_gamma_quantile(q, a),
    ("triang", "ppf"): triangular_quantile,
}
"""The formulas by the names of the distribution and the method."""
