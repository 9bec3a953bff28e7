"""Linear algebra for tracers and arrays: `numpy.linalg`, and those functions of `scipy.linalg` that an op stands for.

A function of `numpy.linalg` can be called on traced arrays as it is. SciPy's are plain Python functions: call them from
here instead. Where the two have one name, this is NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.numpy import public_function

_NAMES = {"cond": "condition_number", "diagonal": "matrix_diagonal", "trace": "matrix_trace"}
"""What ops are called whose names stand for something else in `numbagraph.numpy`."""


def __getattr__(name: str) -> Callable[..., Any]:
    return public_function(_NAMES.get(name, name), __name__)
