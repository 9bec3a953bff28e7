"""Scatters to positions that are computed in vectors, a block at a time."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.emit.hints import BLOCK
from tests.support.errors import error_of

RNG = np.random.default_rng(0)
SIZE = 12
LENGTHS = [0, 1, 2, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3]


def of_reals(h, x, k):
    h += np.bincount((x * 3).astype(int), minlength=SIZE)


def of_weights(h, x, k):
    h += np.bincount((x * 3).astype(int), np.exp(x), SIZE)


def of_remainders(h, x, k):
    h += np.bincount(k % SIZE, minlength=SIZE)


def of_both(h, x, k):
    h.reshape(3, 4)[(x / 2).astype(int), k % 4] = x


def updated(h, x, k):
    np.add.at(h, (x * 2).astype(int) - k // 100, x)


def in_rows(h, x, k):
    square = np.zeros((2, SIZE))
    square[np.arange(2)[:, None], np.floor(x + 0.5).astype(int)] += 1
    h += square.sum(axis=0)


FUNCTIONS = [of_reals, of_weights, of_remainders, of_both, updated, in_rows]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_positions_of_all_lengths(function, dtype):
    compiled = graph_jit(function)
    for length in LENGTHS:
        x, k = RNG.uniform(0, 3.4, length).astype(dtype), RNG.integers(0, 1000, length)
        x[::5] = np.round(x[::5])
        h = RNG.random(SIZE)
        expected, found = h.copy(), h.copy()
        function(expected, x, k % 100)
        compiled(found, x, k % 100)
        np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype == np.float32 else 1e-13, err_msg=str(length))


@pytest.mark.parametrize("function", [updated, of_both], ids=lambda each: each.__name__)
@pytest.mark.parametrize("place", [0, BLOCK - 1, BLOCK, 2 * BLOCK + 2])
def test_a_position_that_is_out_of_bounds(function, place):
    compiled = graph_jit(function)
    x, k = RNG.uniform(0, 3.9, 2 * BLOCK + 3), RNG.integers(0, 100, 2 * BLOCK + 3)
    x[place] = 1000
    h = np.arange(float(SIZE))
    assert error_of(compiled, [h, x, k]) is error_of(function, [h.copy(), x, k]) is IndexError
    np.testing.assert_array_equal(h, np.arange(float(SIZE)))


def test_no_vector_waits_for_positions_that_are_read():
    """Where nothing is computed, elements are scattered at once."""
    code = {
        function: graph_jit(function).llvm(np.zeros(SIZE), np.ones(9), np.ones(9, int), optimised=False)
        for function in (of_reals, of_remainders, read)
    }
    assert ["scattered:" in each for each in code.values()] == [True, True, False]


def read(h, x, k):
    h += np.bincount(k, minlength=SIZE)
