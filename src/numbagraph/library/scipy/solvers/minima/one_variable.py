"""Minima of functions of one variable; where they lie has the derivative that ``f'(x) = 0`` gives it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, OptimizeWarning
from scipy.optimize._optimize import BracketError

from numbagraph.api.differentiation import jvp
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.minima.brackets import INVALID, Bracket, given_bracket, value_of
from numbagraph.library.scipy.solvers.minima.section_steps import ROOT_OF_EPS, bounded_steps, brents_steps, golden_steps
from numbagraph.library.scipy.solvers.roots.results import as_tuple

Function = Callable[..., Any]
NAN = "NaN result encountered."
STOPPED = "\nMaximum number of iterations exceeded"
TOO_MANY = "\nMaximum number of function evaluations exceeded --- increase maxfun argument.\n"
STEPS = {"brent": brents_steps, "golden": golden_steps}
DEFAULTS = {"brent": (1.48e-8, 500), "golden": (math.sqrt(np.finfo(float).eps), 5000)}


def minimize_scalar(
    fun: Function,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """`scipy.optimize.minimize_scalar`."""
    args, settings = as_tuple(args), dict(options or {})
    if callable(method):
        if tol is not None:
            settings.setdefault("tol", tol)
        return method(fun, args=args, bracket=bracket, bounds=bounds, **settings)
    name = ("brent" if bounds is None else "bounded") if method is None else method.lower()
    if bounds is not None and name in STEPS:
        raise ValueError(f"Use of `bounds` is incompatible with 'method={method}'.")
    if tol is not None:
        if name == "bounded" and "xatol" not in settings:
            warnings.warn(
                "Method 'bounded' does not support relative tolerance in x; defaulting to absolute tolerance.",
                RuntimeWarning,
                stacklevel=2,
            )
            settings["xatol"] = tol
        else:
            settings.setdefault("xtol", tol)
    if name in STEPS:
        return within_bracket(name, fun, bracket, args, **settings)
    if name != "bounded":
        raise ValueError(f"Unknown solver {method}")
    if bounds is None:
        raise ValueError("The `bounds` parameter is mandatory for method `bounded`.")
    return within_bounds(fun, bounds, args, **settings)


def brent(
    func: Function, args: Any = (), brack: Any = None, tol: Any = 1.48e-8, full_output: Any = 0, maxiter: Any = 500
) -> Any:
    """`scipy.optimize.brent`."""
    found = within_bracket("brent", func, brack, as_tuple(args), tol, maxiter, refuses_invalid=True)
    return (found.x, found.fun, found.nit, found.nfev) if full_output else found.x


def golden(
    func: Function,
    args: Any = (),
    brack: Any = None,
    tol: Any = DEFAULTS["golden"][0],
    full_output: Any = 0,
    maxiter: Any = 5000,
) -> Any:
    """`scipy.optimize.golden`."""
    found = within_bracket("golden", func, brack, as_tuple(args), tol, maxiter, refuses_invalid=True)
    return (found.x, found.fun, found.nfev) if full_output else found.x


def fminbound(
    func: Function,
    x1: Any,
    x2: Any,
    args: Any = (),
    xtol: Any = 1e-5,
    maxfun: Any = 500,
    full_output: Any = 0,
    disp: Any = 1,
) -> Any:
    """`scipy.optimize.fminbound`."""
    found = within_bounds(func, (x1, x2), as_tuple(args), xtol, maxfun, disp)
    return (found.x, found.fun, found.status, found.nfev) if full_output else found.x


def within_bracket(
    method: str,
    fun: Function,
    bracket: Any,
    args: tuple[Any, ...],
    xtol: Any = None,
    maxiter: Any = None,
    disp: Any = 0,
    refuses_invalid: bool = False,
    **unknown: Any,
) -> OptimizeResult:
    """Return the minimum inside of a bracket."""
    warn_of(unknown)
    tolerance, limit = DEFAULTS[method]
    xtol, maxiter = tolerance if xtol is None else xtol, limit if maxiter is None else maxiter
    if xtol < 0 and method == "brent":
        raise ValueError(f"tolerance should be >= 0, got {xtol}")
    f = value_of(fun, args)
    start = given_bracket(f, bracket)
    if refuses_invalid and not start.is_valid:
        raise BracketError(INVALID)
    x, value, iterations, calls = STEPS[method](f, start, xtol, maxiter)
    x, value, calls = with_lowest_end(start, x, value, calls)
    is_nan = np.isnan(x) | np.isnan(value)
    success = start.is_valid & (iterations < maxiter) & ~is_nan
    if disp and start.is_valid and not success:
        if is_nan:
            warnings.warn(NAN, OptimizeWarning, stacklevel=3)
        else:
            warnings.warn(STOPPED, OptimizeWarning, stacklevel=3)
    x, value = with_derivatives(fun, args, x, success, slope_of(f))
    message = message_of(start.is_valid, success, is_nan, xtol)
    return result_of(OptimizeResult, x=x, fun=value, nit=iterations, nfev=calls, success=success, message=message)


def with_lowest_end(start: Bracket, x: Any, value: Any, calls: Any) -> tuple[Any, Any, Any]:
    """Return the lowest point of a bracket that is none, with the calls until then; of others what was found."""
    points, values = np.stack(start[:3]), np.stack(start[3:6])
    lowest = np.argmin(values)
    is_nan = np.any(np.isnan(points)) | np.any(np.isnan(values))
    x = np.where(start.is_valid, x, np.where(is_nan, np.nan, points[lowest]))
    value = np.where(start.is_valid, value, np.where(is_nan, np.nan, values[lowest]))
    return x, value, calls if start.is_valid else start.calls


def message_of(is_valid: Any, success: Any, is_nan: Any, xtol: Any) -> Any:
    """SciPy's text about what has become of a search inside of a bracket."""
    used = "" if is_traced(xtol) else f"\n(using xtol = {xtol} )"
    if not is_valid:
        return INVALID
    if success:
        return f"\nOptimization terminated successfully;\nThe returned value satisfies the termination criteria{used}"
    return NAN if is_nan else STOPPED


def within_bounds(
    fun: Function,
    bounds: Any,
    args: tuple[Any, ...],
    xatol: Any = 1e-5,
    maxiter: Any = 500,
    disp: Any = 0,
    **unknown: Any,
) -> OptimizeResult:
    """Return the minimum between two bounds."""
    warn_of(unknown)
    if len(bounds) != 2:
        raise ValueError("bounds must have two elements.")
    low, high = np.float64(bounds[0]), np.float64(bounds[1])
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("Optimization bounds must be finite scalars.")
    if low > high:
        raise ValueError("The lower bound exceeds the upper bound.")
    f = value_of(fun, args)
    x, value, calls, status = bounded_steps(f, low, high, xatol, maxiter)
    if disp and status == 1:
        warnings.warn(TOO_MANY, OptimizeWarning, stacklevel=3)
    elif disp and status == 2:
        warnings.warn(f"\n{NAN}", OptimizeWarning, stacklevel=3)
    reach = 4.0 * (ROOT_OF_EPS * np.abs(x) + xatol / 3.0)
    slope = slope_of(f)
    at_low, at_high = (x - low <= reach) & (slope(low) > 0), (high - x <= reach) & (slope(high) < 0)

    def equation(x: Any) -> Any:
        return np.where(at_low, x - low, np.where(at_high, x - high, slope(x)))

    x, value = with_derivatives(fun, args, x, status == 0, equation)
    return result_of(
        OptimizeResult,
        fun=value,
        status=status,
        success=status == 0,
        message=message_between(status),
        x=x,
        nfev=calls,
        nit=calls,
    )


def message_between(status: Any) -> Any:
    """SciPy's text about what has become of a search between bounds."""
    if status == 0:
        return "Solution found."
    return "Maximum number of function calls reached." if status == 1 else NAN


def slope_of(f: Function) -> Function:
    """Return the derivative of a function of one number."""
    return lambda x: jvp(f, (x,), (1.0,))[1]


def with_derivatives(fun: Function, args: tuple[Any, ...], x: Any, success: Any, equation: Function) -> tuple[Any, Any]:
    """Return a minimiser with the derivatives of its equation, and the function's value there, in its shape."""
    x = solved(equation, x, success)
    value = fun(x, *args)
    return np.reshape(x, np.shape(value)), value


def warn_of(unknown: dict[str, Any]) -> None:
    if unknown:
        warnings.warn(f"Unknown solver options: {', '.join(unknown)}", OptimizeWarning, stacklevel=4)
