"""Short-time Fourier transforms of `scipy.signal`, and signals from them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import Function, array, axis_of, known
from numbagraph.library.scipy.signal.recursive_filters import reflected
from numbagraph.library.scipy.signal.segments import frequencies, is_named, real_of, rows_along, segments, transform
from numbagraph.library.scipy.signal.spectra import sides
from numbagraph.library.scipy.signal.windows import get_window

BOUNDARIES = ("even", "odd", "constant", "zeros", None)
MODES = ["psd", "complex", "magnitude", "angle", "phase"]


def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ("tukey_periodic", 0.25),
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Any, Any, Any]:
    """`scipy.signal.spectrogram`: the spectra of windows."""
    if mode not in MODES:
        raise ValueError(f"unknown value for mode {mode}, must be one of {MODES}")
    values = array(x)
    size = weights_of(window, nperseg, known(values, "spectrogram")[axis])[1]
    noverlap = size // 8 if noverlap is None else noverlap
    power = mode == "psd"
    found, times, spectra = of_windows(
        values, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, power=power
    )
    if mode == "magnitude":
        spectra = np.abs(spectra)
    elif mode in ("angle", "phase"):
        spectra = np.angle(spectra)
    if mode == "phase":
        spectra = np.unwrap(spectra, axis=axis - 1 if axis < 0 else axis)
    return found, times, spectra


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = 256,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Any, Any, Any]:
    """`scipy.signal.stft`: the Fourier transforms of windows."""
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    return of_windows(
        array(x), fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
        "density" if scaling == "psd" else scaling, axis, boundary, padded,
    )  # fmt: skip


def of_windows(
    values: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    return_onesided: bool,
    scaling: str,
    axis: int,
    boundary: str | None = None,
    padded: bool = False,
    power: bool = False,
) -> tuple[Any, Any, Any]:
    """Return frequencies, times, and the transforms of windows, or their squares."""
    if boundary not in BOUNDARIES:
        listed = list(BOUNDARIES)
        raise ValueError(f"Unknown boundary option '{boundary}', must be one of: {listed}")
    kind = np.result_type(values.dtype, np.complex64)
    if 0 in known(values, "a spectrum"):
        empty = np.empty(values.shape)
        return empty, empty, empty
    rows = rows_along(values, axis)
    if nperseg is not None and int(nperseg) < 1:
        raise ValueError("nperseg must be a positive integer")
    weights, size = weights_of(window, nperseg, known(rows, "a spectrum")[-1])
    length, overlap = sizes(size, nfft, noverlap)
    rows = continued(rows, size, size - overlap, boundary, padded)
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {scaling!r}")
    weights = weights.astype(np.result_type(weights.dtype, kind) if weights.dtype.kind == "c" else real_of(kind))
    scale = 1.0 / (fs * np.sum(weights * weights)) if scaling == "density" else 1.0 / np.sum(weights) ** 2
    onesided = bool(return_onesided) and rows.dtype.kind != "c"
    if return_onesided and not onesided:
        warnings.warn("Input data is complex, switching to return_onesided=False", stacklevel=2)
    parts = segments(rows, size, size - overlap, detrend) * weights
    spectra = transform(parts.real if onesided and parts.dtype.kind == "c" else parts, length, onesided)
    if power:
        spectra = (spectra.real**2 + spectra.imag**2) * (sides(length, onesided) * scale)
        spectra = spectra.astype(real_of(kind))
    else:
        spectra = (spectra * np.sqrt(scale)).astype(kind)
    count = known(rows, "a spectrum")[-1]
    places = np.arange(size / 2, count - size / 2 + 1, size - overlap)
    times = (places - size / 2 if boundary is not None else places) / fs
    return frequencies(length, fs, onesided), times, np.moveaxis(spectra, -1, axis - 1 if axis < 0 else axis)


def weights_of(window: Any, nperseg: Any, count: int) -> tuple[Any, int]:
    """Return the weights of windows, and how many they are."""
    if is_named(window):
        nperseg = 256 if nperseg is None else int(nperseg)
        if nperseg > count:
            warnings.warn(
                f"nperseg = {nperseg:d} is greater than input length  = {count:d}, using nperseg = {count:d}",
                stacklevel=2,
            )
            nperseg = count
        return get_window(window, nperseg), nperseg
    weights = array(window)
    if weights.ndim != 1:
        raise ValueError("window must be 1-D")
    (size,) = known(weights, "a spectrum")
    if count < size:
        raise ValueError("window is longer than input signal")
    if nperseg is not None and int(nperseg) != size:
        raise ValueError("value specified for nperseg is different from length of window")
    return weights, size


def sizes(nperseg: int, nfft: Any, noverlap: Any) -> tuple[int, int]:
    """Return the length of the transforms, and how many elements two windows share."""
    length = nperseg if nfft is None else int(nfft)
    if length < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    overlap = nperseg // 2 if noverlap is None else int(noverlap)
    if overlap >= nperseg:
        raise ValueError("noverlap must be less than nperseg.")
    return length, overlap


def continued(rows: Any, size: int, step: int, boundary: str | None, padded: bool) -> Any:
    """Return rows that are continued beyond both ends by half a window, and by zeros up to the end of a window."""
    half, count = size // 2, known(rows, "a spectrum")[-1]
    zeros = (0, 0)
    if boundary == "zeros":
        zeros, count = (half, half), count + 2 * half
    elif boundary is not None:
        rows = reflected(rows, half, boundary)
        count += 2 * half
    if padded:
        zeros = (zeros[0], zeros[1] + (-(count - size) % step) % size)
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [zeros]) if any(zeros) else rows


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    input_onesided: bool = True,
    boundary: Any = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Any, Any]:
    """`scipy.signal.istft`: the signal whose windows have these transforms, of least squares."""
    values = array(Zxx) + 0j
    if values.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    if freq_axis == time_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    of_times, of_frequencies = axis_of(time_axis, values.ndim), axis_of(freq_axis, values.ndim)
    spectra = np.moveaxis(values, (of_times, of_frequencies), (-2, -1))
    count, bins = known(spectra, "istft")[-2:]
    size, length, overlap = sizes_of_inverse(bins, nperseg, nfft, noverlap, input_onesided)
    weights = weights_of_inverse(window, size)
    parts = np.fft.irfft(spectra, length) if input_onesided else np.fft.ifft(spectra, length)
    parts = parts[..., :size]
    weights = weights.astype(parts.dtype) if np.result_type(weights.dtype, parts.dtype) != parts.dtype else weights
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    scale = np.sum(weights) if scaling == "spectrum" else np.sqrt(fs * np.sum(weights**2))
    found = overlapped(parts * (weights * scale), size - overlap).astype(parts.dtype)
    norm: Any = overlapped(np.broadcast_to(weights**2, (count, size)), size - overlap)
    if boundary:
        found, norm = (each[..., size // 2 : -(size // 2)] for each in (found, norm))
    if not is_traced(norm) and not np.all(norm.real > 1e-10):
        missing = "" if boundary else " Possibly due to missing boundary"
        warnings.warn("NOLA condition failed, STFT may not be invertible." + missing, stacklevel=2)
    is_large = norm.real > 1e-10
    found = found / np.where(is_large, np.where(is_large, norm, 1.0), 1.0).astype(found.dtype)
    if input_onesided and found.dtype.kind == "c":
        found = found.real
    if found.ndim > 1 and of_times != values.ndim - 1:
        found = np.moveaxis(found, -1, of_times - (of_frequencies < of_times))
    return np.arange(known(found, "istft")[0]) / fs, found


def sizes_of_inverse(bins: int, nperseg: Any, nfft: Any, noverlap: Any, onesided: bool) -> tuple[int, int, int]:
    """Return the length of the windows and of the transforms, and how many elements two windows share."""
    usual = 2 * (bins - 1) if onesided else bins
    size = usual if nperseg is None else int(nperseg)
    if size < 1:
        raise ValueError("nperseg must be a positive integer")
    if nfft is None:
        nfft = size if onesided and size == usual + 1 else usual
    elif nfft < size:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    overlap = size // 2 if noverlap is None else int(noverlap)
    if overlap >= size:
        raise ValueError("noverlap must be less than nperseg.")
    return size, int(nfft), overlap


def weights_of_inverse(window: Any, size: int) -> Any:
    if is_named(window):
        return get_window(window, size)
    weights = array(window)
    if weights.ndim != 1:
        raise ValueError("window must be 1-D")
    if known(weights, "istft")[0] != size:
        raise ValueError(f"window must have length of {size}")
    return weights


def overlapped(parts: Any, step: int) -> Any:
    """Add up windows, each of which begins ``step`` elements behind the one before: each consists of blocks of this
    length, and the windows' first blocks are added to their second ones, one place later, and so on."""
    *outer, count, size = known(parts, "istft")
    deep = -(-size // step)
    wide = np.pad(parts, [(0, 0)] * (len(outer) + 1) + [(0, deep * step - size)])
    blocks = wide.reshape((*outer, count, deep, step))
    sides = [(0, 0)] * len(outer)
    total: Any = 0.0
    for number in range(deep):
        total = total + np.pad(blocks[..., number, :], [*sides, (number, deep - 1 - number), (0, 0)])
    return total.reshape((*outer, (count + deep - 1) * step))[..., : size + (count - 1) * step]


SHORT_TIME: dict[str, Function] = {each.__name__: each for each in (spectrogram, stft, istft)}
