"""Functions of matrices that are zero, singular, huge, subnormal or not finite, against NumPy's."""

import numpy as np
import pytest
import scipy.linalg

from numbagraph import graph_jit
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64
from numbagraph.linalg import expm
from numbagraph.testing import samples
from numbagraph.testing.matrices import check_special_matrices
from numbagraph.testing.op_calls import outcome

INFINITE = ("an infinity first", "an infinity last")
NO_BATCH = ("no matrices at all",)
NANS = ("a NaN first", "a NaN last")
SUBNORMAL = ("subnormal",)
LEFT_OUT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys("cholesky condition_number det eigh eigvalsh kron matrix_diagonal matrix_norm".split(), ()),
    **dict.fromkeys("matrix_power matrix_trace qr vector_norm".split(), ()),
    **dict.fromkeys("svd svdvals pinv matrix_rank".split(), INFINITE),
    "inv": NANS,
    "slogdet": SUBNORMAL,
    "solve": (*NANS, *SUBNORMAL),
    **dict.fromkeys("block_diag expm toeplitz".split(), NO_BATCH),
    "lstsq": (*INFINITE, *SUBNORMAL),
    "multi_dot": NO_BATCH,
    **dict.fromkeys("lu lu_factor solve_triangular".split(), (*NO_BATCH, *INFINITE, *NANS, *SUBNORMAL)),
}
"""Left out: singular values where there is an infinity, for which OpenBLAS does not return (ours raise an error); what
divides by subnormal pivots, where OpenBLAS's are not the largest, and its solutions infinite; what divides by a NaN,
which OpenBLAS takes for the largest element or not, so that some of its numbers are finite; empty batches, infinities
and NaN where SciPy refuses them."""


@pytest.mark.parametrize("name", LEFT_OUT)
def test_special_matrices(name):
    call = next(iter(samples(registry[name], FLOAT64)))
    assert check_special_matrices(call, left_out=LEFT_OUT[name]) > 5


@pytest.mark.parametrize("p", [None, 2, -2, 1, "fro"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_condition_numbers_of_what_is_not_finite(p, number):
    matrices = np.random.default_rng(0).normal(size=(2, 3, 3))
    matrices[0, 1, 1] = number
    function = lambda a: np.linalg.cond(a, p)  # noqa: E731
    expected, found = (outcome(f, [matrices]) for f in (function, graph_jit(function)))
    assert isinstance(expected, np.linalg.LinAlgError) == isinstance(found, np.linalg.LinAlgError)
    if not isinstance(expected, Exception):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_exponentials_of_infinite_numbers(dtype):
    for number in (-np.inf, np.inf, 0.5):
        matrix = np.full((1, 1), number, dtype)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(graph_jit(expm)(matrix), scipy.linalg.expm(matrix), rtol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_subnormal_matrices_have_solutions(length):
    """Reciprocals of their pivots overflow. (OpenBLAS gives infinities.)"""
    matrix = np.random.default_rng(0).normal(size=(length, length)) + length * np.eye(length)
    x, scale = np.arange(1.0, length + 1), 2.0**-1030
    found = graph_jit(np.linalg.solve)(matrix * scale, (matrix * scale) @ x)
    np.testing.assert_allclose(found, x, rtol=1e-9)
    assert not np.isnan(graph_jit(np.linalg.det)(matrix * scale))
    sign, logarithm = graph_jit(np.linalg.slogdet)(matrix * scale)
    np.testing.assert_allclose([sign, logarithm + 1030 * length * np.log(2)], np.linalg.slogdet(matrix), rtol=1e-9)


def test_subnormal_matrices_have_least_squares():
    """Reciprocals of their singular values overflow. (LAPACK scales them, and loses fewer digits.)"""
    rng, scale = np.random.default_rng(0), 2.0**-1050
    matrix, right = rng.normal(size=(5, 3)) * scale, rng.normal(size=(5, 2)) * scale
    for each in (right, right[:, 0]):
        found = graph_jit(lambda a, b: np.linalg.lstsq(a, b)[0])(matrix, each)
        np.testing.assert_allclose(found, np.linalg.lstsq(matrix, each)[0], rtol=1e-5)


@pytest.mark.parametrize("shape", [(0, 1, 0), (0, 3, 0), (2, 3, 0), (2, 0, 5), (1, 1, 1)])
def test_tensorinv_of_what_has_no_inverse(shape):
    with pytest.raises(ValueError) as expected:  # noqa: PT011  compared with ours
        np.linalg.tensorinv(np.zeros(shape))
    with pytest.raises(ValueError) as found:  # noqa: PT011
        graph_jit(lambda x: np.linalg.tensorinv(x))(np.zeros(shape))
    assert issubclass(found.type, expected.type)
