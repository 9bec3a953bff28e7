"""Calls with ``out=``: arrays of other layouts and dtypes, and arrays that share memory with an argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.testing.arrays import LAYOUTS
from tests.fuzz.arguments import arrays_of, leaves, mapped, writeable
from tests.fuzz.runner import Difference

OTHER_DTYPES = {
    "float64": "float32",
    "float32": "float64",
    "complex128": "complex64",
    "complex64": "complex128",
    "int64": "int32",
    "uint8": "int64",
    "bool": "float64",
}
"""A dtype that results of another one are converted to as they are written."""


class Into:
    """A function that writes its results into arrays that it is given."""

    def __init__(self, function: Any, rng: np.random.Generator) -> None:
        self.function, self.rng = function, rng

    def __call__(self, *arguments: Any) -> Any:
        results = self.function(*arguments)
        out = LAYOUTS[str(self.rng.choice(["C order", "strided", "Fortran order"]))]
        if not has_arrays_alone(results):
            return results
        given = mapped(lambda array: np.zeros_like(out(array)), results)
        return written(self.function, arguments, given)


class Converting:
    """A function that also writes its results into arrays of other dtypes: they are what it returns, converted."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        results = self.function(*arguments)
        if not has_arrays_alone(results):
            return results
        with np.errstate(all="ignore"):
            wanted = mapped(lambda array: array.astype(OTHER_DTYPES.get(array.dtype.name, array.dtype)), results)
            given = written(self.function, arguments, mapped(np.zeros_like, wanted))
        for one, other in zip(arrays_of(given), arrays_of(wanted), strict=True):
            if not np.array_equal(one, other, equal_nan=other.dtype.kind in "fc"):
                raise Difference(f"out= of {one.dtype}: {other!r} expected, found {one!r}")
        return results


class Over:
    """A function that writes one of its results where an argument is, or a few elements beside that."""

    def __init__(self, function: Any, rng: np.random.Generator) -> None:
        self.function, self.rng = function, rng

    def __call__(self, *arguments: Any) -> Any:
        results, given = self.function(*arguments), writeable(list(arguments))
        if not has_arrays_alone(results):
            return results
        pairs = [
            (place, result)
            for place, each in enumerate(given)
            for result in arrays_of(results)
            if isinstance(each, np.ndarray) and each.dtype == result.dtype and each.size and result.size
        ]
        if not pairs:
            return results
        place, chosen = pairs[int(self.rng.integers(len(pairs)))]
        given[place], over = meeting(given[place], chosen, *self.rng.integers(3, size=2))
        return written(
            self.function, given, mapped(lambda each: over if each is chosen else np.zeros_like(each), results)
        )


def meeting(array: np.ndarray, like: np.ndarray, *begins: int) -> list[np.ndarray]:
    """The array, and another one like a second, as views of one buffer that begin at some of its elements."""
    buffer = np.zeros(max(array.size, like.size) + max(begins), array.dtype)
    views = [
        buffer[begin : begin + each.size].reshape(each.shape) for begin, each in zip(begins, (array, like), strict=True)
    ]
    views[0][...] = array
    return views


def has_arrays_alone(results: Any) -> bool:
    """Whether results can be written into arrays: scalars cannot."""
    return bool(arrays_of(results)) and len(arrays_of(results)) == len(leaves(results))


def written(function: Any, arguments: Any, given: Any) -> Any:
    if function(*arguments, out=given) is not given:
        raise Difference("out= is not what is returned")
    return given
