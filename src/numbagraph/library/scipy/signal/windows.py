"""Windows of `scipy.signal` whose parameter is traced; the others are constants, which SciPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, known_number, only_numpy


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


FUNCTIONS: dict[str, Function] = {each.__name__: each for each in (gaussian, general_gaussian, kaiser)}

OBJECTS: dict[str, Any] = {}
