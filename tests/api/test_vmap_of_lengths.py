"""`vmap` of functions inside of which lengths differ from element to element: one element after the other."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from numbagraph import grad, graph_jit, vectorize, vmap

X = np.array([[1.0, 2.0, 3.0, -1.0], [1.0, -1.0, -2.0, 5.0], [1.0, 1.0, 1.0, 1.0]])


def of_positions(x):
    total = 0.0
    for each in np.nonzero(x > 1)[0]:
        total = total + each * x[each]
    return total


FUNCTIONS = {
    "median": lambda x: np.median(x[x > 0]),
    "last of a cumulative sum": lambda x: np.cumsum(x[x > 0])[-1],
    "sorted": lambda x: np.sum(np.sort(x[x > 0]) * 2),
    "number of values": lambda x: np.unique(x).shape[0],
    "positions": of_positions,
    "length of a range": lambda x: np.sum(np.arange(int(x[1]) + 3) * x[0]),
    "steps": lambda x: np.sum(solve_ivp(lambda t, y: -x[0] * y, (0.0, 1.0), x[:2]).y),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lengths_that_differ(name):
    f = FUNCTIONS[name]
    expected = [f(row) for row in X]
    np.testing.assert_allclose(graph_jit(vmap(f))(X), expected, rtol=1e-12)
    np.testing.assert_allclose(graph_jit(vectorize(f, signature="(n)->()"))(X[None]), [expected], rtol=1e-12)


def test_derivatives():
    f = FUNCTIONS["sorted"]
    expected = np.where(X > 0, 2.0, 0.0)
    np.testing.assert_array_equal(graph_jit(vmap(grad(f)))(X), expected)
    np.testing.assert_array_equal(graph_jit(grad(lambda x: np.sum(vmap(f)(x))))(X), expected)
    np.testing.assert_array_equal(graph_jit(vmap(vmap(f)))(np.stack([X, X])), [[f(row) for row in X]] * 2)


def test_results_that_are_the_same_for_all_elements():
    f = vmap(lambda x: (np.median(x[x > 0]), 3.0, np.arange(2)), out_axes=(0, None, None))
    found = graph_jit(f)(X)
    np.testing.assert_array_equal(found[0], [2.0, 3.0, 1.0])
    assert found[1] == 3.0
    np.testing.assert_array_equal(found[2], [0, 1])


def test_errors_of_an_element():
    def picked(x):
        return np.median(x[x > 0]) / x[int(x[0])]

    with pytest.raises(IndexError, match="out of bounds"):
        graph_jit(vmap(picked))(np.array([[1.0, 2.0], [7.0, 2.0]]))


def test_lengths_of_results():
    with pytest.raises(NotImplementedError, match="how many elements a mask selects differs along the batch"):
        graph_jit(vmap(lambda x: np.sort(x[x > 0])))(X)
