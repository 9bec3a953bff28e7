"""Rosenbrock's function and its derivatives, on which minimisers are tried."""

from __future__ import annotations

from typing import Any

import numpy as np


def rosen(x: Any) -> Any:
    """`scipy.optimize.rosen`."""
    x = np.asarray(x, dtype=np.float64)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


def rosen_der(x: Any) -> Any:
    """`scipy.optimize.rosen_der`."""
    x = np.asarray(x, dtype=np.float64)
    rest = x[1:] - x[:-1] ** 2
    nothing = np.zeros_like(x[:1])
    from_left = np.concatenate((nothing, 200 * rest))
    from_right = np.concatenate((-400 * rest * x[:-1] - 2 * (1 - x[:-1]), nothing))
    return from_left + from_right


def rosen_hess(x: Any) -> Any:
    """`scipy.optimize.rosen_hess`."""
    x = np.asarray(x, dtype=np.float64)
    beside = -400 * x[:-1]
    nothing = np.zeros(1)
    main = np.concatenate((1200 * x[:-1] ** 2 - 400 * x[1:] + 2, nothing))
    main = main + np.concatenate((nothing, np.full(len(x) - 1, 200.0)))
    return np.diag(beside, 1) + np.diag(beside, -1) + np.diag(main)


def rosen_hess_prod(x: Any, p: Any) -> Any:
    """`scipy.optimize.rosen_hess_prod`."""
    return np.dot(rosen_hess(x), np.asarray(p, dtype=np.float64))
