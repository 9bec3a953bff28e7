"""Brackets of minima of elementwise functions that grow downhill, by SciPy's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.solvers.element_searches import (
    CONVERGED,
    INVALID,
    NO_BRACKET,
    RUNNING,
    SIGNS,
    STOPPED,
    bounds_of,
    for_each,
    limit_of,
    result_of_each,
)

AT_LIMIT = SIGNS
Points = tuple[Any, Any, Any]


def bracket_minimum(
    f: Callable[..., Any],
    xm0: Any,
    *,
    xl0: Any = None,
    xr0: Any = None,
    xmin: Any = None,
    xmax: Any = None,
    factor: Any = None,
    args: Any = (),
    maxiter: Any = 1000,
) -> Any:
    """`scipy.optimize.elementwise.bracket_minimum`."""
    low, high, growth = bounds_of(xmin, xmax, factor)
    limit = limit_of(maxiter, 1000)
    left = xm0 - np.minimum((xm0 - low) / 16, 0.5) if xl0 is None else xl0
    right = xm0 + np.minimum((high - xm0) / 16, 0.5) if xr0 is None else xr0

    def search(left: Any, middle: Any, right: Any, low: Any, high: Any, growth: Any, *each: Any) -> dict[str, Any]:
        points = (left, middle, right)
        return around_minimum(lambda x: np.float64(f(x, *each)), points, (low, high), growth, limit)

    return result_of_each(for_each(search, (left, xm0, right, low, high, growth), args))


def around_minimum(
    f: Callable[[Any], Any], points: Points, bounds: tuple[Any, Any], growth: Any, maxiter: Any
) -> dict[str, Any]:
    """Return three points around a minimum, with the fields of SciPy's result."""
    (xl, xm, xr), (low, high) = points, bounds
    is_valid = (low <= xl) & (xl < xm) & (xm < xr) & (xr <= high)
    fl, fm, fr = f(xl), f(xm), f(xr)
    is_left = fl < fr
    xl, xr, fl, fr = (
        np.where(is_left, xr, xl),
        np.where(is_left, xl, xr),
        np.where(is_left, fr, fl),
        np.where(is_left, fl, fr),
    )
    limit = np.where(is_left, low, high)
    is_limited = ~np.isinf(limit)
    step, growth = np.where(is_limited, limit - xr, xr - xm), np.where(is_limited, 1 / growth, growth)
    start, nit = xr, 0
    status = np.where(is_valid, judged((fl, fm, fr), xr, limit), NO_BRACKET)
    while (status == RUNNING) & (nit < maxiter):
        step = step * growth
        new = np.where(is_limited, limit - step, start + step)
        new = np.where(is_limited & (new == xr), limit, new)
        xl, xm, xr, fl, fm, fr = xm, xr, new, fm, fr, f(new)
        nit += 1
        status = judged((fl, fm, fr), xr, limit)
    turned = xl > xr
    return {
        "status": np.where(status == RUNNING, STOPPED, status),
        "bracket": (np.where(turned, xr, xl), xm, np.where(turned, xl, xr)),
        "f_bracket": (np.where(turned, fr, fl), fm, np.where(turned, fl, fr)),
        "nit": nit,
        "nfev": nit + 3,
    }


def judged(values: Points, end: Any, limit: Any) -> Any:
    """The status of three points, of which the last moves to a limit."""
    fl, fm, fr = values
    is_found = ((fl >= fm) & (fr > fm)) | ((fl > fm) & (fr >= fm))
    is_finite = np.isfinite(end) & np.isfinite(fr)
    return np.where(is_found, CONVERGED, np.where(end == limit, AT_LIMIT, np.where(is_finite, RUNNING, INVALID)))
