"""Roots by steps of an approximated inverse Jacobian, with SciPy's line search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import NoConvergence, OptimizeResult

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import differentiated, double, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.systems import newton_krylov as krylov_steps
from numbagraph.library.scipy.solvers.systems.backtracking import (
    FIRST,
    FULL,
    Search,
    backtracked,
    first_search,
    safe_square,
)
from numbagraph.library.scipy.solvers.systems.inverse_jacobians import APPROXIMATIONS, Approximation, Step
from numbagraph.library.scipy.solvers.systems.stopping import (
    EXHAUSTED,
    FOUND,
    NOT_FINITE,
    NOT_FINITE_PRODUCT,
    RUNNING,
    ZERO,
    Tolerances,
    checked,
)

Function = Callable[..., Any]

TOLERANCE = float(np.finfo(np.float64).eps) ** (1.0 / 3)
MESSAGES = (
    "A solution was found at the specified tolerance.",
    "The maximum number of iterations allowed has been reached.",
)
ZERO_STEP = "Jacobian inversion yielded zero vector. This indicates a bug in the Jacobian approximation."


class State(NamedTuple):
    """The point, the function there, the step that is tried, the memory, and what is counted."""

    x: Any
    f: Any
    dx: Any
    memory: Any
    search: Search
    checks: Any
    calls: Any
    end: Any


def iterate(
    fun: Function, x: Any, approximation: Approximation, f: Any, tolerances: Tolerances, searches: bool
) -> State:
    """Return where the iteration ends."""
    begin = FIRST if searches else FULL
    first_norm = tolerances.norm(f)

    def started(state: State) -> State:
        """Check the point, and find the next step."""
        is_exhausted = state.checks >= tolerances.maxiter
        checks = state.checks + np.where(is_exhausted, 0, 1)
        end = checked(tolerances, first_norm, state.x, state.f, state.dx, checks)
        product, memory = approximation.product(state.memory, state.f)
        is_finite = np.all(np.isfinite(state.x) & np.isfinite(state.f) & np.isfinite(product))
        end = np.where((end == RUNNING) & np.all(product == 0.0), ZERO, end)
        end = np.where((end == RUNNING) & ~is_finite, NOT_FINITE, end)
        end = np.where(is_exhausted, EXHAUSTED, end)
        dx = np.where(end == RUNNING, -product, state.dx)
        return state._replace(dx=dx, memory=memory, checks=checks, end=end, search=first_search(begin))

    def taken(state: State, f: Any) -> State:
        dx = state.search.s * state.dx
        x = state.x + dx
        memory = approximation.learn(state.memory, Step(x - state.x, f - state.f, state.f, f))
        return started(state._replace(x=x, f=f, memory=memory))

    def trial(old: State) -> State:
        f = fun(old.x + old.search.s * old.dx)
        is_taken, search = backtracked(old.search, np.linalg.norm(old.f) ** 2, safe_square(f))
        counted = old._replace(calls=old.calls + 1)
        return cond(is_taken, lambda: taken(counted, f), lambda: counted._replace(search=search))

    none = np.int64(0)
    start = State(x, f, np.full(len(x), np.inf), approximation.memory, first_search(begin), none, none + 1, RUNNING)
    return while_loop(lambda state: state.end == RUNNING, trial, started(start))


def largest(x: Any) -> Any:
    return np.max(np.abs(x))


def quasi_newton(
    name: str, fun: Function, x0: Any, args: tuple[Any, ...], nit: Any = None, maxiter: Any = None, f_tol: Any = None,
    f_rtol: Any = None, x_tol: Any = None, x_rtol: Any = None, tol_norm: Any = None, line_search: Any = "armijo",
    options: Any = None,
) -> tuple[OptimizeResult, Any]:  # fmt: skip
    """Return the result, and whether iterations were exhausted."""
    if line_search == "wolfe":
        refuse("a root with line_search='wolfe'", "take 'armijo', or None for whole steps")
    if line_search not in (None, True, False, "armijo"):
        raise ValueError("Invalid line search")
    given = double(x0)
    shape = given.shape

    def flat(x: Any) -> Any:
        return double(fun(np.reshape(x, shape), *args)).reshape(-1)

    x = given.reshape(-1)
    f = flat(x)
    if maxiter is None:
        maxiter = 100 * (len(x) + 1) if nit is None else nit + 1
    f_rtol, x_tol, x_rtol = (np.inf if each is None else each for each in (f_rtol, x_tol, x_rtol))
    norm = largest if tol_norm is None else tol_norm
    tolerances = Tolerances(TOLERANCE if f_tol is None else f_tol, f_rtol, x_tol, x_rtol, norm, nit, maxiter)
    searches = line_search in (True, "armijo")
    if name == "krylov":
        state: Any = krylov_steps.iterate(flat, x, f, tolerances, searches, **(options or {}))
    else:
        state = iterate(flat, x, APPROXIMATIONS[name](x, f, **(options or {})), f, tolerances, searches)
    raise_where_stuck(state.end)
    success = state.end == FOUND
    root = solved(flat, state.x, success)
    message = MESSAGES[1]
    if success:
        message = MESSAGES[0]
    result = result_of(
        OptimizeResult, x=np.reshape(root, shape), method=name, nit=state.checks,
        fun=differentiated(state.f, flat(root)), status=np.where(success, 1, 2), success=success, message=message,
        nfev=state.calls,
    )  # fmt: skip
    return result, state.end == EXHAUSTED


def raise_where_stuck(end: Any) -> None:
    if end == ZERO:
        raise ValueError(ZERO_STEP)
    if end == NOT_FINITE:
        raise ValueError("array must not contain infs or NaNs")
    if end == NOT_FINITE_PRODUCT:
        raise ValueError("Function returned non-finite results")


def root_by(
    name: str, F: Function, xin: Any, iterations: Any, options: dict[str, Any], verbose: Any, callback: Any,
    **settings: Any,
) -> Any:  # fmt: skip
    """Return the root that one of SciPy's functions gives; raise where iterations were exhausted."""
    refuse_reports(name, verbose, callback)
    found, is_exhausted = quasi_newton(name, F, xin, (), nit=iterations, options=options, **settings)
    if is_exhausted:
        raise NoConvergence("no root was found within the number of iterations")
    return found.x


def refuse_reports(name: str, verbose: Any, callback: Any) -> None:
    if callback is not None or verbose:
        refuse(
            f"{name} with a callback or a report of each iteration",
            "leave them out, or call numbagraph.debug_print in the function whose root is sought",
        )


def broyden1(
    F: Function, xin: Any, iter: Any = None, alpha: Any = None, reduction_method: Any = "restart",
    max_rank: Any = None, verbose: Any = False, maxiter: Any = None, callback: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.broyden1`."""
    options = {"alpha": alpha, "reduction_method": reduction_method, "max_rank": max_rank}
    return root_by("broyden1", F, xin, iter, options, verbose, callback, maxiter=maxiter, **settings)


def broyden2(
    F: Function, xin: Any, iter: Any = None, alpha: Any = None, reduction_method: Any = "restart",
    max_rank: Any = None, verbose: Any = False, maxiter: Any = None, callback: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.broyden2`."""
    options = {"alpha": alpha, "reduction_method": reduction_method, "max_rank": max_rank}
    return root_by("broyden2", F, xin, iter, options, verbose, callback, maxiter=maxiter, **settings)


def anderson(
    F: Function, xin: Any, iter: Any = None, alpha: Any = None, w0: Any = 0.01, M: Any = 5,
    verbose: Any = False, maxiter: Any = None, callback: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.anderson`."""
    options = {"alpha": alpha, "w0": w0, "M": M}
    return root_by("anderson", F, xin, iter, options, verbose, callback, maxiter=maxiter, **settings)


def linearmixing(
    F: Function, xin: Any, iter: Any = None, alpha: Any = None, verbose: Any = False,
    maxiter: Any = None, callback: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.linearmixing`."""
    return root_by("linearmixing", F, xin, iter, {"alpha": alpha}, verbose, callback, maxiter=maxiter, **settings)


def diagbroyden(
    F: Function, xin: Any, iter: Any = None, alpha: Any = None, verbose: Any = False,
    maxiter: Any = None, callback: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.diagbroyden`."""
    return root_by("diagbroyden", F, xin, iter, {"alpha": alpha}, verbose, callback, maxiter=maxiter, **settings)


def excitingmixing(
    F: Function, xin: Any, iter: Any = None, alpha: Any = None, alphamax: Any = 1.0, verbose: Any = False,
    maxiter: Any = None, callback: Any = None, **settings: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.excitingmixing`."""
    options = {"alpha": alpha, "alphamax": alphamax}
    return root_by("excitingmixing", F, xin, iter, options, verbose, callback, maxiter=maxiter, **settings)


def newton_krylov(
    F: Function, xin: Any, iter: Any = None, rdiff: Any = None, method: Any = "lgmres", inner_maxiter: int = 20,
    inner_M: Any = None, outer_k: int = 10, verbose: Any = False, maxiter: Any = None, f_tol: Any = None,
    f_rtol: Any = None, x_tol: Any = None, x_rtol: Any = None, tol_norm: Any = None, line_search: Any = "armijo",
    callback: Any = None, **kw: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.newton_krylov`."""
    options = {
        "rdiff": rdiff, "method": method, "inner_maxiter": inner_maxiter, "inner_M": inner_M, "outer_k": outer_k, **kw,
    }  # fmt: skip
    return root_by(
        "krylov", F, xin, iter, options, verbose, callback, maxiter=maxiter, f_tol=f_tol, f_rtol=f_rtol, x_tol=x_tol,
        x_rtol=x_rtol, tol_norm=tol_norm, line_search=line_search,
    )  # fmt: skip
