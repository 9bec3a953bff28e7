"""The exponential of matrices that are far from normal, and its derivatives, against mpmath's."""

import mpmath
import numpy as np
import pytest

from numbagraph import graph_jit, vjp
from numbagraph.linalg import expm, expm_frechet


def triangle(*diagonal, above):
    return np.diag(np.array(diagonal, float)) + np.triu(np.full((len(diagonal),) * 2, float(above)), 1)


def random(seed, length, above):
    """A block triangular matrix with a full block in each corner, and large numbers in the upper right."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(length, length)) + 1j * rng.normal(size=(length, length))
    half = length // 2
    matrix[half:, :half], matrix[:half, half:] = 0, above * matrix[:half, half:]
    return matrix


MATRICES = {
    "two by two": triangle(1, -1, above=1e6),
    "larger": triangle(10, -10, above=1e6),
    "huge beside the diagonal": triangle(1, -1, above=1e15),
    "three by three": triangle(-2, -1, -0.5, above=1e7),
    "four by four": triangle(*-np.arange(4.0), above=1e3),
    "nilpotent": triangle(0, 0, 0, above=1e8),
    "small diagonal": np.array([[0, 1e8], [-1e-8, 0]]),
    "Moler and Van Loan's": np.array([[-49.0, 24], [-64, 31]]),
    "negative": triangle(-1e3, -1e2, -50, above=1),
    "complex": random(0, 4, 1e6),
    "real": random(1, 3, 1e9).real.copy(),
    "zero": np.zeros((3, 3)),
}


def exact(matrix):
    """Of the digits, some 40 are lost where there are large numbers and small eigenvalues."""
    with mpmath.workdps(100):
        found = mpmath.expm(mpmath.matrix(matrix.tolist()), method="taylor")
        return np.array(found.tolist(), dtype=matrix.dtype)


def exact_derivative(matrix, direction):
    n = len(matrix)
    return exact(np.block([[matrix, direction], [np.zeros_like(matrix), matrix]]))[:n, n:]


def close(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("is_lower", [False, True], ids=["upper", "lower"])
@pytest.mark.parametrize("name", MATRICES)
def test_exponentials_far_from_normal(name, is_lower):
    matrix = MATRICES[name].T.copy() if is_lower else MATRICES[name]
    expected = exact(matrix)
    close(graph_jit(expm)(matrix), expected, 1e-12)
    close(graph_jit(expm)(np.stack([np.eye(len(matrix)), matrix]))[1], expected, 1e-12)


@pytest.mark.parametrize("is_lower", [False, True], ids=["upper", "lower"])
@pytest.mark.parametrize("name", sorted(MATRICES.keys() - {"nilpotent"}))
def test_derivatives_far_from_normal(name, is_lower):
    matrix = MATRICES[name].T.copy() if is_lower else MATRICES[name]
    direction = np.random.default_rng(0).normal(size=matrix.shape).astype(matrix.dtype)
    expected, derivative = exact_derivative(matrix, direction), graph_jit(expm_frechet)
    for scale in (1.0, 1e-200, 1e10, 1e150):
        close(derivative(matrix, direction * scale) / scale, expected, 1e-10)


@pytest.mark.parametrize("name", ["two by two", "three by three"])
def test_gradients_far_from_normal(name):
    matrix = MATRICES[name]
    cotangent = np.random.default_rng(0).normal(size=matrix.shape)
    (found,) = graph_jit(lambda a, g: vjp(expm, a)[1](g))(matrix, cotangent)
    close(found, exact_derivative(matrix.T, cotangent), 1e-10)


def test_exponentials_of_numbers_of_32_bits():
    for matrix in (MATRICES["two by two"], MATRICES["four by four"], -1e4 * np.eye(2)):
        found = graph_jit(expm)(matrix.astype(np.float32))
        assert found.dtype == np.float32
        close(found, exact(matrix), 1e-5)


@pytest.mark.parametrize("number", [-1e40, -1e300])
def test_exponentials_whose_powers_overflow_vanish(number):
    np.testing.assert_array_equal(graph_jit(expm)(number * np.eye(2)), np.zeros((2, 2)))
