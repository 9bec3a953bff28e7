"""Comparing results with NumPy's: type, dtype, shape, and value to the bit or to a few units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np

_PLACES = 17
"""The number of digits in a message: enough to tell any two float64 apart."""


def assert_same(
    actual: Any, expected: Any, *, ulp: float = 0.0, scale: float = 0.0, boxed: bool = True, what: str = "result"
) -> None:
    """Raise ``AssertionError`` unless a result equals NumPy's.

    Parameters
    ----------
    actual, expected
        Arrays, scalars, or tuples and lists of them. A NumPy scalar is not a 0-d array, nor is a Python number.
    ulp
        How many units in the last place elements may differ by; with 0, all bits count but those of a NaN.
    scale
        A magnitude below which errors are not relative to the element: that of the terms of a sum, say.
    boxed
        Whether to tell 0-d arrays from scalars.
    what
        What is compared, for the message.
    """
    if isinstance(expected, (tuple, list)):
        if not isinstance(actual, (tuple, list)) or len(actual) != len(expected):
            raise AssertionError(f"{what}: {len(expected)} results expected, found {actual!r}")
        for number, (each, wanted) in enumerate(zip(actual, expected, strict=True)):
            assert_same(each, wanted, ulp=ulp, scale=scale, boxed=boxed, what=f"{what}[{number}]")
        return
    if boxed and category(actual) != category(expected):
        raise AssertionError(f"{what}: a {category(expected)} expected, found a {category(actual)}: {actual!r}")
    left, right = np.asarray(actual), np.asarray(expected)
    if left.dtype != right.dtype:
        raise AssertionError(f"{what}: dtype {right.dtype} expected, found {left.dtype}")
    if left.shape != right.shape:
        raise AssertionError(f"{what}: shape {right.shape} expected, found {left.shape}")
    wrong = ~alike(left, right, ulp, scale)
    if wrong.any():
        raise AssertionError(f"{what}: {mismatch(left, right, wrong, ulp)}")


def category(result: Any) -> str:
    """The kind of a result in Python: "array", "NumPy scalar", or the name of its type."""
    if type(result) is np.ndarray:
        return "array"
    return "NumPy scalar" if isinstance(result, np.generic) else type(result).__name__


def alike(left: np.ndarray, right: np.ndarray, ulp: float, scale: float = 0.0) -> np.ndarray:
    """A mask of elements that are near enough: to the bit, or to ``ulp`` units in the last place."""
    return close(left, right, ulp, scale) if ulp else same_bits(left, right)


def same_bits(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A mask of elements that are equal to the bit, or both NaN."""
    if left.dtype.kind == "c":
        return same_bits(np.real(left), np.real(right)) & same_bits(np.imag(left), np.imag(right))
    if left.dtype.kind != "f":
        return np.asarray(left == right)
    bits = np.dtype(f"u{left.dtype.itemsize}")
    equal = np.ascontiguousarray(left).view(bits) == np.ascontiguousarray(right).view(bits)
    return (equal | (np.isnan(left) & np.isnan(right))).reshape(left.shape)


def close(left: np.ndarray, right: np.ndarray, ulp: float, scale: float = 0.0) -> np.ndarray:
    """A mask of elements that differ by at most ``ulp`` units in the last place, or are the same infinity or NaN."""
    if left.dtype.kind not in "fc":
        return np.asarray(left == right)
    with np.errstate(all="ignore"):
        if left.dtype.kind == "c":
            size = np.maximum(np.nan_to_num(np.abs(right), nan=0.0, posinf=0.0), scale)
            return _close(np.real(left), np.real(right), ulp, size) & _close(np.imag(left), np.imag(right), ulp, size)
        return _close(left, right, ulp, np.maximum(np.abs(right), scale))


def _close(left: np.ndarray, right: np.ndarray, ulp: float, size: np.ndarray) -> np.ndarray:
    limits = np.finfo(left.dtype)
    result = np.array((left == right) | (np.isnan(left) & np.isnan(right)))
    # Arithmetic of long doubles is slow, and on NaN, infinities and subnormal numbers slower still.
    doubtful = ~result & np.isfinite(left) & np.isfinite(right)
    if doubtful.any():
        left, right, size = (each[doubtful].astype(np.longdouble) for each in (left, right, size))
        unit = np.maximum(limits.eps * size, limits.smallest_subnormal)
        result[doubtful] = np.abs(left - right) <= ulp * unit
    return result


def mismatch(left: np.ndarray, right: np.ndarray, wrong: np.ndarray, ulp: float) -> str:
    """The first elements that differ, in words."""
    index = tuple(int(each) for each in np.argwhere(wrong)[0])
    found, expected = (np.array2string(each[index], precision=_PLACES) for each in (left, right))
    bound = f"{ulp:g} units in the last place" if ulp else "a single bit"
    seen = f"at {index}: {expected} expected, found {found}"
    return f"{wrong.sum()} of {wrong.size} elements differ by more than {bound}; {seen}"
