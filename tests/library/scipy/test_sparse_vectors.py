"""Sparse arrays of one dimension, as arguments, rows and columns of others, and results: SciPy is the reference."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from numbagraph import TraceError, grad, graph_jit, vmap
from tests.library.scipy.test_sparse_binary import FORMATS, doubled, random

MATRIX = random(4, 6, seed=3)
SQUARE = random(6, 6, seed=4)
X = np.arange(6.0) - 2.5


def vector(form="coo", dtype=float, seed=0, size=6, density=0.5):
    (row,) = random(1, size, "coo", dtype, seed, density).toarray()
    row = sp.coo_array(row)
    return row.tocsr() if form == "csr" else row


def assert_alike(found, expected):
    """Formats, dtypes, shapes and elements. SciPy has arrays of rank 0 where we have numbers, and another format of a
    product in which nothing is."""
    if np.ndim(expected) == 0 and isinstance(expected, np.ndarray):
        expected = expected[()]
    if sp.issparse(expected) and not expected.nnz:
        expected = expected.asformat(found.format)
    assert type(found) is type(expected)
    assert (np.shape(found), np.asarray(found.data).dtype) == (np.shape(expected), np.asarray(expected.data).dtype)
    if sp.issparse(expected):
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5 if found.dtype.itemsize < 8 else 1e-12)


FUNCTIONS = {
    "itself": lambda a: a,
    "by a number": lambda a: 2 * a,
    "by a dense one": lambda a: a * X,
    "dense, by it": lambda a: X * a,
    "by a sparse one": lambda a: a * a[::-1],
    "its square": lambda a: a * a,
    "sum": lambda a: a + a,
    "sum with another pattern": lambda a: a + a[::-1],
    "difference": lambda a: a - 2 * a[::-1],
    "sum with a dense one": lambda a: a + X,
    "dense, minus it": lambda a: X - a,
    "quotient": lambda a: a / 2,
    "quotient with a dense one": lambda a: a / (X + 10),
    "inner product": lambda a: a @ X,
    "inner product with a sparse one": lambda a: a @ a,
    "product with dense columns": lambda a: a @ np.outer(X, [1.0, 2.0]),
    "dense rows by it": lambda a: np.outer([1.0, 2.0, 3.0], X) @ a,
    "a matrix by it": lambda a: MATRIX @ a,
    "it by a matrix": lambda a: a @ SQUARE,
    "dot": lambda a: a.dot(X),
    "dot of a number": lambda a: a.dot(3.0),
    "a matrix times it": lambda a: MATRIX.tocoo() * a,
    "power": lambda a: a**2,
    "negative": lambda a: -a,
    "absolute": abs,
    "NumPy's absolute": np.abs,
    "sine": np.sin,
    "method": lambda a: a.tanh(),
    "astype": lambda a: a.astype(np.float32),
    "conjugate": lambda a: a.conj(),
    "total": lambda a: a.sum(),
    "total along its axis": lambda a: a.sum(axis=0),
    "total along its last axis": lambda a: a.sum(axis=-1),
    "mean": lambda a: a.mean(),
    "largest": lambda a: a.max(),
    "smallest": lambda a: a.min(),
    "element": lambda a: a[2],
    "last element": lambda a: a[-1],
    "slice": lambda a: a[1:4],
    "list": lambda a: a[[0, 3, 3]],
    "mask": lambda a: a[X > 0],
    "all": lambda a: a[...],
    "comparison": lambda a: a > 1,
    "comparison with another one": lambda a: a != a[::-1],
    "comparison with a dense one": lambda a: a > X,
    "transposed": lambda a: a.T,
    "coo": lambda a: a.tocoo(),
    "csr": lambda a: a.tocsr(),
    "constructor": lambda a: sp.csr_array(a),
    "dense": lambda a: a.toarray(),
    "real": lambda a: a.real,
    "copy": lambda a: a.copy(),
    "elements": lambda a: a.data * 2,
    "length": lambda a: a.shape[0] * a.ndim + np.ones(1),
}


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("form", ["coo", "csr"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(form, name):
    for array in (vector(form), vector(form, density=0), vector(form, density=1.0)):
        try:
            expected = FUNCTIONS[name](array)
        except (IndexError, AttributeError, NotImplementedError):  # of a CSR array SciPy lacks some
            continue
        assert_alike(graph_jit(FUNCTIONS[name])(array), expected)


@pytest.mark.parametrize("dtype", "bool int8 uint64 float32 complex128".split())
@pytest.mark.parametrize("name", ["by a number", "by a dense one", "inner product", "total", "itself", "sum"])
def test_dtypes(dtype, name):
    array = vector("coo", dtype)
    assert_alike(graph_jit(FUNCTIONS[name])(array), FUNCTIONS[name](array))


@pytest.mark.parametrize("size", [0, 1])
def test_short_ones(size):
    for function in (lambda a: 2 * a, lambda a: a + a, lambda a: a.sum(), lambda a: a @ np.ones(size)):
        array = vector(size=size, density=1.0) if size else sp.coo_array(np.zeros(0))
        assert_alike(graph_jit(function)(array), function(array))


ROWS = {
    "row": lambda a: a[1], "last row": lambda a: a[-1], "row, all": lambda a: a[2, :], "column": lambda a: a[:, 1],
    "dots": lambda a: a[..., 2], "one element": lambda a: a[1:2, 0], "some of a row": lambda a: a[1, [0, 3, 0]],
    "slice of a column": lambda a: a[1:, -1], "mask of a row": lambda a: a[1, np.arange(6) > 2],
    "row of rows": lambda a: a[1:][0], "element of a row": lambda a: a[1][2],
}  # fmt: skip


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ROWS)
def test_rows_and_columns(form, name):
    for array in (random(4, 6, form), random(4, 6, form, density=0), doubled(random(4, 6, form))):
        try:
            expected = ROWS[name](array)
        except (IndexError, NotImplementedError):
            expected = ROWS[name](array.tocsr())
        assert_alike(graph_jit(ROWS[name])(array), expected)


@pytest.mark.parametrize("form", FORMATS)
def test_a_row_whose_number_is_traced(form):
    array, function = random(4, 6, form), graph_jit(lambda a, i: a[i])
    for i in (0, 3, -1, np.int64(2)):
        assert_alike(function(array, i), array[i])
    with pytest.raises(IndexError):
        function(array, 4)


def test_rows_in_a_loop():
    def weighted(a):
        total = 0.0
        for i in range(a.shape[0]):
            total += (i + 1) * (a[i] @ X)
        return total

    np.testing.assert_allclose(graph_jit(weighted)(MATRIX), weighted(MATRIX))


def test_captured_ones():
    a = vector()
    assert_alike(graph_jit(lambda x: x * a)(X), X * a)
    np.testing.assert_allclose(graph_jit(lambda x: a @ x)(X), a @ X)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_backends(backend):
    a = vector()
    assert_alike(graph_jit(lambda a: 2 * a, backend=backend)(a), 2 * a)
    assert_alike(graph_jit(lambda a: a[1], backend=backend)(MATRIX), MATRIX[1])


WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0, 0.25, -1.0])
SCALARS = {
    "square": lambda a, m: (a * a).sum(),
    "inner product": lambda a, m: (a @ WEIGHTS) ** 2,
    "with a row": lambda a, m: ((a + m[1]).toarray() * WEIGHTS).sum(),
    "products": lambda a, m: (m @ a).power(2).sum() + (a * m[:, 2].sum()).sum(),
    "element": lambda a, m: a[2] ** 2 * m[1][2],
    "columns": lambda a, m: (m[:, 1].power(3) * np.arange(4.0)).sum() * a.sum(),
}


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", SCALARS)
def test_derivatives(form, name):
    """Against differences, of the elements of both arrays."""
    function = SCALARS[name]
    given = vector(density=0.8), random(4, 6, form, seed=5, density=0.7)
    for argnum in (0, 1):
        slope, array = graph_jit(grad(function, argnum))(*given), given[argnum]
        assert type(slope) is type(array)
        assert slope.shape == array.shape
        for number in range(array.nnz):
            ends = []
            for step in (1e-6, -1e-6):
                moved = array.copy()
                moved.data[number] += step
                ends.append(function(*(moved if each is array else each for each in given)))
            np.testing.assert_allclose(slope.data[number], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-5)


def test_vmap_over_dense_operands():
    a, x = vector(), np.arange(18.0).reshape(3, 6)
    np.testing.assert_allclose(graph_jit(lambda a, x: vmap(lambda row: a @ row)(x))(a, x), x @ a.toarray())


def test_another_length_needs_no_new_version():
    function = graph_jit(lambda a, x: a * x)
    for size in (6, 9, 4):
        a = vector(size=size, seed=size)
        assert_alike(function(a, np.arange(size + 0.0)), a * np.arange(size + 0.0))
    assert function.cache_info().versions == 1


REFUSED = {
    "reshape of a coo_array of one dimension": lambda a: a.reshape(2, 3),
    "multiply with an array of 2 dimensions": lambda a: a * np.ones((2, 6)),
    "iteration of a coo_array of one dimension": lambda a: list(a),
    "assignment to elements of a coo_array of one dimension": lambda a: a.__setitem__(0, 1.0),
    "an index with None": lambda a: a[None],
    "scipy.sparse.hstack of traced arrays": lambda a: sp.hstack([a, a]),
    "numpy.exp of a coo_array of one dimension": np.exp,
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text):
    with pytest.raises(TraceError, match=re.escape(text)):
        graph_jit(REFUSED[text])(vector())


def test_errors():
    for function, error, text in (
        (lambda a: a @ np.ones(5), ValueError, "dimension mismatch"),
        (lambda a: a * np.ones(5), ValueError, "inconsistent shapes"),
        (lambda a: a[6], IndexError, "out of bounds"),
        (lambda a: a[1, 2], IndexError, "too many indices"),
        (lambda a: a.sum(axis=1), ValueError, "axis must be 0 or -1"),
        (len, TypeError, "length is ambiguous"),
        (bool, ValueError, "truth value"),
        (lambda a: a + 1, NotImplementedError, "nonzero scalar"),
    ):
        with pytest.raises(error, match=text):
            graph_jit(function)(vector())


def test_bad_positions():
    for wrong in (6, -1, 10**8):
        array = vector()
        array.coords[0][0] = wrong
        for function in (lambda a: a.toarray(), lambda a: a[1:3], lambda a: a @ X):
            with pytest.raises((ValueError, IndexError)):
                graph_jit(function)(array)
