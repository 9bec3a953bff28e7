"""Arguments that few functions get, such as no values, one bound, subscripts in lists: NumPy's results and errors."""

from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit

NUMBERS = np.arange(4.0)
MATRIX = np.arange(6.0).reshape(2, 3)
AT = np.array([np.nan, 0.5, 1.0, 2.5, -1.0, 9.0])
POINTS = np.arange(4.0)
VALUES = np.array([1 + 2j, complex(np.nan, 1), 3, complex(2, np.inf)])


def outcome(function, arguments):
    """The result, and what the arguments are afterwards; or the kind of error."""
    arguments = [each.copy() for each in arguments]
    try:
        return function(*arguments), arguments
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError


def check(function, *arguments):
    expected, found = outcome(function, arguments), outcome(graph_jit(function), arguments)
    if isinstance(expected, type):
        assert found is expected
        return
    assert not isinstance(found, type)
    for one, other in zip((expected[0], *expected[1]), (found[0], *found[1]), strict=True):
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("values", [np.zeros(0), np.zeros((2, 0)), np.ones(1), np.float64(3)])
@pytest.mark.parametrize("indices", [[0, 1], [], [2, 2, 2]])
def test_values_that_are_put(values, indices):
    check(lambda a, v: np.put(a, indices, v), NUMBERS, values)
    check(lambda a, v: a.put(indices, v), NUMBERS, values)


@pytest.mark.parametrize("values", [np.zeros(0), np.ones(1), np.array([7.0, 8.0])])
@pytest.mark.parametrize("bound", [-1.0, 1.0, 9.0])
def test_values_behind_masks(values, bound):
    check(lambda a, v: np.putmask(a, a > bound, v), NUMBERS, values)
    check(lambda a, v: np.place(a, a > bound, v), NUMBERS, values)


BOUNDS = {
    "one": lambda a: np.clip(a, 2),
    "none": lambda a: np.clip(a),
    "two of none": lambda a: np.clip(a, None, None),
    "the upper": lambda a: np.clip(a, a_max=2),
    "the upper, by its new name": lambda a: np.clip(a, max=2),
    "the lower, by its new name": lambda a: np.clip(a, min=2),
    "both names": lambda a: np.clip(a, 1, 2, max=2),
    "one and a new name": lambda a: np.clip(a, 1, min=2),
    "a method's one": lambda a: a.clip(2),
    "a method's none": lambda a: a.clip(),
    "a method's upper": lambda a: a.clip(max=2),
    "a method's two": lambda a: a.clip(1, 2),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds(name):
    check(BOUNDS[name], NUMBERS)


@pytest.mark.parametrize("kind", [None, "sort", "table", "tabel"])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.bool_])
def test_kinds_of_membership(kind, dtype):
    check(lambda a, b: np.isin(a, b, kind=kind), np.array([1, 2, 0]).astype(dtype), np.array([0, 2]).astype(dtype))


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("ends", [(None, None), (1 - 1j, 5j)])
def test_lines_between_complex_numbers(count, ends):
    check(lambda x, xp, fp: np.interp(x, xp, fp, *ends), AT, POINTS[:count], VALUES[:count])


einsum: Any = np.einsum
SUBSCRIPTS = {
    "lists": lambda a, b: einsum(a, [0, 1], b, [1, 2], [0, 2]),
    "tuples": lambda a, b: einsum(a, (0, 1), b, (1, 2)),
    "an ellipsis": lambda a, b: einsum(a, [..., 1], b, [1, ...]),
    "a letter": lambda a, b: einsum(a, [0, 1], b, ["x", 2]),
    "in front": lambda a, b: einsum([0, 1], a),
    "texts": lambda a, b: einsum(["ij", "jk"], a, b),
    "a number": lambda a, b: einsum(a, 0),
}


@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_subscripts_in_lists(name):
    check(SUBSCRIPTS[name], MATRIX, MATRIX.T.copy())


COPIES = {
    "one": lambda a: np.reshape(a, 6, copy=False),
    "a method's": lambda a: a.reshape((3, 2), copy=False),
    "turned": lambda a: np.reshape(a.T, 6, copy=False),
    "a slice": lambda a: np.reshape(a[:, :2], 4, copy=False),
    "another order": lambda a: np.reshape(a, 6, order="F", copy=False),
    "computed": lambda a: np.reshape(a * 2, 6, copy=False),
}


@pytest.mark.parametrize("name", COPIES)
def test_no_copies(name):
    check(COPIES[name], MATRIX)
