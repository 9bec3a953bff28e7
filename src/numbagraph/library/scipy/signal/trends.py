"""Trends of signals, which `scipy.signal.detrend` takes away."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import axis_of, inexact, known


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False) -> Any:
    """`scipy.signal.detrend`: the residuals of lines of least squares."""
    del overwrite_data
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    values = inexact(data)
    axis = axis_of(axis, values.ndim)
    if type in ("constant", "c"):
        return values - np.mean(values, axis, keepdims=True)
    rows = np.moveaxis(values, axis, -1)
    count = known(rows, "detrend")[-1]
    breaks = np.sort(np.unique(np.concatenate([np.atleast_1d([0]), np.atleast_1d(bp), [count]]).astype(int)))
    if np.any(breaks > count):
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    parts = [without_line(rows[..., begin:end], end - begin) for begin, end in itertools.pairwise(breaks.tolist())]
    return np.moveaxis(np.concatenate(parts, -1) if len(parts) > 1 else parts[0], -1, axis)


def without_line(rows: Any, count: int) -> Any:
    kind = np.zeros((), rows.dtype).real.dtype
    places = (np.arange(count) - (count - 1) / 2.0).astype(kind)
    residual = rows - np.mean(rows, -1, keepdims=True)
    if count < 2:
        return residual
    slope = np.sum(residual * places, -1, keepdims=True) / np.sum(places * places)
    return residual - slope * places
