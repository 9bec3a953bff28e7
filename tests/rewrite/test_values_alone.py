"""Decompositions of which the values alone are wanted."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit
from numbagraph.testing import check_gradients

RNG = np.random.default_rng(0)
A = RNG.normal(size=(6, 6))
S = A + A.T
FUNCTIONS = {
    "eigvals": (np.linalg.eigvals, A + 1j, "eig_values"),
    "eigenvalues": (lambda a: np.linalg.eig(a)[0], A + 0j, "eig_values"),
    "of single precision": (np.linalg.eigvals, (A + 1j).astype(np.complex64), "eig_values"),
    "of real numbers": (lambda a: np.sort(np.linalg.eigvals(a).real), S, "eig_values"),
    "of a batch": (np.linalg.eigvals, np.stack([A, S, A @ A]) + 1j, "eig_values"),
    "of one number": (np.linalg.eigvals, A[:1, :1] + 1j, "eig_values"),
    "of none": (np.linalg.eigvals, A[:0, :0] + 1j, "eig_values"),
    "symmetric": (lambda a: np.linalg.eigh(a)[0], S, "eigvalsh"),
    "upper": (lambda a: np.linalg.eigh(a, "U").eigenvalues, A, "eigvalsh"),
    "singular": (lambda a: np.linalg.svd(a)[1], A[:4], "svdvals"),
    "batch": (lambda a: np.linalg.svd(a, False).S.sum(-1), np.stack([A, S, A @ A]), "svdvals"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_computed_without_vectors(name):
    function, a, op = FUNCTIONS[name]
    compiled = graph_jit(function)
    expected = function(a)
    precision = 1e-4 if expected.dtype.char == "F" else 1e-10
    for each in (compiled, *(graph_jit(function, backend=backend) for backend in ("numpy", "jax"))):
        found = each(a)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=precision)
    assert op in compiled.explain(a)


def test_vectors_that_are_wanted_come_with_the_values():
    text = graph_jit(lambda a: (np.linalg.eigh(a), np.linalg.svd(a), np.linalg.eig(a + 0j))).explain(S)
    assert not any(op in text for _, _, op in FUNCTIONS.values())


def test_derivatives_have_the_vectors_in_the_order_of_the_values():
    """Eigenvalues of antisymmetric matrices have real parts of rounding errors, by which nothing can be ordered."""
    skew = (A - A.T) / 4

    def loss(a):
        return np.sum(np.abs(np.linalg.eigvals(a + 0j) - (0.3 + 1j)) ** 3)

    check_gradients(loss, (skew,))
    check_gradients(lambda a: np.sum(np.linalg.svd(a)[1] ** 3), (A,))
    assert "eig_values" not in graph_jit(grad(loss)).explain(skew)


def test_eigenvalues_that_there_are_not():
    for function in (np.linalg.eigvals, lambda a: np.linalg.eigh(a)[0], lambda a: np.linalg.svd(a)[1]):
        with pytest.raises(np.linalg.LinAlgError):
            graph_jit(function)(np.full((3, 3), np.nan) + (1j if function is np.linalg.eigvals else 0))
