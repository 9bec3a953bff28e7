"""Formulas of distributions for which SciPy calls Boost, or uses operations that no traced array has.

Each takes numbers inside of the support, and the shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.special.zeta import hurwitz
from numbagraph.library.scipy.stats.counts import (
    binomial_density,
    binomial_log_density,
    geometric_cdf,
    geometric_sf,
    negative_binomial_density,
    negative_binomial_log_density,
    poisson_density,
    poisson_log_density,
)
from numbagraph.library.scipy.stats.limiting_shapes import LIMITING
from numbagraph.library.scipy.stats.logser import tail as logarithmic_tail
from numbagraph.library.scipy.stats.vonmises import von_mises_cdf, von_mises_sf

Function = Callable[..., Any]

SQRT_HALF = np.sqrt(0.5)


def least_count(near: Function, reached: Function, only_zero: Function) -> Function:
    """Return a quantile of counts: the least one at which the distribution function has reached a probability.

    ``near`` gives a real number between it and the one before, up to rounding. ``only_zero`` says for which shapes
    there is no other count than 0, and no such number.
    """

    def quantile(q: Any, *shapes: Any) -> Any:
        last = np.ceil(near(q, *shapes))
        before = np.maximum(last - 1.0, 0.0)
        found = np.where(reached(before, q, *shapes), before, last)
        return np.where(only_zero(*shapes), 0.0, found)

    return quantile


def by_smaller_tail(tail: Function, other: Function, is_small: Function) -> Function:
    """Return the logarithm of a probability, which is accurate where the probability is about 1, too.

    ``is_small`` says where to take the logarithm itself: below about a half.
    """

    def formula(*args: Any) -> Any:
        small = is_small(*args)
        p, q = np.where(small, tail(*args), 0.5), np.where(small, 0.5, other(*args))
        return np.where(small, np.log(p), np.log1p(-q))

    return formula


LOG_2 = np.log(2.0)

BELOW_MEDIAN: dict[str, Function] = {
    "t": lambda x, df: x < 0,
    "poisson": lambda k, mu: k < mu - LOG_2,
    "binom": lambda k, n, p: k < n * p - LOG_2,
    "nbinom": lambda k, n, p: k < (1.0 - p) / p * gamma_below_median(n) - LOG_2,
}
"""Whether a number is below the median, up to a part of the probability. A mean of counts is within log(2) of their
median: Hamza, The smallest uniform upper bound on the distance between the mean and the median (1995)."""


def gamma_below_median(a: Any) -> Any:
    """A number below the median of a gamma distribution, and above its 0.38 quantile. [DLMF 8.10.13, 8.7.1]"""
    return np.where(a < 1.0, a * 2.0 ** (-1.0 / a), a - 1.0 / 3.0)


def by_known_tail(name: str, method: str, tail: Function, other: Function) -> Function:
    """Return "logcdf" or "logsf" of a distribution, from its smaller tail. Where the median is not known, the
    distribution function decides which tail is smaller: for some distributions, such as beta's, it takes a tenth of its
    complement's time."""
    is_lower = method == "logcdf"
    cdf = tail if is_lower else other
    below = BELOW_MEDIAN.get(name, lambda *args: cdf(*args) < 0.5)
    return by_smaller_tail(tail, other, below if is_lower else lambda *args: ~below(*args))


def odds_of(inverse: Function, complement: Function) -> Function:
    """Return the odds of a share that an inverse of beta functions gives; near 1 from the complement of the share."""

    def quantile(q: Any, a: Any, b: Any) -> Any:
        share = inverse(a, b, q)
        near = share > 0.9
        return share / np.where(near, complement(b, a, q), 1.0 - share)

    return quantile


# ---- Cauchy's, triangular, Pareto's ----


def cauchy_quantile(q: Any) -> Any:
    """The quantile of Cauchy's distribution: a tangent, which is as exact near 0 and 1 as beside the centre."""
    low, high = q < 0.25, q > 0.75
    middle = np.tan(np.pi * (np.where(low | high, 0.5, q) - 0.5))
    tail = 1.0 / np.tan(np.pi * np.where(low, q, np.where(high, 1.0 - q, 0.25)))
    return np.where(low, -tail, np.where(high, tail, middle))


def triangular_density(x: Any, c: Any) -> Any:
    falling = 2.0 * (1.0 - x) / np.where(c == 1, 1.0, 1.0 - c)
    return np.where(x < c, 2.0 * x / np.where(c == 0, 1.0, c), np.where(c == 1, 2.0 * x, falling))


def triangular_distribution(x: Any, c: Any) -> Any:
    falling = (x * x - 2.0 * x + c) / np.where(c == 1, 1.0, c - 1.0)
    return np.where(x < c, x * x / np.where(c == 0, 1.0, c), np.where(c == 1, x * x, falling))


def extreme_support(c: Any) -> tuple[Any, Any]:
    tiny = np.finfo(float).tiny
    lower = np.where(c < 0, 1.0 / np.minimum(c, -tiny), -np.inf)
    return lower, np.where(c > 0, 1.0 / np.maximum(c, tiny), np.inf)


def pareto_support(c: Any) -> tuple[Any, Any]:
    return 0.0, np.where(c < 0, -1.0 / np.where(c < 0, c, -1.0), np.inf)


# ---- the truncated normal distribution ----


def log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability of an interval, by the left tail or by the probability beside the
    interval."""
    turned = a > 0
    low, high = np.where(turned, -b, a), np.where(turned, -a, b)
    left = high <= 0
    end = np.where(left, high, 0.0)
    tail = log_difference(special.log_ndtr(end), special.log_ndtr(np.where(left, low, -1.0)))
    return np.where(left, tail, np.log1p(-special.ndtr(low) - special.ndtr(-high)))


def log_difference(x: Any, y: Any) -> Any:
    """``log(exp(x) - exp(y))``, where both may be 0."""
    none = x == -np.inf
    return x + np.log1p(-np.exp(y - np.where(none, 0.0, x)))


def complement(value: Any, other: Function) -> Any:
    """The logarithm of a probability; near 1, from the logarithm of its complement."""
    return np.where(value > -0.1, np.log1p(-np.exp(other())), value)


def truncated_logcdf(x: Any, a: Any, b: Any) -> Any:
    total = log_mass(a, b)
    return complement(log_mass(a, x) - total, lambda: log_mass(x, b) - total)


def truncated_logsf(x: Any, a: Any, b: Any) -> Any:
    total = log_mass(a, b)
    return complement(log_mass(x, b) - total, lambda: log_mass(a, x) - total)


def truncated_quantile(q: Any, a: Any, b: Any) -> Any:
    total = log_mass(a, b)
    left = special.ndtri_exp(np.logaddexp(special.log_ndtr(a), np.log(q) + total))
    right = -special.ndtri_exp(np.logaddexp(special.log_ndtr(-b), np.log1p(-q) + total))
    return np.where(a < 0, left, right)


def truncated_complement(q: Any, a: Any, b: Any) -> Any:
    total = log_mass(a, b)
    left = special.ndtri_exp(log_difference(special.log_ndtr(b), np.log(q) + total))
    right = -special.ndtri_exp(log_difference(special.log_ndtr(-a), np.log1p(-q) + total))
    return np.where(a < 0, left, right)


# ---- the inverse Gaussian distribution ----


def inverse_gauss_ends(x: Any, mu: Any) -> tuple[Any, Any]:
    """The ends ``u``, ``v`` of the normal tails that make up the distribution function. ``exp(2 / mu) * ndtr(-v)`` is
    ``exp(-u * u / 2)`` times half of ``erfcx(v / sqrt(2))``, which neither overflows nor cancels."""
    root = np.sqrt(x)
    return (x / mu - 1.0) / root, (x / mu + 1.0) / root


def log_second_tail(u: Any, v: Any) -> Any:
    return -0.5 * u * u + np.log(0.5 * special.erfcx(v * SQRT_HALF))


def inverse_gauss_logcdf(x: Any, mu: Any) -> Any:
    u, v = inverse_gauss_ends(x, mu)
    value = np.logaddexp(special.log_ndtr(u), log_second_tail(u, v))
    return complement(value, lambda: inverse_gauss_logsf(x, mu))


def inverse_gauss_logsf(x: Any, mu: Any) -> Any:
    """The logarithm of the survival function: beyond the mean by the difference of two tails, both of which have the
    factor ``exp(-u * u / 2)``."""
    u, v = inverse_gauss_ends(x, mu)
    beyond = u > 0
    low = np.where(beyond, 0.0, u)
    before = log_difference(special.log_ndtr(-low), np.where(beyond, -1.0, log_second_tail(low, v)))
    z = np.where(beyond, u, 1.0) * SQRT_HALF
    gap = np.where(beyond, np.sqrt(2.0 / x), 1.0)
    return np.where(beyond, -0.5 * u * u + np.log(0.5 * erfcx_decrease(z, gap)), before)


def erfcx_decrease(z: Any, gap: Any) -> Any:
    """``erfcx(z) - erfcx(z + gap)``: by its slope where the gap is small, and by its series where ``z`` is large."""
    far, near = z > 100.0, gap < 1e-5
    inner = np.where(far, 1.0, z)
    middle = inner + 0.5 * np.where(near, gap, 0.0)
    slope = 2.0 / np.sqrt(np.pi) - 2.0 * middle * special.erfcx(middle)
    direct = np.where(near, gap * slope, special.erfcx(inner) - special.erfcx(inner + gap))
    r, s = (1.0 / np.where(far, each, 1.0) for each in (z, z + gap))
    rest = 1.0 - 0.5 * (r * r + r * s + s * s) + 0.75 * (r**4 + r**3 * s + r * r * s * s + r * s**3 + s**4)
    return np.where(far, gap * r * s * rest / np.sqrt(np.pi), direct)


# ---- counts ----


def of_boost(name: str, otherwise: Function) -> Function:
    """Return a function of Boost's in double precision, or another formula where this SciPy does not have it."""
    return getattr(special._ufuncs, f"_{name}", otherwise)


binomial_below = of_boost("binom_cdf", lambda k, n, p: special.betaincc(k + 1.0, n - k, p))
negative_binomial_above = of_boost("nbinom_sf", lambda k, n, p: special.betaincc(n, k + 1.0, p))


def by_search(name: str, otherwise: Function) -> Function:
    """Return a quantile of counts, by Boost's search where that ends soon, and by another formula elsewhere."""
    search = of_boost(name, otherwise)

    def quantile(q: Any, n: Any, p: Any) -> Any:
        soon = (n <= 1e6) & (n >= 1e-3) & (np.abs(q - 0.5) < 0.5 - 1e-12) & (np.abs(p - 0.5) < 0.5 - 1e-6)
        return np.where(soon, search(q, n, p), otherwise(q, n, p))

    return quantile


def binomial_cdf(k: Any, n: Any, p: Any) -> Any:
    return binomial_below(np.floor(k), n, p)


def binomial_sf(k: Any, n: Any, p: Any) -> Any:
    k = np.floor(k)
    return special.betainc(k + 1.0, n - k, p)


def no_success(n: Any, p: Any) -> Any:
    return (n == 0) | (p == 0)


def no_failure(n: Any, p: Any) -> Any:
    return (p == 1) & (n == n)


def negative_binomial_cdf(k: Any, n: Any, p: Any) -> Any:
    return special.betainc(n, np.floor(k) + 1.0, p)


def negative_binomial_sf(k: Any, n: Any, p: Any) -> Any:
    return negative_binomial_above(np.floor(k), n, p)


def zeta_log_density(k: Any, a: Any) -> Any:
    """The logarithm of the probability, by Hurwitz's function, which has derivatives by both operands: at 2 it is the
    zeta function less 1."""
    return -a * np.log(k) - np.log1p(hurwitz(a, 2.0))


def zeta_sf(k: Any, a: Any) -> Any:
    """The survival function, by Hurwitz's function in place of a sum over all smaller counts."""
    return hurwitz(a, np.floor(k) + 1.0) / hurwitz(a, 1.0)


def zeta_cdf(k: Any, a: Any) -> Any:
    return 1.0 - zeta_sf(k, a)


def exponential_of(name: str, method: str) -> Function:
    """Return a density, from its logarithm."""
    scipy_s: Function = getattr(getattr(stats, name), f"_{method}")
    return lambda *args: np.exp(FORMULAS.get((name, method), scipy_s)(*args))


def hypergeometric_density(k: Any, total: Any, good: Any, draws: Any) -> Any:
    """The density by Boost, which is accurate where logarithms of factorials of millions cancel. Between counts Boost's
    is constant, so derivatives are those of the formula by logarithms."""
    by_logarithms = exponential_of("hypergeom", "logpmf")
    pmf = of_boost("hypergeom_pmf", lambda k, good, draws, total: by_logarithms(k, total, good, draws))
    return differentiated(pmf(k, good, draws, total), by_logarithms(k, total, good, draws))


SUPPORTS: dict[str, Function] = {"genextreme": extreme_support, "genpareto": pareto_support}
"""The supports that SciPy computes by operations that no traced array has."""

INNER = {"bernoulli": 0.5, "binom": 0.5, "geom": 0.5, "nbinom": 0.5, "poisson": 1.0}
"""For distributions of counts whose last shape may be at the edge of its range, a number inside of the range."""

FORMULAS: dict[tuple[str, str], Function] = {
    **LIMITING,
    ("beta", "pdf"): exponential_of("beta", "logpdf"),
    ("beta", "ppf"): lambda q, a, b: special.betaincinv(a, b, q),
    ("betaprime", "ppf"): odds_of(special.betaincinv, special.betainccinv),
    ("betaprime", "isf"): odds_of(special.betainccinv, special.betaincinv),
    ("cauchy", "ppf"): cauchy_quantile,
    ("cauchy", "isf"): lambda q: -cauchy_quantile(q),
    ("invgauss", "logcdf"): inverse_gauss_logcdf,
    ("invgauss", "cdf"): exponential_of("invgauss", "logcdf"),
    ("invgauss", "logsf"): inverse_gauss_logsf,
    ("invgauss", "sf"): exponential_of("invgauss", "logsf"),
    ("triang", "pdf"): triangular_density,
    ("triang", "cdf"): triangular_distribution,
    ("truncnorm", "logpdf"): lambda x, a, b: stats.norm._logpdf(x) - log_mass(a, b),
    ("truncnorm", "pdf"): exponential_of("truncnorm", "logpdf"),
    ("truncnorm", "logcdf"): truncated_logcdf,
    ("truncnorm", "cdf"): exponential_of("truncnorm", "logcdf"),
    ("truncnorm", "logsf"): truncated_logsf,
    ("truncnorm", "sf"): exponential_of("truncnorm", "logsf"),
    ("truncnorm", "ppf"): truncated_quantile,
    ("truncnorm", "isf"): truncated_complement,
    ("vonmises", "cdf"): von_mises_cdf,
    ("vonmises", "sf"): von_mises_sf,
    ("bernoulli", "pmf"): lambda k, p: np.where(k > 0, p, 1.0 - p),
    ("bernoulli", "cdf"): lambda k, p: 1.0 - p,
    ("bernoulli", "sf"): lambda k, p: p,
    ("bernoulli", "logcdf"): lambda k, p: np.log1p(-p),
    ("bernoulli", "logsf"): lambda k, p: np.log(p),
    ("bernoulli", "ppf"): lambda q, p: np.where(q > 1.0 - p, 1.0, 0.0),
    ("bernoulli", "isf"): lambda q, p: np.where(q >= p, 0.0, 1.0),
    ("binom", "logpmf"): binomial_log_density,
    ("binom", "pmf"): binomial_density,
    ("binom", "cdf"): binomial_cdf,
    ("binom", "sf"): binomial_sf,
    ("binom", "ppf"): by_search(
        "binom_ppf", least_count(special.bdtrik, lambda k, q, n, p: binomial_cdf(k, n, p) >= q, no_success)
    ),
    ("binom", "isf"): by_search(
        "binom_isf",
        least_count(
            lambda q, n, p: special.bdtrik(1.0 - q, n, p), lambda k, q, n, p: binomial_sf(k, n, p) <= q, no_success
        ),
    ),
    ("geom", "cdf"): geometric_cdf,
    ("geom", "sf"): geometric_sf,
    ("hypergeom", "pmf"): hypergeometric_density,
    ("logser", "sf"): logarithmic_tail,
    ("nbinom", "logpmf"): negative_binomial_log_density,
    ("nbinom", "pmf"): negative_binomial_density,
    ("nbinom", "cdf"): negative_binomial_cdf,
    ("nbinom", "logcdf"): by_known_tail("nbinom", "logcdf", negative_binomial_cdf, negative_binomial_sf),
    ("nbinom", "sf"): negative_binomial_sf,
    ("nbinom", "logsf"): by_known_tail("nbinom", "logsf", negative_binomial_sf, negative_binomial_cdf),
    ("nbinom", "ppf"): by_search(
        "nbinom_ppf", least_count(special.nbdtrik, lambda k, q, n, p: negative_binomial_cdf(k, n, p) >= q, no_failure)
    ),
    ("nbinom", "isf"): by_search(
        "nbinom_isf",
        least_count(
            lambda q, n, p: special.nbdtrik(1.0 - q, n, p),
            lambda k, q, n, p: negative_binomial_sf(k, n, p) <= q,
            no_failure,
        ),
    ),
    ("poisson", "logpmf"): poisson_log_density,
    ("poisson", "pmf"): poisson_density,
    ("randint", "pmf"): lambda k, low, high: 1.0 / (high - low),
    ("zipf", "logpmf"): zeta_log_density,
    ("zipf", "pmf"): lambda k, a: np.exp(zeta_log_density(k, a)),
    ("zipf", "cdf"): zeta_cdf,
    ("zipf", "logcdf"): by_known_tail("zipf", "logcdf", zeta_cdf, zeta_sf),
    ("zipf", "sf"): zeta_sf,
    ("zipf", "logsf"): by_known_tail("zipf", "logsf", zeta_sf, zeta_cdf),
}
"""The formulas by the names of the distribution and the method."""
