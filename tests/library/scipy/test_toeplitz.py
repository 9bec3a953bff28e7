"""scipy.linalg.solve_toeplitz: Levinson's recursion in native code, beside SciPy and beside a dense matrix."""

import numpy as np
import pytest
from scipy import linalg

from numbagraph import grad, graph_jit, vmap
from numbagraph.errors import TraceError

RNG = np.random.default_rng(0)


def system(length, columns=None):
    column, row = RNG.normal(size=(2, length))
    column[0] += 5.0 * np.sqrt(length)
    return column, row, RNG.normal(size=length if columns is None else (length, columns))


@pytest.mark.parametrize("columns", [None, 0, 1, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 32, 101])
def test_solutions(length, columns):
    column, row, right = system(length, columns)
    matrix = linalg.toeplitz(column, row)
    found = graph_jit(lambda c, r, b: linalg.solve_toeplitz((c, r), b))(column, row, right)
    assert found.shape == right.shape
    np.testing.assert_allclose(matrix @ found, right, atol=1e-12)
    symmetric = graph_jit(lambda c, b: linalg.solve_toeplitz(c, b))(column, right)
    np.testing.assert_allclose(linalg.toeplitz(column) @ symmetric, right, atol=1e-12)


def test_nothing_to_solve():
    assert graph_jit(linalg.solve_toeplitz)(np.zeros(0), np.zeros(0)).shape == (0,)


SINGULAR = {
    "zeros": (np.zeros(3), np.zeros(3)),
    "equal rows": (np.ones(4), np.ones(4)),
    "the first two equations": (np.array([1.0, 2.0, 1.0, -1.0]), np.array([1.0, 0.5, 3.0, 1.0])),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_leading_matrices_that_are_singular(name):
    """The recursion does not get by them, also where the whole matrix has an inverse."""

    def solve(column, row):
        return linalg.solve_toeplitz((column, row), column)

    for function in (solve, graph_jit(solve)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular principal minor"):
            function(*SINGULAR[name])


@pytest.mark.parametrize("columns", [None, 2])
def test_derivatives(columns):
    operands = system(5, columns)
    weights = RNG.normal(size=operands[2].shape)

    def function(c, r, b):
        return np.sum(linalg.solve_toeplitz((c, r), b) * weights)

    for number, found in enumerate(grad(function, argnums=(0, 1, 2))(*operands)):
        differences = np.empty_like(found)
        for place in np.ndindex(found.shape):
            ends = [[each.copy() for each in operands] for _ in range(2)]
            for step, end in zip((1e-6, -1e-6), ends, strict=True):
                end[number][place] += step
            differences[place] = (function(*ends[0]) - function(*ends[1])) / 2e-6
        np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-8)


def test_batches():
    columns = RNG.uniform(0.0, 1.0, (3, 5)) + 5.0 * np.eye(5)[0]
    found = vmap(lambda c, b: linalg.solve_toeplitz(c, b))(columns, columns[::-1])
    wanted = [linalg.solve_toeplitz(*each) for each in zip(columns, columns[::-1], strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_lengths_that_differ():
    solve = graph_jit(lambda c, r, b: linalg.solve_toeplitz((c, r), b))
    for lengths in ((5, 4, 5), (5, 5, 4)):
        with pytest.raises(ValueError, match="Incompatible dimensions"):
            solve(*map(np.ones, lengths))
    with pytest.raises(ValueError, match="Incompatible dimensions"):
        graph_jit(linalg.solve_toeplitz)(np.ones(5), 3.0)
    with pytest.raises(TraceError, match=r"numbagraph\.vmap"):
        graph_jit(linalg.solve_toeplitz)(np.ones(5), np.ones((5, 2, 2)))
