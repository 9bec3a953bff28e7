"""scipy.linalg.hessenberg by LAPACK in native code, beside SciPy."""

import numpy as np
import pytest
from scipy import linalg

from numbagraph import grad, graph_jit

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 32, 130, 200])
def test_forms_and_their_matrices(length, dtype):
    a = (RNG.normal(size=(length, length, 2)) @ [1, 1j if np.dtype(dtype).kind == "c" else 1]).astype(dtype)
    tolerance = 1e-10 if np.finfo(dtype).eps < 1e-10 else 1e-3
    wanted = linalg.hessenberg(a, calc_q=True)
    found = graph_jit(lambda a: linalg.hessenberg(a, calc_q=True))(a)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
        assert one.dtype == dtype
    assert not np.tril(found[0], -2).any()
    np.testing.assert_array_equal(graph_jit(lambda a: linalg.hessenberg(a))(a), found[0])


def test_other_memory_and_integers():
    a = RNG.integers(-9, 9, (6, 6))
    for view in (a, a.T, a[::-1, ::-1], a[:3, 3:]):
        np.testing.assert_allclose(graph_jit(linalg.hessenberg)(view), linalg.hessenberg(view), atol=1e-12)


def test_there_is_no_derivative():
    with pytest.raises(NotImplementedError, match=r"scipy\.linalg\.hessenberg has no derivative"):
        grad(lambda a: np.sum(linalg.hessenberg(a)))(np.eye(3))
    with pytest.raises(ValueError, match="square"):
        graph_jit(linalg.hessenberg)(np.ones((2, 3)))
