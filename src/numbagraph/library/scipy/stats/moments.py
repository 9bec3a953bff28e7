"""Moments, entropies, medians and intervals of distributions of `scipy.stats` whose parameters are traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special, stats

from numbagraph.library.scipy.stats.formulas import Function

MOMENTS = ("mean", "var", "std", "entropy")


def moments_of_t(df: Any) -> tuple[Any, Any]:
    finite = np.where(np.isfinite(df) & (df > 2), df, 3.0)
    variance = np.where(df > 2, np.where(np.isinf(df), 1.0, finite / (finite - 2.0)), np.where(df > 1, np.inf, np.nan))
    return np.where(df > 1, 0.0, np.inf), variance


def moments_of_chi(df: Any) -> tuple[Any, Any]:
    mean = np.sqrt(2.0) * special.poch(0.5 * df, 0.5)
    return mean, df - mean * mean


def moments_of_pareto(b: Any) -> tuple[Any, Any]:
    one, two = np.where(b > 1, b, 2.0), np.where(b > 2, b, 3.0)
    mean = np.where(b > 1, one / (one - 1.0), np.inf)
    return mean, np.where(b > 2, two / (two - 2.0) / (two - 1.0) ** 2, np.inf)


def moments_of_lomax(c: Any) -> tuple[Any, Any]:
    mean, variance = moments_of_pareto(c)
    return mean - 1.0, variance


def moments_of_loguniform(a: Any, b: Any) -> tuple[Any, Any]:
    width = np.log(b) - np.log(a)
    mean = (b - a) / width
    return mean, (b - a) * (b + a) / (2.0 * width) - mean * mean


def moments_of_hypergeom(M: Any, n: Any, N: Any) -> tuple[Any, Any]:
    mean = n * (N / M)
    return mean, mean * ((M - n) / M) * ((M - N) / (M - 1.0))


def entropy_of_t(df: Any) -> Any:
    finite = np.where(np.isinf(df), 1.0, df)
    half, more = 0.5 * finite, 0.5 * (finite + 1.0)
    found = more * (special.psi(more) - special.psi(half)) + 0.5 * np.log(finite) + special.betaln(half, 0.5)
    return np.where(np.isinf(df), 0.5 * np.log(2.0 * np.pi * np.e), found)


def entropy_of_beta(a: Any, b: Any) -> Any:
    slopes = (a - 1.0) * special.psi(a) + (b - 1.0) * special.psi(b) - (a + b - 2.0) * special.psi(a + b)
    return special.betaln(a, b) - slopes


STANDARD: dict[str, Function] = {
    "chi": moments_of_chi,
    "hypergeom": moments_of_hypergeom,
    "loguniform": moments_of_loguniform,
    "lomax": moments_of_lomax,
    "nbinom": lambda n, p: (n * (1.0 - p) / p, n * (1.0 - p) / (p * p)),
    "pareto": moments_of_pareto,
    "poisson": lambda mu: (mu, mu),
    "randint": lambda low, high: ((low + high - 1.0) / 2.0, ((high - low) ** 2 - 1.0) / 12.0),
    "reciprocal": moments_of_loguniform,
    "t": moments_of_t,
}
"""Functions for mean and variance, where SciPy's formula branches on the numbers themselves."""
ENTROPIES: dict[str, Function] = {"beta": entropy_of_beta, "t": entropy_of_t}


def general(dist: Any) -> Any:
    return stats.rv_discrete if isinstance(dist, stats.rv_discrete) else stats.rv_continuous


def has_own(dist: Any, name: str) -> bool:
    """Whether a distribution has a formula of its own, rather than an integral or a sum."""
    return getattr(type(dist), name) is not getattr(general(dist), name)


def refuse() -> Any:
    raise TypeError("SciPy has no formula for it, but integrates or sums")


def raw_moment(dist: Any, order: int, shapes: Sequence[Any]) -> Any:
    return dist._munp(order, *shapes) if has_own(dist, "_munp") else refuse()


def standard_moments(dist: Any, shapes: Sequence[Any], wanted: str) -> tuple[Any, Any]:
    """Return mean and variance without location and scale; the variance is None unless it is wanted."""
    if dist.name in STANDARD:
        found: tuple[Any, Any] = STANDARD[dist.name](*shapes)
        return found
    options = {"moments": wanted} if dist._stats_has_moments else {}
    mean, variance, *_ = dist._stats(*shapes, **options)
    if mean is None:
        mean = raw_moment(dist, 1, shapes)
    if variance is None and "v" in wanted:
        variance = raw_moment(dist, 2, shapes) - mean * mean
        variance = np.where(np.isinf(mean), np.inf, variance)
    return mean, variance


def moment(dist: Any, name: str, shapes: Sequence[Any], loc: Any, scale: Any) -> Any:
    """``mean``, ``var``, ``std`` or ``entropy``, for valid parameters."""
    if name == "entropy":
        own = ENTROPIES.get(dist.name)
        if own is None and not has_own(dist, "_entropy"):
            refuse()
        found = (own or dist._entropy)(*shapes)
        return found if isinstance(dist, stats.rv_discrete) else found + np.log(scale)
    mean, variance = standard_moments(dist, shapes, "m" if name == "mean" else "mv")
    if name == "mean":
        return mean * scale + loc
    return variance * scale * scale if name == "var" else np.sqrt(variance) * scale
