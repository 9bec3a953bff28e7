"""Distributions that `scipy.stats` takes from Boost, in the precision of their operands: functions of counts, and
densities that are the derivatives of public functions.

`betaincc` is the same function, in long double: it takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.intrinsics.emitters import libm
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.special.distribution_functions import (
    OF_BINOMIAL,
    OF_NEGATIVE,
    POSITIVE,
    binomial_slope,
    negative_binomial_slope,
)
from numbagraph.ops.special.incomplete_gamma import betainc_by_a, betainc_by_b
from numbagraph.ops.special.scipy_kernels import Domain, Slope, kernel
from numbagraph.ops.special.shifted_t import scaled_moment


def of_boost(name: str, operands: Sequence[Domain], *slopes: Slope, cost: float = 60) -> Op:
    """Declare a function of Boost's. A function without a derivative by a count does not change between two counts."""
    return kernel(name, operands, *slopes, path=f"scipy.special._ufuncs:_{name}", emit=libm.boost(name), cost=cost)


def binomial_by_n(y: Value, k: Value, n: Value, p: Value) -> Value:
    return -betainc_by_b(k + 1.0, n - k, p)


def negative_binomial_by_n(y: Value, k: Value, n: Value, p: Value) -> Value:
    return -betainc_by_a(n * 1.0, k + 1.0, p)


binom_cdf = of_boost("binom_cdf", OF_BINOMIAL, None, binomial_by_n, lambda y, k, n, p: -binomial_slope(k, n, p))
nbinom_sf = of_boost(
    "nbinom_sf", OF_NEGATIVE, None, negative_binomial_by_n, lambda y, k, n, p: -negative_binomial_slope(k, n, p)
)


def quantile(name: str, counts: Domain) -> Op:
    """Declare a quantile, which is constant between two jumps: tests draw probabilities between them."""
    return of_boost(name, [(0.36, 0.42), counts, (0.5, 0.52)], None, None, None, cost=200)


binom_ppf, binom_isf = (quantile(name, range(7, 8)) for name in ("binom_ppf", "binom_isf"))
nbinom_ppf, nbinom_isf = (quantile(name, range(3, 4)) for name in ("nbinom_ppf", "nbinom_isf"))


def hypergeometric(name: str) -> Op:
    """Declare a function of counts alone: the good ones among those drawn, all good ones, the draws, and all."""
    return of_boost(name, [range(1, 5), range(7, 8), range(11, 13), range(20, 21)], None, None, None, None, cost=200)


hypergeom_pmf, hypergeom_cdf, hypergeom_sf = (hypergeometric(f"hypergeom_{name}") for name in ("pmf", "cdf", "sf"))

NO_SECOND = Unsupported("the non-central distributions have no second derivative by this here")


def density(name: str, *slopes: Slope) -> Op:
    """Declare the density of a non-central distribution."""
    return of_boost(name, [POSITIVE] * len(slopes), *slopes, cost=400)


ncf_pdf = density("ncf_pdf", *[NO_SECOND] * 4)
nct_pdf = density(
    "nct_pdf",
    lambda y, t, df, nc: nc * scaled_moment(2, t, df, nc) - t * scaled_moment(3, t, df, nc),
    NO_SECOND,
    lambda y, t, df, nc: t * scaled_moment(2, t, df, nc) - nc * y,
)
"""Densities of the number, the degrees of freedom and the non-centrality: derivatives of `ncfdtr` and `nctdtr`."""
