"""Sparse arrays of SciPy's as arguments, results and captured data: SciPy is the reference."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve_triangular

from numbagraph import ShapeError, TraceError, grad, graph_jit, hessian, vjp, vmap

FORMATS = ("csr", "csc", "coo")
A = sp.random_array((6, 5), density=0.4, format="csr", rng=0)
B = sp.random_array((6, 5), density=0.4, format="csr", rng=1)
D = np.random.default_rng(0).normal(size=(6, 5))
X, Y = np.arange(5.0), np.arange(6.0)
LOWER = sp.csr_array(sp.tril(sp.random_array((6, 6), density=0.5, rng=2)) + 4 * sp.eye_array(6))


def assert_same(found, expected, rtol=1e-12):
    if sp.issparse(expected):
        assert (found.format, found.shape, found.dtype) == (expected.format, expected.shape, expected.dtype)
        found, expected = found.toarray(), expected.toarray()
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=rtol)


EXPRESSIONS = {
    "A @ x": lambda a, b, x, d: a @ x,
    "A.dot(x)": lambda a, b, x, d: a.dot(x),
    "A @ D": lambda a, b, x, d: a @ d.T,
    "y @ A": lambda a, b, x, d: d[:, 0] @ a,
    "D @ A": lambda a, b, x, d: d.T @ a,
    "A.T @ y": lambda a, b, x, d: a.T @ d[:, 0],
    "A * 2": lambda a, b, x, d: a * 2,
    "2 * A": lambda a, b, x, d: 2 * a,
    "A * D": lambda a, b, x, d: a * d,
    "D * A": lambda a, b, x, d: d * a,
    "A * row": lambda a, b, x, d: a * x,
    "A * column": lambda a, b, x, d: a * d[:, :1],
    "A * B": lambda a, b, x, d: a * b,
    "A * A": lambda a, b, x, d: a * a,
    "A / 2": lambda a, b, x, d: a / 2,
    "A / D": lambda a, b, x, d: a / d,
    "-A": lambda a, b, x, d: -a,
    "A + 2 A": lambda a, b, x, d: a + 2 * a,
    "A - 2 A": lambda a, b, x, d: a - 2 * a,
    "A + 0": lambda a, b, x, d: a + 0,
    "A + D": lambda a, b, x, d: a + d,
    "D - A": lambda a, b, x, d: d - a,
    "A + row": lambda a, b, x, d: a + x,
    "abs(A)": lambda a, b, x, d: abs(a),
    "A ** 2": lambda a, b, x, d: a**2,
    "np.sqrt(A)": lambda a, b, x, d: np.sqrt(a),
    "A.expm1()": lambda a, b, x, d: a.expm1(),
    "A.conj()": lambda a, b, x, d: a.conj(),
    "A.astype": lambda a, b, x, d: a.astype(np.float32),
    "A.sum()": lambda a, b, x, d: a.sum(),
    "A.sum(0)": lambda a, b, x, d: a.sum(axis=0),
    "A.sum(1)": lambda a, b, x, d: a.sum(axis=-1),
    "A.mean(1)": lambda a, b, x, d: a.mean(axis=1),
    "A.mean()": lambda a, b, x, d: a.mean(),
    "A.diagonal": lambda a, b, x, d: a.diagonal(1),
    "A.diagonal below": lambda a, b, x, d: a.diagonal(-2),
    "A.diagonal beyond": lambda a, b, x, d: a.diagonal(-6),
    "A.trace": lambda a, b, x, d: a.trace(),
    "A.T": lambda a, b, x, d: a.T,
    "toarray": lambda a, b, x, d: a.toarray(),
    "tocsr": lambda a, b, x, d: a.tocsr(),
    "tocsc": lambda a, b, x, d: a.tocsc(),
    "tocoo": lambda a, b, x, d: a.tocoo(),
    "asformat": lambda a, b, x, d: a.asformat("csr"),
    "parts": lambda a, b, x, d: a.data * a.shape[0] / a.nnz,
    "a sparse array": lambda a, b, x, d: a @ x if sp.issparse(a) and isinstance(a, sp.sparray) else x,
}


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name):
    function = EXPRESSIONS[name]
    compiled = {backend: graph_jit(function, backend=backend) for backend in ("numba", "numpy")}
    for form in FORMATS:
        operands = A.asformat(form), B.asformat(form), X, D
        for each in compiled.values():
            assert_same(each(*operands), function(*operands))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float32, np.complex64, np.complex128])
def test_dtypes(dtype):
    rng = np.random.default_rng(3)
    a = (A * 9).astype(dtype)
    if a.dtype.kind == "c":
        a.data = a.data + 1j * rng.normal(size=a.nnz).astype(a.real.dtype)
    product = graph_jit(lambda a, x: a @ x)
    sums = graph_jit(lambda a: (a.sum(axis=0), a.sum(axis=1), a.sum(), a.mean(axis=0)))
    for other in (np.int8, np.float32, np.float64, np.complex64):
        x = (rng.integers(-3, 4, 5)).astype(other)
        assert_same(product(a, x), a @ x, rtol=1e-6)
    for found, expected in zip(sums(a), (a.sum(axis=0), a.sum(axis=1), a.sum(), a.mean(axis=0)), strict=True):
        assert_same(found, expected, rtol=1e-6)


def test_patterns_that_are_not_canonical():
    """Columns without order, twice, with explicit zeros, of 64 bits, and parts that are not contiguous."""
    indices = np.array([4, 0, 4, 2, 1, 1, 0, 3])
    indptr = np.array([0, 3, 3, 6, 8, 8])
    data = np.array([1.0, 0.0, 3.0, -1.0, 2.0, 5.0, 0.0, 7.0])
    a = sp.csr_array((data, indices.astype(np.int64), indptr.astype(np.int64)), shape=(5, 5))
    a.data, a.indices = np.repeat(data, 2)[::2], np.repeat(indices, 3)[::3]
    functions = [
        lambda a, x: a @ x,
        lambda a, x: a.T @ x,
        lambda a, x: (a @ np.outer(x, x), a.toarray(), a.diagonal(), (a * x).toarray(), (a * a.T).toarray())[1],
        lambda a, x: a.tocsc().toarray(),
        lambda a, x: a.tocoo().tocsr().toarray(),
        lambda a, x: (a * a.tocsc().tocsr()).toarray(),
    ]
    for function in functions:
        np.testing.assert_allclose(graph_jit(function)(a, X), function(a.copy(), X))
    with pytest.raises(ValueError, match="two elements at one place"):
        graph_jit(lambda a: a**2)(a)
    with pytest.raises(ValueError, match="two elements at one place"):
        graph_jit(lambda a: a * a)(a.tocoo())


def test_more_room_than_elements():
    a = A.copy()
    a.data, a.indices = np.append(a.data, [5.0, 6.0]), np.append(a.indices, [99, 99]).astype(np.int32)
    np.testing.assert_allclose(graph_jit(lambda a, x: a @ x)(a, X), A @ X)
    assert grad(lambda a: np.sum(a @ X))(a).nnz == A.nnz


@pytest.mark.parametrize("shape", [(0, 5), (6, 0), (0, 0), (1, 1), (1, 5), (6, 1)])
def test_shapes(shape):
    a = sp.random_array(shape, density=0.9, format="csr", rng=3)
    x, y = np.ones(shape[1]), np.ones(shape[0])
    assert_same(graph_jit(lambda a, x: a @ x)(a, x), a @ x)
    assert_same(graph_jit(lambda a, y: a.T @ y)(a, y), a.T @ y)
    assert_same(graph_jit(lambda a: (a.sum(axis=0), a.tocsc(), a.tocoo(), a.diagonal()))(a)[1], a.tocsc())
    assert_same(grad(lambda a: np.sum(a.toarray() ** 2))(a), 2 * a)


def test_lengths_need_no_new_version():
    product = graph_jit(lambda a, x: a @ x)
    for rows, columns in ((6, 5), (3, 9), (20, 20)):
        a = sp.random_array((rows, columns), density=0.5, format="csr", rng=rows)
        assert_same(product(a, np.arange(columns) + 0.5), a @ (np.arange(columns) + 0.5))
    assert product.cache_info().versions == 1


# ---- derivatives and batches ----


@pytest.mark.parametrize("form", FORMATS)
def test_gradients(form):
    a = A.asformat(form)
    by_a, by_x = grad(lambda a, x: np.sum((a @ x) ** 2), argnums=(0, 1))(a, X)
    places = a.tocoo()
    expected = sp.coo_array((2 * (A @ X)[places.row] * X[places.col], (places.row, places.col)), shape=A.shape)
    assert_same(by_a, expected.asformat(form))
    assert_same(by_x, 2 * A.T @ (A @ X))
    assert_same(grad(lambda a: np.sum(a.toarray() ** 3))(a), (3 * A**2).asformat(form))
    found = grad(lambda a, b: np.sum((a * b).toarray() * D), argnums=(0, 1))(a, B.asformat(form))
    for one, own, other in ((found[0], A, B), (found[1], B, A)):
        np.testing.assert_allclose(one.toarray(), (own.toarray() != 0) * other.toarray() * D)
    np.testing.assert_allclose(
        grad(lambda d: np.sum((a * d).sum(axis=0) ** 2))(D), 2 * (A * D).sum(axis=0) * A.toarray() ** 1
    )


def test_second_derivatives():
    np.testing.assert_allclose(hessian(lambda x: np.sum((A @ x) ** 2))(X), 2 * (A.T @ A).toarray())
    length = lambda a, x: np.sum(grad(lambda a: np.sum((a @ x) ** 2))(a).data)  # noqa: E731
    mixed = grad(length, argnums=1)(A, X)
    step = 1e-6
    for k in range(len(X)):
        up, down = (graph_jit(length)(A, X + sign * step * (np.arange(5) == k)) for sign in (1, -1))
        np.testing.assert_allclose(mixed[k], (up - down) / (2 * step), rtol=1e-6)


def test_batches():
    many = np.random.default_rng(1).normal(size=(3, 5))
    assert_same(vmap(lambda a, x: a @ x, in_axes=(None, 0))(A, many), (A @ many.T).T)
    gradients = vmap(grad(lambda x, a: np.sum((a @ x) ** 2)), in_axes=(0, None))(many, A)
    assert_same(gradients, (2 * A.T @ (A @ many.T)).T)
    by_a = grad(lambda a: np.sum(vmap(lambda x: a @ x)(many)))(A)
    expected = A.tocoo()
    expected.data = many.sum(axis=0)[expected.col]
    assert_same(by_a, expected.tocsr())
    for function, axes in ((lambda a, x: a @ x, 0), (lambda a, x: a * x, (None, 0))):
        with pytest.raises(TraceError, match="a batch of sparse arrays is no sparse array"):
            vmap(function, in_axes=axes)(A, many)


def test_pullback():
    value, pullback = vjp(lambda a, x: a @ x, A, X)
    assert_same(value, A @ X)
    assert_same(pullback(Y)[1], A.T @ Y)


# ---- systems ----


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_triangular_systems(form, lower):
    matrix = (LOWER if lower else LOWER.T).asformat(form)
    for right in (Y, D):
        for unit in (False, True):
            options = {"lower": lower, "unit_diagonal": unit}
            found = graph_jit(lambda a, b, options=options: spsolve_triangular(a, b, **options))(matrix, right)
            np.testing.assert_allclose(found, spsolve_triangular(matrix, right, **options), atol=1e-14)
    by_matrix, by_right = grad(lambda a, b: np.sum(np.sin(spsolve_triangular(a, b, lower=lower))), argnums=(0, 1))(
        matrix, Y
    )
    dense = matrix.toarray()
    solution = np.linalg.solve(dense, Y)
    expected = np.linalg.solve(dense.T, np.cos(solution))
    np.testing.assert_allclose(by_right, expected)
    np.testing.assert_allclose(by_matrix.toarray(), -np.outer(expected, solution) * (dense != 0))


def test_systems_without_solution():
    solve = graph_jit(lambda a, b: spsolve_triangular(a, b))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        solve(sp.csr_array(np.tril(np.ones((6, 6)), -1)), Y)
    with pytest.raises(ValueError, match="above the diagonal"):
        solve(sp.csr_array(LOWER.T), Y)
    with pytest.raises(ShapeError, match="square"):
        solve(A, Y)


# ---- where sparse arrays come from, and go to ----


def test_captured():
    assert_same(graph_jit(lambda x: A @ x)(X), A @ X)
    assert_same(graph_jit(lambda y: y @ A)(Y), Y @ A)
    assert_same(graph_jit(lambda y: A.T.dot(y))(Y), A.T @ Y)
    assert_same(graph_jit(lambda d: A * d)(D), A * D)
    assert_same(graph_jit(lambda d: A + d)(D), A + D)
    assert_same(graph_jit(lambda d: d - A)(D), D - A)
    assert_same(graph_jit(lambda y: (A @ B.T) @ y)(Y), A @ B.T @ Y)
    np.testing.assert_allclose(graph_jit(lambda y: spsolve_triangular(LOWER, y))(Y), spsolve_triangular(LOWER, Y))


def test_trees_and_constructors():
    assert_same(graph_jit(lambda tree: tree["a"][0] @ tree["x"])({"a": [A], "x": X}), A @ X)
    assert_same(graph_jit(lambda x: (A, x))(X)[0], A)
    places = A.tocoo()
    build = graph_jit(lambda d, i, j: sp.coo_array((d, (i, j)), shape=(6, 5)))
    assert_same(build(places.data, places.row, places.col), places)
    build = graph_jit(lambda d, i, p, x: sp.csr_array((d, i, p), shape=(6, 5)) @ x)
    assert_same(build(A.data, A.indices, A.indptr, X), A @ X)


def test_loops():
    def conjugate_gradients(a, b):
        x, r = np.zeros_like(b), b - a @ np.zeros_like(b)
        p, rest = r, r @ r
        while rest > 1e-24:
            ap = a @ p
            step = rest / (p @ ap)
            x, r = x + step * p, r - step * ap
            rest, before = r @ r, rest
            p = r + rest / before * p
        return x

    matrix = sp.csr_array(LOWER @ LOWER.T)
    np.testing.assert_allclose(graph_jit(conjugate_gradients)(matrix, Y), np.linalg.solve(matrix.toarray(), Y))


def test_elements_are_written():
    a = A.copy()

    def doubled(a):
        a.data *= 2
        return a @ X

    assert_same(graph_jit(doubled)(a), 2 * A @ X)
    assert_same(a, 2 * A)
    with pytest.raises(TypeError, match=r"assignment to \.data"):
        graph_jit(lambda a: setattr(a, "data", a.data + 1))(a)


BAD = {
    "column": lambda a: a.indices.__setitem__(0, 77),
    "negative column": lambda a: a.indices.__setitem__(3, -1),
    "beginning": lambda a: a.indptr.__setitem__(2, 100),
    "decreasing": lambda a: a.indptr.__setitem__(2, 0),
    "end": lambda a: a.indptr.__setitem__(-1, 100),
    "negative end": lambda a: a.indptr.__setitem__(-1, -5),
    "first": lambda a: a.indptr.__setitem__(0, 1),
}


@pytest.mark.parametrize("name", BAD)
def test_patterns_that_are_none(name):
    """Nothing is read out of bounds."""
    a = A.copy()
    BAD[name](a)
    functions = [
        lambda a: a @ X,
        lambda a: a.T @ Y,
        lambda a: a @ D.T,
        lambda a: a.toarray(),
        lambda a: a.tocsc().data,
        lambda a: (a * D).data,
        lambda a: a.sum(axis=0),
        lambda a: a.sum(axis=1),
        lambda a: grad(lambda a: np.sum((a @ X) ** 2))(a).data,
        lambda a: (a * B).data,
        lambda a: (B * a).data,
    ]
    for function in functions:
        with pytest.raises((ValueError, IndexError)):
            graph_jit(function)(a)


def test_positions_that_are_none():
    for position in (-1, 6):
        a = A.tocoo()
        a.coords[0][0] = position
        for function in (lambda a: a @ X, lambda a: a.toarray(), lambda a: a.tocsr().data, lambda a: (a * D).data):
            with pytest.raises((ValueError, IndexError)):
                graph_jit(function)(a)


REFUSED = {
    "an index of two dimensions of a csr_array": lambda a, b: a[[[0]]],
    "along an axis, with out=, or of complex numbers of a csr_array": lambda a, b: a.max(0),
    "argmax of a csr_array": lambda a, b: a.argmax(),
    "setdiag of a csr_array": lambda a, b: a.setdiag(1.0),
    "this comparison of two sparse arrays of a csr_array": lambda a, b: a == b,
    "a comparison with 1 of a csr_array": lambda a, b: a != 1,
    "a function of NumPy of a csr_array": lambda a, b: np.dot(a, X + b.data[0]),
    "quotient of sparse arrays": lambda a, b: a / b,
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_by_name(message):
    with pytest.raises(TypeError, match=message):
        graph_jit(REFUSED[message])(A, B)


def test_refused_arguments():
    product = graph_jit(lambda a: a @ X)
    for each in (sp.csr_matrix(A), A.todia(), A.tolil()):
        with pytest.raises(TypeError, match=r"scipy.sparse.csr_array\(A\)"):
            product(each)
    with pytest.raises(TypeError, match="of 3 dimensions is not supported"):
        product(A.tocoo().reshape((1, *A.shape)))
    with pytest.raises(TraceError, match="csr_matrix is not supported"):
        graph_jit(lambda x: sp.csr_matrix(A) @ x)(X)
    with pytest.raises(ShapeError, match="dimension mismatch"):
        product(A.T)


def test_nothing_is_imported_before():
    program = (
        "import sys, numbagraph; assert not [each for each in sys.modules if 'sparse' in each and 'trees' not in each]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
