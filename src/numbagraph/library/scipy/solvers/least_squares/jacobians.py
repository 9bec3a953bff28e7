"""Jacobians of residuals for solvers: exact ones, MINPACK's differences, or the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.jacobians import jacfwd
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS

Residuals = Callable[[Any], Any]


def exact_columns(fun: Residuals) -> Callable[[Any, Any], Any]:
    """The derivatives by each variable, in a row."""
    return lambda x, _: jacfwd(fun)(x).T


def forward_columns(fun: Residuals, epsfcn: Any) -> Callable[[Any, Any], Any]:
    """Differences of the function at steps that are relative to each variable."""
    relative = np.sqrt(np.fmax(epsfcn, EPS))

    def columns(x: Any, fvec: Any) -> Any:
        found = np.empty((x.shape[0], fvec.shape[0]))
        for j in range(x.shape[0]):
            step = relative * np.abs(x[j])
            if step == 0.0:
                step = relative
            moved = x.copy()
            moved[j] += step
            found[j] = (fun(moved) - fvec) / step
        return found

    return columns


def difference_columns(fun: Residuals, scheme: str, diff_step: Any, lb: Any, ub: Any) -> Callable[[Any, Any], Any]:
    """SciPy's differences, with steps that stay within bounds."""
    power = {"2-point": 1 / 2, "3-point": 1 / 3, "cs": 1 / 2}[scheme]

    def columns(x: Any, fvec: Any) -> Any:
        sign = np.where(x >= 0.0, 1.0, -1.0)
        usual = EPS**power * sign * np.maximum(1.0, np.abs(x))
        step = usual
        if diff_step is not None:
            step = diff_step * sign * np.abs(x)
            step = np.where((x + step) - x == 0.0, usual, step)
        if scheme == "cs":
            step = np.abs(step)
            return rows_of(lambda j: fun(x + 1j * moved(step, j)).imag / step[j], x)
        if scheme == "2-point":
            step = one_sided(x, step, lb, ub)
            return rows_of(lambda j: (fun(x + moved(step, j)) - fvec) / ((x[j] + step[j]) - x[j]), x)
        step, is_central = two_sided(x, np.abs(step), lb, ub)
        return rows_of(lambda j: three_points(fun, x, fvec, moved(step, j), is_central[j], j), x)

    return columns


def moved(step: Any, j: Any) -> Any:
    return np.where(np.arange(step.shape[0]) == j, step, 0.0)


def rows_of(row: Callable[[Any], Any], x: Any) -> Any:
    return np.stack([row(j) for j in range(x.shape[0])])


def three_points(fun: Residuals, x: Any, f0: Any, step: Any, is_central: Any, j: int) -> Any:
    """The difference of second order, on both sides or on one."""
    first = np.where(is_central, x - step, x + step)
    last = np.where(is_central, x + step, x + 2.0 * step)
    f1, f2 = fun(first), fun(last)
    rise = np.where(is_central, f2 - f1, -3.0 * f0 + 4.0 * f1 - f2)
    return rise / np.where(is_central, last[j] - first[j], last[j] - x[j])


def one_sided(x: Any, step: Any, lb: Any, ub: Any) -> Any:
    """Turn steps that leave the bounds, or shorten them."""
    lower, upper = x - lb, ub - x
    is_out = (x + step < lb) | (x + step > ub)
    fits = np.abs(step) <= np.maximum(lower, upper)
    step = np.where(is_out & fits, -step, step)
    return np.where(fits, step, np.where(upper >= lower, upper, -lower))


def two_sided(x: Any, step: Any, lb: Any, ub: Any) -> tuple[Any, Any]:
    """Return steps that fit, and whether they do so on both sides."""
    lower, upper = x - lb, ub - x
    is_central = (lower >= step) & (upper >= step)
    forward = np.where(upper >= lower, np.minimum(step, 0.5 * upper), -np.minimum(step, 0.5 * lower))
    least = np.minimum(upper, lower)
    is_short = np.logical_not(is_central) & (np.abs(forward) <= least)
    return np.where(is_central, step, np.where(is_short, least, forward)), is_central | is_short
