"""Newton's, Halley's and the secant method from a starting point, by SciPy's steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import array
from numbagraph.library.scipy.solvers.roots.newton_arrays import array_newton
from numbagraph.library.scipy.solvers.roots.results import CONVERGED, RUNNING, STOPPED, as_count, root_and_results

Function = Callable[..., Any]
FLAT = 2
"""The status of a search that met a slope of zero."""


def newton(
    func: Function,
    x0: Any,
    fprime: Any = None,
    args: tuple[Any, ...] = (),
    tol: Any = 1.48e-8,
    maxiter: Any = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: Any = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """`scipy.optimize.newton`."""
    if tol <= 0:
        raise ValueError(f"tol too small ({tol:g} <= 0)")
    limit = as_count(maxiter)
    if limit < 1:
        raise ValueError("maxiter must be greater than 0")
    start = array(x0)
    size = start.size
    if start.ndim and (is_traced(size) or size > 1):  # a length that is not known is taken for several
        return array_newton(func, start, fprime, args, tol, limit, fprime2, full_output)
    shape, start = start.shape, start.reshape(())[()] * 1.0
    if fprime is None:
        found = secant_steps(func, start, x1, args, tol, rtol, limit, disp)
        method = "secant"
    else:
        found = newton_steps((func, fprime, fprime2 or None), start, args, tol, rtol, limit, disp)
        method = "halley" if fprime2 and found[1] > 1 else "newton"
    if shape:
        found = (found[0].reshape(shape), *found[1:])
    return root_and_results(lambda x: func(x, *args), found, full_output, method)


def newton_steps(
    functions: tuple[Function, Function, Function | None],
    x: Any,
    args: tuple[Any, ...],
    tol: Any,
    rtol: Any,
    maxiter: Any,
    disp: bool,
) -> tuple[Any, Any, Any, Any]:
    """Return what Newton's steps or Halley's, with a second derivative, find."""
    f, fprime, fprime2 = functions
    calls, iterations, status = 0, 0, RUNNING
    while status == RUNNING and iterations < maxiter:
        value = f(x, *args)
        calls += 1
        if value == 0:
            status = CONVERGED
        else:
            iterations += 1
            slope = fprime(x, *args)
            calls += 1
            if slope == 0:
                status = FLAT
            else:
                step = value / slope
                if fprime2 is not None:
                    adjustment = step * fprime2(x, *args) / slope / 2
                    calls += 1
                    step = np.where(np.abs(adjustment) < 1, step / (1.0 - adjustment), step)
                new = x - step
                if is_close(new, x, rtol, tol):
                    status = CONVERGED
                x = new
    if status == FLAT:
        if disp:
            raise RuntimeError(f"Derivative was zero. Failed to converge after {iterations} iterations, value is {x}.")
        warnings.warn("Derivative was zero.", RuntimeWarning, stacklevel=2)
    elif status == RUNNING and disp:
        raise RuntimeError(f"Failed to converge after {iterations} iterations, value is {x}.")
    return x, calls, iterations, np.where(status == CONVERGED, CONVERGED, STOPPED)


def secant_steps(
    f: Function, x0: Any, x1: Any, args: tuple[Any, ...], tol: Any, rtol: Any, maxiter: Any, disp: bool
) -> tuple[Any, Any, Any, Any]:
    """Return what secant steps find from two points, or from one and another beside it."""
    if x1 is None:
        second = x0 * (1 + 1e-4)
        second = second + np.where(second >= 0, 1e-4, -1e-4)
    else:
        if x1 == x0:
            raise ValueError("x1 and x0 must be different")
        second = x1
    before, last = x0, second * np.ones_like(x0)
    f_before, f_last = f(before, *args), f(last, *args)
    if np.abs(f_last) < np.abs(f_before):
        before, last, f_before, f_last = last, before, f_last, f_before
    calls, iterations, status = 2, 0, RUNNING
    x = last
    while status == RUNNING and iterations < maxiter:
        iterations += 1
        if f_last == f_before:
            status = FLAT
        else:
            if np.abs(f_last) > np.abs(f_before):
                x = (-f_before / f_last * last + before) / (1 - f_before / f_last)
            else:
                x = (-f_last / f_before * before + last) / (1 - f_last / f_before)
            if is_close(x, last, rtol, tol):
                status = CONVERGED
            else:
                before, f_before, last = last, f_last, x
                f_last = f(last, *args)
                calls += 1
    if status == FLAT:
        if last != before:
            if disp:
                raise RuntimeError(
                    f"Tolerance of {last - before} reached. Failed to converge after {iterations} iterations, "
                    f"value is {last}."
                )
            warnings.warn(f"Tolerance of {last - before} reached.", RuntimeWarning, stacklevel=2)
        x = (last + before) / 2.0
    elif status == RUNNING and disp:
        raise RuntimeError(f"Failed to converge after {iterations} iterations, value is {x}.")
    return x, calls, iterations, np.where(status == CONVERGED, CONVERGED, STOPPED)


def is_close(new: Any, old: Any, rtol: Any, tol: Any) -> Any:
    """`numpy.isclose` of finite numbers."""
    return np.isclose(new, old, rtol=rtol, atol=tol)
