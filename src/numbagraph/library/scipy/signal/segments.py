"""Windows of signals: their weights, trends and transforms, as all spectra of `scipy.signal` take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import axis_of
from numbagraph.library.scipy.signal.trends import detrend


def is_named(window: Any) -> bool:
    """Whether a window is a name, or a name with parameters, rather than an array of weights."""
    return isinstance(window, (str, tuple))


def rows_along(values: Any, axis: int) -> Any:
    return np.moveaxis(values, axis_of(axis, values.ndim), -1)


def segments(rows: Any, size: int, step: int, trend: Any) -> Any:
    """Return windows of each row, one every ``step`` elements, along a new axis before the last one, each without its
    trend, which a function of the user's may take from all of them."""
    parts = np.lib.stride_tricks.sliding_window_view(rows, size, axis=-1)[..., ::step, :]
    if trend is None or trend is False:
        return parts
    return trend(parts) if callable(trend) else detrend(parts, type=trend)


def transform(parts: Any, length: int, onesided: bool) -> Any:
    """Return the Fourier transforms of windows, along the last axis."""
    return np.fft.rfft(parts, length) if onesided else np.fft.fft(parts, length)


def frequencies(length: int, fs: Any, onesided: bool) -> Any:
    return np.fft.rfftfreq(length, 1 / fs) if onesided else np.fft.fftfreq(length, 1 / fs)


def real_of(kind: Any) -> np.dtype:
    """The dtype of the real part of numbers."""
    return np.empty(0, kind).real.dtype
