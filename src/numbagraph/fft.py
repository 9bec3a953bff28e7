"""`numpy.fft` for tracers and arrays.

A function of `numpy.fft` can be called on traced arrays as it is; this is the same namespace for code that asks an
array for its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.numpy import public_function

_HELPERS = ("fftfreq", "rfftfreq")
"""What makes arrays of lengths alone."""


def __getattr__(name: str) -> Callable[..., Any]:
    return getattr(np.fft, name) if name in _HELPERS else public_function(f"fft.{name}", __name__)
