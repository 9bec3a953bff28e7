"""Arguments of filters: the dtype of the result, and parameters that may differ between axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import axis_of, refuse
from numbagraph.tracing.tracer import Tracer


def dtype_of(output: Any, image: Any) -> Any:
    if output is None:
        return image.dtype
    if isinstance(output, (np.ndarray, Tracer)):
        refuse("output= that is an array", "assign the result, output[...] = ..., or give a dtype")
    return np.dtype(output)


def of_axes(axes: Any, ndim: int, **parameters: Any) -> list[list[Any]]:
    """Return the axes that a filter works along, and a list of a value for each of them for every parameter."""
    places = all_axes(axes, ndim)
    return [places, *(of_each_axis(given, len(places), name) for name, given in parameters.items())]


def of_each_axis(given: Any, count: int, name: str) -> list[Any]:
    if isinstance(given, (str, Tracer)) or np.ndim(given) == 0:
        return [given] * count
    if len(given) != count:
        raise RuntimeError(f"sequence argument must have length equal to input rank ({name})")
    return list(given)


def all_axes(axes: Any, ndim: int) -> list[int]:
    if axes is None:
        return list(range(ndim))
    places = [axis_of(each, ndim) for each in (axes if isinstance(axes, (tuple, list)) else (axes,))]
    if len(set(places)) != len(places):
        raise ValueError("axes must be unique")
    return places
