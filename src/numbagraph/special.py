"""SciPy's special functions for tracers and arrays, those among them that SciPy itself cannot dispatch.

A function of `scipy.special` that is a ufunc can be called on traced arrays as it is. ``logsumexp``, ``softmax`` and
``log_softmax`` are plain Python functions there: call them from here instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.numpy import public_function


def __getattr__(name: str) -> Callable[..., Any]:
    return public_function(name, __name__)
