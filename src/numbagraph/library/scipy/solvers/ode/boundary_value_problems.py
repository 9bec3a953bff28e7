"""`scipy.integrate.solve_bvp`, on meshes that become finer where the residuals are large."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate._bvp import TERMINATION_MESSAGES, BVPResult

from numbagraph.api.differentiation import stop_gradient
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import array, differentiated, known_number, refuse
from numbagraph.library.scipy.boundary_values.collocation import Equations, SingularTerm, coefficients, residuals
from numbagraph.library.scipy.boundary_values.curves import Curve
from numbagraph.library.scipy.boundary_values.meshes import CONVERGED, Mesh, refined
from numbagraph.library.scipy.boundary_values.problems import equations_of
from numbagraph.library.scipy.ode.simplified_newton import solved_state
from numbagraph.library.scipy.results import result_of

Function = Callable[..., Any]

EPS = float(np.finfo(np.float64).eps)


def solve_bvp(
    fun: Function,
    bc: Function,
    x: Any,
    y: Any,
    p: Any = None,
    S: Any = None,
    fun_jac: Function | None = None,
    bc_jac: Function | None = None,
    tol: Any = 1e-3,
    max_nodes: Any = 1000,
    verbose: Any = 0,
    bc_tol: Any = None,
) -> Any:
    """`scipy.integrate.solve_bvp`."""
    x, y, p = checked(x, y, p)
    sizes = known_number(y.shape[0], "solve_bvp"), known_number(p.shape[0], "solve_bvp")
    if tol < 100 * EPS:
        warnings.warn(f"`tol` is too low, setting to {100 * EPS:.2e}", stacklevel=2)
    tol = np.maximum(tol, 100 * EPS)
    if verbose not in [0, 1, 2]:
        raise ValueError("`verbose` must be in [0, 1, 2].")
    if verbose:
        refuse("solve_bvp with verbose=", "leave it out, and print niter, status and rms_residuals of the result")
    bc_tol = tol if bc_tol is None else bc_tol
    term = None if S is None else singular_term(array(S).astype(y.dtype), sizes[0])
    if term is not None:
        y = np.concatenate([(term.projection @ y[:, 0])[:, np.newaxis], y[:, 1:]], axis=1)
    equations = equations_of(fun, bc, fun_jac, bc_jac, sizes, x[0], term, y.dtype)
    check_shapes(equations, x, y, p)
    room = room_of(x, known_number(max_nodes, "max_nodes of solve_bvp"))
    found = stop_gradient(refined(equations, stop_gradient((x, y, p)), room, (tol, bc_tol, max_nodes)))
    return result(equations, found, x)


def checked(x: Any, y: Any, p: Any) -> tuple[Any, Any, Any]:
    x = array(x).astype(np.float64)
    if x.ndim != 1:
        raise ValueError("`x` must be 1 dimensional.")
    if np.any(np.diff(x) <= 0):
        raise ValueError("`x` must be strictly increasing.")
    y = array(y)
    dtype = np.complex128 if y.dtype.kind == "c" else np.float64
    y = y.astype(dtype)
    if y.ndim != 2:
        raise ValueError("`y` must be 2 dimensional.")
    if y.shape[1] != x.shape[0]:
        raise ValueError(f"`y` is expected to have {x.shape[0]} columns, but actually has {y.shape[1]}.")
    p = np.zeros(0, dtype) if p is None else array(p).astype(dtype)
    if p.ndim != 1:
        raise ValueError("`p` must be 1 dimensional.")
    return x, y, p


def singular_term(matrix: Any, n: int) -> SingularTerm:
    if matrix.shape != (n, n):
        raise ValueError(f"`S` is expected to have shape {(n, n)}, but actually has {matrix.shape}")
    one = np.eye(n)
    return SingularTerm(matrix, one - np.linalg.pinv(matrix) @ matrix, np.linalg.pinv(one - matrix))


def check_shapes(equations: Equations, x: Any, y: Any, p: Any) -> None:
    slopes = equations.fun(x, y, p)
    if slopes.shape != y.shape:
        raise ValueError(f"`fun` return is expected to have shape {y.shape}, but actually has {slopes.shape}.")
    conditions, count = equations.bc(y[:, 0], y[:, -1], p), y.shape[0] + p.shape[0]
    if conditions.shape != (count,):
        raise ValueError(f"`bc` return is expected to have shape {(count,)}, but actually has {conditions.shape}.")


def room_of(x: Any, max_nodes: int) -> int:
    """Return how many points a mesh may have."""
    count = x.shape[0]
    if not is_traced(count):
        return max(max_nodes, count)
    if count > max_nodes:
        raise ValueError("a mesh of solve_bvp has more points than max_nodes: give a larger max_nodes")
    return max_nodes


def result(equations: Equations, found: Mesh, given: Any) -> Any:
    """Return SciPy's result, with the derivatives that follow from the equations on the last mesh, whose points lie
    between the given ones where they lay."""
    count, status = found.count, found.status
    x = found.x[:count]
    places = np.arange(given.shape[0]) * 1.0
    x = differentiated(x, np.interp(stop_gradient(np.interp(x, given, places)), places, given))
    n, size = equations.n, equations.n * count

    def equation(unknown: Any) -> Any:
        left = residuals(equations, x, unknown[:size].reshape((n, -1)), unknown[size:])
        return np.concatenate([left.collocation.ravel(), left.boundary])

    unknown = solved_state(equation, np.concatenate([found.y[:, :count].ravel(), found.p]), status == CONVERGED)
    y, p = unknown[:size].reshape((n, -1)), unknown[size:]
    slopes = differentiated(found.slopes[:, :count], equations.slopes(x, y, p, True))
    message = TERMINATION_MESSAGES[0]
    for number, text in TERMINATION_MESSAGES.items():
        if status == number:
            message = text
    curve = Curve("PPoly", coefficients(x, y, slopes), x, 1, True)
    return result_of(
        BVPResult, sol=curve, p=p if equations.k else None, x=x,
        y=y, yp=slopes, rms_residuals=found.errors[: count - 1], niter=found.number, status=status, message=message,
        success=status == CONVERGED,
    )  # fmt: skip
