"""The frame of `scipy.optimize.elementwise`: one search for each element, which ends by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy._lib._util import _RichResult as Result

from numbagraph.api.vmap import vmap
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import double, refuse
from numbagraph.library.scipy.results import result_of

RUNNING, CONVERGED, SIGNS, STOPPED, INVALID, NO_BRACKET = 1, 0, -1, -2, -3, -5
TINY, EPS = float(np.finfo(float).smallest_normal), float(np.finfo(float).eps)


def for_each(search: Callable[..., Any], points: tuple[Any, ...], args: Any) -> Any:
    """Return what a search finds for each element of points and arguments, which are broadcast.

    ``search`` gets numbers, and returns a tree of numbers.
    """
    others = args if isinstance(args, (tuple, list)) else (args,)
    arrays = np.broadcast_arrays(*(double(each) for each in points), *(np.asarray(each) for each in others))
    shape = arrays[0].shape
    if not shape:
        return search(*(each[()] for each in arrays))
    found = vmap(search)(*(each.reshape(-1) for each in arrays))
    return {name: in_shape(each, shape) for name, each in found.items()}


def in_shape(found: Any, shape: tuple[Any, ...]) -> Any:
    return tuple(each.reshape(shape) for each in found) if isinstance(found, tuple) else found.reshape(shape)


def result_of_each(found: dict[str, Any]) -> Any:
    """SciPy's result of the fields of a search."""
    return result_of(Result, success=found["status"] == CONVERGED, **found)


def bounds_of(xmin: Any, xmax: Any, factor: Any) -> tuple[Any, Any, Any]:
    """The bounds of a search for a bracket, and the factor by which it grows, with SciPy's defaults."""
    growth = 2.0 if factor is None else double(factor)
    if not np.all(growth > 1):
        raise ValueError("All elements of `factor` must be greater than 1.")
    return -np.inf if xmin is None else xmin, np.inf if xmax is None else xmax, growth


def tolerances_of(tolerances: dict[str, Any] | None, defaults: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """The absolute and relative tolerances of the point and of the value."""
    given = {name: each for name, each in (tolerances or {}).items() if each is not None}
    for name, each in given.items():
        if name not in defaults:
            raise TypeError(f"got an unexpected keyword argument {name!r}")
        if each < 0 or np.isnan(each):
            raise ValueError("Tolerances must be non-negative scalars.")
    found = {**defaults, **given}
    return found["xatol"], found["xrtol"], found["fatol"], found["frtol"]


def limit_of(maxiter: Any, default: int, callback: Any = None) -> Any:
    """The largest number of iterations. Callbacks are refused."""
    if callback is not None:
        refuse("callback= of an elementwise solver", "leave it out")
    if maxiter is None:
        return default
    if not is_traced(maxiter) and maxiter != int(maxiter):
        raise ValueError("`maxiter` must be a non-negative integer.")
    if maxiter < 0:
        raise ValueError("`maxiter` must be a non-negative integer.")
    return maxiter
