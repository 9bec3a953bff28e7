"""`scipy.signal`: convolutions, filters and trends."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import array, axis_of, inexact, known
from numbagraph.library.scipy.ndimage.filters import convolve1d
from numbagraph.library.scipy.signal.convolution import CONVOLUTIONS
from numbagraph.library.scipy.signal.recursive_filters import RECURSIONS
from numbagraph.library.scipy.signal.resampling import RESAMPLING
from numbagraph.library.scipy.signal.waveforms import WAVEFORMS


def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: Any = 0.0,
) -> Any:
    """`scipy.signal.savgol_filter`: a polynomial of least squares through each window is a fixed sum of its
    elements."""
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    values = array(x)
    if values.dtype not in (np.float64, np.float32):
        values = values.astype(np.float64)
    axis = axis_of(axis, values.ndim)
    weights = load("scipy.signal:savgol_coeffs")(window_length, polyorder, deriv=deriv)
    weights = weights / delta**deriv if deriv else weights
    if mode != "interp":
        return convolve1d(values, weights, axis, mode=mode, cval=cval)
    if window_length > known(values, "savgol_filter")[axis]:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    rows = np.moveaxis(values, axis, -1)
    inner = np.moveaxis(convolve1d(values, weights, axis, mode="constant"), axis, -1)
    half = window_length // 2
    if not half:
        return np.moveaxis(inner, -1, axis)
    ends = fitted(window_length, polyorder, deriv, delta).astype(values.dtype)
    first = rows[..., :window_length] @ ends[:half].T
    last = rows[..., -window_length:] @ ends[window_length - half :].T
    return np.moveaxis(np.concatenate([first, inner[..., half:-half], last], -1), -1, axis)


def fitted(count: int, degree: int, deriv: int, delta: float) -> Any:
    """The matrix from the elements of a window to the values of the fitted polynomial at each of its places."""
    places = np.arange(count, dtype=np.float64)
    centred = places - places.mean()
    basis = np.polynomial.legendre.legvander(centred / max(centred[-1], 1.0), degree)
    shapes = np.polynomial.legendre.legder(np.eye(degree + 1), deriv, axis=0) if deriv else np.eye(degree + 1)
    if deriv > degree:
        return np.zeros((count, count))
    values = np.polynomial.legendre.legvander(centred / max(centred[-1], 1.0), degree - deriv) @ shapes
    return values @ np.linalg.pinv(basis) / (delta * max(centred[-1], 1.0)) ** deriv


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


def hilbert(x: Any, N: Any = None, axis: int = -1) -> Any:
    """`scipy.signal.hilbert`: the inverse of twice the Fourier transform at positive frequencies."""
    values = array(x)
    if values.dtype.kind == "c":
        raise ValueError("x must be real.")
    count = known(values, "hilbert")[axis] if N is None else int(N)
    if count <= 0:
        raise ValueError("N must be positive.")
    rows = np.moveaxis(values, axis, -1)
    half = np.fft.rfft(rows, count)
    steps = np.full(count // 2 + 1, 2.0, np.zeros((), half.dtype).real.dtype)
    steps[0] = 1.0
    if not count % 2:
        steps[-1] = 1.0
    rest = [(0, 0)] * (half.ndim - 1) + [(0, count - len(steps))]
    return np.moveaxis(np.fft.ifft(np.pad(half * steps, rest)), -1, axis)


FUNCTIONS = {
    **CONVOLUTIONS,
    **RECURSIONS,
    **RESAMPLING,
    **WAVEFORMS,
    **{each.__name__: each for each in (savgol_filter, detrend, hilbert)},
}

OBJECTS: dict[str, Any] = {}
