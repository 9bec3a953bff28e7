"""scipy.linalg.qr_multiply by LAPACK's reflections, beside SciPy."""

import itertools

import numpy as np
import pytest
from scipy import linalg

from numbagraph import grad, graph_jit, vmap

RNG = np.random.default_rng(0)
CASES = list(itertools.product(("left", "right"), (False, True)))


def draw(dtype, *shape):
    parts = RNG.normal(size=(2, *shape))
    return (parts[0] + 1j * parts[1]).astype(dtype) if np.dtype(dtype).kind == "c" else parts[0].astype(dtype)


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.abs(one - other).max(initial=0) <= 100 * np.finfo(one.dtype).eps


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 3), (3, 5), (6, 6), (40, 33), (33, 40), (130, 70)])
def test_products_and_factors(rows, columns, dtype):
    a, least = draw(dtype, rows, columns), min(rows, columns)
    for mode, conjugate in CASES:
        function = graph_jit(lambda a, c, mode=mode, k=conjugate: linalg.qr_multiply(a, c, mode=mode, conjugate=k))
        for count in (None, 1, 4, 70):
            others = () if count is None else (count,)
            c = draw(dtype, least, *others) if mode == "left" else draw(dtype, *others, rows)
            found = function(a, c)
            assert_same(found, linalg.qr_multiply(a, c, mode=mode, conjugate=conjugate))
            assert not np.tril(found[1], -1).any()


@pytest.mark.parametrize(("mode", "conjugate"), CASES)
@pytest.mark.parametrize(("rows", "columns", "count"), [(0, 0, 2), (0, 3, 2), (3, 0, 2), (5, 3, 0), (3, 5, 0)])
def test_nothing(rows, columns, count, mode, conjugate):
    """SciPy gives back what is like c, whatever the shape of the product."""
    a, least = draw(complex, rows, columns), min(rows, columns)
    c = draw(complex, least, count) if mode == "left" else draw(complex, count, rows)
    found = graph_jit(lambda a, c: linalg.qr_multiply(a, c, mode=mode, conjugate=conjugate))(a, c)
    factor, upper = np.linalg.qr(a)
    assert_same(found, (factor @ c if mode == "left" else c @ factor, upper))


@pytest.mark.parametrize("mode", ["left", "right"])
def test_batches(mode):
    """Of matrices, of what they are multiplied with, and of both."""
    function = graph_jit(lambda a, c: linalg.qr_multiply(a, c, mode=mode))
    a, c = draw(float, 3, 6, 4), draw(float, 3, *((4, 5) if mode == "left" else (5, 6)))
    for one, other in ((a, c), (a[0], c), (a, c[0])):
        assert_same(function(one, other), linalg.qr_multiply(one, other, mode=mode))
    shared = vmap(lambda c: linalg.qr_multiply(a[0], c, mode=mode)[0])(c)
    assert_same([shared], [linalg.qr_multiply(a[0], c, mode=mode)[0]])
    assert_same(graph_jit(vmap(lambda a, c: linalg.qr_multiply(a, c, mode=mode)))(a, c), function(a, c))


def test_other_memory_and_dtypes():
    a, c = draw(float, 6, 4), draw(float, 6, 6)
    for one, other in ((a[::-1], c.T), (a[::2, ::2], c[:, ::2]), (np.asfortranarray(a), c[::-1, ::-1])):
        assert_same(graph_jit(linalg.qr_multiply)(one, other), linalg.qr_multiply(one, other))
    factor, upper = np.linalg.qr(a)
    assert_same(graph_jit(linalg.qr_multiply)(a, c + 1j), ((c + 1j) @ factor, upper))  # SciPy drops the imaginary parts
    whole = np.arange(24).reshape(6, 4) % 7
    assert_same(graph_jit(linalg.qr_multiply)(whole, c), linalg.qr_multiply(whole, c))


def test_nan():
    a, c = draw(float, 6, 4), draw(float, 6, 6)
    a[1, 2] = np.nan
    found = graph_jit(linalg.qr_multiply)(a, c)
    assert np.isnan(found[0][:, 2:]).all()
    assert np.isfinite(found[1][:, :2]).all()


def test_lengths_that_do_not_fit():
    for mode, c in (("left", np.ones((6, 2))), ("right", np.ones((2, 4))), ("left", np.ones(6)), ("right", np.ones(4))):
        with pytest.raises(ValueError, match=r"qr_multiply|product"):
            graph_jit(lambda a, c, mode=mode: linalg.qr_multiply(a, c, mode=mode))(np.ones((6, 4)), c)


@pytest.mark.parametrize(("mode", "conjugate"), CASES)
def test_derivatives_are_those_of_the_factor_and_the_product(mode, conjugate):
    def by_factor(a, c):
        factor, upper = np.linalg.qr(a)
        factor = np.conj(factor) if conjugate else factor
        return factor @ c if mode == "left" else c @ factor, upper

    def total(function):
        return lambda a, c: sum(np.sum(np.abs(each) ** 2 * (1 + np.real(each))) for each in function(a, c))

    a, c = draw(complex, 6, 4), draw(complex, *((4, 3) if mode == "left" else (3, 6)))
    own = total(lambda a, c: linalg.qr_multiply(a, c, mode=mode, conjugate=conjugate))
    for argnums in (0, 1):
        found, wanted = (graph_jit(grad(each, argnums))(a, c) for each in (own, total(by_factor)))
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
