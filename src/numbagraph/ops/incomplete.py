"""Incomplete gamma and beta functions: the distribution functions of several distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import draw
from numbagraph.graph import Value
from numbagraph.intrinsics import libm
from numbagraph.op import Unsupported
from numbagraph.ops.exponential import exp, log, log1p
from numbagraph.ops.special import gammaln, special
from numbagraph.types import FLOAT64

PARAMETER = Unsupported("there is no derivative by the parameters, only by the last argument")


def with_parameters(*domains: tuple[float, float], parameters: int) -> Callable[..., Any]:
    """Samples in which the parameters are integers, so that nobody asks for a derivative by them."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        if dtype != FLOAT64:
            return []
        kinds = [np.dtype(np.int64)] * parameters + [dtype]
        return [tuple(draw(rng, kind, (3, 4), domain) for kind, domain in zip(kinds, domains, strict=True))]

    return samples


def gamma_density(a: Value, x: Value) -> Value:
    return exp((a - 1) * log(x) - x - gammaln(a))


def beta_density(a: Value, b: Value, x: Value) -> Value:
    scale = gammaln(a + b) - gammaln(a) - gammaln(b)
    return exp((a - 1) * log(x) + (b - 1) * log1p(-x) + scale)


gammainc = special(
    "gammainc",
    emit=libm.gammainc,
    vjp=lambda g, y, a, x: (PARAMETER, g * gamma_density(a, x)),
    samples=with_parameters((1.0, 5.0), (0.1, 5.0), parameters=1),
    cost=100,
    ulp=64,
)
gammaincc = special(
    "gammaincc",
    emit=libm.gammaincc,
    vjp=lambda g, y, a, x: (PARAMETER, -(g * gamma_density(a, x))),
    samples=with_parameters((1.0, 5.0), (0.1, 5.0), parameters=1),
    cost=100,
    ulp=64,
)
betainc = special(
    "betainc",
    emit=libm.betainc,
    vjp=lambda g, y, a, b, x: (PARAMETER, PARAMETER, g * beta_density(a, b, x)),
    samples=with_parameters((1.0, 5.0), (1.0, 5.0), (0.1, 0.9), parameters=2),
    cost=150,
    ulp=64,
)
