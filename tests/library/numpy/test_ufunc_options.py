"""Options of ufuncs and of their methods: ``dtype``, ``casting``, ``initial``, ``where``, several axes, no elements."""

import numpy as np
import pytest

from numbagraph import graph_jit

X = np.arange(12.0).reshape(3, 4) - 5
J = np.arange(12).reshape(3, 4)
M = X > -2


def outcome(function, arguments):
    """The result of a call, or the kind of error that it raises."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        return type(error)


def check(function, *arguments):
    expected, found = outcome(function, arguments), outcome(graph_jit(function), arguments)
    if isinstance(expected, type):
        assert isinstance(found, type)
        assert issubclass(expected, found)
        return
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True):
        assert (np.asarray(one).dtype, np.shape(one)) == (np.asarray(other).dtype, np.shape(other))
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: np.less(x, 3, dtype=np.bool_),
        lambda x, i: np.add(x, 1, dtype=np.int8),
        lambda x, i: np.add(x, i, dtype=np.float32),
        lambda x, i: np.add(i, 2.5, dtype=np.int8, casting="unsafe"),
        lambda x, i: np.divide(x, 2, dtype=np.int64),
        lambda x, i: np.equal(x, i, dtype=np.int8),
        lambda x, i: np.exp(i, dtype=np.complex128),
        lambda x, i: np.modf(x, dtype=np.float32),
        lambda x, i: np.matmul(x, i.T, dtype=np.float32),
        lambda x, i: np.add(x, 1, casting="no"),
        lambda x, i: np.add(x, i, casting="no"),
    ],
)
def test_dtype_and_casting_choose_the_loop(function):
    check(function, X, J)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i, m: np.logical_or.reduce(x > 100, initial=True),
        lambda x, i, m: np.logical_and.reduce(x, axis=(0, 1), initial=0.0, where=m),
        lambda x, i, m: np.logical_or.reduce(x, dtype=np.int8),
        lambda x, i, m: np.maximum.reduce(i, axis=(0, 1), dtype=np.float64, initial=3.5, where=m),
        lambda x, i, m: np.minimum.reduce(x, where=m),
        lambda x, i, m: np.logaddexp.reduce(x, axis=None, initial=2.0, where=m, keepdims=True),
        lambda x, i, m: np.bitwise_or.reduce(i, axis=None, where=m, keepdims=True),
        lambda x, i, m: np.bitwise_and.reduce(i, axis=(1, 0)),
        lambda x, i, m: np.bitwise_and.reduce(i, axis=()),
        lambda x, i, m: np.hypot.reduce(x, axis=-1, where=m, initial=2.0),
        lambda x, i, m: np.hypot.reduce(x[0, 0]),
        lambda x, i, m: np.gcd.reduce(i[:, :0], axis=1, keepdims=True),
        lambda x, i, m: np.subtract.reduce(x, axis=None),
        lambda x, i, m: np.subtract.reduce(x, where=m),
        lambda x, i, m: np.subtract.accumulate(x[:0]),
        lambda x, i, m: np.logical_xor.accumulate(m[:, :0], axis=1),
        lambda x, i, m: np.hypot.accumulate(x[0, 0]),
        lambda x, i, m: np.add.accumulate(x[0, 0]),
        lambda x, i, m: np.divmod.outer(x, x[0] + 0.5),
        lambda x, i, m: np.divmod.reduce(x),
    ],
)
def test_methods(function):
    check(function, X, J, M)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_at_converts_as_numpy_does(dtype):
    def function(a):
        np.add.at(a, [0, 1, 1], 2.75)

    arrays = np.zeros(3, dtype), np.zeros(3, dtype)
    function(arrays[0])
    graph_jit(function)(arrays[1])
    np.testing.assert_array_equal(*arrays)
