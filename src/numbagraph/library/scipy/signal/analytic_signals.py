"""Analytic signals and envelopes: `scipy.signal.hilbert`, `hilbert2` and `envelope`."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, known, refuse


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


def hilbert2(x: Any, N: Any = None, axes: Any = (-2, -1)) -> Any:
    """`scipy.signal.hilbert2`: positive frequencies of both axes."""
    values = np.atleast_2d(array(x))
    if values.dtype.kind == "c":
        raise ValueError("x must be real.")
    if len(axes) != 2:
        raise ValueError("axes must be a tuple of length 2")
    if axes[0] == axes[1]:
        raise ValueError("axes must contain 2 distinct axes")
    shape = known(values, "hilbert2")
    if N is None:
        N = (shape[axes[0]], shape[axes[1]])
    elif isinstance(N, int):
        if N <= 0:
            raise ValueError("N must be positive.")
        N = (N, N)
    elif len(N) != 2 or np.any(np.asarray(N) <= 0):
        raise ValueError("When given as a tuple, N must hold exactly two positive integers")
    found = np.moveaxis(np.fft.fft2(values, N, axes=axes), axes, (-2, -1))
    steps = []
    for count in N:
        step = np.where(np.arange(count) < (count + 1) // 2, 2.0, 0.0)
        step[0] = 1.0
        steps.append(step.astype(np.real(np.empty(0, found.dtype)).dtype))
    found = np.moveaxis(found * steps[0][:, None] * steps[1], (-2, -1), axes)
    return np.fft.ifft2(found, axes=axes)


def envelope(
    z: Any,
    bp_in: Any = (1, None),
    *,
    n_out: int | None = None,
    squared: bool = False,
    residual: str | None = "lowpass",
    axis: int = -1,
) -> Any:
    """`scipy.signal.envelope`: the size of the signal of a band of frequencies, and what is not of this band."""
    values = array(z)
    shape = known(values, "envelope")
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"Invalid parameter axis={axis} for z.shape={shape}!")
    count = shape[axis]
    if not count:
        raise ValueError(f"z.shape[axis] not > 0 for z.shape={shape}, axis={axis}!")
    if len(bp_in) != 2 or not all(isinstance(each, int) or each is None for each in bp_in):
        raise ValueError(f"{bp_in=} isn't a 2-tuple of type (int | None, int | None)!")
    if n_out is not None and not (isinstance(n_out, int) and n_out > 0):
        raise ValueError(f"{n_out=} is not a positive integer or None!")
    if residual not in ("lowpass", "all", None):
        raise ValueError(f"{residual=} not in ['lowpass', 'all', None]!")
    half, above = count // 2, (count + 1) // 2
    first = -half if bp_in[0] is None else bp_in[0]
    end = above if bp_in[1] is None else bp_in[1]
    if not -count // 2 <= first < end <= above:
        raise ValueError(
            f"`-n//2 <= bp_in[0] < bp_in[1] <= (n+1)//2` does not hold for n=z.shape[axis]={count} and {bp_in=}!"
        )
    total = count if n_out is None else n_out
    rows = np.moveaxis(values, axis, -1)
    is_complex = values.dtype.kind == "c"
    spectrum = np.fft.fft(rows) if is_complex else np.pad(
        np.fft.rfft(rows), [(0, 0)] * (rows.ndim - 1) + [(0, count - half - 1)]
    )  # fmt: skip
    places = np.arange(count)
    signed = np.where(places < above, places, places - count)
    is_inside = (signed >= first) & (signed < end)
    kind = np.empty(0, spectrum.dtype).real.dtype
    if not is_complex:  # of a real signal the positive frequencies stand for the negative ones too
        doubled = is_inside if first > 0 else (places >= 1) & (places < end) if end > 0 else places < 0
        spectrum = spectrum * np.where(doubled, 2.0, 1.0).astype(kind)
    band = np.fft.fftshift(spectrum, axes=-1)[..., first + half : end + half]
    moved = np.fft.ifft(band, total) * np.asarray(total / count, kind)
    found = moved.real**2 + moved.imag**2 if squared else np.abs(moved)
    found = np.moveaxis(found, -1, axis)
    if residual is None:
        return found
    dropped = is_inside if first else places >= 0  # SciPy drops what is behind the place -0, which is all
    if residual == "lowpass":
        dropped = dropped | ((signed >= end) if end > 0 else (signed >= first) | (places < above))
    rest = spectrum * np.where(dropped, 0.0, 1.0).astype(kind)
    return np.stack([found, np.moveaxis(of_length(rest, count, total, is_complex), -1, axis)])


def of_length(spectrum: Any, count: int, total: int, is_complex: bool) -> Any:
    """The signal of a spectrum, with another number of samples."""
    shared = min(count, total)
    if is_complex:
        if total != count:
            refuse("scipy.signal.envelope of a complex signal with n_out= and a residual", "residual=None")
        return np.fft.ifft(spectrum)
    kind = np.empty(0, spectrum.dtype).real.dtype
    if total != count and shared % 2 == 0:
        middle = np.arange(count) == shared // 2
        spectrum = spectrum * np.where(middle, 2.0 if total < count else 0.5, 1.0).astype(kind)
    return np.fft.irfft(spectrum, total) * np.asarray(total / count, kind)


ANALYTIC: dict[str, Function] = {each.__name__: each for each in (envelope, hilbert, hilbert2)}
