"""`scipy.signal`: changes of rate, and medians of windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import array, axis_of, inexact, known, known_number, refuse
from numbagraph.library.scipy.ndimage.sorting_network import MOST_EXCHANGED, of_rank
from numbagraph.library.scipy.signal.convolution import CONVOLUTIONS, MOST_TERMS
from numbagraph.library.scipy.signal.recursive_filters import filtfilt, lfilter, sosfilt, sosfiltfilt
from numbagraph.tracing.tracer import Tracer

MOST_PHASES = 16
"""The largest factor on a signal's rate that is filtered by phases; for larger ones, the filter sees the zeros between
the elements."""


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """`scipy.signal.medfilt`: elements beyond the ends are zeros."""
    values = np.atleast_1d(array(volume))
    if values.dtype.kind in "bc":
        raise ValueError(f"dtype={values.dtype} is not supported by medfilt")
    count = values.ndim
    sizes = [int(each) for each in np.broadcast_to(3 if kernel_size is None else kernel_size, count)]
    if any(size % 2 == 0 for size in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    shape = known(values, "medfilt")
    if 0 in shape:
        return values.copy()
    padded = np.pad(values, [(size // 2, size // 2) for size in sizes])
    if math.prod(sizes) <= MOST_EXCHANGED:
        starts = np.ndindex(*sizes)
        near = [padded[tuple(map(slice, at, np.add(at, shape).tolist()))] for at in starts]
        return of_rank(near, len(near) // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, tuple(sizes))
    rows = windows.reshape((*shape, math.prod(sizes)))
    return np.sort(rows, -1)[..., math.prod(sizes) // 2]


def resample(x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time") -> Any:
    """`scipy.signal.resample` of real signals: the Fourier transform is cut or continued by zeros."""
    values = inexact(x)
    if window is not None or domain != "time" or values.dtype.kind == "c":
        refuse(
            "scipy.signal.resample with a window, of spectra or complex signals", "np.fft.fft, np.pad and np.fft.ifft"
        )
    rows = np.moveaxis(values, axis_of(axis, values.ndim), -1)
    length, count = known(rows, "resample")[-1], int(num)
    shared = min(count, length)
    spectrum = np.fft.rfft(rows)[..., : shared // 2 + 1]
    if shared % 2 == 0 and count != length:
        steps = np.ones(shared // 2 + 1, values.dtype)
        steps[-1] = 2.0 if count < length else 0.5
        spectrum = spectrum * steps
    scale = length / count
    found = np.moveaxis(np.fft.irfft(spectrum / scale, count), -1, axis)
    return found if t is None else (found, t[0] + (t[1] - t[0]) * scale * np.arange(count))


def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: Any = 0) -> Any:
    """`scipy.signal.upfirdn`: a filter of the signal with zeros between its elements."""
    if mode != "constant" or cval != 0:
        refuse("scipy.signal.upfirdn with another mode than zeros", "np.pad extends the signal")
    values, taps = array(x), array(h)
    values = values.astype(np.result_type(values.dtype, taps.dtype, np.float32))
    if taps.ndim != 1 or not known(taps, "upfirdn")[0]:
        raise ValueError("h must be 1-D with non-zero length")
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    rows = np.moveaxis(values, axis_of(axis, values.ndim), -1)
    length = known(rows, "upfirdn")[-1]
    if length and up <= MOST_PHASES and known(taps, "upfirdn")[0] <= up * MOST_TERMS:
        return np.moveaxis(by_phases(taps, rows, int(up), int(down)), -1, axis)
    if up > 1:
        apart = np.pad(np.expand_dims(rows, -1), [(0, 0)] * rows.ndim + [(0, up - 1)])
        rows = apart.reshape((*rows.shape[:-1], length * up))[..., : (length - 1) * up + 1]
    filtered = CONVOLUTIONS["convolve"](rows, taps.reshape((1,) * (rows.ndim - 1) + (-1,)))
    return np.moveaxis(filtered[..., ::down], -1, axis)


def by_phases(taps: Any, rows: Any, up: int, down: int) -> Any:
    """Filter by phases: every ``up``-th element of the result is a sum of shifted signals, without the zeros between
    their elements."""
    count, length = known(taps, "upfirdn")[0], known(rows, "upfirdn")[-1]
    total = -(-((length - 1) * up + count) // down)
    steps, before = -(-total // up), -(-count // up) - 1
    last = (steps - 1) * down + (up - 1) * down // up
    padded = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(before, max(last + 1 - length, 0))])
    phases = []
    for phase in range(up):
        place, first = divmod(phase * down, up)
        found = np.zeros((*known(rows, "upfirdn")[:-1], steps), np.result_type(rows.dtype, taps.dtype))
        for shift, tap in enumerate(range(first, count, up)):
            begin = before + place - shift
            found = found + taps[tap] * padded[..., begin : begin + (steps - 1) * down + 1 : down]
        phases.append(found)
    whole = np.stack(phases, -1).reshape((*known(rows, "upfirdn")[:-1], steps * up)) if up > 1 else phases[0]
    return whole[..., :total]


def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: Any = None,
) -> Any:
    """`scipy.signal.resample_poly`, by a filter with linear phase."""
    if padtype != "constant" or cval is not None:
        refuse("scipy.signal.resample_poly with another padding than zeros", "np.pad extends the signal")
    if isinstance(window, Tracer):
        refuse("scipy.signal.resample_poly with a traced window", "scipy.signal.upfirdn takes one")
    if up < 1 or down < 1:
        raise ValueError("up and down must be >= 1")
    values = inexact(x)
    axis = axis_of(axis, values.ndim)
    up, down = up // math.gcd(up, down), down // math.gcd(up, down)
    length = known(values, "resample_poly")[axis]
    if up == down == 1:
        return values.copy()
    count = -(-length * up // down)
    if isinstance(window, (list, np.ndarray)):
        taps = np.array(window)
        half = (taps.size - 1) // 2
    else:
        rate = max(up, down)
        half = 10 * rate
        taps = load("scipy.signal:firwin")(2 * half + 1, 1.0 / rate, window=window).astype(values.dtype)
    before = down - half % down
    dropped = (half + before) // down
    taps = np.concatenate([np.zeros(before, taps.dtype), taps * up])
    missing = (count + dropped - 1) * down + 1 - ((length - 1) * up + taps.size)
    taps = np.pad(taps, (0, max(missing, 0)))
    found = np.moveaxis(upfirdn(taps, values, up, down, axis), axis, -1)
    return np.moveaxis(found[..., dropped : dropped + count], -1, axis)


def decimate(x: Any, q: Any, n: Any = None, ftype: Any = "iir", axis: int = -1, zero_phase: bool = True) -> Any:
    """`scipy.signal.decimate`: a filter, which SciPy designs, and every ``q``-th element of what it gives."""
    values = inexact(x)
    values = values.astype(np.float64) if values.dtype == np.float16 else values
    factor = known_number(q, "scipy.signal.decimate")
    order = None if n is None else known_number(n, "scipy.signal.decimate")
    rows = np.moveaxis(values, axis_of(axis, values.ndim), -1)
    kind, parts = antialiasing(factor, order, ftype)
    parts = [each.astype(np.result_type(each.dtype, np.float32) if each.dtype.kind == "c" else values.real.dtype)
             for each in parts]  # fmt: skip
    if kind == "fir" and zero_phase:
        return np.moveaxis(resample_poly(rows, 1, factor, -1, parts[0]), -1, axis)
    if kind == "fir":
        count = -(-known(rows, "decimate")[-1] // factor)
        return np.moveaxis(upfirdn(parts[0], rows, 1, factor)[..., :count], -1, axis)
    passes = {("sos", True): sosfiltfilt, ("sos", False): sosfilt, ("ba", True): filtfilt, ("ba", False): lfilter}
    return np.moveaxis(passes[kind, bool(zero_phase)](*parts, rows)[..., ::factor], -1, axis)


def antialiasing(factor: int, order: int | None, ftype: Any) -> tuple[str, list[Any]]:
    """Return the form and the parts of the filter that goes before every ``factor``-th element is taken."""
    if ftype == "fir":
        taps = (20 * factor if order is None else order) + 1
        return "fir", [load("scipy.signal:firwin")(taps, 1.0 / factor, window="hamming")]
    if ftype == "iir":
        return "sos", [load("scipy.signal:cheby1")(8 if order is None else order, 0.05, 0.8 / factor, output="sos")]
    if not isinstance(ftype, load("scipy.signal:dlti")):
        raise ValueError("invalid ftype")
    system: Any = ftype
    roots, quotient = system.to_zpk(), system.to_tf()
    if not len(roots.poles):
        return "fir", [np.asarray(quotient.num / quotient.den)]
    if np.any(np.iscomplex(roots.poles)) or np.iscomplex(roots.gain):
        return "ba", [np.asarray(quotient.num), np.asarray(quotient.den)]
    return "sos", [load("scipy.signal:zpk2sos")(roots.zeros, roots.poles, roots.gain)]


RESAMPLING = {each.__name__: each for each in (medfilt, resample, upfirdn, resample_poly, decimate)}
