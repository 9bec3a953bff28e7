"""`scipy.ndimage`: distances to the nearest element that is zero. SciPy finds it, in calls from compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, bound, called, double, known, refuse
from numbagraph.library.scipy.ndimage.components import flags_of
from numbagraph.library.scipy.ndimage.measurements import positions


def require_asked(name: str, return_distances: bool, return_indices: bool, distances: Any, indices: Any) -> None:
    if distances is not None or indices is not None:
        refuse(f"scipy.ndimage.{name} with distances= or indices=", "assign the result, x[...] = ...")
    if not return_distances and not return_indices:
        raise RuntimeError("at least one of return_distances/return_indices must be True")


def of_axes(sampling: Any, ndim: int) -> Any:
    """The distance of neighbours along each axis."""
    found = double(sampling)
    if found.ndim and known(found, "sampling=") != (ndim,):
        raise RuntimeError("sequence argument must have length equal to input rank")
    return np.broadcast_to(found, (ndim,))


def nearest(flags: Any, *sampling: Any) -> Any:
    """The positions of the nearest element that is zero, along a first dimension."""
    places = np.zeros_like(np.broadcast_to(flags, (flags.ndim, *flags.shape)), np.int32)
    call = bound("scipy.ndimage:distance_transform_edt", return_distances=False, return_indices=True)
    return called(call, places, flags, *sampling)


def distance_transform_edt(
    input: Any, sampling: Any = None, return_distances: bool = True, return_indices: bool = False,
    distances: Any = None, indices: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.distance_transform_edt`: SciPy finds the nearest zeros, and distances to them follow. They have
    derivatives by ``sampling``."""
    require_asked("distance_transform_edt", return_distances, return_indices, distances, indices)
    flags = np.atleast_1d(flags_of(input))
    apart = None if sampling is None else of_axes(sampling, flags.ndim)
    places = nearest(flags) if apart is None else nearest(flags, apart)
    if not return_distances:
        return places
    total: Any = 0.0
    for axis in range(flags.ndim):
        along = (places[axis] - positions(flags.shape, axis)).astype(np.float64)
        along = along if apart is None else along * apart[axis]
        total = total + along * along
    is_apart = total > 0
    found = np.where(is_apart, np.sqrt(np.where(is_apart, total, 1.0)), 0.0)  # the derivative at zero is zero
    return (found, places) if return_indices else found


def distance_transform_cdt(
    input: Any, metric: Any = "chessboard", return_distances: bool = True, return_indices: bool = False,
    distances: Any = None, indices: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.distance_transform_cdt`, of one of SciPy's metrics."""
    require_asked("distance_transform_cdt", return_distances, return_indices, distances, indices)
    if not isinstance(metric, str):
        refuse("scipy.ndimage.distance_transform_cdt with a metric of your own", "metric='chessboard' or 'taxicab'")
    flags = flags_of(input)
    whole = np.zeros_like(flags, np.int32)
    places = np.zeros_like(np.broadcast_to(flags, (flags.ndim, *flags.shape)), np.int32)
    results: Any = tuple(each for each, asked in ((whole, return_distances), (places, return_indices)) if asked)
    call = bound("scipy.ndimage:distance_transform_cdt", metric, return_distances, return_indices)
    return called(call, results if len(results) > 1 else results[0], flags)


TRANSFORMS: dict[str, Function] = {each.__name__: each for each in (distance_transform_edt, distance_transform_cdt)}
