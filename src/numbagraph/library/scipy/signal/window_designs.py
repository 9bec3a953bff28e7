"""Designs of filters without recursion, by windows: `scipy.signal.firwin` and `firwin2`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, inexact, known, known_number, require
from numbagraph.library.scipy.signal.windows import get_window

PASSES = {"lowpass": True, "bandstop": True, "highpass": False, "bandpass": False}


def firwin(
    numtaps: Any,
    cutoff: Any,
    *,
    width: Any = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: Any = None,
) -> Any:
    """`scipy.signal.firwin`: ideal bands in a window."""
    taps = known_number(numtaps, "scipy.signal.firwin")
    half = 1.0 if fs is None else 0.5 * fs
    cutoffs = np.atleast_1d(array(cutoff).astype(np.float64)) / half
    if cutoffs.ndim > 1:
        raise ValueError("The cutoff argument must be at most one-dimensional.")
    (count,) = known(cutoffs, "firwin")
    if not count:
        raise ValueError("At least one cutoff frequency must be given.")
    require(
        np.all((cutoffs > 0) & (cutoffs < 1)),
        "Invalid cutoff frequency: frequencies must be greater than 0 and less than fs/2.",
    )
    text = "Invalid cutoff frequencies: the frequencies must be strictly increasing."
    require(np.all(cutoffs[1:] > cutoffs[:-1]), text)
    if width is not None:
        window = ("kaiser", kaiser_beta(2.285 * (taps - 1) * np.pi * (array(width) / half) + 7.95))
    low = passes_zero(pass_zero, count)
    high = (count % 2 == 0) == low
    if high and taps % 2 == 0:
        text = "A filter with an even number of coefficients must have zero response at the Nyquist frequency."
        raise ValueError(text)
    edges = [*([0.0] if low else []), *(cutoffs[number] for number in range(count)), *([1.0] if high else [])]
    return of_bands(taps, edges, get_window(window, taps, False), scale, low, high)


def passes_zero(pass_zero: Any, count: int) -> bool:
    if pass_zero in ("lowpass", "highpass") and count != 1:
        raise ValueError(f'cutoff must have one element if pass_zero=="{pass_zero}", got {(count,)}')
    if pass_zero in ("bandstop", "bandpass") and count <= 1:
        raise ValueError(f'cutoff must have at least two elements if pass_zero=="{pass_zero}", got {(count,)}')
    if pass_zero in PASSES:
        return PASSES[pass_zero]
    if pass_zero is not True and pass_zero is not False:
        raise ValueError(f"Parameter {pass_zero=} not in (True, False, 'bandpass', 'lowpass', 'highpass', 'bandstop')")
    return pass_zero


def of_bands(taps: int, edges: list[Any], weights: Any, scale: bool, low: bool, high: bool) -> Any:
    """The taps of a filter that passes between each two of the edges."""
    places = np.arange(float(taps)) - 0.5 * (taps - 1)
    found: Any = 0.0
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        found = found + right * np.sinc(right * places)
        if left is not edges[0] or not low:
            found = found - left * np.sinc(left * places)
    found = found * weights
    if not scale:
        return found
    last = high and len(edges) == 2
    middle = 0.0 if low else 1.0 if last else 0.5 * (edges[0] + edges[1])
    return found / np.sum(found * np.cos(np.pi * places * middle))


def kaiser_beta(a: Any) -> Any:
    """`scipy.signal.kaiser_beta`."""
    depth = array(a)
    above = np.where(depth > 21, depth - 21, 1.0)
    middle = 0.5842 * above**0.4 + 0.07886 * (depth - 21)
    return np.where(depth > 50, 0.1102 * (depth - 8.7), np.where(depth > 21, middle, 0.0))


def firwin2(
    numtaps: Any,
    freq: Any,
    gain: Any,
    *,
    nfreqs: Any = None,
    window: Any = "hamming",
    antisymmetric: bool = False,
    fs: Any = None,
) -> Any:
    """`scipy.signal.firwin2`: the inverse transform of a response that is drawn between points, in a window."""
    taps = known_number(numtaps, "scipy.signal.firwin2")
    half = 1.0 if fs is None else 0.5 * fs
    points, gains = inexact(freq), inexact(gain)
    if known(points, "firwin2") != known(gains, "firwin2"):
        raise ValueError("freq and gain must be of same length.")
    if nfreqs is not None and taps >= nfreqs:
        raise ValueError(
            f"ntaps must be less than nfreqs, but firwin2 was called with ntaps={taps} and nfreqs={nfreqs}"
        )
    require_points(points, half)
    require_gains(gains, taps, antisymmetric)
    apart = points[1:] == points[:-1]
    tiny = np.finfo(np.float64).eps * half
    none = np.zeros(1, bool)
    points = np.where(np.concatenate([apart, none]), points - tiny, points)
    points = np.where(np.concatenate([none, apart]), points + tiny, points)
    count = 1 + 2 ** math.ceil(math.log2(taps)) if nfreqs is None else int(nfreqs)
    places = np.linspace(0.0, 1.0, count)
    response = np.interp(places * half, points, gains) * np.exp(-(taps - 1) / 2.0 * 1j * np.pi * places)
    found = np.fft.irfft(response * 1j if antisymmetric else response)[:taps]
    if window is not None:
        found = found * get_window(window, taps, False)
    return found * (np.arange(taps) != taps // 2) if antisymmetric and taps % 2 else found


def require_points(points: Any, half: Any) -> None:
    steps = points[1:] - points[:-1]
    require((points[0] == 0) & (points[-1] == half), "freq must start with 0 and end with fs/2.")
    require(np.all(steps >= 0), "The values in freq must be nondecreasing.")
    require(np.all(steps[:-1] + steps[1:] != 0), "A value in freq must not occur more than twice.")
    require(points[1] != 0, "Value 0 must not be repeated in freq")
    require(points[-2] != half, "Value fs/2 must not be repeated in freq")


def require_gains(gains: Any, taps: int, antisymmetric: bool) -> None:
    if not antisymmetric:
        if taps % 2 == 0:
            require(gains[-1] == 0, "A Type II filter must have zero gain at the Nyquist frequency.")
    elif taps % 2:
        text = "A Type III filter must have zero gain at zero and Nyquist frequencies."
        require((gains[0] == 0) & (gains[-1] == 0), text)
    else:
        require(gains[0] == 0, "A Type IV filter must have zero gain at zero frequency.")


WINDOW_DESIGNS: dict[str, Function] = {each.__name__: each for each in (firwin, firwin2, kaiser_beta)}
