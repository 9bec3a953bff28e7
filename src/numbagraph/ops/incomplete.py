"""Incomplete gamma and beta functions, the distribution functions of several distributions, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import draw
from numbagraph.intrinsics import incomplete, libm
from numbagraph.intrinsics.ir import Emit
from numbagraph.ir.op import lazy, load
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.exponential import exp, log, log1p
from numbagraph.ops.identity import with_derivative
from numbagraph.ops.selection import where
from numbagraph.ops.special import digamma, gammaln, own, special, xlog1py, xlogy

TWICE = Unsupported("there is no second derivative by the parameters")


def with_parameters(*domains: tuple[float, float], parameters: int) -> Callable[..., Any]:
    """Samples in which the parameters are integers, so that nobody asks for a second derivative by them."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        if dtype != FLOAT64:
            return []
        kinds = [np.dtype(np.int64)] * parameters + [dtype]
        return [tuple(draw(rng, kind, (3, 4), domain) for kind, domain in zip(kinds, domains, strict=True))]

    return samples


def gamma_density(a: Value, x: Value) -> Value:
    return _gamma_density.bind(exp(xlogy(a - 1, x) - x - gammaln(a)), a, x)


def gamma_density_vjp(g: Value, y: Value, value: Value, a: Value, x: Value) -> tuple[Value | None, ...]:
    """By the number, the difference of densities: no quotient, so it is right at 0."""
    return None, g * (xlogy(y, x) - y * digamma(a)), g * (density_below(a, x) - y)


def density_below(a: Value, x: Value) -> Value:
    """The density of the parameter ``a - 1``, which has none at 0."""
    return where(equal(a, 1.0), 0.0, gamma_density(where(equal(a, 1.0), 1.0, a - 1), x))


_gamma_density = with_derivative("gamma_density", gamma_density_vjp)


def beta_density(a: Value, b: Value, x: Value) -> Value:
    scale = gammaln(a + b) - gammaln(a) - gammaln(b)
    return _beta_density.bind(exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) + scale), a, b, x)


def beta_density_vjp(g: Value, y: Value, value: Value, a: Value, b: Value, x: Value) -> tuple[Value | None, ...]:
    both = digamma(a + b)
    by_number = (a + b - 1) * (beta_density_below(a, b, x) - beta_density_below(b, a, 1 - x))
    by_a, by_b = xlogy(y, x) + y * (both - digamma(a)), xlog1py(y, -x) + y * (both - digamma(b))
    return None, g * by_a, g * by_b, g * by_number


def beta_density_below(a: Value, b: Value, x: Value) -> Value:
    return where(equal(a, 1.0), 0.0, beta_density(where(equal(a, 1.0), 1.0, a - 1), b, x))


_beta_density = with_derivative("beta_density", beta_density_vjp)


def repeat_on_arrays(held: Any, state: Any, goes_on: Callable[..., Any], step: Callable[..., Any]) -> list[np.ndarray]:
    """``while goes_on(*held, *state): state = step(*held, *state)``, for each element as often as it needs."""
    results = [np.array(each) for each in state]
    left = np.arange(results[0].size)
    while left.size:
        going = goes_on(*held, *state)
        held, state, left = [each[going] for each in held], [each[going] for each in state], left[going]
        state = step(*held, *state)
        for result, each in zip(results, state, strict=True):
            result[left] = each
    return results


def on_arrays(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A formula of registers as a function of arrays."""

    def reference(*operands: Any) -> Any:
        digamma, gammaln = load("scipy.special:psi"), load("scipy.special:gammaln")
        functions = incomplete.Functions(np.exp, np.log, np.log1p, gammaln, digamma, np.where, repeat_on_arrays)
        wide = np.broadcast_arrays(*[np.asarray(each, FLOAT64) for each in operands])
        result = formula(functions, *map(np.ravel, wide)).reshape(wide[0].shape)
        return result.astype(np.result_type(*operands, np.float32))[()]

    return reference


def by_parameter(name: str, formula: Callable[..., Any], emit: Emit, **properties: Any) -> Op:
    """Declare the derivative of a function by one of its parameters.

    A power of large parameters is the exponential of a large number, which magnifies how that was rounded.
    """
    return own(name, on_arrays(formula), (0.1, 0.9), emit=emit, ulp=4096, **properties)


PARAMETER_AND_NUMBER = with_parameters((1.0, 5.0), (0.1, 5.0), parameters=1)
PARAMETER_AND_PROBABILITY = with_parameters((1.0, 5.0), (0.1, 0.9), parameters=1)
PARAMETERS_AND_PROBABILITY = with_parameters((1.0, 5.0), (1.0, 5.0), (0.1, 0.9), parameters=2)

gammainc_by_a = by_parameter(
    "gammainc_by_a",
    incomplete.gammainc_by_a,
    incomplete.emit_gammainc_by_a,
    vjp=lambda g, y, a, x: (TWICE, g * (gamma_density(a, x) * (log(x) - digamma(a)))),
    jnp=lazy("jax.lax:igamma_grad_a"),
    samples=PARAMETER_AND_NUMBER,
    cost=400,
)
betainc_by_a = by_parameter(
    "betainc_by_a",
    incomplete.betainc_by_a,
    incomplete.emit_betainc_by_a,
    vjp=lambda g, y, a, b, x: (TWICE, TWICE, g * (beta_density(a, b, x) * (log(x) + digamma(a + b) - digamma(a)))),
    jnp=Unsupported("JAX has no derivatives of betainc by its parameters"),
    samples=PARAMETERS_AND_PROBABILITY,
    cost=600,
)
betainc_by_b = by_parameter(
    "betainc_by_b",
    incomplete.betainc_by_b,
    incomplete.emit_betainc_by_b,
    vjp=lambda g, y, a, b, x: (TWICE, TWICE, g * (beta_density(a, b, x) * (log1p(-x) + digamma(a + b) - digamma(b)))),
    jnp=Unsupported("JAX has no derivatives of betainc by its parameters"),
    samples=PARAMETERS_AND_PROBABILITY,
    cost=600,
)

gammainc = special(
    "gammainc",
    emit=libm.gammainc,
    vjp=lambda g, y, a, x: (g * gammainc_by_a(a, x), g * gamma_density(a, x)),
    samples=PARAMETER_AND_NUMBER,
    cost=100,
    ulp=64,
)
gammaincc = special(
    "gammaincc",
    emit=libm.gammaincc,
    vjp=lambda g, y, a, x: (-(g * gammainc_by_a(a, x)), -(g * gamma_density(a, x))),
    samples=PARAMETER_AND_NUMBER,
    cost=100,
    ulp=64,
)
betainc = special(
    "betainc",
    emit=libm.betainc,
    vjp=lambda g, y, a, b, x: (
        g * betainc_by_a(a, b, x),
        g * betainc_by_b(a, b, x),
        g * beta_density(a, b, x),
    ),
    samples=PARAMETERS_AND_PROBABILITY,
    cost=150,
    ulp=64,
)


NOT_IN_JAX = Unsupported("JAX has no inverse of an incomplete function")

gammaincinv = special(
    "gammaincinv",
    emit=libm.gammaincinv,
    vjp=lambda g, y, a, p: (-(g * gammainc_by_a(a, y) / gamma_density(a, y)), g / gamma_density(a, y)),
    jnp=NOT_IN_JAX,
    samples=PARAMETER_AND_PROBABILITY,
    cost=600,
    ulp=64,
)
gammainccinv = special(
    "gammainccinv",
    emit=libm.gammainccinv,
    vjp=lambda g, y, a, q: (-(g * gammainc_by_a(a, y) / gamma_density(a, y)), -(g / gamma_density(a, y))),
    jnp=NOT_IN_JAX,
    samples=PARAMETER_AND_PROBABILITY,
    cost=600,
    ulp=64,
)
betaincinv = special(
    "betaincinv",
    emit=libm.betaincinv,
    vjp=lambda g, y, a, b, p: (
        -(g * betainc_by_a(a, b, y) / beta_density(a, b, y)),
        -(g * betainc_by_b(a, b, y) / beta_density(a, b, y)),
        g / beta_density(a, b, y),
    ),
    jnp=NOT_IN_JAX,
    samples=PARAMETERS_AND_PROBABILITY,
    cost=800,
    ulp=64,
)
