"""scipy.linalg.ldl by LAPACK in native code, beside SciPy: bit for bit."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import linalg

from numbagraph import grad, graph_jit, vmap

RNG = np.random.default_rng(0)
CASES = list(itertools.product((True, False), (True, False)))
KINDS = {
    "general": lambda n: RNG.normal(size=(n, n)),
    "without a diagonal": lambda n: RNG.normal(size=(n, n)) * (1 - np.eye(n)),
    "reversed": lambda n: 3.0 * np.eye(n)[::-1],
    "ties": lambda n: RNG.integers(-1, 2, (n, n)).astype(float),
    "of rank one": lambda n: np.outer(np.arange(n), np.ones(n)),
    "zero": lambda n: np.zeros((n, n)),
    "subnormal": lambda n: RNG.normal(size=(n, n)) * 1e-310,
    "huge": lambda n: RNG.normal(size=(n, n)) * 1e307,
}
S = RNG.normal(size=(6, 6)) * (1 - np.eye(6))


def matrix(kind, n, dtype):
    with np.errstate(over="ignore"):
        a = (KINDS[kind](n)).astype(np.dtype(dtype).type(0).real.dtype)
    a = np.nan_to_num(a)
    return (a + 1j * np.triu(a, 1).T).astype(dtype) if np.dtype(dtype).kind == "c" else a


def function_of(lower, hermitian):
    return lambda a: linalg.ldl(a, lower=lower, hermitian=hermitian)


def assert_equal(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize(("lower", "hermitian"), CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_factors(kind, lower, hermitian, dtype):
    compiled = graph_jit(function_of(lower, hermitian))
    for n in (0, 1, 2, 3, 5, 8, 33, 64, 65, 130):
        a = matrix(kind, n, dtype)
        with np.errstate(all="ignore"):
            assert_equal(compiled(a), linalg.ldl(a, lower=lower, hermitian=hermitian))


@pytest.mark.parametrize("lower", [True, False])
def test_blocks_of_two_rows_are_the_matrix_again(lower):
    factor, blocks, order = graph_jit(function_of(lower, hermitian=True))(S)
    assert np.count_nonzero(blocks) > np.count_nonzero(np.diag(blocks))
    triangle = factor[order]
    assert np.array_equal(triangle, np.tril(triangle) if lower else np.triu(triangle))
    half = np.tril(S, -1) if lower else np.triu(S, 1)
    np.testing.assert_allclose(factor @ blocks @ factor.T, half + half.T, rtol=1e-12, atol=1e-12)


def test_batches():
    stack = np.stack([S, S.T, S @ S.T, np.zeros((6, 6))])
    wanted = linalg.ldl(stack)
    assert_equal(graph_jit(lambda a: linalg.ldl(a))(stack), wanted)
    assert_equal(graph_jit(vmap(lambda a: linalg.ldl(a)))(stack), wanted)
    assert [each.shape for each in graph_jit(lambda a: linalg.ldl(a))(stack[:0])] == [(0, 6, 6), (0, 6, 6), (0, 6)]


def test_other_memory_dtypes_and_ranks():
    compiled = graph_jit(lambda a: linalg.ldl(a))
    for a in (S.T, S[::-1, ::-1], S[::2, 1::2], np.asfortranarray(S), np.arange(16).reshape(4, 4) % 5, np.float64(3)):
        assert_equal(compiled(a), linalg.ldl(a))


def test_what_is_not_finite():
    compiled = graph_jit(lambda a: linalg.ldl(a))
    unchecked = graph_jit(lambda a, lower: linalg.ldl(a, lower=lower, check_finite=False), static_argnames="lower")
    for wrong in (np.nan, np.inf, -np.inf):
        a = S.copy()
        a[1, 4] = wrong
        with pytest.raises(ValueError, match="must not contain infs or NaNs"):
            compiled(a)
        assert_equal(unchecked(a, lower=True), linalg.ldl(a, check_finite=False))  # the triangle that is not read
        factor, blocks, order = unchecked(a, lower=False)
        assert np.isnan(factor).all()
        assert np.isnan(blocks).all()
        np.testing.assert_array_equal(order, np.arange(6))


def test_imaginary_parts_on_the_diagonal_are_warned_of():
    compiled, a = graph_jit(lambda a: linalg.ldl(a)), S + 1j * np.eye(6)
    with pytest.warns(np.exceptions.ComplexWarning, match="imaginary parts of the diagonal"):
        found = compiled(a)
    assert_equal(found, linalg.ldl(S.astype(complex)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(S + 0j)
        graph_jit(lambda a: linalg.ldl(a, hermitian=False))(a)


def test_on_jax():
    pytest.importorskip("jax")
    for a in (S, np.stack([S, S.T])):
        assert_equal(map(np.asarray, graph_jit(lambda a: linalg.ldl(a), backend="jax")(a)), linalg.ldl(a))


def test_refusals():
    with pytest.raises(NotImplementedError, match=r"scipy\.linalg\.ldl has no derivative"):
        grad(lambda a: np.sum(linalg.ldl(a)[1]))(S)
    for a in (S[:2], S[0]):
        with pytest.raises(ValueError, match="square"):
            graph_jit(lambda a: linalg.ldl(a))(a)
    with pytest.raises(TypeError, match="ldl with traced lower"):
        graph_jit(lambda a, lower: linalg.ldl(a, lower))(S, np.array(True))


def test_a_choice_of_triangles():
    found = graph_jit(lambda a, lower: linalg.ldl(a, lower))
    for lower in (np.True_, False):
        assert_equal(found(S, lower), linalg.ldl(S, lower))
