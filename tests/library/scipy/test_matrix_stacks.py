"""Functions of `scipy.linalg` of stacks of matrices: SciPy's results, or an error that says what to write."""

import numpy as np
import pytest
from scipy import linalg

from numbagraph import graph_jit

RNG = np.random.default_rng(1)
A = RNG.normal(size=(2, 3, 3))
S = A @ np.swapaxes(A, -1, -2) + np.eye(3)
ORTHOGONAL = np.linalg.qr(RNG.normal(size=(2, 4, 4)))[0]
ROWS = RNG.normal(size=(2, 3)) + np.array([5.0, 0.0, 0.0])
TAKEN = {
    "schur": (linalg.schur, A),
    "hessenberg": (linalg.hessenberg, A),
    "hessenberg_q": (lambda a: linalg.hessenberg(a, calc_q=True), A),
    "cossin": (lambda a: linalg.cossin(a, 2, 2), ORTHOGONAL),
    "ldl": (linalg.ldl, S),
    "qz": (linalg.qz, A, S),
    "lu": (linalg.lu, A),
    "qr": (linalg.qr, A),
    "svd": (linalg.svd, A),
    "sqrtm": (linalg.sqrtm, S),
    "logm": (linalg.logm, S),
    "expm": (linalg.expm, A),
    "cosm": (linalg.cosm, A),
    "polar": (linalg.polar, A),
    "eigvals": (linalg.eigvals, A),
    "solve": (linalg.solve, A, S),
    "solve_sylvester": (linalg.solve_sylvester, A, S, A),
    "circulant": (linalg.circulant, ROWS),
}


@pytest.mark.parametrize("name", TAKEN)
def test_stacks_that_are_taken(name):
    function, *given = TAKEN[name]
    expected, found = function(*given), graph_jit(lambda *args: function(*args))(*given)
    if not isinstance(expected, (tuple, list)):
        expected, found = (expected,), (found,)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, 1e-9, 1e-11)


REFUSED = {
    "toeplitz": (ROWS,),
    "block_diag": (A, A),
    "lstsq": (A, A),
    "null_space": (A,),
    "orth": (A,),
    "orthogonal_procrustes": (A, S),
    "solve_toeplitz": (ROWS, ROWS[:1]),
    "matmul_toeplitz": (ROWS, A),
    "eigvalsh_tridiagonal": (ROWS, ROWS[:, :2]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_stacks_that_are_refused(name):
    function = getattr(linalg, name)
    with pytest.raises((TypeError, ValueError), match=rf"{name}.*numbagraph\.vmap"):
        graph_jit(lambda *args: function(*args))(*REFUSED[name])
