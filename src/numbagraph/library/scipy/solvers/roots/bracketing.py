"""Roots between two points at which a function has different signs, by SciPy's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.solvers.roots.results import (
    CONVERGED,
    INVALID,
    MAXITER,
    RTOL,
    RUNNING,
    STOPPED,
    XTOL,
    as_count,
    as_tuple,
    root_and_results,
)
from numbagraph.library.scipy.solvers.roots.steps import SEARCHES


def bisect(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = XTOL,
    rtol: Any = RTOL,
    maxiter: Any = MAXITER,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """`scipy.optimize.bisect`."""
    return between("bisect", f, (a, b), as_tuple(args), xtol, rtol, maxiter, full_output, disp)


def ridder(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = XTOL,
    rtol: Any = RTOL,
    maxiter: Any = MAXITER,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """`scipy.optimize.ridder`."""
    return between("ridder", f, (a, b), as_tuple(args), xtol, rtol, maxiter, full_output, disp)


def brentq(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = XTOL,
    rtol: Any = RTOL,
    maxiter: Any = MAXITER,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """`scipy.optimize.brentq`."""
    return between("brentq", f, (a, b), as_tuple(args), xtol, rtol, maxiter, full_output, disp)


def brenth(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    xtol: Any = XTOL,
    rtol: Any = RTOL,
    maxiter: Any = MAXITER,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """`scipy.optimize.brenth`."""
    return between("brenth", f, (a, b), as_tuple(args), xtol, rtol, maxiter, full_output, disp)


def between(
    method: str,
    f: Callable[..., Any],
    bracket: tuple[Any, Any],
    args: tuple[Any, ...],
    xtol: Any = XTOL,
    rtol: Any = RTOL,
    maxiter: Any = MAXITER,
    full_output: bool = True,
    disp: bool = False,
    refuses_nan: bool = True,
) -> Any:
    """Return the root by one of the methods, or raise what SciPy raises."""
    limit = as_count(maxiter)
    x, calls, iterations, status = search(method, f, bracket, args, xtol, rtol, limit)
    if refuses_nan and status == INVALID:
        raise ValueError(f"The function value at x={x} is NaN; solver cannot continue.")
    if disp and status == STOPPED:
        raise RuntimeError(f"Failed to converge after {limit} iterations.")
    return root_and_results(lambda x: f(x, *args), (x, calls, iterations, status), full_output, method)


def search(
    method: str,
    f: Callable[..., Any],
    bracket: tuple[Any, Any],
    args: tuple[Any, ...],
    xtol: Any,
    rtol: Any,
    maxiter: Any,
) -> tuple[Any, Any, Any, Any]:
    """Return the root or the point where the search ended, the numbers of calls and iterations, and a status."""
    if xtol <= 0:
        raise ValueError(f"xtol too small ({xtol:g} <= 0)")
    if rtol < RTOL:
        raise ValueError(f"rtol too small ({rtol:g} < {RTOL:g})")
    if maxiter < 0:
        raise ValueError("maxiter must be >= 0")
    a, b = np.float64(bracket[0]), np.float64(bracket[1])
    fa, fb = np.float64(f(a, *args)), np.float64(f(b, *args))
    status = status_of_ends(fa, fb)
    x, calls, iterations, status = SEARCHES[method](
        lambda x: np.float64(f(x, *args)), (a, b, fa, fb), status, xtol, rtol, maxiter
    )
    if status == RUNNING:
        status = STOPPED
    if iterations == 0 and status != STOPPED:
        x = a if fa == 0 or np.isnan(fa) else b
        calls = 1 if np.isnan(fa) else 2
    return x, calls, iterations, status


def status_of_ends(fa: Any, fb: Any) -> Any:
    """The status that two values at the ends of a bracket give. Raise if they have the same sign."""
    if np.isnan(fa) or np.isnan(fb):
        return INVALID
    if fa == 0 or fb == 0:
        return CONVERGED
    if np.signbit(fa) == np.signbit(fb):
        raise ValueError("f(a) and f(b) must have different signs")
    return RUNNING
