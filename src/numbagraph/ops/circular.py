"""The distribution function of von Mises' distribution, as an op."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.intrinsics import von_mises
from numbagraph.ir.op import load
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Value
from numbagraph.ops.bessel import i0e
from numbagraph.ops.elementary_functions import cosm1
from numbagraph.ops.exponential import exp
from numbagraph.ops.incomplete import with_parameters
from numbagraph.ops.kernels import BY_PARAMETER
from numbagraph.ops.special import own


def functions_of(module: str, special: str) -> von_mises.Functions:
    plain = ("sin", "cos", "exp", "sqrt", "where")
    found = {name: load(f"{module}:{name}") for name in plain}
    return von_mises.Functions(**found, **{name: load(f"{special}:{name}") for name in ("erfc", "i0e")})


def reference(kappa: Any, x: Any) -> Any:
    wide = np.broadcast_arrays(np.asarray(kappa, FLOAT64), np.asarray(x, FLOAT64))
    found = von_mises.von_mises_cdf(functions_of("numpy", "scipy.special"), *wide)
    return np.asarray(found).astype(np.result_type(kappa, x, np.float32))[()]


def translated(kappa: Any, x: Any) -> Any:
    return von_mises.von_mises_cdf(functions_of("jax.numpy", "jax.scipy.special"), kappa, x)


def density(kappa: Value, x: Value) -> Value:
    return exp(kappa * cosm1(x)) / (2 * math.pi * i0e(kappa))


von_mises_cdf = own(
    "von_mises_cdf",
    reference,
    (-3.0, 3.0),
    emit=von_mises.emit,
    vjp=lambda g, y, kappa, x: (BY_PARAMETER, g * density(kappa, x)),
    jnp=translated,
    samples=with_parameters((0.0, 40.0), (-3.0, 3.0), parameters=1),
    cost=45,  # as vector code, which is not worth a branch
    ulp=16,
    scale=1,
)
"""Of a concentration, and an angle between -pi and pi."""
