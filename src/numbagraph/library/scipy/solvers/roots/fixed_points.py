"""Fixed points of functions, by plain iteration or Steffensen's method, by SciPy's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import inexact
from numbagraph.library.scipy.solution import solved

ACCELERATED = {"del2": True, "iteration": False}


def fixed_point(
    func: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    xtol: Any = 1e-8,
    maxiter: Any = 500,
    method: str = "del2",
) -> Any:
    """`scipy.optimize.fixed_point`."""
    accelerated = ACCELERATED[method]
    x = inexact(x0)
    if not np.all(np.isfinite(x)):
        raise ValueError("array must not contain infs or NaNs")
    x = np.broadcast_to(x, np.shape(func(x, *args)))
    iterations, converged = 0, False
    while not converged and iterations < maxiter:
        iterations += 1
        new = func(x, *args)
        if accelerated:
            after = func(new, *args)
            second = after - 2.0 * new + x
            new = np.where(second != 0, x - np.square(new - x) / second, after)
        change = np.where(x != 0, (new - x) / x, new)
        converged = np.all(np.abs(change) < xtol)
        x = new
    if not converged:
        raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {x}")
    return solved(lambda x: func(x, *args) - x, x)
