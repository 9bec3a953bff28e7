"""Linear programs, which HiGHS solves, with the derivatives that follow from the constraints that are active."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import called, differentiated, differentiated_number, double, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.minima.outcome import message_of
from numbagraph.library.scipy.solvers.minima.vertices import Facets, has_one_point, joined, vertex, weights_of

MESSAGES = (
    "HiGHS found no solution, for another reason than its usual ones.",
    "Optimization terminated successfully. (HiGHS Status 7: Optimal)",
    "The problem is infeasible. (HiGHS Status 8: model_status is Infeasible; primal_status is None)",
    "The problem is infeasible. (HiGHS Status 8: model_status is Infeasible; primal_status is Infeasible)",
    (
        "The problem is unbounded or infeasible. "
        "(HiGHS Status 9: model_status is Primal infeasible or unbounded; primal_status is None)"
    ),
    "The problem is unbounded. (HiGHS Status 10: model_status is Unbounded; primal_status is Feasible)",
    "The problem is unbounded. (HiGHS Status 10: model_status is Unbounded; primal_status is Infeasible)",
    "Time limit reached. (HiGHS Status 13: model_status is Time limit reached; primal_status is None)",
    "Time limit reached. (HiGHS Status 13: model_status is Time limit reached; primal_status is Infeasible)",
    "Time limit reached. (HiGHS Status 13: model_status is Time limit reached; primal_status is Feasible)",
    "Iteration limit reached. (HiGHS Status 14: model_status is Iteration limit reached; primal_status is Infeasible)",
    "Iteration limit reached. (HiGHS Status 14: model_status is Iteration limit reached; primal_status is Feasible)",
)


def number_of(message: str) -> Any:
    """The number of a message of HiGHS, which a callback returns in its place."""
    return np.int64(MESSAGES.index(message) if message in MESSAGES else 0)


def or_nan(value: Any, like: Any) -> Any:
    found = np.nan if value is None else value
    return np.broadcast_to(np.asarray(found, dtype=np.float64), like.shape).copy()


@lru_cache(64)
def program(method: str, options: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    """Return a callback that solves a program of arrays."""

    def solve(c: Any, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, lower: Any, upper: Any) -> Any:
        bounds = np.stack((lower, upper), axis=1)
        found = load("scipy.optimize:linprog")(c, A_ub, b_ub, A_eq, b_eq, bounds, method, options=dict(options))
        duals = found.ineqlin.marginals, found.eqlin.marginals, found.lower.marginals, found.upper.marginals
        likes = c, b_ub, b_eq, b_ub, b_eq, c, c
        arrays = [or_nan(*each) for each in zip((found.x, found.slack, found.con, *duals), likes, strict=True)]
        value = np.float64(np.nan if found.fun is None else found.fun)
        counts = (np.int64(found.status), np.int64(found.nit), np.int64(found.get("crossover_nit", 0)))
        return *arrays, value, *counts, number_of(found.message)

    return solve


def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None),
    method: str = "highs", callback: Any = None, options: Any = None, x0: Any = None, integrality: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.linprog` by HiGHS. Where SciPy's result has None, NaN is in its place.

    Derivatives are NaN where the active constraints do not meet in one point."""
    if callback is not None or x0 is not None or integrality is not None:
        refuse("linprog with callback=, x0= or integrality=", "leave them out; milp takes integrality=")
    if method not in ("highs", "highs-ds", "highs-ipm"):
        refuse(f"linprog with method={method!r}", "choose highs, highs-ds or highs-ipm")
    c = double(c).reshape(-1)
    n = len(c)
    A_ub, b_ub = rows_of(A_ub, b_ub, n, "ub")
    A_eq, b_eq = rows_of(A_eq, b_eq, n, "eq")
    lower, upper = sides(bounds, n)
    number, count = np.float64(0.0), np.int64(0)
    like = c, b_ub, b_eq, b_ub, b_eq, c, c, number, count, count, count, count
    solve = program(method, tuple(sorted((options or {}).items())))
    found = called(solve, like, c, A_ub, b_ub, A_eq, b_eq, lower, upper)
    x, slack, con, of_ub, of_eq, of_lower, of_upper, value, status, nit, crossover, text = found
    success = status == 0
    units = np.eye(n)
    facets = joined(
        Facets(A_ub, b_ub, of_ub != 0), Facets(A_eq, b_eq, np.ones(len(b_eq), dtype=bool)),
        Facets(units, lower, of_lower != 0), Facets(units, upper, of_upper != 0),
    )  # fmt: skip
    is_vertex = success & has_one_point(facets)
    x = vertex(facets, c, x, is_vertex)
    is_square = is_vertex & (np.sum(facets.are_active) == n)
    weights = weights_of(facets, c, np.concatenate((of_ub, of_eq, of_lower, of_upper)), is_square)
    ends = np.cumsum(np.array([len(b_ub), len(b_eq), n]))
    parts = {
        "ineqlin": (differentiated(slack, b_ub - np.dot(A_ub, x)), weights[: ends[0]]),
        "eqlin": (differentiated(con, b_eq - np.dot(A_eq, x)), weights[ends[0] : ends[1]]),
        "lower": (x - lower, weights[ends[1] : ends[2]]),
        "upper": (upper - x, weights[ends[2] :]),
    }
    made = {
        name: result_of(OptimizeResult, residual=residual, marginals=marginals)
        for name, (residual, marginals) in parts.items()
    }
    return result_of(
        OptimizeResult, x=x, slack=made["ineqlin"].residual, con=made["eqlin"].residual, **made,
        fun=differentiated_number(value, np.dot(c, x)), status=status, success=success,
        message=message_of(text, *MESSAGES), nit=nit, crossover_nit=crossover,
    )  # fmt: skip


def rows_of(matrix: Any, right: Any, n: Any, name: str) -> tuple[Any, Any]:
    """Return a matrix and a vector of constraints, of length 0 if there are none."""
    if matrix is None and right is None:
        return np.zeros((0, n)), np.zeros(0)
    if matrix is None or right is None:
        given = "A" if right is None else "b"
        raise ValueError(f"Invalid input for linprog: {given}_{name} is given without its counterpart.")
    matrix, right = np.atleast_2d(double(matrix)), np.atleast_1d(double(right))
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise ValueError(
            f"Invalid input for linprog: A_{name} must have exactly two dimensions, and the number of columns in "
            f"A_{name} must be equal to the size of c"
        )
    if right.ndim != 1 or right.shape[0] != matrix.shape[0]:
        raise ValueError(
            f"Invalid input for linprog: b_{name} must be a 1-D array; b_{name} must not have more than one "
            f"non-singleton dimension and the number of rows in A_{name} must equal the number of values in b_{name}"
        )
    return matrix, right


def sides(bounds: Any, n: Any) -> tuple[Any, Any]:
    """Return lower and upper bounds, of one pair for all variables or of a pair for each."""
    nothing = np.zeros(n)
    if bounds is None:
        return nothing, nothing + np.inf
    if isinstance(bounds, Bounds):
        return nothing + bounds.lb, nothing + bounds.ub
    if not isinstance(bounds, (tuple, list)):
        pairs = double(bounds).reshape(-1, 2)
        return nothing + pairs[:, 0], nothing + pairs[:, 1]
    is_one = len(bounds) == 2 and not isinstance(bounds[0], (tuple, list)) and np.ndim(bounds[0]) == 0
    pairs = [bounds] if is_one else bounds
    lower = np.stack([np.float64(-np.inf if low is None else low) for low, _ in pairs])
    return nothing + lower, nothing + np.stack([np.float64(np.inf if high is None else high) for _, high in pairs])
