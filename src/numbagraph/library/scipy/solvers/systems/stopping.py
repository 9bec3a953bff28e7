"""The reasons for which an iteration towards a root ends, and SciPy's tolerances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Function = Callable[..., Any]

RUNNING, FOUND, STOPPED, ZERO, NOT_FINITE, EXHAUSTED, NOT_FINITE_PRODUCT = (np.int64(end) for end in range(7))


class Tolerances(NamedTuple):
    """Absolute and relative tolerances of the function and of the step, the norm, and limits."""

    f_tol: Any
    f_rtol: Any
    x_tol: Any
    x_rtol: Any
    norm: Function
    iterations: Any
    maxiter: Any


def checked(tolerances: Tolerances, first: Any, x: Any, f: Any, dx: Any, checks: Any) -> Any:
    """Return whether a point is a root, or was reached by as many iterations as were asked for."""
    size = tolerances.norm(f)
    if tolerances.iterations is not None:
        return np.where(size == 0, FOUND, np.where(checks > tolerances.iterations, STOPPED, RUNNING))
    is_small = (size <= tolerances.f_tol) & (size / np.float64(tolerances.f_rtol) <= first)
    length = tolerances.norm(dx)
    is_short = (length <= tolerances.x_tol) & (length / np.float64(tolerances.x_rtol) <= tolerances.norm(x))
    return np.where((size == 0) | (is_small & is_short), FOUND, RUNNING)
