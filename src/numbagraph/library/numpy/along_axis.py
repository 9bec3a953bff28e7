"""NumPy's functions that call a function of the user's, or give views at computed places, on tracers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.api.vmap import vmap
from numbagraph.ir.array_classes import plain_array
from numbagraph.ops import editing
from numbagraph.tracing.tracer import TraceError, Tracer, apply, user_source

Function = Callable[..., Any]


def apply_along_axis(func1d: Function, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`numpy.apply_along_axis`: the function is traced once, for all vectors."""
    if not arr.ndim or not -arr.ndim <= axis < arr.ndim:
        raise np.exceptions.AxisError(axis, arr.ndim)
    place = axis % arr.ndim
    rows = np.moveaxis(arr, place, -1)
    outer = rows.shape[:-1]
    flat = rows.reshape((-1, rows.shape[-1])) if len(outer) != 1 else rows
    if not outer:
        return func1d(arr, *args, **kwargs)
    found = vmap(lambda row: func1d(row, *args, **kwargs))(flat)
    if not isinstance(found, Tracer):
        raise TraceError(f"apply_along_axis takes a function that gives one array\n  at {user_source()}")
    inner = found.shape[1:]
    result: Any = found if len(outer) == 1 else found.reshape((*outer, *inner))
    first = len(outer)
    return np.moveaxis(result, tuple(range(first, first + len(inner))), tuple(range(place, place + len(inner))))


def apply_over_axes(func: Function, a: Any, axes: Any) -> Any:
    """`numpy.apply_over_axes`."""
    result = a
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        place = axis % a.ndim
        found = func(result, place)
        if found.ndim != result.ndim:
            found = np.expand_dims(found, place)
            if found.ndim != result.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        result = found
    return result


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """`numpy.piecewise`: each function is called on the elements that its condition selects."""
    array = x if isinstance(x, Tracer) else plain_array(x)
    if isinstance(condlist, (list, tuple)):
        several = array.ndim == 0 or np.ndim(condlist[0]) > 0
    else:
        several = np.ndim(condlist) > array.ndim
    conditions: list[Any] = [of_dtype(each, bool) for each in (condlist if several else [condlist])]
    if len(funclist) == len(conditions) + 1:
        conditions.append(np.logical_not(functools.reduce(np.logical_or, conditions)))
    elif len(funclist) != len(conditions):
        count = len(conditions)
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    result = np.zeros_like(array) if array.ndim else array
    for condition, function in zip(conditions, funclist, strict=True):
        if not array.ndim:
            value: Any = function(array, *args, **kw) if callable(function) else function
            value = of_dtype(value, array.dtype)
            result = np.where(condition, value, np.zeros_like(array) if result is array else result)
        else:
            result[condition] = function(array[condition], *args, **kw) if callable(function) else function
    return result


def of_dtype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype) if isinstance(x, Tracer) else plain_array(x).astype(dtype)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """`numpy.trim_zeros`: a view, which stays where it is when elements of it change."""
    array = filt if isinstance(filt, Tracer) else np.stack(filt)
    key: list[Any] = [slice(None)] * array.ndim
    for place in editing.trimmed_axes(axis, array.ndim):
        key[place] = slice(*apply(editing.bounds_of_rest, array, trim, place))
    return array[tuple(key)] if array.ndim else array
