"""Designs of recursive filters: SciPy's prototypes, which are constants, moved to cutoffs that are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import Function, array, known, known_number, only_numpy, refuse, require
from numbagraph.library.scipy.signal.forms import as_polynomials, zpk2sos
from numbagraph.library.scipy.signal.transformations import (
    bilinear_zpk,
    lp2bp_zpk,
    lp2bs_zpk,
    lp2hp_zpk,
    lp2lp_zpk,
)

BANDS = {
    **dict.fromkeys(("band", "bandpass", "pass", "bp"), "bandpass"),
    **dict.fromkeys(("bs", "bandstop", "bands", "stop"), "bandstop"),
    **dict.fromkeys(("l", "low", "lowpass", "lp"), "lowpass"),
    **dict.fromkeys(("high", "highpass", "h", "hp"), "highpass"),
}
CHEBYSHEV = {
    **dict.fromkeys(("cheby1", "chebyshev1", "chebyshevi"), 1),
    **dict.fromkeys(("cheby2", "chebyshev2", "chebyshevii"), 2),
}


def iirfilter(
    N: Any,
    Wn: Any,
    rp: Any = None,
    rs: Any = None,
    btype: str = "band",
    analog: bool = False,
    ftype: str = "butter",
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """`scipy.signal.iirfilter`."""
    ftype, btype, output = (each.lower() for each in (ftype, btype, output))
    cutoffs = array(Wn).astype(np.float64)
    if fs is not None:
        if analog:
            raise ValueError("fs cannot be specified for an analog filter")
        cutoffs = cutoffs / (fs / 2)
    require(np.all(cutoffs > 0), "filter critical frequencies must be greater than 0")
    size = int(np.prod(known(cutoffs, "iirfilter")))
    if size > 1:
        require(cutoffs[0] < cutoffs[1], "Wn[0] must be less than Wn[1]")
    if btype not in BANDS:
        raise ValueError(f"'{btype}' is an invalid bandtype for filter.")
    if output not in ("ba", "zpk", "sos"):
        raise ValueError(f"'{output}' is not a valid output form.")
    found = moved(prototype(N, rp, rs, ftype), warped(cutoffs, analog, fs), BANDS[btype], size)
    if not analog:
        found = bilinear_zpk(*found, 2.0)
    if output == "zpk":
        return found
    return as_polynomials(*found) if output == "ba" else zpk2sos(*found, analog=analog)


def warped(cutoffs: Any, analog: bool, fs: Any) -> Any:
    """The cutoffs of the analog filter that becomes the discrete one."""
    if analog:
        return cutoffs
    if fs is None:
        text = "Digital filter critical frequencies must be 0 < Wn < 1"
    else:
        rate = "" if is_traced(fs) else f" (fs={fs} -> fs/2={fs / 2})"
        text = f"Digital filter critical frequencies must be 0 < Wn < fs/2{rate}"
    require(np.all(cutoffs < 1), text)
    return 4.0 * np.tan(np.pi * cutoffs / 2.0)


def prototype(N: Any, rp: Any, rs: Any, ftype: str) -> tuple[Any, Any, Any]:
    """Return the zeros, poles and gain of the analog lowpass filter with the cutoff 1."""
    order = known_number(N, "scipy.signal.iirfilter")
    if not is_traced(rp, rs):
        found: tuple[Any, Any, Any] = load("scipy.signal:iirfilter")(
            order, 1.0, rp, rs, "lowpass", analog=True, ftype=ftype, output="zpk"
        )
        return found
    for each, text in ((rp, "passband ripple (rp)"), (rs, "stopband attenuation (rs)")):
        if each is not None:
            require(each >= 0, f"{text} must be positive")
    if CHEBYSHEV.get(ftype) == 1 and order and rp is not None:
        return of_first_kind(order, rp)
    if CHEBYSHEV.get(ftype) == 2 and order and rs is not None:
        return of_second_kind(order, rs)
    return refuse(f"a filter of the type {ftype!r} with a traced ripple", "pass rp and rs as Python numbers")


def of_first_kind(order: int, rp: Any) -> tuple[Any, Any, Any]:
    """Chebyshev's filter with ripples in the passband: poles on an ellipse."""
    ripple = 10 ** (0.1 * array(rp)) - 1.0
    poles = -np.sinh(np.arcsinh(1 / np.sqrt(ripple)) / order + 1j * angles(order))
    gain = np.real(np.prod(-poles))
    return np.zeros(0), poles, gain if order % 2 else gain / np.sqrt(1 + ripple)


def of_second_kind(order: int, rs: Any) -> tuple[Any, Any, Any]:
    """Chebyshev's filter with ripples in the stopband."""
    depth = np.sqrt(10 ** (0.1 * array(rs)) - 1.0)
    turns = angles(order)
    zeros = 1j / np.sin(turns[np.arange(order) != order // 2] if order % 2 else turns)
    poles = -1 / np.sinh(np.arcsinh(depth) / order + 1j * turns)
    return zeros, poles, np.real(np.prod(-poles) / np.prod(-zeros))


def angles(order: int) -> Any:
    return np.pi * np.arange(-order + 1.0, order, 2) / (2 * order)


def moved(form: tuple[Any, Any, Any], cutoffs: Any, band: str, size: int) -> tuple[Any, Any, Any]:
    """Return the filter for a band."""
    if band in ("lowpass", "highpass"):
        if size != 1:
            raise ValueError("Must specify a single critical frequency Wn for lowpass or highpass filter")
        return (lp2lp_zpk if band == "lowpass" else lp2hp_zpk)(*form, cutoffs.reshape(()))
    if size < 2:
        raise ValueError("Wn must specify start and stop frequencies for bandpass or bandstop filter")
    width, middle = cutoffs[1] - cutoffs[0], np.sqrt(cutoffs[0] * cutoffs[1])
    return (lp2bp_zpk if band == "bandpass" else lp2bs_zpk)(*form, middle, width)


def butter(N: Any, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None) -> Any:
    """`scipy.signal.butter`."""
    return iirfilter(N, Wn, None, None, btype, analog, "butter", output, fs)


def cheby1(
    N: Any, rp: Any, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None
) -> Any:
    """`scipy.signal.cheby1`."""
    return iirfilter(N, Wn, rp, None, btype, analog, "cheby1", output, fs)


def cheby2(
    N: Any, rs: Any, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None
) -> Any:
    """`scipy.signal.cheby2`."""
    return iirfilter(N, Wn, None, rs, btype, analog, "cheby2", output, fs)


def ellip(
    N: Any, rp: Any, rs: Any, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None
) -> Any:
    """`scipy.signal.ellip`."""
    return iirfilter(N, Wn, rp, rs, btype, analog, "elliptic", output, fs)


def bessel(
    N: Any,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    norm: str = "phase",
    fs: Any = None,
) -> Any:
    """`scipy.signal.bessel`."""
    return iirfilter(N, Wn, None, None, btype, analog, f"bessel_{norm}", output, fs)


def iirnotch(w0: Any, Q: Any, fs: Any = 2.0, *, xp: Any = None, device: Any = None) -> tuple[Any, Any]:
    """`scipy.signal.iirnotch`. [Orfanidis, Introduction to Signal Processing, 1996, 11.3]"""
    only_numpy(xp, device, "scipy.signal.iirnotch")
    cosine, gain = resonance(w0, Q, fs)
    return gain * np.stack([1.0 + 0 * cosine, -2.0 * cosine, 1.0 + 0 * cosine]), feedback(cosine, gain)


def iirpeak(w0: Any, Q: Any, fs: Any = 2.0, *, xp: Any = None, device: Any = None) -> tuple[Any, Any]:
    """`scipy.signal.iirpeak`."""
    only_numpy(xp, device, "scipy.signal.iirpeak")
    cosine, gain = resonance(w0, Q, fs)
    return (1.0 - gain) * np.array([1.0, 0.0, -1.0]), feedback(cosine, gain)


def resonance(w0: Any, Q: Any, fs: Any) -> tuple[Any, Any]:
    """The cosine of a frequency, and the gain that gives a band of its width."""
    rate = 2 * array(w0).astype(np.float64) / fs
    require((rate >= 0) & (rate <= 1), "w0 should be such that 0 < w0 < 1")
    return np.cos(np.pi * rate), 1.0 / (1.0 + np.tan(np.pi * rate / array(Q) / 2.0))


def feedback(cosine: Any, gain: Any) -> Any:
    return np.stack([1.0 + 0 * gain, -2.0 * gain * cosine, 2.0 * gain - 1.0])


RECURSIVE_DESIGNS: dict[str, Function] = {
    each.__name__: each for each in (bessel, butter, cheby1, cheby2, ellip, iirfilter, iirnotch, iirpeak)
}
