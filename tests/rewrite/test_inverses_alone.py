"""Inverses whose factors nobody else uses."""

import numpy as np
import pytest
import scipy.linalg

from numbagraph import grad, graph_jit, on_linalg_error, vmap

RNG = np.random.default_rng(0)


def general(n):
    return RNG.normal(size=(n, n)) + 3.0 * np.eye(n)


def positive(n):
    a = RNG.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def with_one_changed(a, i, j, factor):
    a = a.copy()
    a[i, j] *= factor
    return a


S = positive(33)
MATRICES = {
    **{f"of {n}": positive(n) for n in (0, 1, 4, 9, 16, 17, 40, 130)},
    "general": general(30),
    "negative definite": -S,
    "indefinite": S - 40.0 * np.eye(33),
    "not symmetric in its last element": with_one_changed(S, 32, 31, 1.5),
    "not symmetric in its first element": with_one_changed(S, 0, 1, 1.5),
    "with a negative number last": S - np.diag(np.eye(33)[32] * 1000.0),
    "diagonal": np.diag(RNG.uniform(1, 2, 20)),
    "with zeros on the diagonal": np.roll(np.eye(21), 1, axis=0) + np.roll(np.eye(21), -1, axis=0),
    "reversed": S[::-1, ::-1],
    "transposed": np.asfortranarray(S),
    "complex": general(20) + 1j * general(20),
    "Hermitian": S + 0j + 1j * (np.triu(S) - np.triu(S).T),
}


@pytest.mark.parametrize("name", MATRICES)
def test_inverses_are_those_of_numpy(name):
    a = MATRICES[name]
    single = a.astype(np.complex64 if a.dtype.kind == "c" else np.float32)
    for inv in (np.linalg.inv, scipy.linalg.inv):
        compiled = graph_jit(lambda a, inv=inv: inv(a))
        for each, precision in ((a, 1e-10), (single, 1e-3)):
            found, expected = compiled(each), inv(each)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, atol=precision * np.abs(expected).max(initial=0.0))
        assert "inverse(" in compiled.explain(a)


def test_one_of_a_batch_has_no_factor_of_cholesky():
    stack = np.stack([MATRICES["indefinite"], S, MATRICES["not symmetric in its last element"], general(33), S])
    expected = np.linalg.inv(stack)
    for function in (np.linalg.inv, vmap(np.linalg.inv)):
        np.testing.assert_allclose(graph_jit(function)(stack), expected, atol=1e-12)


@pytest.mark.parametrize("n", [3, 12, 20])
def test_singular_matrices_have_no_inverse(n):
    compiled, ones = graph_jit(np.linalg.inv), np.ones((n, n))
    for each in (ones, np.zeros((n, n)), np.arange(n * n).reshape(n, n) // n * 1.0):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            compiled(each)
    with on_linalg_error("nan"):
        found = compiled(np.stack([ones, 2.0 * np.eye(n)]))
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], 0.5 * np.eye(n))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (3, 7), (19, 19)])
def test_numbers_that_are_not_finite(number, place):
    a = positive(20)
    a[place] = a[place[::-1]] = number
    expected = np.linalg.inv(a)
    found = graph_jit(np.linalg.inv)(a)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_factors_that_others_use_are_shared():
    b = RNG.normal(size=33)
    for function in (
        lambda a: (np.linalg.inv(a), np.linalg.solve(a, b)),
        lambda a: (np.linalg.inv(a), np.linalg.slogdet(a)[1]),
        lambda a: (np.linalg.inv(a), scipy.linalg.lu_factor(a)[1]),
        grad(lambda a: np.sum(np.linalg.inv(a) ** 2)),
        lambda a: np.linalg.inv(a) @ b,
    ):
        compiled = graph_jit(function)
        compiled(S)
        text = compiled.explain(S)
        assert "inverse(" not in text
        assert "square_lu(" in text


def test_inverses_of_two_matrices():
    two = graph_jit(lambda a, b: (np.linalg.inv(a), np.linalg.inv(b), np.linalg.det(b)))
    other = general(33)
    expected = np.linalg.inv(S), np.linalg.inv(other), np.linalg.det(other)
    for found, right in zip(two(S, other), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-8)
    assert two.explain(S, other).count("inverse(") > 0


def test_derivatives_of_inverses():
    weights = RNG.normal(size=(33, 33))
    inverse = np.linalg.inv(S)
    found = grad(lambda a: np.sum(weights * np.linalg.inv(a)))(S)
    np.testing.assert_allclose(found, -inverse.T @ weights @ inverse.T, atol=1e-12)
