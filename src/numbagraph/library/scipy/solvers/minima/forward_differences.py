"""SciPy's forward differences of a function, and the check of a gradient against them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.loops import map as for_each
from numbagraph.library.scipy.arguments import double
from numbagraph.library.scipy.solvers.global_minima.random_states import generator_of
from numbagraph.library.scipy.solvers.minima.objective import PRECISION

Function = Callable[..., Any]

STEP = PRECISION**0.5


def approx_fprime(xk: Any, f: Function, epsilon: Any = STEP, *args: Any) -> Any:
    """`scipy.optimize.approx_fprime`."""
    given = double(xk)
    middle = rows_of(f(given, *args), "`f0` passed", ValueError)
    x = np.atleast_1d(given)
    if x.ndim > 1:
        raise ValueError("`x0` must have at most 1 dimension.")
    natural = STEP * np.where(x >= 0, 1.0, -1.0) * np.maximum(1.0, np.abs(x))
    steps = np.where((x + epsilon) - x == 0, natural, epsilon)
    is_moved = np.eye(len(x), dtype=bool)

    def value(point: Any) -> Any:
        return rows_of(f(point, *args), "`fun` return value", RuntimeError)

    values = for_each(value, np.where(is_moved, x + steps, x))
    found = (values - middle) / ((x + steps) - x)[:, np.newaxis]
    return found[:, 0] if found.shape[1] == 1 else found.T


def rows_of(value: Any, what: str, error: type[Exception]) -> Any:
    found = np.atleast_1d(np.asarray(value))
    if found.ndim > 1:
        raise error(f"{what} has more than 1 dimension.")
    return found


def check_grad(
    func: Function, grad: Function, x0: Any, *args: Any, epsilon: Any = STEP, direction: str = "all",
    rng: Any = None, seed: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.check_grad`."""
    x = np.asarray(x0)
    slopes = np.asarray(grad(x, *args))
    if direction == "random":
        if slopes.ndim > 1:
            raise ValueError("'random' can only be used with scalar valued func")
        ray = generator_of(rng, seed, "check_grad").standard_normal(size=x.shape)
        slopes = np.dot(slopes, ray)
        differences = approx_fprime(np.zeros(1), lambda w: func(x + w * ray, *args), epsilon)
    elif direction == "all":
        differences = approx_fprime(x, func, epsilon, *args)
    else:
        raise ValueError(f"{direction} is not a valid string for ``direction`` argument")
    return np.sqrt(np.sum(np.abs((slopes - differences) ** 2)))
