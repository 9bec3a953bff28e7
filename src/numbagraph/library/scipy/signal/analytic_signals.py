"""Analytic signals and envelopes: `scipy.signal.hilbert`, `hilbert2` and `envelope`."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, known


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


ANALYTIC: dict[str, Function] = {each.__name__: each for each in (hilbert,)}
