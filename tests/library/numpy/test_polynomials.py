"""Polynomials by their roots, quotients, rows of arrays, and sequences of arrays that are one array."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit

X = np.array([0.3, 0.7, 0.2, 0.9, 0.45, 0.6])
V = np.array([1.0, -3.0, 2.0])
C = np.arange(24.0).reshape(2, 3, 4) + 1


def check(function, *arguments, rtol=1e-10):
    expected, found = function(*arguments), graph_jit(function)(*arguments)
    pairs = zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True)
    for one, other in pairs:
        assert (np.asarray(one).dtype, np.shape(one)) == (np.asarray(other).dtype, np.shape(other))
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("roots", [X, V.astype(np.float32), np.array([1, 2, 3]), X[:1], X[:3] + 1j, np.zeros(0)])
def test_poly(roots):
    found, expected = graph_jit(lambda x: np.poly(x))(roots), np.poly(roots)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if roots.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("coefficients", [X, V, np.array([2, -3, -11, 6, 0]), np.array([1.0, 2.0]), np.array([5.0])])
def test_roots(coefficients):
    found, expected = graph_jit(lambda p: np.roots(p))(coefficients), np.roots(coefficients)
    found, expected = (np.sort_complex(np.round(each, 9)) for each in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_roots_need_a_first_coefficient():
    with pytest.raises(ValueError, match="must not be zero"):
        graph_jit(lambda p: np.roots(p))(np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize(
    ("u", "v"),
    [(X, V), (V, X), (np.arange(7), np.array([2, 1, 0])), (np.polymul(V, [1.0, 2.0]), V), (X, X[:1]), (X * 1j, V)],
)
def test_polydiv(u, v):
    check(lambda u, v: np.polydiv(u, v), u, v)


def test_poly_has_a_derivative():
    step = 1e-6
    function = lambda x: np.sum(np.poly(x) ** 2)  # noqa: E731
    slope = [(function(X + step * e) - function(X - step * e)) / (2 * step) for e in np.eye(6)]
    np.testing.assert_allclose(grad(function)(X), slope, rtol=1e-6)


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="NumPy 2.1 is the first that has it")
def test_unstack():
    compiled = graph_jit(lambda x: np.unstack(x, axis=1))
    for array in (C, C[:, :2], C[0]):
        for found, expected in zip(compiled(array), np.unstack(array, axis=1), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_paths_of_einsum():
    check(lambda a, v: np.einsum("ij,j", a, v, optimize=np.einsum_path("ij,j", a, v)[0]), C[0, :, :3], V)


def test_finite_numbers():
    check(lambda x: np.asarray_chkfinite(x) + 1, X)
    for number in (np.nan, -np.inf):
        with pytest.raises(ValueError, match="infs or NaNs"):
            graph_jit(lambda x: np.asarray_chkfinite(x))(np.array([1.0, number]))


@pytest.mark.parametrize("array", [C, C[0], C[0, 0], C[:, :0], C[:1]], ids=lambda array: str(array.shape))
@pytest.mark.parametrize("name", ["stack", "vstack", "hstack", "dstack", "column_stack", "concatenate"])
def test_arrays_along_the_first_dimension_are_a_sequence(name, array):
    function = getattr(np, name)
    if name != "concatenate" or array.ndim > 1:
        check(lambda x: function(x), array)
    if name in ("stack", "concatenate") and array.ndim > 1:
        check(lambda x: function(x, axis=-1), array)


def test_axes_of_products():
    a, b, m = C, C[:, :1] / 3, C.T / 7
    check(lambda a, b, m: np.vecdot(a, b, axis=0), a, b, m)
    check(lambda a, b, m: np.vecdot(a, b, axis=0, keepdims=True), a, b, m)
    check(lambda a, b, m: np.matmul(a, m, axes=[(0, 1), (1, 2), (-1, -2)]), a, b, m)
    with pytest.raises(TypeError, match="single shared core dimension"):
        graph_jit(lambda a: np.matmul(a, a, axis=0))(a)


def test_windows_longer_than_an_array_are_an_error():
    with pytest.raises(ValueError, match="larger than"):
        graph_jit(lambda x: np.lib.stride_tricks.sliding_window_view(x, 7))(X)


def copy_into(a, source):
    np.copyto(a, source)


@pytest.mark.parametrize("source", [2.5, 1j, np.float32(2)])
def test_copyto_converts_within_a_kind(source):
    with pytest.raises(TypeError):
        graph_jit(lambda a: copy_into(a, source))(np.zeros(3, int))


def test_putmask_takes_lists_as_numbers_of_the_array():
    def function(a):
        np.putmask(a, a > 1, [7, 8.9])

    arrays = np.arange(4, dtype=np.int8), np.arange(4, dtype=np.int8)
    function(arrays[0])
    graph_jit(function)(arrays[1])
    np.testing.assert_array_equal(*arrays)


@pytest.mark.parametrize(
    "function",
    [
        lambda n, u: np.repeat(n, 3, axis=0),
        lambda n, u: np.compress([True], n, axis=-1),
        lambda n, u: np.packbits(u, axis=0),
        lambda n, u: np.unpackbits(u, axis=-1),
        lambda n, u: np.diff(n, n=0, axis=0),
    ],
)
def test_numbers_are_arrays_of_one_element(function):
    check(function, np.float64(2.5), np.uint8(3))


def test_edges_of_bins_are_lists_and_may_be_nan_where_numpys_are():
    x, edges = np.array([0.2, 0.7, 0.9]), np.array([0.0, 0.5, np.nan])
    found = graph_jit(lambda x, edges: np.histogram(x, edges)[1])(x, edges)
    np.testing.assert_array_equal(found, np.histogram(x, edges)[1])
    pairs = np.stack([x, x], 1)
    found, expected = graph_jit(lambda x: np.histogramdd(x, (2, 3)))(pairs), np.histogramdd(pairs, (2, 3))
    assert type(found[1]) is type(expected[1])
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_histograms_of_unsigned_integers():
    for array in (np.array([3, 9, 4], np.uint64), np.array([], np.uint64)):
        check(lambda x: np.histogram(x, bins=3), array)
