"""The distribution function of von Mises' distribution and its derivative by the concentration, as ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.forking import import_module
from numbagraph.intrinsics.emitters import von_mises
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.exponentials import exp
from numbagraph.ops.special.elementary_functions import cosm1
from numbagraph.ops.special.error_functions import own
from numbagraph.ops.special.incomplete_gamma import with_parameters
from numbagraph.ops.special.modified_bessel_functions import i0e, i1e
from numbagraph.ops.special.scipy_kernels import BY_PARAMETER
from numbagraph.ops.trigonometry import cos


def functions_of(module: str, special: str) -> von_mises.Functions:
    names = {import_module(module): ("sin", "cos", "exp", "sqrt", "where"), import_module(special): ("erfc", "i0e")}
    found = {name: getattr(home, name) for home, each in names.items() for name in each}
    return von_mises.Functions(**found)


Formula = Callable[[von_mises.Functions, Any, Any], Any]


def reference(formula: Formula) -> Callable[[Any, Any], Any]:
    def call(kappa: Any, x: Any) -> Any:
        wide = np.broadcast_arrays(np.asarray(kappa, FLOAT64), np.asarray(x, FLOAT64))
        found = formula(functions_of("numpy", "scipy.special"), *wide)
        return np.asarray(found).astype(np.result_type(kappa, x, np.float32))[()]

    return call


def declare(name: str, formula: Formula, emit: Emit, slopes: Callable[[Value, Value], Sequence[Any]]) -> Op:
    """Declare a function of a concentration, and an angle between -pi and pi, with its derivatives by them."""

    def vjp(g: Value, y: Value, kappa: Value, x: Value) -> tuple[Any, ...]:
        return tuple(each if isinstance(each, Unsupported) else g * each for each in slopes(kappa, x))

    return own(
        name,
        reference(formula),
        (-3.0, 3.0),
        emit=emit,
        vjp=vjp,
        jnp=lambda kappa, x: formula(functions_of("jax.numpy", "jax.scipy.special"), kappa, x),
        samples=with_parameters((0.0, 40.0), (-3.0, 3.0), parameters=1),
        cost=45,  # as vector code, which is not worth a branch
        ulp=16,
        scale=1,
    )


def density(kappa: Value, x: Value) -> Value:
    return exp(kappa * cosm1(x)) / (2 * math.pi * i0e(kappa))


def mean_cosine(kappa: Value) -> Value:
    return i1e(kappa) / i0e(kappa)


von_mises_cdf = declare(
    "von_mises_cdf",
    von_mises.von_mises_cdf,
    von_mises.emit,
    lambda kappa, x: (von_mises_slope(kappa, x), density(kappa, x)),
)

von_mises_slope = declare(
    "von_mises_slope",
    von_mises.von_mises_slope,
    von_mises.emit_slope,
    lambda kappa, x: (BY_PARAMETER, (cos(x) - mean_cosine(kappa)) * density(kappa, x)),
)
"""The derivative of the distribution function by the concentration."""
