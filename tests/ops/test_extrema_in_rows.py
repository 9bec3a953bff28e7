"""Positions of extrema along rows: several elements are compared at once."""

import numpy as np
import pytest

from numbagraph import graph_jit

RNG = np.random.default_rng(0)
LENGTHS = (1, 2, 7, 31, 32, 33, 63, 64, 65, 100, 511, 512, 513, 543, 544, 1100)
argmax = graph_jit(lambda a: np.argmax(a, axis=-1))
argmin = graph_jit(lambda a: np.argmin(a, axis=-1))


def same(a):
    np.testing.assert_array_equal(argmax(a), np.argmax(a, axis=-1))
    np.testing.assert_array_equal(argmin(a), np.argmin(a, axis=-1))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u1", "?"])
@pytest.mark.parametrize("length", LENGTHS)
def test_ties(length, dtype):
    """The first of equal elements counts, in whichever vector it is."""
    few = RNG.integers(0, 3, (20, length)).astype(dtype)
    many = (RNG.random((20, length)) * 100.0).astype(dtype)
    for a in (few, many, np.zeros_like(few), np.sort(many, axis=-1), np.sort(many, axis=-1)[:, ::-1]):
        for each in (a, a[::-2], a[:, ::-1], np.asfortranarray(a), a[0], np.repeat(a, 2, axis=1)[:, ::2]):
            same(each)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("length", LENGTHS)
def test_special_numbers(length, dtype):
    """The first NaN of either sign counts; zeros of both signs are equal; infinities are numbers."""
    rows = RNG.normal(size=(200, length)).astype(dtype)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.0], dtype)
    for count in (1, 2, 5):
        places = RNG.integers(0, length, (200, count))
        np.put_along_axis(rows, places, RNG.choice(special, (200, count)), axis=1)
    for each in (rows, np.where(np.isnan(rows), np.zeros((), dtype), rows), np.full_like(rows, -np.inf)):
        same(each)
        same(np.sign(each))
    same(RNG.choice(special[2:6], rows.shape))
    same(np.full_like(rows, np.nan))
