"""Integers at the ends of their types, as numbers, lengths and positions; what is not finite at the ends of arrays."""

import numpy as np
import pytest

import numbagraph.numpy as xp
from numbagraph import graph_jit

FIRST, LAST = -(2**63), 2**63 - 1
X = np.arange(5.0)
U8, I64, U64 = np.array([0, 1, 2, 200], np.uint8), np.array([-1, 0, LAST]), np.array([1, 2**63, 2**64 - 1], np.uint64)


def outcome(function, *args):
    try:
        return function(*args)
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        return error


def agree(function, *args):
    with np.errstate(all="ignore"):
        expected = outcome(function, *args)
    found = outcome(graph_jit(function, backend="numpy"), *args)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), (expected, found)
    else:
        np.testing.assert_array_equal(found, expected, strict=True)


ARITHMETIC = {
    "+": lambda x, n: x + n,
    "&": lambda x, n: x & n,
    "maximum": lambda x, n: np.maximum(x, n),
    "where": lambda x, n: np.where(x > 1, x, n),
    "full_like": lambda x, n: np.full_like(x, n),
    "==": lambda x, n: x == n,
    "<": lambda x, n: x < n,
    ">=": lambda x, n: n <= x,
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_python_integers_beyond_int64_are_numbers_of_what_they_meet(name):
    function = ARITHMETIC[name]
    for number in (2**63, 2**64 - 1, 2**64, 2**70, FIRST - 1):
        for array in (I64, U64, X):
            if (
                name == "where"
                and array is not X
                and not np.iinfo(array.dtype).min <= number <= np.iinfo(array.dtype).max
            ):
                continue  # a listed difference
            agree(lambda x, number=number: function(x, number), array)


def test_bounds_of_clip_may_be_beyond_the_dtype():
    for low, high in [(-1, 2), (0, 300), (-(2**70), 2**70), (None, 2**64), (300, None), (None, -1)]:
        for array in (U8, I64, U64):
            agree(lambda x, low=low, high=high: np.clip(x, low, high), array)
            if not any(abs(bound or 0) > LAST for bound in (low, high)):
                bounds = [bound for bound in (low, high) if bound is not None]
                if bounds == [low, high]:
                    agree(np.clip, array, low, high)


RANGES = [
    (FIRST, LAST, 2**62),
    (LAST, FIRST, -(2**62)),
    (0, LAST, 2**62),
    (FIRST, LAST, LAST),
    (LAST, FIRST, FIRST),
    (LAST - 3, LAST, 1),
    (5, FIRST, 1),
    (FIRST, 5, -1),
    (5, -5, -3),
    (-5, 5, 3),
]


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_ranges_of_all_integers(backend):
    by_three = graph_jit(lambda start, stop, step: xp.arange(start, stop, step), backend=backend)
    for start, stop, step in RANGES:
        expected = [*range(start, stop, step)]
        assert [*by_three(start, stop, step)] == expected
        for static in (["start", "step"], ["stop", "step"], ["start", "stop", "step"]) if backend == "numpy" else ():
            f = graph_jit(
                lambda start, stop, step: xp.arange(start, stop, step), static_argnames=static, backend=backend
            )
            assert [*f(start, stop, step)] == expected
    for stop in (np.inf, np.nan):
        with pytest.raises(ValueError, match="length"):
            graph_jit(lambda n: xp.arange(0.0, n), backend=backend)(stop)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_slices_end_anywhere(backend):
    def function(x, n):
        return x[n::-1], x[:n:-1], x[n:], x[:n], x[n::2], x[:n:-2], x[1:n:3], x[n:2:-1]

    f = graph_jit(function, backend=backend)
    for number in (LAST, LAST - 1, FIRST, FIRST + 1, 0, 4, 5, 6, -1, -5, -6):
        for found, expected in zip(f(X, number), function(X, number), strict=True):
            np.testing.assert_array_equal(found, expected)
    for number in (np.uint64(2**64 - 1), np.uint64(2**63), np.uint64(3)):
        np.testing.assert_array_equal(graph_jit(lambda x, n: x[:n], backend=backend)(X, number), X[: int(number)])
    stepped = graph_jit(lambda x, step: x[::step], static_argnames="step", backend=backend)
    for step in (LAST, -LAST, FIRST):
        np.testing.assert_array_equal(stepped(X, step), X[::step])


def test_positions_beyond_int64_are_out_of_bounds():
    assigned = graph_jit(lambda x, n: (y := x + 0, y.__setitem__(n, 7.0))[0])
    taken = graph_jit(lambda x, n: x[n])
    for number in (np.uint64(2**64 - 1), np.uint64(2**63)):
        for f in (assigned, taken):
            with pytest.raises((IndexError, OverflowError)):
                f(X, number)
    assert taken(X, np.uint64(4)) == 4.0


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrices_are_refused():
    with pytest.raises(TypeError, match=r"argument x is a matrix.*pass np\.asarray"):
        graph_jit(lambda x: x * 2)(np.matrix([[1.0, 2.0]]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_the_identity_near_zero_is_the_identity_of_subnormal_numbers(dtype):
    functions = [np.sinh, np.tanh, np.arcsinh, np.arctan, np.expm1, np.log1p, np.sin, np.tan, np.arcsin, np.arctanh]
    limits = np.finfo(dtype)
    least = limits.smallest_subnormal
    x = np.array([0.0, least, 2 * least, 3 * least, limits.tiny - least, limits.tiny, 3 * limits.tiny], dtype)
    x = np.concatenate([x, -x])
    for found in graph_jit(lambda x: [function(x) for function in functions])(x):
        np.testing.assert_array_equal(found.view(f"u{x.itemsize}"), x.view(f"u{x.itemsize}"))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_end_where_the_operands_do(mode):
    """Numbers that are not finite spoil those results alone whose sums they are terms of."""
    f = graph_jit(lambda a, v: np.convolve(a, v, mode=mode))
    for a, v in (([0.0, np.nan, 0.0, 0.1, 2.0], [0.0, np.nan, 3.0]), ([1.0, 2.0], [np.inf, 1.0, 2.0, np.nan, 1.0])):
        np.testing.assert_array_equal(f(np.array(a), np.array(v)), np.convolve(a, v, mode=mode))
