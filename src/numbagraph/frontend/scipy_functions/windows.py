"""Windows of `scipy.signal` whose parameter is traced; the others are constants, which SciPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.frontend.scipy_functions.common import Function, array, refuse


def places(M: int, sym: bool) -> Any:
    """Distances from the middle."""
    if int(M) != M or M < 0:
        raise ValueError("Window length M must be a non-negative integer")
    count = int(M) if sym or M <= 1 else int(M) + 1
    return (np.arange(count) - (count - 1) / 2.0)[: int(M)]


def whole(M: int, window: Any) -> Any:
    return window if M > 1 else np.ones(int(M))


def only_numpy(xp: Any, device: Any) -> None:
    if device is not None or xp not in (None, np):
        refuse("a window with xp= or device=", "leave them out")


def gaussian(M: int, std: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.gaussian`."""
    only_numpy(xp, device)
    n = places(M, sym)
    return whole(M, np.exp(-(n * n) / (2.0 * array(std) * array(std))))


def general_gaussian(M: int, p: Any, sig: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.general_gaussian`."""
    only_numpy(xp, device)
    return whole(M, np.exp(-0.5 * np.abs(places(M, sym) / array(sig)) ** (2.0 * array(p))))


def kaiser(M: int, beta: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """`scipy.signal.windows.kaiser`, by Bessel functions."""
    only_numpy(xp, device)
    n, wide = places(M, sym), array(beta)
    if M <= 1:
        return np.ones(int(M))
    middle = ((M if sym else M + 1) - 1) / 2.0
    return np.i0(wide * np.sqrt(1.0 - (n / middle) ** 2)) / np.i0(wide)


FUNCTIONS: dict[str, Function] = {each.__name__: each for each in (gaussian, general_gaussian, kaiser)}

OBJECTS: dict[str, Any] = {}
