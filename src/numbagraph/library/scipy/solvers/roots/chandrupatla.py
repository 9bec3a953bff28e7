"""Roots of elementwise functions by Chandrupatla's method, by SciPy's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.element_searches import (
    CONVERGED,
    EPS,
    INVALID,
    RUNNING,
    SIGNS,
    STOPPED,
    TINY,
    for_each,
    limit_of,
    result_of_each,
    tolerances_of,
)

MOST_BISECTIONS = 2046
DEFAULTS = {"xatol": 4 * TINY, "xrtol": 4 * EPS, "fatol": TINY, "frtol": 0.0}

Tolerances = tuple[Any, Any, Any, Any]


def find_root(
    f: Callable[..., Any],
    init: Any,
    /,
    *,
    args: Any = (),
    tolerances: dict[str, Any] | None = None,
    maxiter: Any = None,
    callback: Any = None,
) -> Any:
    """`scipy.optimize.elementwise.find_root`."""
    allowed = tolerances_of(tolerances, DEFAULTS)
    limit = limit_of(maxiter, MOST_BISECTIONS, callback)

    def search(low: Any, high: Any, *each: Any) -> dict[str, Any]:
        return root_between(lambda x: f(x, *each), low, high, allowed, limit)

    low, high = init
    return result_of_each(for_each(search, (low, high), args))


def root_between(f: Callable[[Any], Any], x1: Any, x2: Any, allowed: Tolerances, maxiter: Any) -> dict[str, Any]:
    """Return the root between two points, with the fields of SciPy's result."""
    f1, f2 = np.float64(f(x1)), np.float64(f(x2))
    xatol, xrtol, fatol, frtol = allowed
    allowed = (xatol, xrtol, fatol + frtol * np.minimum(np.abs(f1), np.abs(f2)), 0.0)
    status, x, value, share = judged(x1, f1, x2, f2, allowed)
    t, nit = np.float64(0.5), 0
    while (status == RUNNING) & (nit < maxiter):
        new = x1 + t * (x2 - x1)
        fn = np.float64(f(new))
        same = np.sign(fn) == np.sign(f1)
        x3, f3 = np.where(same, x1, x2), np.where(same, f1, f2)
        x2, f2 = np.where(same, x2, x1), np.where(same, f2, f1)
        x1, f1 = new, fn
        nit += 1
        status, x, value, share = judged(x1, f1, x2, f2, allowed)
        t = np.clip(next_share((x1, x2, x3), (f1, f2, f3)), share, 1 - share)
    status = np.where(status == RUNNING, STOPPED, status)
    first = x1 < x2
    return {
        "status": status,
        "x": solved(f, x, status == CONVERGED),
        "f_x": value,
        "nfev": nit + 2,
        "nit": nit,
        "bracket": (np.where(first, x1, x2), np.where(first, x2, x1)),
        "f_bracket": (np.where(first, f1, f2), np.where(first, f2, f1)),
    }


def judged(x1: Any, f1: Any, x2: Any, f2: Any, allowed: Tolerances) -> tuple[Any, Any, Any, Any]:
    """Return the status of a bracket, its better end with the value there, and half the tolerance as a share of it."""
    xatol, xrtol, fatol, _ = allowed
    first = np.abs(f1) < np.abs(f2)
    x, value = np.where(first, x1, x2), np.where(first, f1, f2)
    is_found = np.abs(value) <= fatol
    is_same = ~is_found & (np.sign(f1) == np.sign(f2))
    is_finite = np.isfinite(x1) & np.isfinite(x2) & ~(np.isnan(f1) & np.isnan(f2))
    is_invalid = ~is_found & ~is_same & ~is_finite
    x, value = np.where(is_same | is_invalid, np.nan, x), np.where(is_same | is_invalid, np.nan, value)
    width, tolerance = np.abs(x2 - x1), np.abs(x) * xrtol + xatol
    is_found = is_found | (width < tolerance)
    status = np.where(is_found, CONVERGED, np.where(is_same, SIGNS, np.where(is_invalid, INVALID, RUNNING)))
    return status, x, value, 0.5 * tolerance / width


def next_share(x: tuple[Any, Any, Any], f: tuple[Any, Any, Any]) -> Any:
    """The share of the bracket at which the inverse parabola is zero, where it is to be trusted; a half elsewhere."""
    (x1, x2, x3), (f1, f2, f3) = x, f
    xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
    alpha = (x3 - x1) / (x2 - x1)
    is_trusted = ((1 - np.sqrt(1 - xi)) < phi) & (phi < np.sqrt(xi))
    t = f1 / (f1 - f2) * f3 / (f3 - f2) - alpha * f1 / (f3 - f1) * f2 / (f2 - f3)
    return np.where(is_trusted, t, 0.5)
