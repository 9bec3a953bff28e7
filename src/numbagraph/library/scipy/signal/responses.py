"""Responses of filters at frequencies, and their group delays."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, inexact, known, known_number, refuse, require
from numbagraph.library.scipy.signal.forms import tf2zpk
from numbagraph.tracing.tracer import Tracer


def is_count(points: Any) -> bool:
    """Whether frequencies are given by their number."""
    if isinstance(points, Tracer) and not points.ndim and points.dtype.kind in "iu":
        refuse("a response at a traced number of frequencies", "give worN= as a static argument")
    return isinstance(points, (int, np.integer))


def angles(points: Any, whole: bool, fs: Any, include_nyquist: bool = False) -> Any:
    """The frequencies, as angles on the unit circle."""
    points = 512 if points is None else points
    if is_count(points):
        if points < 0:
            raise ValueError(f"worN must be nonnegative, got {points}")
        return np.linspace(0, 2 * np.pi if whole else np.pi, int(points), endpoint=include_nyquist and not whole)
    return 2 * np.pi * np.atleast_1d(array(points)) / fs


def freqz(
    b: Any,
    a: Any = 1,
    worN: Any = 512,
    whole: bool = False,
    plot: Any = None,
    fs: Any = 2 * np.pi,
    include_nyquist: bool = False,
) -> Any:
    """`scipy.signal.freqz`: the quotient of two polynomials on the unit circle."""
    if plot is not None:
        refuse("scipy.signal.freqz with plot=", "plot what is returned")
    above, below = (np.atleast_1d(inexact(each)) for each in (b, a))
    if above.ndim > 1 or below.ndim > 1:
        refuse("scipy.signal.freqz of several filters", "call it for each")
    points = angles(worN, whole, fs, include_nyquist)
    turned = np.exp(-1j * points)
    return points * (fs / (2 * np.pi)), of_powers(turned, above) / of_powers(turned, below)


def of_powers(z: Any, coefficients: Any) -> Any:
    """A polynomial in z, the lowest power first."""
    count = known(coefficients, "a response")[0]
    found = coefficients[count - 1] + 0.0 * z
    for number in range(count - 2, -1, -1):
        found = coefficients[number] + found * z
    return found


def of_roots(z: Any, roots: Any) -> Any:
    """The product of the distances from roots."""
    return np.prod(z - np.atleast_1d(array(roots))[:, None], axis=0)


def freqz_zpk(z: Any, p: Any, k: Any, worN: Any = 512, whole: bool = False, fs: Any = 2 * np.pi) -> tuple[Any, Any]:
    """`scipy.signal.freqz_zpk`."""
    points = angles(worN, whole, fs)
    turned = np.exp(1j * points)
    return points * (fs / (2 * np.pi)), array(k) * of_roots(turned, z) / of_roots(turned, p)


def freqz_sos(sos: Any, worN: Any = 512, whole: bool = False, fs: Any = 2 * np.pi) -> tuple[Any, Any]:
    """`scipy.signal.freqz_sos`: the product of the sections' responses."""
    sections = np.atleast_2d(inexact(sos))
    shape = known(sections, "freqz_sos")
    if len(shape) != 2:
        raise ValueError("sos array must be 2D")
    if shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not shape[0]:
        raise ValueError("Cannot compute frequencies with no sections")
    require(np.all(sections[:, 3] == 1), "sos[:, 3] should be all ones")
    points = angles(worN, whole, fs)
    turned = np.exp(-1j * points)
    found: Any = 1.0
    for number in range(shape[0]):
        row = sections[number]
        found = found * (of_powers(turned, row[:3]) / of_powers(turned, row[3:]))
    return points * (fs / (2 * np.pi)), found


def sosfreqz(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`scipy.signal.sosfreqz`."""
    return freqz_sos(*args, **kwargs)


def freqs(b: Any, a: Any, worN: Any = 200, plot: Any = None) -> tuple[Any, Any]:
    """`scipy.signal.freqs`: the response of an analog filter."""
    if plot is not None:
        refuse("scipy.signal.freqs with plot=", "plot what is returned")
    above, below = (np.atleast_1d(inexact(each)) for each in (b, a))
    worN = 200 if worN is None else worN
    points = findfreqs(above, below, worN) if is_count(worN) else np.atleast_1d(array(worN))
    return points, np.polyval(above, 1j * points) / np.polyval(below, 1j * points)


def freqs_zpk(z: Any, p: Any, k: Any, worN: Any = 200) -> tuple[Any, Any]:
    """`scipy.signal.freqs_zpk`."""
    worN = 200 if worN is None else worN
    points = findfreqs(z, p, worN, "zp") if is_count(worN) else np.atleast_1d(array(worN))
    gain = array(k)
    if int(np.prod(known(gain, "freqs_zpk"))) > 1:
        raise ValueError("k must be a single scalar gain")
    return points, gain * of_roots(1j * points, z) / of_roots(1j * points, p)


def findfreqs(num: Any, den: Any, N: Any, kind: str = "ba") -> Any:
    """`scipy.signal.findfreqs`: frequencies about those at which a filter changes."""
    if kind not in ("ba", "zp"):
        raise ValueError("input must be one of {'ba', 'zp'}")
    zeros, poles = tf2zpk(num, den)[:2] if kind == "ba" else (num, den)
    zeros, poles = (np.atleast_1d(array(each)).astype(np.complex128) for each in (zeros, poles))
    if not known(poles, "findfreqs")[0]:
        poles = np.array([-1000 + 0j])
    roots: Any = np.concatenate([poles, zeros])
    few = np.concatenate([np.ones(known(poles, "findfreqs")[0], bool), np.abs(zeros) < 1e5])
    inside = few & (roots.imag >= 0)
    shift = np.where(np.abs(roots) < 1e-10, 1.0, 0.0)
    real = np.abs(roots.real + shift)
    largest = np.max(np.where(inside, 3 * real + 1.5 * roots.imag, -np.inf))
    smallest = np.min(np.where(inside, real + 2 * roots.imag, np.inf))
    first, last = np.round(np.log10(0.1 * smallest) - 0.5), np.round(np.log10(largest) + 0.5)
    return 10.0 ** np.linspace(first, last, known_number(N, "scipy.signal.findfreqs"))


def group_delay(system: Any, w: Any = 512, whole: bool = False, fs: Any = 2 * np.pi) -> tuple[Any, Any]:
    """`scipy.signal.group_delay`. It is zero where it has a pole."""
    above, below = (np.atleast_1d(inexact(each)) for each in system)
    points = angles(w, whole, fs)
    whole_filter = np.convolve(above, np.conj(np.flip(below)) if below.dtype.kind == "c" else np.flip(below))
    order = known(below, "group_delay")[0]
    turned = np.exp(-1j * points)
    ramp = whole_filter * np.arange(float(known(whole_filter, "group_delay")[0]))
    under = of_powers(turned, whole_filter)
    singular = under == 0
    delay = np.real(of_powers(turned, ramp) / np.where(singular, 1.0, under)) - order + 1
    return points * (fs / (2 * np.pi)), np.where(singular, 0.0, delay)


RESPONSES: dict[str, Function] = {
    each.__name__: each for each in (findfreqs, freqs, freqs_zpk, freqz, freqz_sos, freqz_zpk, group_delay, sosfreqz)
}
