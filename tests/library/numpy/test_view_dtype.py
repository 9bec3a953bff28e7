"""`ndarray.view` of dtypes of one size: NumPy's bits, for reading."""

import itertools

import numpy as np
import pytest

from numbagraph import grad, graph_jit

SIZES = [["int8", "uint8"], ["int16", "uint16"], ["int32", "uint32", "float32"], ["int64", "uint64", "float64"]]
PAIRS = [pair for each in SIZES for pair in itertools.product(each, repeat=2)]
SPECIAL = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-40, 3e38]


def numbers(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return np.array([*SPECIAL, np.finfo(dtype).smallest_subnormal], dtype)
    limits = np.iinfo(dtype)
    bits = [limits.min, limits.max, 0, 1, 100, *(np.array(SPECIAL, f"f{max(dtype.itemsize, 4)}").view(dtype))]
    return np.array(bits, dtype)


def same_bits(found, expected):
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("own", "other"), PAIRS)
def test_views(own, other):
    array = numbers(own)
    function = graph_jit(lambda x: x.view(other))
    read_only = array.copy()
    read_only.flags.writeable = False
    for each in (array, array[::2], array[::-1], array[:0], array[:1], read_only, np.asfortranarray([array, array])):
        found = function(each)
        same_bits(found, each.view(other))
        assert not np.shares_memory(found, each)
    same_bits(graph_jit(lambda x: x[2:5].view(other)[1:])(array), array[3:5].view(other))


def test_numbers_of_bits():
    x = numbers(np.float64)
    for function in (
        lambda x: (x.view(np.uint64) >> np.uint64(52)) & np.uint64(0x7FF),
        lambda x: (x.view(np.int64) ^ np.int64(-(2**63))).view(np.float64),
        lambda x: x[2].view(np.int64) + 1,
        lambda x: (x * 2).view(dtype=np.int64).view(float),
    ):
        expected = function(x)
        found = graph_jit(function)(x)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
        np.testing.assert_array_equal(found, expected)


def test_a_view_of_the_same_dtype_may_be_written():
    def function(x):
        y = x.copy()
        y.view()[1] = 7.0
        y.view(np.float64)[2] = 8.0
        return y

    np.testing.assert_array_equal(graph_jit(function)(np.arange(4.0)), function(np.arange(4.0)))


def test_writes_are_refused():
    def into_the_view(x):
        y = x * 2
        y.view(np.int64)[0] = 0
        return y

    def behind_the_view(x):
        y = x * 2
        bits = y.view(np.int64)
        y[0] = 5.0
        return bits

    with pytest.raises(TypeError, match=r"assign into a copy \(x\.copy\(\)\)"):
        graph_jit(into_the_view)(np.arange(3.0))
    with pytest.raises(TypeError, match=r"reshape|copy"):
        graph_jit(behind_the_view)(np.arange(3.0))


@pytest.mark.parametrize(
    ("own", "other"), [("f8", "i4"), ("f8", "c16"), ("c8", "f8"), ("c16", "f8"), ("i1", "?"), ("f4", "f8")]
)
def test_other_sizes_are_refused_by_name(own, other):
    with pytest.raises(TypeError, match=r"view\(.*\) of an array of .* is not supported"):
        graph_jit(lambda x: x.view(other))(np.zeros(4, own))


def test_bits_have_no_derivative():
    slope = graph_jit(grad(lambda x: (x.view(np.int64).view(np.float64) + x).sum()))
    np.testing.assert_array_equal(slope(np.arange(3.0)), np.ones(3))
