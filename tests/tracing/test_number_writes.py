"""Numbers of Python, of lists and of NumPy that are written into arrays of narrow dtypes: they fit, are cast, or are an
error, as NumPy has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit

VALUES: tuple[Any, ...] = (
    *(300, [300, 300], (1, 300), [1, -1], 2**70, [2**70], [3.7, 2.2], [300.0, 1.0], [np.nan], [True, False]),
    *(np.int64(300), [np.int64(300)] * 2, np.array([300, 300]), np.array(300), np.float64(2.5)),
)


def slices(b: Any, v: Any) -> None:
    b[0:2] = v


def an_element(b: Any, v: Any) -> None:
    b[0] = v


def positions(b: Any, v: Any) -> None:
    b[[0, 1]] = v


def a_mask(b: Any, v: Any) -> None:
    b[b > 1] = v


def place(b: Any, v: Any) -> None:
    np.place(b, b > 1, v)


def put(b: Any, v: Any) -> None:
    np.put(b, [0, 1], v)


def putmask(b: Any, v: Any) -> None:
    np.putmask(b, b > 1, v)


def put_along_axis(b: Any, v: Any) -> None:
    np.put_along_axis(b, np.array([0, 1]), v, 0)


def copyto(b: Any, v: Any) -> None:
    np.copyto(b[:2], v)


def fill(b: Any, v: Any) -> None:
    b.fill(v)


def flat(b: Any, v: Any) -> None:
    b.flat[:2] = v


def full(b: Any, v: Any) -> Any:
    return np.full(2, v, b.dtype)


def array(b: Any, v: Any) -> Any:
    return np.array([b[0], *v] if isinstance(v, (list, tuple)) else [b[0], v], dtype=b.dtype)


def insert(b: Any, v: Any) -> Any:
    return np.insert(b, 1, v)


def pad(b: Any, v: Any) -> Any:
    return np.pad(b, 1, constant_values=v)


def initial(b: Any, v: Any) -> Any:
    return np.sum(b, initial=v, dtype=b.dtype), np.max(b, initial=v)


WRITERS = (
    *(slices, an_element, positions, a_mask, place, put, putmask, put_along_axis, copyto, fill, flat),
    *(full, array, insert, pad, initial),
)

UNSPECIFIED: dict[Callable[..., Any], Any] = {
    flat: np.generic,  # an array there, unlike in b[:2] = v
    full: list,  # NaN as an integer
    copyto: list,
    pad: (np.ndarray, list),  # NumPy refuses 300 for int8 there, and takes -1 for uint16
}


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("writer", WRITERS)
def test_numbers_fit_or_are_errors(writer: Callable[..., Any], dtype: str) -> None:
    def function(a: Any, v: Any) -> Any:
        b = a.copy()
        result = writer(b, v)
        return b, result if result is not None else b

    given = np.array([1, 2, 3, 0]).astype(dtype)
    values = [each for each in VALUES if not isinstance(each, UNSPECIFIED.get(writer, ()))]
    for value in values:
        compiled = graph_jit(lambda a, value=value: function(a, value))
        try:
            with np.errstate(all="ignore"):
                expected = function(given, value)
        except (OverflowError, ValueError, TypeError):
            with pytest.raises((OverflowError, ValueError, TypeError)):
                compiled(given)
            continue
        found = compiled(given)
        np.testing.assert_array_equal(found[0], expected[0], strict=True)
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("writer", [slices, positions, put, place, array, full])
def test_numbers_that_are_known_when_it_runs(writer: Callable[..., Any]) -> None:
    def function(a: Any, n: int) -> Any:
        b = a.copy()
        result = writer(b, n if writer is full else [n, 1])
        return b if result is None else result

    given = np.array([1, 2, 3, 0], np.int8)
    compiled = graph_jit(function)
    np.testing.assert_array_equal(compiled(given, 7), function(given, 7))
    for number in (128, -129):
        with pytest.raises(OverflowError):
            function(given, number)
        with pytest.raises(OverflowError):
            compiled(given, number)
