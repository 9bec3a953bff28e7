"""Brackets of roots of elementwise functions that grow on both sides, by SciPy's steps."""

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

AT_LIMIT, BY_THE_OTHER = SIGNS, 2


def bracket_root(
    f: Callable[..., Any],
    xl0: Any,
    xr0: Any = None,
    *,
    xmin: Any = None,
    xmax: Any = None,
    factor: Any = None,
    args: Any = (),
    maxiter: Any = 1000,
) -> Any:
    """`scipy.optimize.elementwise.bracket_root`."""
    low, high, growth = bounds_of(xmin, xmax, factor)
    limit = limit_of(maxiter, 1000)
    right = xl0 + np.minimum((high - xl0) / 8, 1.0) if xr0 is None else xr0

    def search(left: Any, right: Any, low: Any, high: Any, growth: Any, *each: Any) -> dict[str, Any]:
        return around_root(lambda x: np.float64(f(x, *each)), (left, right), (low, high), growth, limit)

    return result_of_each(for_each(search, (xl0, right, low, high, growth), args))


def around_root(
    f: Callable[[Any], Any], ends: tuple[Any, Any], bounds: tuple[Any, Any], growth: Any, maxiter: Any
) -> dict[str, Any]:
    """Return two points around a root, with the fields of SciPy's result.

    The left end moves to the lower bound, the right one to the upper, each until one of them passes a root.
    """
    (left, right), (low, high) = ends, bounds
    is_valid = (low <= left) & (left < right) & (right <= high)
    a, a_last, b, b_last = left, right, right, left
    fa, fb = f(a), f(b)
    fa_last, fb_last = fb, fa
    a_step, b_step = first_step(a, right, low), first_step(b, left, high)
    of_a, of_b = judged(RUNNING, RUNNING, (a, fa, fa_last, low), (b, fb, fb_last, high))
    of_a, of_b = np.where(is_valid, of_a, NO_BRACKET), np.where(is_valid, of_b, NO_BRACKET)
    nit = a_moves = b_moves = 0
    while ((of_a == RUNNING) | (of_b == RUNNING)) & (nit < maxiter):
        nit += 1
        if of_a == RUNNING:
            a_step, a_last, fa_last = grown(a_step, low, growth), a, fa
            a = moved(right, a_step, low)
            fa, a_moves = f(a), nit
        if of_b == RUNNING:
            b_step, b_last, fb_last = grown(b_step, high, growth), b, fb
            b = moved(left, b_step, high)
            fb, b_moves = f(b), nit
        of_a, of_b = judged(of_a, of_b, (a, fa, fa_last, low), (b, fb, fb_last, high))
    of_a, of_b = np.where(of_a == RUNNING, STOPPED, of_a), np.where(of_b == RUNNING, STOPPED, of_b)
    by_a, by_b = of_a == CONVERGED, of_b == CONVERGED
    takes_a = by_a & ((a_last - a <= b - b_last) | ~by_b)
    takes_b = by_b & ((b - b_last <= a_last - a) | ~by_a)
    return {
        "status": np.where(by_a, of_a, of_b),
        "bracket": (np.where(takes_b, b_last, a), np.where(takes_a, a_last, b)),
        "f_bracket": (np.where(takes_b, fb_last, fa), np.where(takes_a, fa_last, fb)),
        "nit": np.maximum(a_moves, b_moves),
        "nfev": a_moves + b_moves + 2,
    }


def first_step(x: Any, fixed: Any, limit: Any) -> Any:
    """The distance from the fixed end, or to the limit if there is one."""
    return np.where(np.isinf(limit), x - fixed, limit - x)


def grown(step: Any, limit: Any, growth: Any) -> Any:
    return np.where(np.isinf(limit), step * growth, step / growth)


def moved(fixed: Any, step: Any, limit: Any) -> Any:
    return np.where(np.isinf(limit), fixed + step, limit - step)


def judged(of_a: Any, of_b: Any, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, Any]:
    """The statuses of both ends."""
    runs_a, runs_b = of_a == RUNNING, of_b == RUNNING
    by_a, by_b = runs_a & has_passed(a), runs_b & has_passed(b)
    new_a = np.where(by_a, CONVERGED, np.where(by_b, BY_THE_OTHER, end_of(a)))
    new_b = np.where(by_b, CONVERGED, np.where(by_a, BY_THE_OTHER, end_of(b)))
    return np.where(runs_a, new_a, of_a), np.where(runs_b, new_b, of_b)


def has_passed(side: tuple[Any, ...]) -> Any:
    """Whether the last two values of a side have different signs, or one is zero."""
    _, value, last, _ = side
    sign, before = np.sign(value), np.sign(last)
    return (before == -sign) | (before == 0) | (sign == 0)


def end_of(side: tuple[Any, ...]) -> Any:
    """The status of a side that has not passed a root."""
    x, value, _, limit = side
    is_finite = np.isfinite(x) & np.isfinite(value)
    return np.where(x == limit, AT_LIMIT, np.where(is_finite, RUNNING, INVALID))
