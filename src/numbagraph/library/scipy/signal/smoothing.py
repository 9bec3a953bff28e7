"""`scipy.signal.savgol_filter`: polynomials that are fitted to windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import array, axis_of, known
from numbagraph.library.scipy.ndimage.filters import convolve1d


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
