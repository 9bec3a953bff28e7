"""Loops that end where an element decides them: the results are NumPy's, and what would fail later still fails."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.emit.exits import STRIP

LENGTHS = (0, 1, STRIP - 1, STRIP, STRIP + 1, 3 * STRIP + 5)
FUNCTIONS = {
    "any": lambda x: np.any(x > 2),
    "all": lambda x: np.all(x < 2),
    "numbers": np.any,
    "both": lambda x: (np.any(x > 2), np.all(x == 0)),
    "with a sum": lambda x: (np.any(x > 2), np.sum(x)),
    "rows": lambda x: np.any(x.reshape(1, -1) > 2, axis=1),
    "columns": lambda x: np.all(x[:, None] < np.array([3.0, 2.0])),
    "reduce": lambda x: np.logical_or.reduce(x == 3),
    "strides": lambda x: np.any(x[::-2] > 2),
}


def places(length):
    """No element, and those at the ends of strips."""
    return [None, *sorted({each % length for each in (0, STRIP - 1, STRIP, -1) if length})]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_element_anywhere(name, dtype):
    compiled = graph_jit(FUNCTIONS[name])
    for length in LENGTHS:
        for place in places(length):
            x = np.zeros(length, dtype)
            if place is not None:
                x[place] = 3
            np.testing.assert_array_equal(compiled(x), FUNCTIONS[name](x), err_msg=f"{length}, {place}")


def test_nan_decides_as_in_numpy():
    for value in (np.nan, -0.0, 5e-324):
        x = np.zeros(2 * STRIP)
        x[1] = value
        assert graph_jit(np.any)(x) == np.any(x)
        assert graph_jit(np.all)(x[1:2]) == np.all(x[1:2])


def test_threads():
    compiled = graph_jit(FUNCTIONS["any"], parallel=True)
    for length in (40 * STRIP, 40 * STRIP + 7):
        for place in (None, 0, length // 2, length - 1):
            x = np.zeros(length)
            if place is not None:
                x[place] = 3
            assert compiled(x) == (place is not None)


def test_what_fails_behind_the_element_that_decides():
    compiled = graph_jit(lambda x, i: np.any(x[i] > 2))
    x, i = np.array([3.0, 0.0]), np.zeros(2 * STRIP, int)
    assert compiled(x, i)
    i[-1] = 2
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(x, i)


def test_in_a_loop_of_python():
    def steps_until_all_are_small(x):
        count = 0
        while np.any(np.abs(x) > 1):
            x = x / 2
            count += 1
        return count, x

    x = np.zeros(3 * STRIP)
    x[[0, STRIP, -1]] = 5.0, -70.0, 9.0
    count, found = graph_jit(steps_until_all_are_small)(x)
    expected, values = steps_until_all_are_small(x)
    assert count == expected
    np.testing.assert_array_equal(found, values)
