"""`numpy.unique` along an axis, and of complex numbers, as NumPy has it."""

import itertools

import numpy as np
import pytest

from numbagraph import graph_jit

FLAGS = list(itertools.product([False, True], repeat=3))
DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64 complex64 complex128".split()


def agrees(array, **options):
    expected = np.unique(array, **options)
    found = graph_jit(lambda x: np.unique(x, **options))(array)
    if not isinstance(expected, tuple):
        expected, found = (expected,), (found,)
    assert len(found) == len(expected)
    for own, other in zip(found, expected, strict=True):
        assert own.dtype == other.dtype
        np.testing.assert_array_equal(own, other)
        assert own.shape == other.shape
        assert not np.shares_memory(own, array)
        own[...] = 0  # it may be written into


def numbers(shape, dtype):
    rng = np.random.default_rng(3)
    found = rng.integers(0, 2, shape)
    return (found + 1j * rng.integers(0, 2, shape) if np.dtype(dtype).kind == "c" else found).astype(dtype)


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, pytest.param(-1, marks=pytest.mark.repeats)])
def test_dtypes(dtype, axis):
    agrees(numbers((9, 3, 2), dtype), return_index=True, return_inverse=True, return_counts=True, axis=axis)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_options(flags, axis):
    names = dict(zip(("return_index", "return_inverse", "return_counts"), flags, strict=True))
    agrees(numbers((12, 2), float), axis=axis, **names)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1), (2, 0, 3), (1, 4), (5,), (0,)])
def test_lengths(shape):
    for axis in range(len(shape)):
        agrees(numbers(shape, float), return_index=True, return_inverse=True, return_counts=True, axis=axis)


SPECIAL = np.array([[np.nan, 1], [np.nan, 1], [2, np.nan], [0.0, 1], [-0.0, 1], [np.inf, 0], [-np.inf, 0], [np.inf, 0]])


def test_special_numbers():
    options = {"return_index": True, "return_inverse": True, "return_counts": True}
    agrees(SPECIAL, axis=0, **options)
    agrees(SPECIAL, axis=1, **options)
    values = [0.0, -1.0, np.nan, np.inf]
    plane = np.array([complex(real, imag) for real in values for imag in values] * 2)
    for numbers_ in (plane, plane.astype(np.complex64)):
        agrees(numbers_.reshape(-1, 2), axis=0, **options)
        agrees(numbers_, equal_nan=False, **options)
        agrees(numbers_, **options)


def test_layouts():
    whole = numbers((12, 8), float)
    read_only = whole.copy()
    read_only.flags.writeable = False
    for array in (np.asfortranarray(whole), whole[::2, ::3], whole[::-1, ::-1], whole.T, read_only):
        for axis in (0, 1):
            agrees(array, return_inverse=True, return_counts=True, axis=axis)


def test_what_numpy_refuses():
    for array, axis in ((np.zeros((2, 2)), 2), (np.zeros((2, 2)), -3), (np.zeros(3), 1)):
        with pytest.raises(np.exceptions.AxisError):
            graph_jit(lambda x, axis=axis: np.unique(x, axis=axis))(array)


def test_inverse_gives_the_rows_back():
    @graph_jit
    def both(x):
        rows, inverse = np.unique(x, axis=0, return_inverse=True)
        return rows[inverse], (rows * np.arange(1.0, rows.shape[0] + 1)[:, None]).sum()

    array = numbers((20, 3), float)
    back, total = both(array)
    np.testing.assert_array_equal(back, array)
    rows = np.unique(array, axis=0)
    assert total == (rows * np.arange(1.0, len(rows) + 1)[:, None]).sum()
