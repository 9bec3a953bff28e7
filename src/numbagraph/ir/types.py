"""Element types."""

from __future__ import annotations

from typing import Any

import numpy as np

BOOL = np.dtype(np.bool_)
INT64 = np.dtype(np.int64)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
UINT64 = np.dtype(np.uint64)
COMPLEX64 = np.dtype(np.complex64)
COMPLEX128 = np.dtype(np.complex128)

INTEGERS = tuple(np.dtype(f"{sign}{size}") for sign in "iu" for size in (1, 2, 4, 8))
FLOATS = (FLOAT32, FLOAT64)
COMPLEXES = (COMPLEX64, COMPLEX128)
DTYPES = (BOOL, *INTEGERS, *FLOATS, *COMPLEXES)

_CANONICAL = {(dtype.kind, dtype.itemsize): dtype for dtype in DTYPES}

WEAK_TYPES: dict[np.dtype, type] = {BOOL: bool, INT64: int, FLOAT64: float, COMPLEX128: complex}
"""The Python type behind a weak scalar's dtype."""


_INSTEAD = {
    "O": ": x.astype(float) has the numbers, if all of its elements are numbers",
    "U": ": pass numbers that stand for the texts, such as np.unique(x, return_inverse=True)[1]",
    "M": ": pass numbers, (x - x[0]) / np.timedelta64(1, 's')",
    "m": ": pass numbers, x / np.timedelta64(1, 's')",
    "V": ": pass its fields, x['name']",
    "f": ": x.astype(np.float32) or x.astype(np.float64) is",
    "c": ": x.astype(np.complex128) is",
}
"""By the kind of an unsupported dtype: the end of an error text, which says what to pass instead."""


def canonical_dtype(dtype: Any) -> np.dtype:
    """The supported native dtype equal to ``dtype``; raises ``TypeError`` when there is none.

    ``longlong`` and ``long`` are one dtype here, and byte order is native: callers convert data.
    """
    dtype = np.dtype(dtype)
    try:
        return _CANONICAL[dtype.kind, dtype.itemsize]
    except KeyError:
        supported = ", ".join(str(supported) for supported in DTYPES)
        instead = _INSTEAD.get(dtype.kind, "")
        raise TypeError(f"dtype {dtype} is not supported{instead}; the supported dtypes are {supported}") from None


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the real part of ``dtype``."""
    return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(dtype, dtype)
