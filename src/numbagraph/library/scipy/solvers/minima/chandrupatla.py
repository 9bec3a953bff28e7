"""Minima of elementwise functions by Chandrupatla's method, by SciPy's steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.differentiation import jvp
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

GOLDEN = 0.5 + 0.5 * 5**0.5
DEFAULTS = {"xatol": TINY, "xrtol": math.sqrt(EPS), "fatol": TINY, "frtol": TINY}

Points = tuple[Any, Any, Any]


def find_minimum(
    f: Callable[..., Any],
    init: Any,
    /,
    *,
    args: Any = (),
    tolerances: dict[str, Any] | None = None,
    maxiter: Any = 100,
    callback: Any = None,
) -> Any:
    """`scipy.optimize.elementwise.find_minimum`."""
    allowed = tolerances_of(tolerances, DEFAULTS)
    limit = limit_of(maxiter, 100, callback)

    def search(low: Any, middle: Any, high: Any, *each: Any) -> dict[str, Any]:
        return minimum_within(lambda x: np.float64(f(x, *each)), (low, middle, high), allowed, limit)

    low, middle, high = init
    return result_of_each(for_each(search, (low, middle, high), args))


def minimum_within(f: Callable[[Any], Any], points: Points, allowed: tuple[Any, ...], maxiter: Any) -> dict[str, Any]:
    """Return the minimum inside of three points, with the fields of SciPy's result."""
    x, y = in_order(points, (f(points[0]), f(points[1]), f(points[2])))
    old = x[2]
    status, x, y, reach = judged(x, y, allowed)
    nit = 0
    while (status == RUNNING) & (nit < maxiter):
        new, old = next_point(x, y, old, reach)
        x, y = narrowed(x, y, new, f(new))
        nit += 1
        status, x, y, reach = judged(x, y, allowed)
    status = np.where(status == RUNNING, STOPPED, status)
    (x1, x2, x3), (f1, f2, f3) = x, y
    first = x1 < x3
    return {
        "status": status,
        "x": solved(lambda x: jvp(f, (x,), (1.0,))[1], x2, status == CONVERGED),
        "f_x": f2,
        "nfev": nit + 3,
        "nit": nit,
        "bracket": (np.where(first, x1, x3), x2, np.where(first, x3, x1)),
        "f_bracket": (np.where(first, f1, f3), f2, np.where(first, f3, f1)),
    }


def in_order(x: Points, y: Points) -> tuple[Points, Points]:
    """Return points in ascending order, with their values."""
    order = np.argsort(np.stack(x))
    points, values = np.stack(x)[order], np.stack(y)[order]
    return (points[0], points[1], points[2]), (values[0], values[1], values[2])


def judged(x: Points, y: Points, allowed: tuple[Any, ...]) -> tuple[Any, Points, Points, Any]:
    """Return the status, the points with the larger interval between the last two, and the tolerance of a point."""
    (x1, x2, x3), (f1, f2, f3) = x, y
    xatol, xrtol, fatol, frtol = allowed
    is_no_bracket = (f2 > f1) | (f2 > f3)
    is_invalid = ~is_no_bracket & ~np.isfinite(x1 + x2 + x3 + f1 + f2 + f3)
    x2, f2 = np.where(is_no_bracket | is_invalid, np.nan, x2), np.where(is_no_bracket | is_invalid, np.nan, f2)
    turned = np.abs(x3 - x2) < np.abs(x2 - x1)
    x1, x3 = np.where(turned, x3, x1), np.where(turned, x1, x3)
    f1, f3 = np.where(turned, f3, f1), np.where(turned, f1, f3)
    reach = np.abs(x2) * xrtol + xatol
    is_narrow = np.abs(x3 - x2) <= 2 * reach
    is_flat = f1 - 2 * f2 + f3 <= 2 * (np.abs(f2) * frtol + fatol)
    status = np.where(is_narrow | is_flat, CONVERGED, RUNNING)
    status = np.where(is_no_bracket, SIGNS, np.where(is_invalid, INVALID, status))
    return status, (x1, x2, x3), (f1, f2, f3), reach


def next_point(x: Points, y: Points, old: Any, reach: Any) -> tuple[Any, Any]:
    """Return the next point, and the vertex of the parabola, which is taken if it is near that of the step before."""
    (x1, x2, x3), (f1, f2, f3) = x, y
    x21, x32 = x2 - x1, x3 - x2
    by_third, by_first = x21 * (f3 - f2), x32 * (f1 - f2)
    share = by_third / (by_third + by_first)
    vertex = 0.5 * (share * (x1 - x3) + x2 + x3)
    moved = np.where(np.abs(vertex - x2) <= reach, x2 + np.sign(x32) * reach, vertex)
    return np.where(np.abs(vertex - old) < 0.5 * np.abs(x21), moved, x2 + (2 - GOLDEN) * x32), vertex


def narrowed(x: Points, y: Points, new: Any, value: Any) -> tuple[Points, Points]:
    """Return the three points around the lowest of four."""
    (x1, x2, x3), (f1, f2, f3) = x, y
    is_right, is_higher = np.sign(new - x2) == np.sign(x3 - x2), value > f2
    first, last = is_right ^ is_higher, is_right == is_higher
    outer, height = np.where(is_higher, new, x2), np.where(is_higher, value, f2)
    points = (np.where(first, outer, x1), np.where(is_higher, x2, new), np.where(last, outer, x3))
    return points, (np.where(first, height, f1), np.where(is_higher, f2, value), np.where(last, height, f3))
