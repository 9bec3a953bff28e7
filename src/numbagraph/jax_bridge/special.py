"""JAX's special functions where they differ from SciPy's: at the ends of their domains."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from numbagraph import special
from numbagraph.ir.op import registry
from numbagraph.jax_bridge.signed_zeros import kept_zeros
from numbagraph.jax_bridge.translate import x64
from numbagraph.jax_bridge.translation import traced
from numbagraph.library.scipy.special.zeta import zeta
from numbagraph.purity.nondeterminism import unwatched
from numbagraph.tracing.tracer import Tracer, apply


def logistic(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x)) if x.dtype.kind == "c" else special.expit(x)


def log_gamma(x: Any) -> Any:
    return np.where(x == -np.inf, np.inf, special.gammaln(x))


@functools.cache
def of_jax(name: str, *numbers: float) -> float:
    """The value of JAX's function at a point where versions of JAX differ."""
    with unwatched(), x64(), jax.ensure_compile_time_eval():
        return float(getattr(jax.lax, name)(*map(jax.numpy.float64, numbers)))


def digamma(x: Any) -> Any:
    return np.where(x == 0, of_jax("digamma", 0.0), special.digamma(x))


def outside(a: Any, x: Any) -> Any:
    """Where JAX's incomplete gamma function is not defined."""
    return (x < 0) | (a < 0) | ((a == 0) & (x == 0)) | np.isnan(a) | np.isnan(x)


def of_infinite(name: str, found: Any, a: Any, x: Any) -> Any:
    """Replace the function's values for an infinite parameter: at a small, a large, and an infinite number."""
    small, large, infinite = (of_jax(name, np.inf, each) for each in (0.5, 2.0, np.inf))
    of_x = np.where(x == np.inf, infinite, np.where(x < 1, small, large))
    return np.where((a == np.inf) & (x > 0), of_x, found)


def lower_gamma(a: Any, x: Any) -> Any:
    found = np.where((a == 0) & (x < 1), np.nan, special.gammainc(a, x))  # JAX's series is divided by the parameter
    found = np.where(x == 0, 0.0, np.where(x == np.inf, 1.0, found))
    return np.where(outside(a, x), np.nan, of_infinite("igamma", found, a, x))


def upper_gamma(a: Any, x: Any) -> Any:
    found = np.where((x == np.inf) | (a == 0), 0.0, special.gammaincc(a, x))
    return np.where(outside(a, x), np.nan, of_infinite("igammac", found, a, x))


def lower_gamma_by_parameter(a: Any, x: Any) -> Any:
    found = apply(registry["gammainc_by_a"], a, x)
    found = np.where(x == 0, 0.0, found)
    return np.where((x < 0) | (x == np.inf) | (a <= 0) | np.isnan(a) | np.isnan(x), np.nan, found)


def at_edges(found: Any, x: Any, q: Any) -> Any:
    """Replace the values of a multiple of Hurwitz's function at its poles: infinite where ``x`` is even, and NaN where
    it is not."""
    found = np.where(np.isinf(q), np.nan, found)
    return np.where((q <= 0) & (q == np.floor(q)), np.where(np.mod(x, 2.0) == 0.0, np.inf, np.nan), found)


def hurwitz(x: Any, q: Any) -> Any:
    found = np.where(np.isinf(x), np.nan, zeta(traced(x), traced(q)))
    return np.where(x == 1, np.inf, at_edges(found, x, q))


def polygamma(order: Any, x: Any) -> Any:
    if not isinstance(order, Tracer) and len(orders := np.unique(order)) == 1 and orders[0] in range(100):
        return at_edges(special.polygamma(int(orders[0]), x), orders[0] + 1, x) if orders[0] else digamma(x)
    order, x = traced(order), traced(x)
    size = np.exp(special.gammaln(order + 1.0)) * hurwitz(order + 1.0, x)
    found = np.where(order == 0, digamma(x), np.where(np.mod(order, 2.0) == 0, -size, size))
    return np.where((order < 0) | (order != np.floor(order)), np.nan, found)


PLAIN: dict[str, Callable[..., Any]] = {
    "bessel_i0e": special.i0e,
    "bessel_i1e": kept_zeros(special.i1e),
    "digamma": digamma,
    "erf": special.erf,
    "erf_inv": kept_zeros(special.erfinv),
    "erfc": special.erfc,
    "igamma": lower_gamma,
    "igamma_grad_a": lower_gamma_by_parameter,
    "igammac": upper_gamma,
    "lgamma": log_gamma,
    "logistic": logistic,
    "polygamma": polygamma,
    "regularized_incomplete_beta": special.betainc,
    "zeta": hurwitz,
}
