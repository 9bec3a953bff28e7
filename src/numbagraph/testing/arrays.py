"""Arrays for tests: the same numbers in every memory layout, and the numbers at which functions go wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Layout = Callable[[np.ndarray], np.ndarray]

_FILLING = 77
"""The bytes between the elements of a strided array: reading them by mistake changes results."""


def contiguous(array: np.ndarray) -> np.ndarray:
    """A copy in C order."""
    return np.array(array, order="C")


def read_only(array: np.ndarray) -> np.ndarray:
    """A copy that must not be written to."""
    result = contiguous(array)
    result.flags.writeable = False
    return result


def unaligned(array: np.ndarray) -> np.ndarray:
    """A copy that starts at an odd address."""
    buffer = np.zeros(array.nbytes + 1, np.uint8)
    result = buffer[1:].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def aligned(value: Any) -> Any:
    """A value with an array's memory aligned for its dtype; SciPy refuses other arrays."""
    return np.require(value, requirements="A") if isinstance(value, np.ndarray) else value


def fortran(array: np.ndarray) -> np.ndarray:
    """A copy in Fortran order."""
    return np.array(array, order="F")


def strided(array: np.ndarray) -> np.ndarray:
    """Every second element of a larger array, along every axis."""
    buffer = np.full([2 * length + 1 for length in array.shape], _FILLING, array.dtype)
    result = buffer[(..., *[slice(1, 2 * length + 1, 2) for length in array.shape])]
    result[...] = array
    return result


def rows_apart(array: np.ndarray) -> np.ndarray:
    """Some columns of a larger array in C order."""
    if not array.ndim:
        return array
    buffer = np.full((*array.shape[:-1], array.shape[-1] + 2), _FILLING, array.dtype)
    result = buffer[..., 1:-1]
    result[...] = array
    return result


def backwards(array: np.ndarray) -> np.ndarray:
    """A view with negative strides."""
    everything = (slice(None, None, -1),) * array.ndim
    return np.array(array[everything], order="C")[everything]


def repeated(array: np.ndarray) -> np.ndarray:
    """The first row repeated with stride 0. (The numbers differ from the array's, unless all rows are equal.)"""
    return np.broadcast_to(array[:1].copy(), array.shape) if array.ndim else array


LAYOUTS: dict[str, Layout] = {
    "C order": contiguous,
    "read-only": read_only,
    "unaligned": unaligned,
    "Fortran order": fortran,
    "strided": strided,
    "rows apart": rows_apart,
    "negative strides": backwards,
    "stride 0": repeated,
}


def memory_of(array: np.ndarray) -> bytes:
    """The bytes of the buffer that an array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.tobytes()


def special_values(dtype: np.dtype) -> np.ndarray:
    """Numbers of a dtype at which functions are special: zeros, ends of the range, infinities, NaN, ties."""
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        small = [number for number in (-7, -3, -2, -1, 0, 1, 2, 3, 7, 100) if number >= limits.min]
        return np.array([*small, limits.min, limits.min + 1, limits.max - 1, limits.max], dtype)
    if dtype.kind == "c":
        parts = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan])
        return _pairs(parts, dtype)
    limits = np.finfo(dtype)
    positive = [
        0.0,
        limits.smallest_subnormal,
        limits.tiny,
        limits.eps,
        0.5,
        0.75,
        1.0,
        1 + limits.eps,
        1.5,
        2.0,
        2.5,
        3.0,
    ]
    positive += [10.25, 100.0, 2.0**31, 2.0**52 + 0.5, 2.0**63, limits.max / 2, limits.max, np.inf]
    numbers = np.array([*positive, np.nan], dtype)
    return np.concatenate([numbers, -numbers[:-1]])


def _pairs(parts: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Complex numbers with all pairs of parts, put together bit by bit (``1j * inf`` is not)."""
    result = np.empty((len(parts), len(parts)), dtype)
    result.real, result.imag = parts[:, None], parts
    return result.ravel()


def combinations(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Operands that broadcast to every combination of the elements of up to three columns.

    Their shapes are ``(k, n)``, ``(n,)`` and ``(k, 1)``.
    """
    first, *rest = columns
    if not rest:
        return [np.stack([first, first[::-1]])]
    second, last = rest[0], rest[-1]
    grid = np.repeat(first, len(last))[:, None]
    matrix = np.ascontiguousarray(np.broadcast_to(grid, (len(grid), len(second))))
    return [matrix, second, np.tile(last, len(first))[:, None]][: len(columns)]
