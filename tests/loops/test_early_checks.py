"""Arguments that are written where they lie: all checks come before the first element that changes."""

import numpy as np
import pytest

from numbagraph import graph_jit
from tests.support.errors import error_of

RNG = np.random.default_rng(0)
SIZE = 12


def put(x, i, j, v):
    x[i] = v


def increment(x, i, j, v):
    x[i] += v


def from_elsewhere(x, i, j, v):
    x[i] = x[j] * v


def twice(x, i, j, v):
    x[i] = v
    x[j] += 2 * v


def gathered(x, i, j, v):
    x += x[j].sum() + 2 * x[i].sum()


def chosen_by_itself(x, i, j, v):
    x[np.argsort(x)[i]] = v


def chosen_by_what_is_written(x, i, j, v):
    x[i] = v
    x[np.argsort(x)[j]] = 0


def out_of_bounds_by_what_is_written(x, i, j, v):
    x[i] = v
    x[np.where(x[i] == v, j, 0)] = 0


def summed_from_what_is_written(x, i, j, v):
    x[i] = v
    x[np.cumsum(np.where(x[i] == v, j, 0))] = 0


def whole(x, i, j, v):
    x[:] = v[0]
    x[i] -= v[j]


def unread(x, i, j, v):
    x[:] = np.arange(SIZE) * v[0]


def reshaped(x, i, j, v):
    y = x.reshape(3, 4)
    y[i % 3, j % 4] = v


def one(x, i, j, v):
    x[i[0]] = v[1]
    x[j[1]] += v[0]


def masked(x, i, j, v):
    x[x > v[0]] = 0
    x[i] = v


def looped(x, i, j, v):
    for k in range(len(i)):
        x[i[k]] = x[j[k]] + v[k]


FUNCTIONS = [
    put,
    increment,
    from_elsewhere,
    twice,
    gathered,
    chosen_by_itself,
    chosen_by_what_is_written,
    whole,
    unread,
]
FUNCTIONS += [summed_from_what_is_written, out_of_bounds_by_what_is_written, reshaped, one, masked, looped]
POSITIONS = {
    "apart": ([3, 0, 7], [1, 2, 11]),
    "equal": ([5, 5, 5], [5, 5, 5]),
    "from the end": ([-1, -12, 4], [-2, 0, -1]),
    "none": ([], []),
    "first is out of bounds": ([12, 0, 1], [1, 2, 3]),
    "last is out of bounds": ([0, 1, -13], [1, 2, 3]),
    "the second's are": ([0, 1, 2], [1, 2, 40]),
    "at the end of the range": ([0, 1, 2**63 - 1], [1, -(2**63), 3]),
}


@pytest.mark.parametrize("dtype", [np.int64, pytest.param(np.int8, marks=pytest.mark.repeats), np.uint64])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_elements_and_errors_are_numpys(function, dtype):
    compiled = graph_jit(function)
    for title, pair in POSITIONS.items():
        limits = np.iinfo(dtype)
        if any(not limits.min <= each <= limits.max for part in pair for each in part):
            continue
        i, j = (np.array(each, dtype) for each in pair)
        v = RNG.normal(size=max(3, len(i)))[: len(i)] if len(i) else np.zeros(0)
        x = RNG.normal(size=SIZE)
        mine, own = x.copy(), x.copy()
        expected, found = error_of(function, (own, i, j, v)), error_of(compiled, (mine, i, j, v))
        assert found is expected, title
        np.testing.assert_allclose(mine, own if expected is None else x, 1e-14, err_msg=title)


def test_few_elements_of_many_are_written_in_place():
    """Nothing is as long as the argument but what it is checked against."""
    for function in (put, increment):
        compiled = graph_jit(function)
        x, i, v = np.zeros(1000), np.array([3, 5]), np.ones(2)
        compiled(x, i, i, v)
        assert "i0 < 1000" not in str(compiled.explain(x, i, i, v))
        np.testing.assert_array_equal(x[[3, 5]], 1)


def test_few_elements_of_a_matrix_are_written_in_place():
    def put(x, i, v):
        np.put(x, i, v)

    x, i, v = np.zeros((50, 20)), np.array([3, 999]), np.ones(2)
    compiled = graph_jit(put)
    compiled(x, i, v)
    assert "1000" not in str(compiled.explain(x, i, v)).partition("program:")[2]
    assert x[0, 3] == x[-1, -1] == 1
    assert x.sum() == 2
    with pytest.raises(IndexError):
        compiled(x, np.array([5, 1000]), v)
    assert x.sum() == 2


def test_an_argument_that_nobody_reads_is_written_in_place():
    def assign(x, y):
        x[:] = y

    x, y = np.zeros(7), np.arange(7.0)
    compiled = graph_jit(assign)
    compiled(x, y)
    np.testing.assert_array_equal(x, y)
    y[:] = 3
    compiled(x[::-1][:7], y)
    np.testing.assert_array_equal(x, y)
