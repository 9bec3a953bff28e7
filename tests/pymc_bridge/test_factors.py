"""Factors of matrices in the mode, natively: tridiagonal ones, QR with pivots and in its other forms, Schur's."""

import numpy as np
import pytest

pytest.importorskip("pymc")
pytestmark = [
    pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.tensor.blockwise import Blockwise  # noqa: E402

from numbagraph.pymc_bridge.compatibility import linalg  # noqa: E402
from tests.support.modes import NAME, PLAIN  # noqa: E402

rng = np.random.default_rng(7)


def matrix_of(dtype, *shape):
    drawn = rng.normal(size=(2, *shape))
    return (drawn[0] + 1j * drawn[1] if np.dtype(dtype).kind == "c" else drawn[0]).astype(dtype)


def compared(variables, outputs, data, tolerance=1e-10):
    ours, plain = (pytensor.function(variables, outputs, mode=mode) for mode in (NAME, PLAIN))
    expected, found = plain(*[each.copy() for each in data]), ours(*data)
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    return found


def tridiagonal(dtype, length, batch=()):
    return [matrix_of(dtype, *batch, length - fewer) for fewer in (1, 0, 1)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("length", [3, 4, 20])
def test_factors_of_tridiagonal_matrices(dtype, length):
    variables = [pt.tensor(dtype=dtype, shape=(None,)) for _ in range(3)]
    found = compared(variables, linalg.LUFactorTridiagonal()(*variables), tridiagonal(dtype, length), 1e-4)
    assert length < 20 or np.any(found[4] != np.arange(1, length + 1))  # rows were exchanged


def test_factors_of_a_batch_and_of_a_singular_matrix():
    variables = [pt.dmatrix() for _ in range(3)]
    outputs = Blockwise(linalg.LUFactorTridiagonal())(*variables)
    data = tridiagonal("float64", 5, (4,))
    data[1][2], data[0][2] = 0.0, 0.0
    compared(variables, outputs, data)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("ndim", [1, 2])
def test_systems_by_given_factors(dtype, transposed, ndim):
    parts = [pt.tensor(dtype=dtype, shape=(None,)) for _ in range(4)]
    pivots, b = pt.ivector(), pt.tensor(dtype=dtype, shape=(None,) * ndim)
    solve = linalg.SolveLUFactorTridiagonal(b_ndim=ndim, transposed=transposed)
    diagonals = tridiagonal(dtype, 7)
    variables = [pt.tensor(dtype=dtype, shape=(None,)) for _ in range(3)]
    factors = pytensor.function(variables, linalg.LUFactorTridiagonal()(*variables), mode=PLAIN)(*diagonals)
    right = matrix_of(dtype, *(7, 3)[:ndim])
    (found,) = compared([*parts, pivots, b], [solve(*parts, pivots, b)], [*factors, right])
    whole = sum(np.diag(each, offset) for each, offset in zip(diagonals, (-1, 0, 1), strict=True))
    np.testing.assert_allclose((whole.T if transposed else whole) @ found, right, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("broken", [0, -3, 2**30])
def test_pivots_that_are_no_rows_are_an_error(broken):
    parts, pivots, b = [pt.dvector() for _ in range(4)], pt.ivector(), pt.dvector()
    solve = linalg.SolveLUFactorTridiagonal(b_ndim=1, transposed=False)
    compiled = pytensor.function([*parts, pivots, b], solve(*parts, pivots, b), mode=NAME)
    numbers = [np.ones(4), np.ones(5), np.ones(4), np.ones(3)]
    with pytest.raises(ValueError, match="pivots of a tridiagonal matrix"):
        compiled(*numbers, np.array([1, 2, broken, 4, 5], np.int32), np.ones(5))


SHAPES = [(4, 4), (5, 3), (3, 5), (1, 1)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pivoting", [False, True])
@pytest.mark.parametrize("mode", ["economic", "full", "r", "raw"])
def test_orthogonal_factors(mode, pivoting, shape, dtype):
    a = pt.tensor(dtype=dtype, shape=(None, None))
    outputs = linalg.QR(mode=mode, pivoting=pivoting)(a)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    if "complex" in dtype and outputs[0].dtype != dtype:
        pytest.skip("this version of PyTensor takes the factors for real ones")
    compared([a], outputs, [matrix_of(dtype, *shape)], 2e-4 if dtype == "float32" else 1e-10)


def test_orthogonal_factors_of_a_batch():
    a = pt.dtensor3()
    outputs = Blockwise(linalg.QR(mode="economic", pivoting=True))(a)
    compared([a], outputs, [matrix_of("float64", 3, 5, 4)])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("output", ["real", "complex"])
def test_schur(output, dtype):
    a = pt.tensor(dtype=dtype, shape=(None, None))
    schur = linalg.Schur(output=output)
    for length in (5, 1):
        data = matrix_of(dtype, length, length)
        compiled = pytensor.function([a], schur(a), mode=NAME)
        form, vectors = compiled(data)
        assert form.dtype == vectors.dtype
        tolerance = 1e-4 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(vectors @ form @ vectors.conj().T, data, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(vectors @ vectors.conj().T, np.eye(length), atol=tolerance)
        np.testing.assert_allclose(np.tril(form, -2 if form.dtype.kind == "f" else -1), 0)


def test_schur_of_a_batch_and_of_what_is_not_finite():
    a = pt.dtensor3()
    data = matrix_of("float64", 3, 4, 4)
    data[1, 2, 2] = np.nan
    form, vectors = pytensor.function([a], Blockwise(linalg.Schur())(a), mode=NAME)(data)
    assert np.isnan(form[1]).all()
    assert np.isnan(vectors[1]).all()
    for each in (0, 2):
        np.testing.assert_allclose(vectors[each] @ form[each] @ vectors[each].T, data[each], rtol=1e-10, atol=1e-10)
