"""Floats that are stored into arrays of integers: NumPy's numbers, and its errors where these cannot hold them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from numbagraph.blockwise.storing import magnitude
from numbagraph.ir.op import registry
from numbagraph.ir.values import ArrayType, Input

NAN, INF = float("nan"), float("inf")
NUMBERS = [NAN, INF, -INF, 300.7, -1.5, -0.5, 7.9, 127.9, -128.9, 2.0**31, 2.0**63, -(2.0**63), 1e20]
KINDS = {"Python": float, "float64": np.float64, "float32": np.float32}
FEW, MANY = ("int8", "uint8", "int64"), ("int16", "uint16", "int32", "uint64", "bool")
"""Not uint32: of floats that it cannot hold NumPy makes what follows from how many there are."""
Write = Callable[[Any, Any], Any]


def element(x, v):
    x[0] = v
    return x


def element_of_rows(x, v):
    y = np.ones((2, 2), x.dtype)
    y[0, 1] = v
    y[1] = v
    return y


def part(x, v):
    x[1:] = v
    return x


def nothing(x, v):
    x[0:0] = v
    return x


def everything(x, v):
    x[...] = v
    return x


def positions(x, v):
    x[[0, 1]] = v
    return x


def mask(x, v):
    x[x > 0] = v
    return x


def view(x, v):
    y = x[1:].reshape(-1)
    y[0] = v
    return x


def fill(x, v):
    x.fill(v)
    return x


def augmented(x, v):
    x[0] += v
    return x


def elements_of_list(x, v):
    x[:2] = [v, 1]
    return x


def array_of_list(x, v):
    return np.array([1, v], dtype=x.dtype)


def array(x, v):
    return np.array(v, dtype=x.dtype)


def asarray(x, v):
    return np.asarray(v, x.dtype)


def full(x, v):
    return np.full(3, v, x.dtype)


def constructor(x, v):
    return x.dtype.type(v)


def computed(x, v):
    x[0] = v * 2 - v
    return x


def reduced(x, v):
    x[0] = np.max(np.stack([v, v]))
    return x


def put(x, v):
    np.put(x, [0], v)
    return x


def place(x, v):
    np.place(x, x > 0, v)
    return x


def putmask(x, v):
    np.putmask(x, x > 0, v)
    return x


def along(x, v):
    np.put_along_axis(x, np.array([0]), v, 0)
    return x


def diagonal(x, v):
    y = np.ones((2, 2), x.dtype)
    np.fill_diagonal(y, v)
    return y


def insert(x, v):
    return np.insert(x, 1, v)


def pad(x, v):
    return np.pad(x, 1, constant_values=v)


def initial(x, v):
    return np.sum(x, initial=v, dtype=x.dtype)


def loop(x, v):
    for i in range(len(x)):
        x[i] = v
    return x


def no_loop(x, v):
    for i in range(len(x) - 3):
        x[i] = v
    return x


def while_loop(x, v):
    i = 0
    while x[i] > 0 and i < 2:
        x[i] = v
        i += 1
    return x


def branch(x, v):
    if x[0] > 0:
        x[0] = v
    return x


def other_branch(x, v):
    if x[0] > 1:
        x[0] = v
    return x


def handled(x, v):
    try:
        x[0] = v
    except ValueError:
        x[0] = 7
    except OverflowError:
        x[0] = 8
    return x


def parts_of_loop(x, v):
    for i in range(2):
        x[i : i + 2] = v / (i + 1)
    return x


WRITES = [
    element, element_of_rows, part, nothing, everything, positions, mask, view, fill, augmented, elements_of_list,
    array_of_list, array, asarray, full, constructor, computed, reduced, put, place, putmask, along, diagonal, insert,
    pad, initial, loop, no_loop, while_loop, branch, other_branch, handled, parts_of_loop,
]  # fmt: skip


def outcome(function: Write, dtype: str, number: Any) -> tuple[Any, ...]:
    """The kind of the result or of the error, and for a result its bytes and what became of the argument."""
    x = np.ones(3, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of casts
        try:
            result = np.asarray(function(x, number))
        except (ValueError, OverflowError) as error:
            return (type(error),)
    return result.dtype, result.tolist(), x.tolist()


def check_stored(write: Write) -> None:
    """What a function makes of arrays of each dtype and numbers of each kind is NumPy's, and so are its errors."""
    compiled = graph_jit(write)
    dtypes = (*FEW, *MANY) if write in (element, positions, constructor) else FEW
    for dtype, (kind, number) in itertools.product(dtypes, itertools.product(KINDS, NUMBERS)):
        given = KINDS[kind](number)
        assert outcome(compiled, dtype, given) == outcome(write, dtype, given), (dtype, kind, number)


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_integer_writes_are_those_of_numpy(write: Write) -> None:
    check_stored(write)


def filled(x, y):
    x[0] = 5
    for i in range(len(y)):
        x[i] = y[i] / 2


def test_a_write_that_fails_half_way_leaves_the_argument_as_it_was() -> None:
    compiled, x = graph_jit(filled), np.arange(4)
    with pytest.raises(ValueError, match=r"cannot convert float NaN to integer(.|\n)*test_integer_writes(.|\n)*step 2"):
        compiled(x, np.array([9.0, 8.0, NAN, 1.0]))
    np.testing.assert_array_equal(x, np.arange(4))
    with pytest.raises(OverflowError, match="cannot convert float infinity to integer: an array of floats"):
        compiled(x, np.array([9.0, INF, NAN, 1.0]))
    compiled(x, np.array([9.0, 8.0, 7.0, -1.0]))
    np.testing.assert_array_equal(x, [4, 4, 3, 0])


def halves(v):
    x = np.zeros(3, np.int64)
    for i in range(3):
        x[i] = v[i] / 2
    return x


@pytest.mark.parametrize("backend", ["numba", "jax"])
def test_backends(backend: Any) -> None:
    compiled = graph_jit(halves, backend=backend)
    np.testing.assert_array_equal(compiled(np.array([1.0, 2.0, -5.0])), [0, 1, -2])
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        compiled(np.array([1.0, NAN, 3.0]))


def test_transformations() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 8.0]])
    batched = graph_jit(vmap(halves))
    np.testing.assert_array_equal(batched(rows), [[0, 1, 1], [1, 2, 4]])
    slope = graph_jit(grad(lambda v: np.sum(halves(v) * v)))
    np.testing.assert_array_equal(slope(rows[1]), [1, 2, 4])
    rows[1, 2] = NAN
    for function, argument in ((batched, rows), (slope, rows[1])):
        with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
            function(argument)


def constants(x, n):
    for _ in range(n):
        x[0] = np.nan
    if n > 1:
        x[:2] = [300, 2**70]
    return x


def test_constants_that_do_not_fit_are_errors_where_they_are_stored() -> None:
    compiled = graph_jit(constants)
    np.testing.assert_array_equal(compiled(np.ones(3, np.uint8), 0), np.ones(3))
    with pytest.raises(ValueError, match=r"cannot convert float NaN to integer\n  at .*test_integer_writes"):
        compiled(np.ones(3, np.uint8), 1)


def averages(x, y):
    for i in range(len(y)):
        x[i] = (y[i] + y[i - 1]) / 2 - abs(y[i] * 3.0)


def test_floats_of_integers() -> None:
    """Their bounds say whether they may fail to fit."""
    compiled = graph_jit(averages)
    for y in (np.array([7, -3, 120], np.int8), np.array([7, -3, 2**60])):
        x, expected = np.zeros((2, 3), np.int64)
        compiled(x, y)
        averages(expected, y)
        np.testing.assert_array_equal(x, expected)
    with pytest.raises(OverflowError, match="out of bounds for int64"):
        compiled(np.zeros(3, np.int64), np.array([7, -3, 2**62]))


def test_bounds_of_floats() -> None:
    wide, narrow = Input(ArrayType(np.dtype(np.int64), ()), "w"), Input(ArrayType(np.dtype(np.uint8), ()), "n")
    assert magnitude(narrow / 2) == pytest.approx(128)
    assert magnitude(narrow * 0.5 - 3.0) == pytest.approx(131)
    assert magnitude(registry["floor"](-(wide / 4))) == pytest.approx(2.0**61)
    assert magnitude(narrow / 0.0) == magnitude(1.0 / narrow) == magnitude(narrow * np.inf) == np.inf
    assert magnitude(registry["sqrt"](narrow * 1.0)) == np.inf
