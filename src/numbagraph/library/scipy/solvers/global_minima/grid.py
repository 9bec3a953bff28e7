"""The lowest point of a grid, from which a search may go on."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from numbagraph.api.vmap import vmap
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.solvers.minima.legacy import fmin

Function = Callable[..., Any]

UNFINISHED = "Either final optimization did not succeed or `finish` does not return `statuscode` as its last argument."


def brute(
    func: Function, ranges: Any, args: Any = (), Ns: Any = 20, full_output: Any = 0, finish: Any = fmin,
    disp: Any = False, workers: Any = 1,  # noqa: ARG001 - values are computed at once
) -> Any:  # fmt: skip
    """`scipy.optimize.brute`. Values on the grid are computed at once, whatever ``workers`` is."""
    if len(ranges) > 40:
        raise ValueError("Brute Force not possible with more than 40 variables.")
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    axes = [axis_of(each, Ns) for each in ranges]
    grids = np.meshgrid(*axes, indexing="ij")
    points = np.stack([np.reshape(each, -1) for each in grids], axis=-1)
    values = vmap(lambda x: np.reshape(func(x, *args), ()))(points)
    lowest = np.argmin(values)
    x = np.float64(points[lowest, 0]) if len(axes) == 1 else points[lowest].astype(np.float64)
    value = values[lowest]
    if callable(finish):
        x, value = finished(func, x, args, finish, disp)
    if not full_output:
        return x
    values = np.reshape(values, grids[0].shape)
    return x, value, (axes[0] if len(axes) == 1 else np.stack(grids)), values


def axis_of(given: Any, count: Any) -> Any:
    """Return the places of the grid on an axis, as `numpy.mgrid` has them."""
    parts = (given.start, given.stop, given.step) if isinstance(given, slice) else tuple(given)
    if len(parts) < 3:
        parts = (*parts, complex(count))
    start, stop, step = parts
    if not any(is_traced(each) for each in parts):
        return np.mgrid[slice(start, stop, step)]
    if isinstance(step, complex):
        count = int(abs(step))
        return np.arange(count) * ((stop - start) / float(count - 1)) + start
    return np.arange(start, stop, step)


def finished(func: Function, x: Any, args: tuple[Any, ...], finish: Function, disp: Any) -> tuple[Any, Any]:
    """Return where a search from the lowest point of the grid ends, and the value there."""
    names = inspect.signature(finish).parameters
    options: dict[str, Any] = {}
    if "full_output" in names:
        options["full_output"] = 1
    if "disp" in names:
        options["disp"] = disp
    elif "options" in names:
        options["options"] = {"disp": disp}
    found = finish(func, x, args=args, **options)
    if isinstance(found, OptimizeResult):
        x, value, success = found.x, found.fun, found.success
    else:
        x, value, success = found[0], found[1], found[-1] == 0
    if disp and not success:
        warnings.warn(UNFINISHED, RuntimeWarning, stacklevel=2)
    return x, value
