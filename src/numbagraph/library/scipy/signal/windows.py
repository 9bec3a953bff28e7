"""Windows of `scipy.signal` whose parameter is traced; the others are constants, which SciPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import Function, array, known, known_number, only_numpy, refuse
from numbagraph.tracing.tracer import Tracer


def length_of(M: Any, name: str, xp: Any, device: Any) -> int:
    """The number of points of a window as a Python integer, with the checks that SciPy makes."""
    only_numpy(xp, device, f"scipy.signal.windows.{name}")
    count = M if isinstance(M, float) else known_number(M, f"scipy.signal.windows.{name}")
    if int(count) != count or count < 0:
        raise ValueError("Window length M must be a non-negative integer")
    return int(count)


def places(M: int, sym: bool) -> Any:
    """The distances of the points from the middle."""
    count = M if sym or M <= 1 else M + 1
    return (np.arange(count) - (count - 1) / 2.0)[:M]


def whole(M: int, window: Any) -> Any:
    return window if M > 1 else np.ones(M)


def gaussian(M: int, std: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.gaussian`."""
    M = length_of(M, "gaussian", xp, device)
    n = places(M, sym)
    return whole(M, np.exp(-(n * n) / (2.0 * array(std) * array(std))))


def general_gaussian(M: int, p: Any, sig: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.general_gaussian`."""
    M = length_of(M, "general_gaussian", xp, device)
    return whole(M, np.exp(-0.5 * np.abs(places(M, sym) / array(sig)) ** (2.0 * array(p))))


def kaiser(M: int, beta: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.kaiser`, by Bessel functions."""
    M = length_of(M, "kaiser", xp, device)
    n, wide = places(M, sym), array(beta)
    if M <= 1:
        return np.ones(M)
    middle = ((M if sym else M + 1) - 1) / 2.0
    return np.i0(wide * np.sqrt(1.0 - (n / middle) ** 2)) / np.i0(wide)


def general_cosine(M: int, a: Any, sym: bool = True) -> Any:
    """`scipy.signal.windows.general_cosine`: a sum of cosines."""
    M = length_of(M, "general_cosine", None, None)
    weights = array(a)
    count = known(weights, "scipy.signal.windows.general_cosine")[0]
    angles = np.linspace(-np.pi, np.pi, M if sym else M + 1)[:M]
    return whole(M, weights.astype(np.float64) @ np.cos(np.arange(count)[:, None] * angles))


def general_hamming(M: int, alpha: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.general_hamming`."""
    M = length_of(M, "general_hamming", xp, device)
    return general_cosine(M, np.stack([array(alpha), 1.0 - array(alpha)]), sym)


def exponential(
    M: int, center: Any = None, tau: Any = 1.0, sym: bool = True, *, xp: Any = None, device: Any = None
) -> Any:
    """`scipy.signal.windows.exponential`."""
    if sym and center is not None:
        raise ValueError("If sym==True, center must be None.")
    M = length_of(M, "exponential", xp, device)
    middle = ((M if sym else M + 1) - 1) / 2 if center is None else array(center)
    return whole(M, np.exp(-np.abs(np.arange(float(M)) - middle) / array(tau)))


def tukey(M: int, alpha: Any = 0.5, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.tukey`: a cosine's rise and fall, with ones between them."""
    M = length_of(M, "tukey", xp, device)
    last = (M if sym else M + 1) - 1
    if M <= 1:
        return np.ones(M)
    share = array(alpha)
    inner = (share > 0) & (share < 1)
    share = np.where(inner, share, np.where(share > 0, 1.0, 0.5))
    n = np.arange(float(last + 1))
    width = np.floor(share * last / 2.0)
    edge = np.where(n <= width, n, last - n)
    slopes = 0.5 * (1 + np.cos(np.pi * (2.0 * edge / (share * last) - 1)))
    found = np.where((n <= width) | (n >= last - width), slopes, 1.0)
    return np.where(array(alpha) > 0, found, 1.0)[:M]


def kaiser_bessel_derived(M: int, beta: Any, *, sym: bool = True, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.kaiser_bessel_derived`."""
    M = length_of(M, "kaiser_bessel_derived", xp, device)
    if not sym:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for symmetric shapes")
    if M < 1:
        return np.zeros(0)
    if M % 2:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for even number of points")
    sums = np.cumsum(kaiser(M // 2 + 1, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([half, np.flip(half)])


NAMES = {
    **dict.fromkeys(("exponential", "poisson"), exponential),
    **dict.fromkeys(("gaussian", "gauss", "gss"), gaussian),
    "general_cosine": general_cosine,
    **dict.fromkeys(("general_gaussian", "general_gauss", "ggs"), general_gaussian),
    "general_hamming": general_hamming,
    **dict.fromkeys(("kaiser", "ksr"), kaiser),
    **dict.fromkeys(("kaiser_bessel_derived", "kbd"), kaiser_bessel_derived),
    **dict.fromkeys(("tukey", "tuk"), tukey),
}
"""Windows by the names that `get_window` knows. (Words of names have spaces or underscores between them.)"""


def get_window(window: Any, Nx: Any, fftbins: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.get_window`: SciPy makes windows of parameters that are known."""
    only_numpy(xp, device, "scipy.signal.get_window")
    count = known_number(Nx, "scipy.signal.get_window")
    if not is_traced((window,), {}):
        return load("scipy.signal:get_window")(window, count, fftbins)
    if count < 1:
        raise ValueError(f"Parameter Nx={count} is not a positive integer")
    if isinstance(window, Tracer):
        return kaiser(count, window, not fftbins)
    if not isinstance(window, tuple) or not isinstance(window[0], str):
        raise ValueError(f"First tuple entry of parameter {window=} is not a str!")
    name, symmetric = window[0].replace(" ", "_"), not fftbins
    for ending, of_ending in (("_symmetric", True), ("_periodic", False)):
        if name.endswith(ending):
            name, symmetric = name.removesuffix(ending), of_ending
    if name not in NAMES:
        refuse(
            f"scipy.signal.get_window of {window[0]!r} with a traced parameter", "pass the parameter as a Python number"
        )
    return NAMES[name](count, *window[1:], sym=symmetric)


FUNCTIONS: dict[str, Function] = {
    each.__name__: each
    for each in (
        exponential, gaussian, general_cosine, general_gaussian, general_hamming, get_window, kaiser,
        kaiser_bessel_derived, tukey,
    )
}  # fmt: skip

OBJECTS: dict[str, Any] = {}
