"""Loop nests whose innermost loop goes on from one row to the next, where the rows follow each other in memory."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.jit.graph_function import GraphFunction

rng = np.random.default_rng(5)


def nests_of(function, *args):
    """The loops of the first nest's function, by their names."""
    code = GraphFunction(function).llvm(*args, optimised=False)
    nests = [each for each in code.split("\ndefine ") if '"prefer-vector-width"' in each or "align 64" in each]
    return [[name for name in ("i0", "i1", "i2", "i3") if f"\n{name}.head:" in each] for each in nests]


JOINED = {
    "rows of a part": (lambda x: x[:, 1:] + 1.0, ["i0", "i2"]),
    "parts of rows": (lambda x: x[:, 1:, 1:] + 1.0, ["i0", "i1", "i2"]),
    "a number for each row": (lambda x: x[:, 1:] - x[:, 1:, :1], ["i0", "i1", "i2"]),
    "one row for all": (lambda x: x[:, 1:] - x[0, 0], ["i0", "i1", "i2"]),
    "rows the other way round": (lambda x: x[:, ::-1] + 1.0, ["i0", "i1", "i2"]),
    "the numbers of rows": (lambda x: x[:, 1:] * np.arange(4.0)[:, None], ["i0", "i1", "i2"]),
}


@pytest.mark.parametrize("name", JOINED)
def test_rows_that_follow_each_other_are_one_loop(name):
    function, loops = JOINED[name]
    x = rng.normal(size=(2, 5, 3))
    assert loops in nests_of(function, x)
    np.testing.assert_array_equal(graph_jit(function)(x), function(x))


def shifted(x, y):
    return x[:, 1:] * 2.0 + y, np.where(x[:, :-1] > y, x[:, 1:], y), x[1:, 2:], np.sqrt(np.abs(x[:, 1:] - y))


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
@pytest.mark.parametrize("columns", [0, 1, 2, 3, 5, 16, 67])
def test_lengths_and_dimensions_that_may_be_one(rows, columns):
    x, compiled = rng.normal(size=(3, rows + 1, columns)), graph_jit(shifted)
    for shape in {(3, rows, columns), (3, 1, columns), (1, rows, columns), (3, rows, 1), (1, 1, 1)}:
        y = rng.normal(size=shape)
        for given in ((x, y), (x[::-1], y[..., ::-1]), (np.asfortranarray(x), y), (x.repeat(2, 1)[:, ::2], y)):
            for found, wanted in zip(compiled(*given), shifted(*given), strict=True):
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.complex128, bool])
def test_sums_of_arrays_whose_lengths_are_computed(dtype):
    """Whether a dimension has the length 1 is known at run time alone."""

    def f(x, y, n):
        for _ in range(2):
            x = x[:, n:] | y[:, n:] if x.dtype.kind in "bi" else x[:, n:] + y[:, n:]
        return x

    x, compiled = (rng.normal(size=(2, 6, 3)) * 9).astype(dtype), graph_jit(f)
    for n in (0, 4, 5):
        y = x[:, : n + 1] if n == 0 else x
        try:
            wanted = f(x, y, n)
        except ValueError:
            with pytest.raises(ValueError, match="broadcast"):
                compiled(x, y, n)
        else:
            np.testing.assert_array_equal(compiled(x, y, n), wanted)


def test_arrays_that_are_written_into():
    def f(x):
        x[:, 1:] += x[:, :-1]
        x[:, :-1] = x[:, 1:] * 2
        return x[:, 1:] + x[:, :1]

    x = rng.normal(size=(3, 5, 3))
    ours, theirs = x.copy(), x.copy()
    np.testing.assert_array_equal(graph_jit(f)(ours), f(theirs))
    np.testing.assert_array_equal(ours, theirs)


def test_threads():
    f = graph_jit(lambda x, y: np.exp(x[1:] - y[:-1]), parallel=True)
    x, y = rng.normal(size=(2, 40_001, 3))
    np.testing.assert_allclose(f(x, y), np.exp(x[1:] - y[:-1]), rtol=1e-15)
