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
from numbagraph.library.scipy.solvers.systems.inverse_jacobians import APPROXIMATIONS, Approximation, Step

Function = Callable[..., Any]

FULL, FIRST, SECOND, CUBIC = (np.int64(stage) for stage in range(4))
"""The kinds of a trial: a step that is taken anyway, Newton's step, one by a parabola, one by a cubic."""
SHORTEST, DECREASE = 1e-2, 1e-4
RUNNING, FOUND, STOPPED, ZERO, NOT_FINITE, EXHAUSTED = (np.int64(end) for end in range(6))
TOLERANCE = float(np.finfo(np.float64).eps) ** (1.0 / 3)
MESSAGES = (
    "A solution was found at the specified tolerance.",
    "The maximum number of iterations allowed has been reached.",
)
ZERO_STEP = "Jacobian inversion yielded zero vector. This indicates a bug in the Jacobian approximation."


class Tolerances(NamedTuple):
    """Absolute and relative tolerances of the function and of the step, the norm, and limits."""

    f_tol: Any
    f_rtol: Any
    x_tol: Any
    x_rtol: Any
    norm: Function
    iterations: Any
    maxiter: Any


class Search(NamedTuple):
    """A trial of the line search, and the two lengths with their squared norms before."""

    stage: Any
    s: Any
    s0: Any
    s1: Any
    square0: Any
    square1: Any


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


def first_search(stage: Any) -> Search:
    one, zero = np.float64(1.0), np.float64(0.0)
    return Search(stage, one, one, one, zero, zero)


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


def safe_square(f: Any) -> Any:
    return np.where(np.all(np.isfinite(f)), np.sum(f * f), np.inf)


def checked(tolerances: Tolerances, first: Any, x: Any, f: Any, dx: Any, checks: Any) -> Any:
    """Return whether a point is a root, or was reached by as many iterations as were asked for."""
    size = tolerances.norm(f)
    if tolerances.iterations is not None:
        return np.where(size == 0, FOUND, np.where(checks > tolerances.iterations, STOPPED, RUNNING))
    is_small = (size <= tolerances.f_tol) & (size / np.float64(tolerances.f_rtol) <= first)
    length = tolerances.norm(dx)
    is_short = (length <= tolerances.x_tol) & (length / np.float64(tolerances.x_rtol) <= tolerances.norm(x))
    return np.where((size == 0) | (is_small & is_short), FOUND, RUNNING)


def backtracked(old: Search, start: Any, square: Any) -> tuple[Any, Search]:
    """Return whether a trial is taken, and the next one by Armijo's backtracking."""
    stage, s, s0, s1, square0, square1 = old
    is_taken = (stage == FULL) | (square <= start - DECREASE * s * start)
    by_parabola = s**2 * start / 2.0 / (square - start + start * s)
    is_cubic = stage == CUBIC
    shorter = np.where(is_cubic & (((s1 - s) > s1 / 2.0) | ((1 - s / s1) < 0.96)), s1 / 2.0, s)
    s0, square0 = (
        np.where(stage == FIRST, s, np.where(is_cubic, s1, s0)),
        np.where(stage == FIRST, square, np.where(is_cubic, square1, square0)),
    )
    s1, square1 = shorter, square
    rest0, rest1 = square0 - start + start * s0, square1 - start + start * s1
    factor = s0**2 * s1**2 * (s1 - s0)
    a = (s0**2 * rest1 - s1**2 * rest0) / factor
    b = (-(s0**3) * rest1 + s1**3 * rest0) / factor
    by_cubic = (-b + np.sqrt(np.abs(b**2 + 3 * a * start))) / (3.0 * a)
    is_first, goes_on = stage == FIRST, s1 > SHORTEST
    after = np.where(is_first, by_parabola, np.where(goes_on, by_cubic, 1.0))
    next_stage = np.where(is_first, SECOND, np.where(goes_on, CUBIC, FULL))
    return is_taken, Search(next_stage, after, s0, s1, square0, square1)


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
    approximation = APPROXIMATIONS[name](x, f, **(options or {}))
    state = iterate(flat, x, approximation, f, tolerances, line_search in (True, "armijo"))
    if state.end == ZERO:
        raise ValueError(ZERO_STEP)
    if state.end == NOT_FINITE:
        raise ValueError("array must not contain infs or NaNs")
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
