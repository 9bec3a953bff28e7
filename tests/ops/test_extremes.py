"""Integers at the ends of their types, as numbers, lengths and positions; what is not finite at the ends of arrays."""

from itertools import product

import numpy as np
import pytest

import numbagraph.numpy as xp
from numbagraph import graph_jit
from numbagraph.testing import assert_same
from numbagraph.testing.compare import same_bits

FIRST, LAST = -(2**63), 2**63 - 1
X = np.arange(5.0)
U8, I64, U64 = np.array([0, 1, 2, 200], np.uint8), np.array([-1, 0, LAST]), np.array([1, 2**63, 2**64 - 1], np.uint64)


def outcome(function, *args):
    try:
        return function(*args)
    except (ValueError, ArithmeticError, IndexError, TypeError) as error:
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


ENDS = [
    *[(np.uint64(first), np.uint64(first + 5)) for first in (2**53 - 3, 2**53 + 1, 2**63 - 2, 2**63, 2**64 - 6)],
    *[(np.uint64(2**63 + 1), np.uint64(2**63 + 5000), np.uint64(step)) for step in (3, 1000, 2**62, 2**64 - 1)],
    *[(np.uint64(0), np.uint64(2**64 - 1), np.uint64(step)) for step in (2**61, 2**63, 2**63 + 1)],
    *[(np.int64(first), np.int64(first + 5)) for first in (FIRST, -(2**53) - 4, 2**53 - 2, LAST - 5)],
    *[(np.int64(FIRST), np.int64(FIRST + 9), np.int64(2)), (np.int64(LAST), np.int64(LAST - 9), np.int64(-2))],
    *[(np.uint64(3), np.int64(9)), (np.int64(2**62), np.uint64(2**62 + 3000)), (np.int64(-3), np.uint64(3), 0.5)],
    *[(np.uint64(2**63), np.uint64(2**63 + 9), 3), (0, np.uint64(2**63), np.uint64(2**61)), (np.uint64(5),)],
    *[(np.float32(0), np.float32(0.3), np.float32(0.1)), (np.float32(0.1), 3, 0.7), (np.float32(2**24), 2**24 + 9)],
    *[(2**53 + 1, 2**53 + 9), (2**53 + 1, 2**53 + 9, 1.5), (FIRST, FIRST + 3000, 1000.0), (True,), (np.uint8(3),)],
]
"""Near the last integers of a type, and where floats have none any more for each integer."""


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_ranges_between_numbers_of_all_types_are_as_long_as_numpy_s(backend):
    for dtype in (None, np.float64, np.uint64, np.int64):
        of_dtype = graph_jit(lambda *ends: xp.arange(*ends, dtype=dtype), backend=backend)  # noqa: B023
        for ends in ENDS:
            of_constants = graph_jit(lambda: xp.arange(*ends, dtype=dtype), backend="numpy")  # noqa: B023
            with np.errstate(all="ignore"):
                wanted = outcome(lambda ends, dtype: np.arange(*ends, dtype=dtype), ends, dtype)
            for found in (outcome(of_dtype, *ends), outcome(of_constants)):
                if isinstance(wanted, Exception):
                    assert isinstance(found, type(wanted)), (ends, dtype, found)
                else:
                    assert_same(found, wanted, what=f"{dtype}, {ends}")


FLOATS = [0.0, -0.0, 5e-324, 3.5, 1e300, np.inf, np.nan, -2.0]


def test_ranges_of_narrow_integers_begin_with_integers_of_the_dtype():
    """NumPy looks at the first two, and lets the others wrap around."""
    for dtype in (np.uint8, np.int8, np.uint64, np.int64):
        run = graph_jit(lambda *ends: xp.arange(*ends, dtype=dtype), backend="numpy")  # noqa: B023
        for ends in product((-300, -3, 0, 250, -3.5, -0.5, 254.0, 300.0), (-310, -3, 1, 8, 260), (-2, 1, 300)):
            known = graph_jit(lambda: xp.arange(*ends, dtype=dtype), backend="numpy")  # noqa: B023
            wanted = outcome(lambda ends, dtype: np.arange(*ends, dtype=dtype), ends, dtype)
            for found in (outcome(run, *ends), outcome(known)):
                assert type(found) is type(wanted), (dtype, ends, wanted, found)
                assert isinstance(wanted, Exception) or np.array_equal(found, wanted), (dtype, ends, wanted, found)


def test_ranges_between_special_floats():
    run, failures = graph_jit(lambda *ends: xp.arange(*ends), backend="numpy"), []
    native = graph_jit(lambda *ends: xp.arange(*ends))
    for ends in product(FLOATS, repeat=3):
        with np.errstate(all="ignore"):
            if 1e5 < np.divide(ends[1] - ends[0], ends[2]) < 1e17:
                continue
            wanted = outcome(np.arange, *map(np.float64, ends))
        known = graph_jit(lambda: xp.arange(*ends), backend="numpy")  # noqa: B023
        for found in (outcome(run, *ends), outcome(native, *ends), outcome(known)):
            if isinstance(wanted, Exception):
                right = isinstance(found, ZeroDivisionError if ends[2] == 0 else ValueError)
            else:
                right = isinstance(found, np.ndarray) and same_bits_of(found, wanted)
            failures += [] if right else [f"{ends}: {wanted!r} expected, found {found!r}"]
    assert not failures, "\n".join(failures[:12])


def same_bits_of(left, right):
    return left.shape == right.shape and bool(same_bits(left, right).all())


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_ranges_that_are_too_long_are_refused(backend):
    """NumPy's are empty where the distance of its scalars wraps around, or their length."""
    run = graph_jit(lambda *ends: xp.arange(*ends), backend=backend)
    for ends in [(FIRST, LAST), (0, LAST), (np.uint64(0), np.uint64(2**64 - 1)), (np.uint64(2**63),), (0.0, 1e300)]:
        known = graph_jit(lambda: xp.arange(*ends), backend=backend)  # noqa: B023
        for found in (outcome(run, *ends), outcome(known)):
            assert isinstance(found, ValueError), (ends, found)
            assert "length is too large" in str(found)


def test_distances_do_not_wrap_around():
    """A listed difference: those of NumPy's scalars do."""
    run = graph_jit(lambda *ends: xp.arange(*ends))
    for ends in [(np.int8(-128), np.int8(127), np.int8(100)), (np.uint32(5), np.uint32(2)), (FIRST, LAST, LAST)]:
        np.testing.assert_array_equal(run(*map(np.asarray, ends)), [*range(*map(int, ends))])
    assert run(np.uint64(2**63 + 5), np.uint64(2**63)).size == 0


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


ENDS_OF_SLICES = (None, 0, 1, -3, 2**62, -(2**62), LAST, LAST - 1, FIRST, FIRST + 1, 2**63, FIRST - 1, 2**70, -(2**70))
STEPS = (None, 2, -1, 2**62, -(2**62), LAST, FIRST, 2**70, -(2**70))


@pytest.mark.parametrize("step", STEPS)
def test_slices_with_ends_beyond_all_positions(step):
    keys = [slice(start, stop, step) for start, stop in product(ENDS_OF_SLICES, ENDS_OF_SLICES)]
    found = graph_jit(lambda x: [x[key] for key in keys], backend="numpy")(X)
    for key, each in zip(keys, found, strict=True):
        np.testing.assert_array_equal(each, X[key], err_msg=str(key))


def written_beyond(x):
    y = x.copy()
    y[2**70 :] = 1
    y[-(2**70) : 1] = 7
    y[: 2**64 : 2**65] = 9
    return y


def test_writes_to_slices_with_ends_beyond_all_positions():
    np.testing.assert_array_equal(graph_jit(written_beyond)(X), written_beyond(X))


@pytest.mark.parametrize("position", [FIRST, LAST, 2**63, 2**70, -(2**70)])
def test_known_positions_beyond_all_lengths(position):
    with pytest.raises((IndexError, OverflowError)):
        X[position]
    with pytest.raises(IndexError, match="out of bounds"):
        graph_jit(lambda x: x[position])(X)


@pytest.mark.parametrize(
    "function", [lambda x: np.zeros(2**63), lambda x: x.reshape(-1, 2**63), lambda x: np.broadcast_to(x, (2**70, 5))]
)
def test_known_lengths_beyond_all_lengths(function):
    for each in (function, graph_jit(function)):
        with pytest.raises(ValueError, match="Maximum allowed dimension exceeded"):
            each(X)
