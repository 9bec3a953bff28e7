"""Linear least squares within bounds, which SciPy's own routines find, with the derivatives of the free variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import called, differentiated, differentiated_number, double, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.minima.objective import PRECISION
from numbagraph.library.scipy.solvers.minima.outcome import message_of
from numbagraph.ops.linalg.singular import on_linalg_error

MESSAGES = (
    "The algorithm was not able to make progress on the last iteration.",
    "The maximum number of iterations is exceeded.",
    "The first-order optimality measure is less than `tol`.",
    "The relative change of the cost function is less than `tol`.",
    "The unconstrained solution is optimal.",
)
"""Messages by status, from -1 on."""


def least(A: Any, b: Any, x: Any, bound: Any, is_free: Any, success: Any) -> Any:
    """Return a minimiser with the derivatives that follow from the normal equations of free variables; the others move
    with their bound.

    Derivatives are NaN where columns of free variables depend on each other: the minimiser is one of many there."""
    is_one = success & are_independent(A, is_free)
    return solved(lambda z: np.where(is_free, np.dot(A.T, np.dot(A, z) - b), z - bound), x, is_one)


def are_independent(A: Any, is_free: Any) -> Any:
    """Return whether the marked columns, made unit vectors, have no combination that is nearly zero.

    "Nearly" is half of the digits: normal equations square what is left."""
    sizes = np.sqrt(np.sum(A * A, axis=0))
    units = np.where(is_free & (sizes > 0), A / np.where(sizes > 0, sizes, 1.0), 0.0)
    with on_linalg_error("nan"):
        rank = np.sum(np.linalg.svd(units, compute_uv=False) > PRECISION**0.5)
    return rank == np.sum(is_free)


@lru_cache(64)
def nonnegative(maxiter: Any) -> Callable[..., Any]:
    def solve(A: Any, b: Any) -> Any:
        x, norm = load("scipy.optimize:nnls")(A, b, maxiter=maxiter)
        return np.asarray(x), np.float64(norm)

    return solve


def nnls(A: Any, b: Any, *, maxiter: Any = None, atol: Any = None) -> Any:
    """`scipy.optimize.nnls`."""
    if atol is not None:
        refuse("nnls with atol=", "leave it out: SciPy does not use it")
    A, b = double(A), double(b)
    if A.ndim != 2:
        raise ValueError(f"Expected a 2D array, but A has {A.ndim} dimensions")
    if b.ndim == 2 and b.shape[1] == 1:
        b = b.reshape(-1)
    if b.ndim != 1:
        raise ValueError(f"Expected a 1D array,(or 2D with one column), but b has {b.ndim} dimensions")
    if A.shape[0] != b.shape[0]:
        raise ValueError("Incompatible dimensions. The first dimension of A is not the length of b")
    x, norm = called(nonnegative(maxiter), (np.zeros(A.shape[1]), np.float64(0.0)), A, b)
    x = least(A, b, x, 0.0, x > 0, np.bool_(True))
    return x, differentiated_number(norm, np.linalg.norm(np.dot(A, x) - b))


@lru_cache(64)
def bounded(options: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    def solve(A: Any, b: Any, lower: Any, upper: Any) -> Any:
        found = load("scipy.optimize:lsq_linear")(A, b, (lower, upper), **dict(options))
        mask = np.asarray(found.active_mask, dtype=np.float64)
        numbers = np.float64(found.cost), np.float64(found.optimality), np.int64(found.nit), np.int64(found.status)
        return np.asarray(found.x), np.asarray(found.fun), mask, *numbers

    return solve


def lsq_linear(
    A: Any, b: Any, bounds: Any = (-np.inf, np.inf), method: str = "trf", tol: float = 1e-10, lsq_solver: Any = None,
    lsmr_tol: Any = None, max_iter: Any = None, verbose: int = 0, *, lsmr_maxiter: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.lsq_linear`, without the attribute ``unbounded_sol`` of its result."""
    A, b = double(A), double(b)
    if A.ndim != 2:
        raise ValueError("`A` must have at most 2 dimensions.")
    if b.ndim != 1:
        raise ValueError("`b` must have at most 1 dimension.")
    if A.shape[0] != b.shape[0]:
        raise ValueError("Inconsistent shapes between `A` and `b`.")
    given = {
        "method": method, "tol": tol, "lsq_solver": lsq_solver, "lsmr_tol": lsmr_tol, "max_iter": max_iter,
        "verbose": verbose, "lsmr_maxiter": lsmr_maxiter,
    }  # fmt: skip
    low, high = (bounds.lb, bounds.ub) if isinstance(bounds, Bounds) else bounds
    nothing, number, count = np.zeros(A.shape[1]), np.float64(0.0), np.int64(0)
    lower, upper = nothing + low, nothing + high
    like = nothing, np.zeros(b.shape[0]), nothing, number, number, count, count
    found = called(bounded(tuple(given.items())), like, A, b, lower, upper)
    x, fun, mask, cost, optimality, nit, status = found
    success = status > 0
    x = least(A, b, x, np.where(mask < 0, lower, upper), mask == 0, success)
    residual = np.dot(A, x) - b
    return result_of(
        OptimizeResult, x=x, fun=differentiated(fun, residual),
        cost=differentiated_number(cost, 0.5 * np.dot(residual, residual)), optimality=optimality, active_mask=mask,
        nit=nit, status=status, message=message_of(status + 1, *MESSAGES), success=success,
    )  # fmt: skip
