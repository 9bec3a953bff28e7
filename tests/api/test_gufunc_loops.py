"""Generalised ufuncs whose loops are written for single elements."""

import numba
import numpy as np
import pytest

from numbagraph import grad, graph_jit, gufunc, vmap

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(4, 3, 5)), RNG.normal(size=(3, 5))


@gufunc("(n)->(n)")
def smoothed(x, out):
    level = x[0]
    for i in range(x.size):
        level = 0.5 * (level + x[i])
        out[i] = level


@gufunc("(n),()->(k),()", core_shape=lambda n: 2 * n)
def doubled(x, factor, out, total):
    total[0] = 0.0
    for i in range(x.size):
        out[2 * i], out[2 * i + 1] = x[i] * factor, x[i]
        total[0] += x[i]


@gufunc("(n)->()", vjp=lambda g, y, x: (g * 2 * x,))
def sum_of_squares(x, out):
    out[0] = 0.0
    for each in x:
        out[0] += each * each


@gufunc("(n)->()")
def first_positive(x, out):
    if x[0] < 0:
        raise ValueError("negative")
    out[0] = x[0]


def smoothed_rows(x):
    result = np.empty_like(x)
    for place in np.ndindex(x.shape[:-1]):
        smoothed.core(x[place], result[place])
    return result


def test_loops():
    np.testing.assert_allclose(smoothed(A), smoothed_rows(A), rtol=1e-15)
    np.testing.assert_allclose(smoothed(A, axis=0), np.moveaxis(smoothed_rows(np.moveaxis(A, 0, -1)), -1, 0))
    np.testing.assert_allclose(smoothed(A[0, 0]), smoothed_rows(A[0, 0]))
    assert smoothed(A[:0]).shape == (0, 3, 5)
    assert smoothed(A.astype(np.float32)).dtype == np.float32
    found, total = doubled(A, 2.0)
    np.testing.assert_allclose(found[..., ::2], A * 2)
    np.testing.assert_allclose(total, A.sum(axis=-1))
    found, total = doubled(A[0, 0], 2.0)
    assert found.shape == (10,)
    assert type(total) is np.float64


def test_loops_in_traced_functions():
    f = graph_jit(lambda x: np.sum(smoothed(np.exp(x)) ** 2, axis=-1))
    np.testing.assert_allclose(f(A), np.sum(smoothed_rows(np.exp(A)) ** 2, axis=-1))
    assert "2 nests and 1 calls, together" in f.explain(A)
    np.testing.assert_allclose(vmap(sum_of_squares)(B), np.sum(B**2, axis=-1))
    np.testing.assert_allclose(grad(lambda x: np.sum(sum_of_squares(x)))(A), 2 * A)
    ends = [smoothed_rows(A + step * np.eye(1, A.size, 3).reshape(A.shape)) for step in (1e-6, -1e-6)]
    found = grad(lambda x: np.sum(smoothed(x) ** 2))(A)
    assert found.ravel()[3] == pytest.approx((np.sum(ends[0] ** 2) - np.sum(ends[1] ** 2)) / 2e-6)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_loops_on_backends(backend):
    np.testing.assert_allclose(graph_jit(smoothed, backend=backend)(A), smoothed_rows(A))


def test_errors_inside_loops():
    np.testing.assert_array_equal(first_positive(np.abs(A)), np.abs(A)[..., 0])
    with pytest.raises(ValueError, match="negative"):
        first_positive(-np.abs(A))


def test_declarations_of_loops_that_lack_something():
    def loops(x, out):
        out[0] = x

    with pytest.raises(TypeError, match="give core_shape, which says what k is"):
        gufunc("(n)->(k)")(loops)
    with pytest.raises(TypeError, match="finds their lengths there"):
        gufunc("<n>->(n)")(loops)
    with pytest.raises(TypeError, match="core_shape gave 2 lengths for k"):
        gufunc("(n)->(k)", core_shape=lambda n: (n, n))(loops)(B)


def test_loops_of_one_name():
    """What is kept on disk for one must not be found for another."""

    def make(factor):
        @gufunc("(n)->(n)")
        def scaled_loops(x, out):
            for i in range(x.size):
                out[i] = x[i] * factor

        return scaled_loops

    @gufunc("(n)->(n)")
    def scaled_loops(x, out):
        for i in range(x.size):
            out[i] = x[i] - 1.0

    for factor in (2.0, 3.0, 2.0):
        np.testing.assert_array_equal(make(factor)(B), B * factor)
    np.testing.assert_array_equal(scaled_loops(B), B - 1.0)


def test_loops_that_numba_has_compiled_already():
    f = gufunc("(n)->()")(numba.njit(sum_of_squares.core))
    np.testing.assert_allclose(f(B), np.sum(B**2, axis=-1))


def test_loops_do_not_change_their_operands():
    def doubling(x, out):
        x[0] *= 2.0
        out[0] = x[0]

    kept = B.copy()
    with pytest.raises(numba.TypingError, match="readonly array"):
        gufunc("(n)->()")(doubling)(B)
    np.testing.assert_array_equal(B, kept)


def test_indices_inside_loops_are_checked():
    def beyond(x, out):
        out[0] = x[x.size]

    with pytest.raises(IndexError, match="out of bounds"):
        gufunc("(n)->()")(beyond)(B)
    with pytest.raises(IndexError, match="out of bounds"):
        smoothed(B[:, :0])


def test_loops_divide_as_numpy_does():
    def inverse(x, out):
        out[0] = 1.0 / x

    f = gufunc("()->()")(inverse)
    np.testing.assert_array_equal(f(np.array([0.0, -0.0, 4.0])), [np.inf, -np.inf, 0.25])


@gufunc("(n)->(n)")
def running(a, out):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] ** 2
        out[i] = total


@gufunc("(n),(n)->(n),()")
def both(a, b, out, total):
    found = 0.0
    for i in range(a.shape[0]):
        out[i] = a[i] * b[i] if a[i] > 1.5 else a[i]
        found += out[i] ** 2
    total[()] = found


def as_function(a, b):
    out, found = np.zeros(len(a)), 0.0
    for i in range(a.shape[0]):
        out[i] = a[i] * b[i] if a[i] > 1.5 else a[i]
        found += out[i] ** 2
    return out, found


def test_derivatives_follow_from_the_loops():
    x = np.arange(3.0) + 1
    np.testing.assert_allclose(grad(lambda a: np.sum(running(a)))(x), [6.0, 8.0, 6.0])
    loss = lambda function: lambda a, b: np.sum(function(a, b)[0] * 2) + function(a, b)[1]  # noqa: E731
    for found, expected in zip(
        grad(loss(both), (0, 1))(x, x / 2), grad(loss(as_function), (0, 1))(x, x / 2), strict=True
    ):
        np.testing.assert_allclose(found, expected)
    rows = np.ones((2, 1)) * x
    found = graph_jit(grad(lambda a: np.sum(both(a, x)[1] * np.array([1.0, 2.0]))))(rows)
    expected = graph_jit(grad(lambda a: as_function(a[0], x)[1] + 2 * as_function(a[1], x)[1]))(rows)
    np.testing.assert_allclose(found, expected)
    assert grad(grad(lambda k: np.sum(running(k * x))))(2.0) == pytest.approx(2 * np.sum(np.cumsum(x**2)))
