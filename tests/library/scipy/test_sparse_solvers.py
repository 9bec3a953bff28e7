"""Systems of equations of `scipy.sparse.linalg` in compiled functions."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl

from numbagraph import grad, graph_jit

A = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
S = sp.csr_array(A)
RIGHT = np.array([1.0, 2, 3])


def matrix(data):
    return sp.csr_array((data, S.indices, S.indptr), shape=(3, 3))


FUNCTIONS = {
    "spsolve, matrix": (lambda d: sl.spsolve(matrix(d), RIGHT).sum(), S.data),
    "spsolve, right": (lambda b: sl.spsolve(S, b) @ RIGHT, RIGHT),
    "cg, matrix": (lambda d: sl.cg(matrix(d), RIGHT, rtol=1e-12)[0].sum(), S.data),
    "gmres, right": (lambda b: sl.gmres(S, b, rtol=1e-12)[0].sum(), RIGHT),
    "bicgstab": (lambda b: sl.bicgstab(S, b, rtol=1e-12)[0] @ b, RIGHT),
    "cg, dense": (lambda d: sl.cg(np.diag(d) + A, RIGHT, rtol=1e-12)[0].sum(), np.array([0.5, 1.0, 2.0])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_solutions_and_derivatives(name):
    function, point = FUNCTIONS[name]
    step = 1e-6
    expected = [(function(point + step * e) - function(point - step * e)) / (2 * step) for e in np.eye(len(point))]
    assert graph_jit(function)(point) == pytest.approx(function(point))
    np.testing.assert_allclose(grad(function)(point), expected, 1e-5)
    np.testing.assert_allclose(graph_jit(grad(function))(point), expected, 1e-5)


def test_several_right_hand_sides_and_statuses():
    np.testing.assert_allclose(graph_jit(lambda d: sl.spsolve(matrix(d), np.eye(3)))(S.data), np.linalg.inv(A))
    found, status = graph_jit(lambda d: sl.cg(matrix(d), RIGHT, maxiter=1))(S.data)
    expected, known = sl.cg(S, RIGHT, maxiter=1)
    np.testing.assert_allclose(found, expected)
    assert status == known == 1


def test_a_dense_array_becomes_sparse():
    np.testing.assert_allclose(graph_jit(lambda a: sp.csr_array(a) @ RIGHT)(A), A @ RIGHT)
    np.testing.assert_allclose(graph_jit(lambda a: sp.csc_array(2 * a).toarray())(A), 2 * A)
