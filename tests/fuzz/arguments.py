"""Arguments of a program in other forms: memory layouts, lengths, arrays that share memory, special numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.testing.arrays import memory_of

FAR = 10**6
"""A position out of bounds. (NumPy wraps one that is far larger by subtracting the length again and again.)"""


def mapped(function: Callable[[np.ndarray], Any], value: Any) -> Any:
    """The same tree with other arrays."""
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(function, each) for each in value)
    return function(value) if isinstance(value, np.ndarray) else value


def leaves(value: Any) -> list[Any]:
    """What a tree has that is no container, in its own order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for each in value for leaf in leaves(each)] if isinstance(value, (tuple, list)) else [value]


def form(value: Any) -> Any:
    """The containers of a tree, with the keys of dicts in their order; and of what is no container, whether it is an
    array."""
    if isinstance(value, dict):
        return [(key, form(each)) for key, each in value.items()]
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [form(each) for each in value]
    return "array" if isinstance(value, np.ndarray) else "scalar"


def arrays_of(value: Any) -> list[np.ndarray]:
    return [each for each in leaves(value) if isinstance(each, np.ndarray)]


def memories(value: Any) -> list[bytes]:
    """The bytes of all memory that belongs to the arrays of a tree."""
    return [memory_of(each) for each in arrays_of(value)]


def writeable(value: Any) -> Any:
    """A copy in C order that shares nothing."""
    return mapped(np.array, value)


def spoiled(value: Any) -> Any:
    """A copy such that indices are out of bounds, matrices singular, and numbers special."""

    def spoil(array: np.ndarray) -> np.ndarray:
        result = np.array(array)
        if result.dtype.kind in "iu":
            result[...] = min(FAR, np.iinfo(result.dtype).max)
        elif result.dtype.kind in "fc":
            result.flat[::2] = 0
            result.flat[1::3] = np.nan
        return result

    return mapped(spoil, value)


def resized(value: Any, rng: np.random.Generator) -> Any:
    """A copy with other lengths: what was equal stays equal."""
    lengths: dict[int, int] = {}

    def resize(array: np.ndarray) -> np.ndarray:
        for length in array.shape:
            lengths.setdefault(length, int(rng.choice([0, 1, 2, length + 1, length + 4])))
        return np.resize(array, [lengths[length] for length in array.shape])

    return mapped(resize, value)


def reordered(value: Any) -> Any:
    """A copy whose dicts have their keys in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(each) for key, each in reversed(value.items())}
    return [reordered(each) for each in value] if isinstance(value, list) else writeable(value)


def twice(value: Any) -> Any:
    """Arguments of which those of a shape and dtype are one and the same array."""
    seen: dict[Any, np.ndarray] = {}
    return mapped(lambda array: seen.setdefault((array.shape, array.dtype), np.array(array)), value)


def overlapping(value: Any) -> Any:
    """Arguments of which those of a dtype are views of one array, each an element after the other."""
    found = arrays_of(value)
    length = len(found) + max((each.size for each in found), default=0)
    buffers: dict[Any, np.ndarray] = {}
    begins: dict[Any, int] = {}

    def view(array: np.ndarray) -> np.ndarray:
        buffer = buffers.setdefault(array.dtype, np.resize(array, length))
        begin = begins[array.dtype] = begins.get(array.dtype, -1) + 1
        return buffer[begin : begin + array.size].reshape(array.shape)

    return mapped(view, value)
