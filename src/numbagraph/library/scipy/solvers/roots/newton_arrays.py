"""Newton's, Halley's and the secant method for all elements of an array at once, by SciPy's steps."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.solution import solved

Function = Callable[..., Any]
Result = namedtuple("result", ("root", "converged", "zero_der"))


def array_newton(
    func: Function,
    x0: Any,
    fprime: Any,
    args: tuple[Any, ...],
    tol: Any,
    maxiter: Any,
    fprime2: Any,
    full_output: bool,
) -> Any:
    """Return the roots, or a tuple of them with flags."""
    x = x0 * 1.0
    if fprime is None:
        x, failures, is_steep, distance = array_secant(func, x, args, tol, maxiter)
    else:
        x, failures, is_steep = array_steps((func, fprime, fprime2), x, args, tol, maxiter)
        distance = None
    is_flat = ~is_steep & failures
    if np.any(is_flat):
        if distance is None:
            if np.all(is_flat):
                warnings.warn("all derivatives were zero", RuntimeWarning, stacklevel=3)
            else:
                warnings.warn("some derivatives were zero", RuntimeWarning, stacklevel=3)
        elif np.any(is_flat & (distance != 0)):
            rms = np.sqrt(np.sum(np.where(is_flat, distance, 0.0) ** 2))
            warnings.warn(f"RMS of {rms:g} reached", RuntimeWarning, stacklevel=3)
    elif np.all(failures):
        raise RuntimeError(f"all failed to converge after {maxiter} iterations")
    elif np.any(failures):
        warnings.warn(f"some failed to converge after {maxiter} iterations", RuntimeWarning, stacklevel=3)
    roots = solved(lambda x: func(x, *args), x, ~failures, elementwise=True)
    return Result(roots, ~failures, is_flat) if full_output else roots


def array_steps(
    functions: tuple[Function, Function, Any], x: Any, args: tuple[Any, ...], tol: Any, maxiter: Any
) -> tuple[Any, Any, Any]:
    """Return what Newton's steps or Halley's find, where they failed, and where slopes are not zero."""
    f, fprime, fprime2 = functions
    failures = np.ones_like(x, dtype=bool)
    is_steep = np.ones_like(failures)
    iterations, goes_on = 0, True
    while goes_on and iterations < maxiter:
        iterations += 1
        value = f(x, *args)
        if not np.any(value != 0):
            failures, goes_on = np.zeros_like(failures), False
        else:
            slope = fprime(x, *args)
            is_steep = slope != 0
            if not np.any(is_steep):
                goes_on = False
            else:
                step = value / slope
                if fprime2 is not None:
                    step = step / (1.0 - 0.5 * step * fprime2(x, *args) / slope)
                x = np.where(is_steep, x - step, x)
                failures = np.where(is_steep, np.abs(step) >= tol, failures)
                goes_on = np.any(failures & is_steep)
    return x, failures, is_steep


def array_secant(f: Function, x: Any, args: tuple[Any, ...], tol: Any, maxiter: Any) -> tuple[Any, Any, Any, Any]:
    """Return what secant steps find, where they failed, where slopes are not zero, and the last distances."""
    failures = np.ones_like(x, dtype=bool)
    is_steep = np.ones_like(failures)
    active = np.ones_like(failures)
    spacing = float(np.finfo(float).eps ** 0.33)
    other = x * (1 + spacing) + np.where(x >= 0, spacing, -spacing)
    f_before, f_last = f(x, *args), f(other, *args)
    iterations, goes_on = 0, True
    while goes_on and iterations < maxiter:
        iterations += 1
        is_steep = f_last != f_before
        if not np.any(is_steep):
            x, goes_on = (other + x) / 2.0, False
        else:
            step = f_last * (other - x) / (f_last - f_before)
            x = np.where(is_steep, other - step, x)
            x = np.where(~is_steep & active, (other + x) / 2.0, x)
            active = active & is_steep
            failures = np.where(is_steep, np.abs(step) >= tol, failures)
            if np.any(failures & is_steep):
                x, other = other, x
                f_before = f_last
                f_last = f(other, *args)
            else:
                goes_on = False
    return x, failures, is_steep, other - x
