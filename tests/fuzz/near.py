"""Equality up to what rounding does to a result, as runs with rounding errors of their own show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

UNDETERMINED = 0.25
"""Rounding errors that change an element by this share of its size leave nothing of it: a singular equation has
whatever solution they make of it, and another order of operations may make one of any size."""

NEAR_OVERFLOW = 1 / 16
"""Of the largest number: another order of the operations may overflow on the way to it."""


def perturbed(value: Any, rng: np.random.Generator) -> Any:
    """A floating-point value with rounding errors."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc" or not isinstance(value, (np.ndarray, np.generic)):
        return value
    with np.errstate(all="ignore"):
        noisy = array * (1 + np.finfo(array.dtype).eps * rng.uniform(-4, 4, array.shape)).astype(array.dtype)
    return noisy if isinstance(value, np.ndarray) else noisy[()]


def perturbed_matrix(value: Any, rng: np.random.Generator, *, rotated: bool) -> Any:
    """Matrices with the errors of an algorithm that adds multiples of rows or columns to others: of the size of the
    largest element in the same row or column, or of all if it ``rotated`` the matrix from both sides."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc" or array.ndim < 2 or not array.size:
        return perturbed(value, rng)
    with np.errstate(all="ignore"):
        sizes = np.abs(array)
        beside = np.maximum(sizes.max(-1, keepdims=True), sizes.max(-2, keepdims=True))
        largest = sizes.max((-2, -1), keepdims=True) if rotated else beside
        return array + (largest * np.finfo(array.dtype).eps * rng.uniform(-4, 4, array.shape)).astype(array.dtype)


def difference(actual: Any, expected: Any, spread: Sequence[Any]) -> str | None:
    """How two results differ by more than rounding; ``spread`` are the same with rounding errors."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return f"{expected.dtype}{expected.shape} expected, found {actual.dtype}{actual.shape}"
    if any(np.shape(each) != expected.shape for each in spread):
        return None  # its length is a matter of rounding
    if expected.dtype.kind not in "fc":
        stable = np.all([np.asarray(each) == expected for each in spread], axis=0)
        wrong = stable & (actual != expected)
    else:
        wrong = _wrong_floats(actual, expected, spread)
    if not wrong.any():
        return None
    return f"{expected[wrong][:3]} expected, found {actual[wrong][:3]}, {wrong.sum()} of {wrong.size} elements"


def _wrong_floats(actual: np.ndarray, expected: np.ndarray, spread: Sequence[Any]) -> np.ndarray:
    with np.errstate(all="ignore"):
        stable = np.all([np.isfinite(each) == np.isfinite(expected) for each in spread], axis=0)
        finite = np.isfinite(expected)
        deviation = np.max([np.abs(each - expected) for each in spread], axis=0, initial=0)
        size = np.maximum(np.abs(expected), 1)
        bound = 100 * deviation + 256 * np.finfo(expected.dtype).eps * size
        far = finite & ~(np.abs(actual - expected) <= bound) & ~(deviation > UNDETERMINED * size)
        far &= ~((size > NEAR_OVERFLOW * np.finfo(expected.dtype).max) & ~np.isfinite(actual))
        overflown = np.isinf(expected) & (np.abs(actual) > NEAR_OVERFLOW * np.finfo(expected.dtype).max)
    return stable & (far | (~finite & np.isfinite(actual) & ~overflown))
