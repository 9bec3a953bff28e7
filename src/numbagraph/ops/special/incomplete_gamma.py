"""Incomplete gamma and beta functions, the distribution functions of several distributions, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import draw
from numbagraph.intrinsics.emitters import incomplete, libm
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir.op import load
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.special.densities import (
    beta_density,
    gamma_density,
    per_beta_density,
    per_gamma_density,
    times_slope,
)
from numbagraph.ops.special.error_functions import digamma, own, special

TWICE = Unsupported("there is no second derivative by the parameters")


def with_parameters(*domains: tuple[float, float], parameters: int) -> Callable[..., Any]:
    """Return samples in which the parameters are integers, so that tests take no second derivative by them."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        if dtype != FLOAT64:
            return []
        kinds = [np.dtype(np.int64)] * parameters + [dtype]
        return [tuple(draw(rng, kind, (3, 4), domain) for kind, domain in zip(kinds, domains, strict=True))]

    return samples


def repeat_on_arrays(held: Any, state: Any, goes_on: Callable[..., Any], step: Callable[..., Any]) -> list[np.ndarray]:
    """Run ``while goes_on(*held, *state): state = step(*held, *state)``, for each element as often as it needs."""
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
    """Return a formula of registers as a function of arrays."""

    def reference(*operands: Any) -> Any:
        digamma, gammaln = load("scipy.special:psi"), load("scipy.special:gammaln")
        functions = incomplete.Functions(np.exp, np.log, np.log1p, gammaln, digamma, np.where, repeat_on_arrays)
        wide = np.broadcast_arrays(*[np.asarray(each, FLOAT64) for each in operands])
        result = formula(functions, *map(np.ravel, wide)).reshape(wide[0].shape)
        return result.astype(np.result_type(*operands, np.float32))[()]

    return reference


def by_parameter(name: str, formula: Callable[..., Any], emit: Emit, **properties: Any) -> Op:
    """Declare the derivative of a function by one of its parameters.

    A power of large parameters is the exponential of a large number, which magnifies the rounding of that number.
    """
    return own(name, on_arrays(formula), (0.1, 0.9), emit=emit, ulp=4096, **properties)


PARAMETER_AND_NUMBER = with_parameters((1.0, 5.0), (0.1, 5.0), parameters=1)
PARAMETER_AND_PROBABILITY = with_parameters((1.0, 5.0), (0.1, 0.9), parameters=1)
PARAMETERS_AND_PROBABILITY = with_parameters((1.0, 5.0), (1.0, 5.0), (0.1, 0.9), parameters=2)


def beta_density_by(a: Value, b: Value, parameter: Value, x: Value, logs: int, other_logs: int) -> Value:
    """Return the derivative by ``parameter``, which is ``a`` (its power has a logarithm in its derivative) or ``b``."""
    return beta_density(a, b, x, logs, other_logs) + beta_density(a, b, x) * (digamma(a + b) - digamma(parameter))


gammainc_by_a = by_parameter(
    "gammainc_by_a",
    incomplete.gammainc_by_a,
    incomplete.emit_gammainc_by_a,
    vjp=lambda g, y, a, x: (TWICE, g * (gamma_density(a, x, 1) - gamma_density(a, x) * digamma(a))),
    jnp=lambda a, x: load("jax.lax:igamma_grad_a")(*load("jax.numpy:broadcast_arrays")(a, x)),
    samples=PARAMETER_AND_NUMBER,
    cost=400,
)
betainc_by_a = by_parameter(
    "betainc_by_a",
    incomplete.betainc_by_a,
    incomplete.emit_betainc_by_a,
    vjp=lambda g, y, a, b, x: (TWICE, TWICE, g * beta_density_by(a, b, a, x, 1, 0)),
    jnp=Unsupported("JAX has no derivatives of betainc by its parameters"),
    samples=PARAMETERS_AND_PROBABILITY,
    cost=600,
)
betainc_by_b = by_parameter(
    "betainc_by_b",
    incomplete.betainc_by_b,
    incomplete.emit_betainc_by_b,
    vjp=lambda g, y, a, b, x: (TWICE, TWICE, g * beta_density_by(a, b, b, x, 0, 1)),
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


def gammaincinv_vjp(g: Value, y: Value, a: Value, sign: int) -> tuple[Value, Value]:
    """Return the cotangents of both inverses: the probability grows with the number (``sign`` > 0), or falls."""
    slope = per_gamma_density(a, y)
    return -(g * times_slope(gammainc_by_a(a, y), slope)), g * slope if sign > 0 else -(g * slope)


def betaincinv_vjp(g: Value, y: Value, a: Value, b: Value, p: Value) -> tuple[Value, ...]:
    slope = per_beta_density(a, b, y)
    by = [-(g * times_slope(each(a, b, y), slope)) for each in (betainc_by_a, betainc_by_b)]
    return (*by, g * slope)


gammaincinv = special(
    "gammaincinv",
    emit=libm.gammaincinv,
    vjp=lambda g, y, a, p: gammaincinv_vjp(g, y, a, 1),
    jnp=NOT_IN_JAX,
    samples=PARAMETER_AND_PROBABILITY,
    cost=600,
    ulp=64,
)
gammainccinv = special(
    "gammainccinv",
    emit=libm.gammainccinv,
    vjp=lambda g, y, a, q: gammaincinv_vjp(g, y, a, -1),
    jnp=NOT_IN_JAX,
    samples=PARAMETER_AND_PROBABILITY,
    cost=600,
    ulp=64,
)
betaincinv = special(
    "betaincinv",
    emit=libm.betaincinv,
    vjp=betaincinv_vjp,
    jnp=NOT_IN_JAX,
    samples=PARAMETERS_AND_PROBABILITY,
    cost=800,
    ulp=64,
)
