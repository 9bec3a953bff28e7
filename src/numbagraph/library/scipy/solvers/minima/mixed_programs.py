"""Linear programs of integers, which HiGHS solves, with derivatives at which the integers are held."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult

from numbagraph.api.differentiation import stop_gradient
from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import called, differentiated_number, double, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.minima.linear_programs import MESSAGES, number_of, or_nan
from numbagraph.library.scipy.solvers.minima.outcome import message_of
from numbagraph.library.scipy.solvers.minima.vertices import Facets, has_one_point, joined, vertex

SEMICONTINUOUS = 2


@lru_cache(64)
def mixed_program(options: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    """Return a callback that solves a program, and tells which constraints are active."""

    def solve(c: Any, kinds: Any, lower: Any, upper: Any, A: Any, low: Any, high: Any) -> Any:
        constraints = LinearConstraint(A, low, high) if len(A) else None
        bounds = Bounds(lower, upper)
        found = load("scipy.optimize:milp")(
            c, integrality=kinds, bounds=bounds, constraints=constraints, options=dict(options)
        )
        numbers = found.fun, found.mip_node_count, found.mip_dual_bound, found.mip_gap
        values = [np.float64(np.nan if each is None else each) for each in numbers]
        masks = active(found.x, c, kinds, lower, upper, A, low, high) if found.success else nothing(A, c)
        return or_nan(found.x, c), *values, np.int64(found.status), number_of(found.message), *masks

    return solve


def nothing(A: Any, c: Any) -> tuple[Any, ...]:
    return *(np.zeros(len(A), dtype=bool) for _ in range(2)), *(np.zeros(len(c), dtype=bool) for _ in range(3))


def active(x: Any, c: Any, kinds: Any, lower: Any, upper: Any, A: Any, low: Any, high: Any) -> tuple[Any, ...]:
    """Return which rows are at their lower and upper sides, and which variables are at their bounds or held, by
    the multipliers of the program of the other variables."""
    is_held = (kinds % 2 == 1) | ((kinds == SEMICONTINUOUS) & (x == 0))
    bounds = np.stack((np.where(is_held, x, lower), np.where(is_held, x, upper)), axis=1)
    is_low, is_high = np.isfinite(low), np.isfinite(high)
    rows, right = np.concatenate((A[is_high], -A[is_low])), np.concatenate((high[is_high], -low[is_low]))
    found = load("scipy.optimize:linprog")(c, rows, right, bounds=bounds)
    if not found.success:
        return nothing(A, c)
    at_low, at_high = np.zeros(len(A), dtype=bool), np.zeros(len(A), dtype=bool)
    count = np.sum(is_high)
    at_high[is_high], at_low[is_low] = found.ineqlin.marginals[:count] != 0, found.ineqlin.marginals[count:] != 0
    at_bounds = [(each.marginals != 0) & ~is_held for each in (found.lower, found.upper)]
    return at_low, at_high & ~at_low, *at_bounds, is_held


def milp(c: Any, *, integrality: Any = None, bounds: Any = None, constraints: Any = None, options: Any = None) -> Any:
    """`scipy.optimize.milp`. Where SciPy's result has None, NaN is in its place.

    Derivatives are those of the program in which the integers stay as they are."""
    c = double(c).reshape(-1)
    n, zeros = len(c), np.zeros(len(c))
    kinds = zeros if integrality is None else zeros + double(integrality)
    low, high = (0.0, np.inf) if bounds is None else (bounds.lb, bounds.ub) if isinstance(bounds, Bounds) else bounds
    lower, upper = zeros + low, zeros + high
    matrix, left, right = rows_of(constraints, n)
    number, count = np.float64(0.0), np.int64(0)
    masks = np.zeros(len(left), dtype=bool), np.zeros(n, dtype=bool)
    like = c, number, number, number, number, count, count, masks[0], masks[0], masks[1], masks[1], masks[1]
    solve = mixed_program(tuple(sorted((options or {}).items())))
    found = called(solve, like, c, kinds, lower, upper, matrix, left, right)
    x, value, nodes, dual, gap, status, text, at_left, at_right, at_lower, at_upper, is_held = found
    units, success = np.eye(n), status == 0
    facets = joined(
        Facets(matrix, left, at_left), Facets(matrix, right, at_right), Facets(units, lower, at_lower),
        Facets(units, upper, at_upper), Facets(units, stop_gradient(x), is_held),
    )  # fmt: skip
    x = vertex(facets, c, x, success & has_one_point(facets))
    return result_of(
        OptimizeResult, status=status, message=message_of(text, *MESSAGES), success=success, x=x,
        fun=differentiated_number(value, np.dot(c, x)), mip_node_count=nodes, mip_dual_bound=dual,
        mip_gap=gap,
    )  # fmt: skip


def rows_of(constraints: Any, n: Any) -> tuple[Any, Any, Any]:
    """Return the matrix of all constraints, with their lower and upper sides."""
    given = [] if constraints is None else constraints if isinstance(constraints, (list, tuple)) else [constraints]
    if given and not isinstance(given[0], (LinearConstraint, list, tuple)):
        given = [given]
    rows = [each if isinstance(each, LinearConstraint) else LinearConstraint(*each) for each in given]
    if any(not isinstance(each, LinearConstraint) for each in rows):
        refuse("milp with constraints of this kind", "give scipy.optimize.LinearConstraint, or a list of them")
    matrices = [np.atleast_2d(double(each.A)) for each in rows]
    lefts = [np.zeros(len(A)) + each.lb for A, each in zip(matrices, rows, strict=True)]
    rights = [np.zeros(len(A)) + each.ub for A, each in zip(matrices, rows, strict=True)]
    return (
        np.concatenate([*matrices, np.zeros((0, n))]),
        np.concatenate([*lefts, np.zeros(0)]),
        np.concatenate([*rights, np.zeros(0)]),
    )
