"""Eigenvalues of two matrices: SciPy's, of which some are infinite, and their derivatives."""

import numpy as np
import pytest
import scipy.linalg as linalg

from numbagraph import grad, graph_jit, vmap

RNG = np.random.default_rng(5)
A = RNG.normal(size=(4, 4))
B = RNG.normal(size=(4, 4)) + 3 * np.eye(4)
PAIRS = {
    "regular": (A, B),
    "singular": (A, np.diag([1.0, 2.0, 0.0, 3.0])),
    "zero": (A, np.zeros((4, 4))),
    "both singular": (np.diag([1.0, 0.0, 2.0, 3.0]), np.diag([1.0, 0.0, 0.0, 1.0])),
    "complex": (A + 1j * A.T, np.diag([1.0, 2.0, 0.0, 3.0])),
    "integers": (np.arange(9).reshape(3, 3) ** 2, np.arange(9).reshape(3, 3)),
    "single precision": (A.astype(np.float32), B.astype(np.float32)),
    "one row": (A[:1, :1], np.zeros((1, 1))),
    "a stack": (np.stack([A, B, A.T]), B),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_values_and_vectors_are_scipy_s(pair):
    a, b = PAIRS[pair]
    values, vectors = linalg.eig(a, b)
    found = graph_jit(lambda a, b: (*linalg.eig(a, b), linalg.eigvals(a, b)))(a, b)
    assert found[0].dtype == values.dtype
    for own, expected in zip(found, (values, vectors, values), strict=True):
        np.testing.assert_allclose(own, expected, 1e-12, 1e-13)


def test_lengths_that_differ():
    with pytest.raises(ValueError, match="a and b must have the same shape"):
        graph_jit(lambda a, b: linalg.eigvals(a, b))(A, B[:3, :3])


def of_values(x, a, b):
    values = linalg.eigvals(a * (1 + x[0]), b + x[1] * np.eye(4))
    return np.sum(np.real(values) ** 2) + np.sum(np.abs(values))


def of_vectors(x, a, b):
    """Of the lines on which vectors lie."""
    values, vectors = linalg.eig(a + x[0] * np.eye(4), b + x[1] * a)
    return np.sum(np.abs(vectors) ** 3) + np.sum(np.real(values) * np.abs(vectors[0] * vectors[1]))


@pytest.mark.parametrize("function", [of_values, of_vectors])
@pytest.mark.parametrize("pair", [(A, B), (A + 1j * A.T, B - 0.5j * B.T)])
def test_derivatives(function, pair):
    at, step = np.array([0.2, 0.3]), 1e-6
    expected = [(function(at + d, *pair) - function(at - d, *pair)) / (2 * step) for d in step * np.eye(2)]
    np.testing.assert_allclose(grad(lambda x: function(x, *pair))(at), expected, 1e-6, 1e-7)


def test_derivatives_by_all_elements():
    def function(b):
        return np.sum(np.real(linalg.eigvals(A, b)) ** 2)

    step = 1e-6
    units = np.eye(16).reshape(16, 4, 4) * step
    expected = [(function(B + each) - function(B - each)) / (2 * step) for each in units]
    np.testing.assert_allclose(np.ravel(grad(function)(B)), expected, 1e-6, 1e-7)


def test_no_derivative_where_a_value_is_infinite():
    with pytest.raises(np.linalg.LinAlgError):
        grad(lambda b: np.real(linalg.eigvals(A, b)[0]))(np.diag([1.0, 2.0, 0.0, 3.0]))


def test_batches():
    found = graph_jit(vmap(lambda a: linalg.eigvals(a, B)))(np.stack([A, A.T]))
    np.testing.assert_allclose(found, [linalg.eigvals(each, B) for each in (A, A.T)], 1e-12)
