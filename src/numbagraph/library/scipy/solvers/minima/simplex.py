"""The simplex method of Nelder and Mead, as SciPy has it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, OptimizeWarning

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.objective import Objective
from numbagraph.library.scipy.solvers.minima.outcome import (
    CALLS,
    ITERATIONS,
    SUCCESS,
    message_of,
    minimum,
    report,
)


class Simplex(NamedTuple):
    """The corners by their values, the lowest first, and what is counted."""

    corners: Any
    values: Any
    calls: Any
    iterations: Any


class Factors(NamedTuple):
    """How far a corner is reflected, expanded, contracted and shrunk."""

    reflection: Any
    expansion: Any
    contraction: Any
    shrinkage: Any


def nelder_mead(
    objective: Objective, x0: Any, maxiter: Any = None, maxfev: Any = None, disp: Any = False,
    initial_simplex: Any = None, xatol: Any = 1e-4, fatol: Any = 1e-4, adaptive: bool = False, lower: Any = None,
    upper: Any = None,
) -> Any:  # fmt: skip
    """Minimise by the method ``Nelder-Mead``."""
    n = len(x0)
    factors = Factors(1.0, 2.0, 0.5, 0.5)
    if adaptive:
        factors = Factors(1.0, 1 + 2 / n, 0.75 - 1 / (2 * n), 1 - 1 / n)
    maxiter, maxfev = limits(n, maxiter, maxfev)
    corners = first_corners(x0, initial_simplex, lower, upper)
    start = first_simplex(objective, corners, maxfev)

    def inside(x: Any) -> Any:
        return x if lower is None else np.clip(x, lower, upper)

    def goes_on(old: Simplex) -> Any:
        is_small = np.max(np.abs(old.corners[1:] - old.corners[0])) <= xatol
        is_flat = np.max(np.abs(old.values[0] - old.values[1:])) <= fatol
        return (old.calls < maxfev) & (old.iterations < maxiter) & ~(is_small & is_flat)

    found = while_loop(goes_on, lambda old: iteration(objective, old, factors, inside, maxfev), start)
    return outcome(objective, found, maxiter, maxfev, disp, lower, upper)


def limits(n: Any, maxiter: Any, maxfev: Any, factor: Any = 200) -> tuple[Any, Any]:
    """Return the greatest numbers of iterations and evaluations: one that is given leaves the other open."""
    if maxiter is None and maxfev is None:
        return n * factor, n * factor
    if maxiter is None:
        return np.where(np.isinf(maxfev), n * factor, np.inf), maxfev
    if maxfev is None:
        return maxiter, np.where(np.isinf(maxiter), n * factor, np.inf)
    return maxiter, maxfev


def first_corners(x0: Any, given: Any, lower: Any, upper: Any) -> Any:
    n = len(x0)
    if lower is not None:
        if np.any(lower > x0) or np.any(x0 > upper):
            warnings.warn("Initial guess is not within the specified bounds", OptimizeWarning, stacklevel=2)
        x0 = np.clip(x0, lower, upper)
    if given is None:
        steps = np.diag(np.where(x0 != 0, 1.05 * x0, 0.00025) - x0)
        exact = np.where(np.eye(n) > 0, np.where(x0 != 0, 1.05 * x0, 0.00025), x0 + 0.0 * steps)
        corners = np.concatenate((x0[np.newaxis, :], exact))
    else:
        corners = np.atleast_2d(np.asarray(given, dtype=np.float64))
        if corners.ndim != 2 or corners.shape[0] != corners.shape[1] + 1:
            raise ValueError("`initial_simplex` should be an array of shape (N+1,N)")
        if n != corners.shape[1]:
            raise ValueError("Size of `initial_simplex` is not consistent with `x0`")
    if lower is None:
        return corners
    return np.clip(np.where(corners > upper, 2 * upper - corners, corners), lower, upper)


def first_simplex(objective: Objective, corners: Any, maxfev: Any) -> Simplex:
    n = corners.shape[1]
    values = np.full(n + 1, np.inf)
    calls = np.int64(0)
    for k in range(n + 1):
        if k < maxfev:
            values[k] = objective.value(corners[k])
            calls = calls + 1
    return in_order(Simplex(corners, values, calls, np.int64(1)))


def in_order(simplex: Simplex) -> Simplex:
    order = np.argsort(simplex.values)
    return simplex._replace(corners=simplex.corners[order], values=simplex.values[order])


def iteration(objective: Objective, old: Simplex, factors: Factors, inside: Any, maxfev: Any) -> Simplex:
    """Replace the highest corner, or shrink the simplex."""
    rho, chi, psi, _ = factors
    worst, n = old.corners[-1], old.corners.shape[1]
    middle = np.sum(old.corners[:-1], axis=0) / n
    reflected = inside((1 + rho) * middle - rho * worst)
    value = objective.value(reflected)
    expands, contracts = value < old.values[0], ~(value < old.values[0]) & ~(value < old.values[-2])
    is_outside = value < old.values[-1]
    expanded = (1 + rho * chi) * middle - rho * chi * worst
    outer, inner = (1 + psi * rho) * middle - psi * rho * worst, (1 - psi) * middle + psi * worst
    second = inside(np.where(expands, expanded, np.where(is_outside, outer, inner)))
    needs_second = expands | contracts
    has_second = needs_second & (old.calls + 1 < maxfev)
    next_value = cond(has_second, lambda: objective.value(second), lambda: np.float64(np.inf))
    is_better = np.where(
        expands, next_value < value, np.where(is_outside, next_value <= value, next_value < old.values[-1])
    )
    takes_second = has_second & is_better
    takes_first = ~contracts & ~takes_second & (has_second | ~needs_second)
    calls = old.calls + 1 + np.where(has_second, 1, 0)
    is_last = (np.arange(n + 1) == n) & (takes_first | takes_second)
    corner, new = chosen(takes_second, (second, next_value), (reflected, value))
    replaced = Simplex(
        np.where(is_last[:, np.newaxis], corner[np.newaxis, :], old.corners),
        np.where(is_last, new, old.values),
        calls,
        old.iterations + np.where(needs_second & ~has_second, 0, 1),
    )
    shrinks = contracts & has_second & ~is_better
    return in_order(
        cond(shrinks, lambda: shrunk(objective, replaced, factors, inside, maxfev), lambda: replaced)
    )  # fmt: skip


def shrunk(objective: Objective, old: Simplex, factors: Factors, inside: Any, maxfev: Any) -> Simplex:
    """Move all corners towards the lowest, as long as evaluations are left."""

    def step(state: tuple[Any, Simplex]) -> tuple[Any, Simplex]:
        j, simplex = state
        best = simplex.corners[0]
        corner = inside(best + factors.shrinkage * (simplex.corners[j] - best))
        corners, values = simplex.corners.copy(), simplex.values.copy()
        corners[j] = corner
        values[j] = objective.value(corner)
        return j + 1, simplex._replace(corners=corners, values=values, calls=simplex.calls + 1)

    n = old.corners.shape[1]
    start = (np.int64(1), old)
    last, found = while_loop(lambda state: (state[0] <= n) & (state[1].calls < maxfev), step, start)
    return found._replace(iterations=np.where(last <= n, old.iterations - 1, old.iterations))


def outcome(
    objective: Objective, simplex: Simplex, maxiter: Any, maxfev: Any, disp: Any, lower: Any, upper: Any
) -> Any:
    x, value = simplex.corners[0], np.min(simplex.values)
    status = np.where(simplex.calls >= maxfev, 1, np.where(simplex.iterations >= maxiter, 2, 0))
    messages = SUCCESS, CALLS, ITERATIONS
    message = message_of(status, *messages)
    lines = {
        "Current function value": value, "Iterations": simplex.iterations, "Function evaluations": simplex.calls,
    }  # fmt: skip
    report(disp, status, messages, lines, RuntimeWarning)
    success = status == 0
    found = minimum(objective, x, success, lower, upper)
    return result_of(
        OptimizeResult, fun=differentiated(value, objective.value(found)), nit=simplex.iterations, nfev=simplex.calls,
        status=status, success=success, message=message, x=found, final_simplex=(simplex.corners, simplex.values),
    )  # fmt: skip
