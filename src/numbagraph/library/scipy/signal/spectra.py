"""Spectra of `scipy.signal`: of whole signals, of windows of them and their means, and of samples at any times."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import Function, array, axis_of, known, require
from numbagraph.library.scipy.signal.segments import frequencies, is_named, real_of, rows_along, segments, transform
from numbagraph.library.scipy.signal.windows import get_window

SCALINGS = {"spectrum": "magnitude", "density": "psd"}


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """`scipy.signal.welch`: the mean of the spectra of windows."""
    found, density = csd(
        x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )  # fmt: skip
    return found, density.real if density.dtype.kind == "c" else density


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """`scipy.signal.csd`: the mean of the products of two signals' spectra of windows."""
    is_same = y is x
    one = array(x)
    other = one if is_same else array(y)
    kind = np.result_type(one.dtype, other.dtype, np.complex64)
    place, one, other, outer = of_one_shape(one, other, axis)
    if 0 in known(one, "csd") or 0 in known(other, "csd"):
        shape = (*outer, min(known(one, "csd")[-1], known(other, "csd")[-1]))
        empty = np.moveaxis(np.empty(shape), -1, axis)
        return empty, empty
    count = max(known(one, "csd")[-1], known(other, "csd")[-1])
    weights, size = weights_of_mean(window, nperseg, count)
    length, overlap = sizes_of_mean(size, nfft, noverlap)
    one, other = (with_zeros(each, count) for each in (one, other))
    if scaling not in SCALINGS:
        raise ValueError(f"Parameter {scaling=} not in {SCALINGS}!")
    require_rate(fs)
    onesided = bool(return_onesided) and one.dtype.kind != "c"
    if onesided and other.dtype.kind == "c":
        raise ValueError("Complex-valued `x` not allowed for self.fft_mode='onesided'! Set property `fft_mode` to "
                         "'twosided' or 'centered'.")  # fmt: skip
    if size > count:
        raise ValueError(f"The window has {size} points, and the signals have {count}.")
    spectra = [
        transform(segments(in_double(each), size, size - overlap, detrend) * weights, length, onesided)
        for each in ((one,) if is_same else (one, other))
    ]
    products = spectra[0].real ** 2 + spectra[0].imag ** 2 if is_same else np.conj(spectra[0]) * spectra[1]
    total = np.sum(weights) ** 2 if scaling == "spectrum" else fs * np.sum(weights * weights)
    scaled = products * (sides(length, onesided) / total)
    found = averaged(scaled, average).astype(real_of(kind) if is_same else kind)
    return frequencies(length, fs, onesided), np.moveaxis(found, -1, place)


def require_rate(fs: Any) -> None:
    known_rate = "" if is_traced(fs) else f"={float(fs)}"
    require(fs > 0, f"Sampling frequency fs{known_rate} must be positive!")


def in_double(signal: Any) -> Any:
    """Return a signal in double precision, in which SciPy computes means of spectra."""
    return signal.astype(np.result_type(signal.dtype, np.float64))


def of_one_shape(one: Any, other: Any, axis: int) -> tuple[int, Any, Any, tuple[int, ...]]:
    """Return the axis, both signals with it as the last axis, and the shape of their other axes."""
    outer = [list(known(each, "csd")) for each in (one, other)]
    for each, signal in zip(outer, (one, other), strict=True):
        each.pop(axis_of(axis, signal.ndim))
    try:
        shape = np.broadcast_shapes(*outer)
    except ValueError as error:
        raise ValueError("x and y cannot be broadcast together.") from error
    return int(axis), rows_along(one, axis), rows_along(other, axis), shape


def with_zeros(rows: Any, count: int) -> Any:
    """Return signals with zeros behind their ends, ``count`` elements in all."""
    missing = count - known(rows, "csd")[-1]
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)]) if missing else rows


def weights_of_mean(window: Any, nperseg: Any, count: int) -> tuple[Any, int]:
    """Return the weights of windows whose spectra have a mean, and how many they are."""
    if not is_named(window):
        weights = array(window)
        length = known(weights, "csd")[0]
        size = length if nperseg is None else nperseg
        if size != length:
            raise ValueError(f"nperseg={size} does not equal len(win)={length}")
        return weights, int(size)
    nperseg = 256 if nperseg is None else int(nperseg)
    if nperseg < 1:
        raise ValueError(f"Parameter {nperseg=} is not a positive integer!")
    if count < nperseg:
        warnings.warn(
            f"{nperseg=} is greater than signal length max(len(x), len(y)) = {count}, using nperseg = {count}",
            stacklevel=2,
        )
        nperseg = count
    return get_window(window, nperseg), nperseg


def sizes_of_mean(nperseg: int, nfft: Any, noverlap: Any) -> tuple[int, int]:
    """Return the length of the transforms, and how many elements two windows share."""
    nfft = nperseg if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ValueError(f"{nfft=} must be greater than or equal to {nperseg=}!")
    noverlap = nperseg // 2 if noverlap is None else int(noverlap)
    if noverlap >= nperseg:
        raise ValueError(f"{noverlap=} must be less than {nperseg=}!")
    return nfft, noverlap


def sides(length: int, onesided: bool) -> Any:
    """How often each frequency of a spectrum counts: twice where it stands for a negative one too."""
    if not onesided:
        return np.ones(length)
    counts = np.full(length // 2 + 1, 2.0)
    counts[0] = 1.0
    if length % 2 == 0:
        counts[-1] = 1.0
    return counts


def averaged(spectra: Any, average: str) -> Any:
    """Return the mean or the median of the spectra of windows, which are along the last axis but one."""
    count = known(spectra, "csd")[-2]
    if count == 1:
        return spectra[..., 0, :]
    if average == "mean":
        return np.mean(spectra, -2)
    if average != "median":
        raise ValueError(f"Parameter {average=} must be 'median' or 'mean'!")
    if spectra.dtype.kind == "c":
        middle = np.median(spectra.real, -2) + 1j * np.median(spectra.imag, -2)
    else:
        middle = np.median(spectra, -2)
    even = 2 * np.arange(1.0, (count - 1) // 2 + 1)
    return middle / (1 + np.sum(1.0 / (even + 1) - 1.0 / even))


def periodogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Any, Any]:
    """`scipy.signal.periodogram`: the spectrum of a whole signal."""
    values = array(x)
    if 0 in known(values, "periodogram"):
        return np.empty(values.shape), np.empty(values.shape)
    window = "boxcar" if window is None else window
    size = known(values, "periodogram")[axis]
    if nfft is not None and nfft < size:
        size = int(nfft)
        values = np.moveaxis(rows_along(values, axis)[..., :size], -1, axis)
        nfft = None
    if hasattr(window, "size") and window.size != size:
        raise ValueError("the size of the window must be the same size of the input on the specified axis")
    return welch(values, fs, window, size, 0, nfft, detrend, return_onesided, scaling, axis)


def coherence(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann_periodic",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Any, Any]:
    """`scipy.signal.coherence`: the square of the spectra's correlation."""
    options: Any = {
        "fs": fs, "window": window, "nperseg": nperseg, "noverlap": noverlap, "nfft": nfft, "detrend": detrend,
        "axis": axis,
    }  # fmt: skip
    found, first = welch(x, **options)
    _, second = welch(y, **options)
    _, both = csd(x, y, **options)
    square = both.real**2 + both.imag**2 if both.dtype.kind == "c" else both * both
    return found, square / first / second


def lombscargle(
    x: Any,
    y: Any,
    freqs: Any,
    *,
    normalize: Any = False,
    weights: Any = None,
    floating_mean: bool = False,
    **others: Any,
) -> Any:
    """`scipy.signal.lombscargle`: least squares of a sine at each frequency. [Zechmeister and Kürster, The generalised
    Lomb-Scargle periodogram, 2009]"""
    times, values, omega = (array(each).astype(np.float64) for each in (x, y, freqs))
    given = np.ones(values.shape) if weights is None else array(weights).astype(np.float64)
    shape = known(times, "lombscargle")
    if times.ndim != 1 or not shape[0] or not shape == known(values, "lombscargle") == known(given, "lombscargle"):
        raise ValueError("Parameters x, y, weights must be 1-D arrays of equal non-zero length!")
    if omega.ndim != 1 or not known(omega, "lombscargle")[0]:
        raise ValueError("Parameter freqs must be a 1-D array of non-zero length!")
    require(
        np.all(given >= 0) & (np.sum(given) > 0),
        "Parameter weights must have only non-negative entries which sum to a positive value!",
    )
    form = {True: "normalize", False: "power"}.get(normalize, normalize) if isinstance(normalize, bool) else normalize
    if form not in ("power", "normalize", "amplitude"):
        raise ValueError("Normalize must be: False (or 'power'), True (or 'normalize'), or 'amplitude'.")
    if others.pop("precenter", False):
        values = values - np.mean(values)
    if others:
        raise TypeError(f"lombscargle() got an unexpected keyword argument {next(iter(others))!r}")
    shares = given / np.sum(given)
    angles = times[:, None] * omega
    mean = np.sum(shares * values) if floating_mean else 0.0
    delay = delay_of(shares, angles, floating_mean)
    turned = angles - delay
    a, b, cosines, sines = fit_of(shares, values, turned, mean, floating_mean)
    if form == "amplitude":
        return np.squeeze((a + 1j * b) * np.exp(1j * delay))
    power = 2.0 * (a * cosines + b * sines)
    if form == "power":
        return np.squeeze(power * (shape[0] / 4.0))
    return np.squeeze(power * (0.5 / (np.sum(shares * values * values) - mean * mean)))


def delay_of(shares: Any, angles: Any, floating_mean: bool) -> Any:
    """The phase from which cosines and sines of the angles are orthogonal."""
    cosine, sine = np.cos(angles), np.sin(angles)
    cc, cs = shares @ (cosine * cosine), shares @ (cosine * sine)
    ss = 1.0 - cc
    if floating_mean:
        c, s = shares @ cosine, shares @ sine
        cc, ss, cs = cc - c * c, ss - s * s, cs - c * s
    return 0.5 * np.arctan2(2.0 * cs, cc - ss)


def fit_of(shares: Any, values: Any, turned: Any, mean: Any, floating_mean: bool) -> tuple[Any, Any, Any, Any]:
    """Return the coefficients of the cosines and the sines that fit best, and the values' products with both."""
    cosine, sine = np.cos(turned), np.sin(turned)
    yc, ys = (shares * values) @ cosine, (shares * values) @ sine
    cc = shares @ (cosine * cosine)
    ss = 1.0 - cc
    if floating_mean:
        c, s = shares @ cosine, shares @ sine
        yc, ys, cc, ss = yc - mean * c, ys - mean * s, cc - c * c, ss - s * s
    least = np.finfo(np.float64).epsneg
    return yc / np.where(cc < least, least, cc), ys / np.where(ss < least, least, ss), yc, ys


def vectorstrength(events: Any, period: Any) -> tuple[Any, Any]:
    """`scipy.signal.vectorstrength`: the mean of the events as points on a circle that one period goes around."""
    times, periods = array(events), array(period)
    if periods.dtype.kind in "iub":
        periods = periods.astype(np.float64)
    if times.ndim > 1:
        raise ValueError("events cannot have dimensions more than 1")
    if periods.ndim > 1:
        raise ValueError("period cannot have dimensions more than 1")
    require(np.all(periods > 0), "periods must be positive")
    rates = (math.pi / np.atleast_1d(periods))[:, None]
    angles = 2.0 * (rates * np.atleast_1d(times).astype(periods.dtype))
    cosine, sine = np.mean(np.cos(angles), 1), np.mean(np.sin(angles), 1)
    found = np.hypot(cosine, sine), np.arctan2(sine, cosine)
    return found if periods.ndim else (found[0][0], found[1][0])


SPECTRA: dict[str, Function] = {
    each.__name__: each for each in (welch, csd, periodogram, coherence, lombscargle, vectorstrength)
}
