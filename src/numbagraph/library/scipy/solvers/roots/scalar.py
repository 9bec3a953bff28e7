"""Roots of functions of one variable by a method that is named or follows from what is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.differentiation import jvp
from numbagraph.library.scipy.solvers.roots.bracketing import between
from numbagraph.library.scipy.solvers.roots.enclosure import enclosing
from numbagraph.library.scipy.solvers.roots.newton import newton
from numbagraph.library.scipy.solvers.roots.results import as_tuple
from numbagraph.library.scipy.solvers.roots.steps import SEARCHES

Function = Callable[..., Any]


def root_scalar(
    f: Function,
    args: Any = (),
    method: str | None = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """`scipy.optimize.root_scalar`. Newton's method without a derivative takes the exact one."""
    args = as_tuple(args)
    value, slope, curvature = functions_of(f, fprime, fprime2)
    given = {"xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    settings = {name: each for name, each in given.items() if each is not None}
    settings = {**settings, **(options or {}), "full_output": True, "disp": False}
    if not method:
        method = chosen_method(bracket, x0, x1, slope, curvature)
    name = method.lower()
    if name in SEARCHES or name == "toms748":
        if not isinstance(bracket, (list, tuple, np.ndarray)):
            raise ValueError(f"Bracket needed for {method}")
        ends = (bracket[0], bracket[1])
        check_names(name, settings, ("k",) if name == "toms748" else ())
        if name == "toms748":
            return enclosing(value, ends, args, refuses_nan=False, **settings)[1]
        return between(name, value, ends, args, refuses_nan=False, **settings)[1]
    if name not in ("secant", "newton", "halley"):
        raise ValueError(f"Unknown solver {name}")
    if x0 is None:
        raise ValueError(f"x0 must not be None for {method}")
    if name == "halley" and not slope:
        raise ValueError(f"fprime must be specified for {method}")
    if name == "halley" and not curvature:
        raise ValueError(f"fprime2 must be specified for {method}")
    if "xtol" in settings:
        settings["tol"] = settings.pop("xtol")
    if name == "secant":
        return newton(value, x0, None, args, x1=x1, **settings)[1]
    slope = slope or exact_slope(value)
    curvature = curvature if name == "halley" else None
    _, result = newton(value, x0, slope, args, fprime2=curvature, **settings)
    if value is not f:  # one call gives all that an iteration takes
        evaluations = 2 if curvature is None else 3
        result["function_calls"] = (result["function_calls"] + evaluations - 1) // evaluations
    return result


def check_names(method: str, settings: dict[str, Any], more: tuple[str, ...]) -> None:
    """Raise for a setting that a method between two points does not have."""
    for each in settings:
        if each not in ("xtol", "rtol", "maxiter", "full_output", "disp", *more):
            raise TypeError(f"{method}() got an unexpected keyword argument {each!r}")


def functions_of(f: Function, fprime: Any, fprime2: Any) -> tuple[Function, Function | None, Function | None]:
    """Return the function and its derivatives, which it may give itself."""
    value = f
    if fprime2 is not None and not callable(fprime2):
        fprime2 = (lambda x, *args: f(x, *args)[2]) if fprime2 else None
        if fprime2 is not None:
            value, fprime = first_of(f), True
    if fprime is not None and not callable(fprime):
        fprime = (lambda x, *args: f(x, *args)[1]) if fprime else None
        if fprime is not None:
            value = first_of(f)
    return value, fprime, fprime2


def first_of(f: Function) -> Function:
    return lambda x, *args: f(x, *args)[0]


def exact_slope(f: Function) -> Function:
    """Return the derivative of a function."""

    def slope(x: Any, *args: Any) -> Any:
        return jvp(lambda x: f(x, *args), (x,), (np.ones_like(x),))[1]

    return slope


def chosen_method(bracket: Any, x0: Any, x1: Any, fprime: Any, fprime2: Any) -> str:
    """The method that SciPy takes for what is given."""
    if bracket is not None:
        return "brentq"
    if x0 is None:
        raise ValueError("Unable to select a solver as neither bracket nor starting point provided.")
    if fprime:
        return "halley" if fprime2 else "newton"
    return "newton" if x1 is None else "secant"
