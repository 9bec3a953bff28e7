"""Boolean masks: NumPy says what is selected, and what an error says."""

import warnings

import numpy as np
import pytest

import numbagraph.numpy as numbers
from numbagraph import cond, fori_loop, grad, graph_jit, hessian, jacfwd, scan, vmap

BACKENDS = ["numba", "numpy", "jax"]
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 9))
A, W = RNG.normal(size=(9, 4)), RNG.normal(size=4)
CUBE = RNG.normal(size=(3, 4, 5))
INTEGERS = np.array([3, 0, -2, 0, 5])


def changed(change):
    """A function of a copy, which a statement changes."""

    def function(x, *others):
        x = x.copy()
        change(x, *others)
        return x

    return function


def set_number(x):
    x[x > 0] = 3


def scale(x):
    x[x > 0] *= 2


def set_selected(x, y):
    x[x > 0] = y[x > 0]


def add_selected(x, y):
    m = y < 0.5
    x[m] += y[m] * 2 + np.sin(x[m])


def invert(x):
    x[x != 0] = 12 // x[x != 0]


def set_rows(x, y):
    x[y > 0] = np.arange(4.0)


def set_columns(x, w):
    x[:, w > 0] *= 2


def by_where(x, y):
    np.divide(y, x, out=x, where=x > 0)


def by_copyto(x, y):
    np.copyto(x, y, where=x > 0)
    np.copyto(x, 7, where=y > 0)


def by_putmask(x, y):
    np.putmask(x, x > 0, y)
    np.putmask(x, y > 0, np.array([10.0, 20.0]))


def by_place(x, y):
    np.place(x, x > 0, y[:2])
    np.place(x, y > 100, 5.0)


def twice(x):
    positive = x[x > 0]
    return positive[positive < 1].sum()


def twice_assigned(x):
    x = x.copy()
    part = x[x > 0]
    part[part < 1] *= 3
    x[x > 0] = part
    return x


def residuals(a, y, w):
    m = y > 0
    r = y[m] - a[m] @ w[: a.shape[1]]
    return r @ r, a[m].T @ r, a[m].T @ a[m]


REDUCED = {
    "sum": (lambda x: x[x > 0].sum(), X),
    "np.sum": (lambda x: np.sum(x[x > 0]), X),
    "mean": (lambda x: x[x > 0].mean(), X),
    "no mean": (lambda x: x[x > 100].mean(), X),
    "no sum": (lambda x: x[x > 100].sum(), X),
    "max": (lambda x: x[x < 0].max(), X),
    "min": (lambda x: x[x > 0].min(), X),
    "prod": (lambda x: x[x > 0].prod(), X),
    "any": (lambda x: (x[x > 0] > 1).any(), X),
    "all": (lambda x: (x[x > 0] > 1).all(), X),
    "std": (lambda x: np.std(x[x > 0]), X),
    "size": (lambda x: x[x > 0].size, X),
    "shape": (lambda x: x[x > 0].shape[0] * 2, X),
    "count_nonzero": (lambda x: np.count_nonzero(x[x > 0] > 1), X),
    "logarithms": (lambda x: np.log(x[x > 0]).sum(), X),
    "norm": (lambda x: np.linalg.norm(x[x > 0]), X),
    "two arrays": (lambda x, y: (x[y > 0] * y[y > 0]).sum(), X, Y),
    "product": (lambda x, y: x[y > 0] @ y[y > 0], X, Y),
    "with ones": (lambda x: (x[x > 0] + np.ones_like(x[x > 0])).sum(), X),
    "numbered": (lambda x: (x[x > 0] * numbers.arange(x[x > 0].size)).sum(), X),
    "running": (lambda x: np.cumsum(x[x > 0]).sum(), X),
    "twice": (twice, X),
    "integers": (lambda i: (12 // i[i != 0]).sum(), INTEGERS),
    "matrix": (lambda x: x[x > 0].sum(), A),
    "rows": (lambda x: x[x[:, 0] > 0].sum(axis=0), A),
    "rows and columns": (lambda x: (x[x[:, 0] > 0] ** 2).sum(axis=(0, 1)), A),
    "columns": (lambda x: x[:, x[0] > 0].sum(axis=1), A),
    "centred columns": (lambda x: (x[x[:, 0] > 0] - x[x[:, 0] > 0].mean(axis=0)).var(axis=0), A),
    "two dimensions": (lambda x: np.sin(x[x[:, :, 0] > 0]).sum(axis=0), CUBE),
    "last two dimensions": (lambda x: x[:, x[0] > 0].max(axis=-1), CUBE),
    "ellipsis": (lambda x: x[..., x[0, 0] > 0].sum(axis=-1), CUBE),
    "slices": (lambda x: x[1:, x[0, :, 0] > 0, ::-1].sum(axis=1), CUBE),
    "new axis": (lambda x: x[x > 0][:, None].sum(axis=0), X),
    "beside a number": (lambda x: x[x[:, 0] > 0, 1].sum(), A),
    "behind a number": (lambda x, i: x[i, x[0, :, 0] > 0].sum(axis=0), CUBE, np.int64(1)),
    "before a number": (lambda x: x[..., x[0, :, 0] > 0, 2].sum(axis=-1), CUBE),
    "least squares": (residuals, A, X, W),
}
ASSIGNED = {
    "number": (changed(set_number), X),
    "number in integers": (changed(set_number), INTEGERS),
    "number in a matrix": (changed(set_number), A),
    "scaled": (changed(scale), X),
    "scaled matrix": (changed(scale), CUBE),
    "selected": (changed(set_selected), X, Y),
    "selected of a matrix": (changed(set_selected), A, A[::-1]),
    "sum of selected": (changed(add_selected), X, Y),
    "division": (changed(invert), INTEGERS),
    "rows": (changed(set_rows), A, X),
    "columns": (changed(set_columns), A, W),
    "part of a column": (changed(lambda x: x.__setitem__((x[:, 0] > 0, 1), x[x[:, 0] > 0, 2] * 2)), A),
    "part of a row": (changed(lambda x: x.__setitem__((1, x[0] > 0), 7)), A),
    "columns of a slice": (changed(lambda x: x.__setitem__((slice(1, None), x[0] > 0), 7)), A),
    "twice": (twice_assigned, X),
    "where=": (changed(by_where), X, Y),
    "copyto": (changed(by_copyto), X, Y),
    "putmask": (changed(by_putmask), X, Y),
    "place": (changed(by_place), X, Y),
    "as many": (changed(lambda x, v: x.__setitem__(x > 0, v)), X, np.arange(float((X > 0).sum()))),
    "as many rows": (changed(lambda x, v: x.__setitem__(x[:, 0] > 0, v)), A, A[A[:, 0] > 0][::-1]),
    "one of many": (changed(lambda x, v: x.__setitem__(x > 0, v)), X, np.ones(1)),
    "none of none": (changed(lambda x, v: x.__setitem__(x > 100, v)), X, np.ones(0)),
}
M, ROWS = X > 0, A[:, 0] > 0
KNOWN = {
    "selected": (lambda x: x[M] * 2, X),
    "a list": (lambda x: x[[True, False] * 4 + [True]] * 2, X),
    "of rows": (lambda x: x[ROWS, 1], A),
    "of columns": (lambda x: x[1:, A[0] > 0], A),
    "of a matrix": (lambda x: x[A > 0], A),
    "beside positions": (lambda x: x[ROWS, np.array([0])], A),
    "none of some": (lambda x: x[np.zeros(0, bool)], X),
    "scaled": (changed(lambda x: x.__setitem__(M, x[M] * 2)), X),
    "array": (changed(lambda x: x.__setitem__(~M, np.arange(float((~M).sum())))), X),
    "nothing": (changed(lambda x: x.__setitem__(np.zeros(0, bool), 3.0)), A),
}


def agrees(backend, function, *arrays):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = function(*(each.copy() for each in arrays))
    found = graph_jit(function, backend=backend)(*arrays)
    for one, wanted in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True):
        assert type(one) is type(wanted)
        assert np.asarray(one).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(one, wanted, rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", REDUCED)
def test_selected_elements_that_are_reduced(name, backend):
    agrees(backend, *REDUCED[name])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ASSIGNED)
def test_assignment_to_selected_elements(name, backend):
    agrees(backend, *ASSIGNED[name])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", KNOWN)
def test_masks_that_are_known(name, backend):
    agrees(backend, *KNOWN[name])


@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_lengths(length):
    for function in (REDUCED["mean"][0], changed(scale), twice, changed(set_number)):
        agrees("numba", function, X[:length])
        agrees("numba", function, X[: 2 * length][::-2])


def test_no_memory_is_needed():
    for name in ("sum", "mean", "two arrays"):
        function, *arrays = REDUCED[name]
        assert not graph_jit(function)._introspection.program(tuple(arrays), {})[0].program.body.slots
    assert not graph_jit(changed(scale))._introspection.program((X,), {})[0].program.body.slots


# ---- derivatives and batches ----


def selected(x):
    return np.where(M, x, 1.0)


DERIVATIVES = {
    "sum": (lambda x: np.sum(np.sin(x[x > 0])), lambda x: np.where(M, np.cos(x), 0)),
    "logarithm": (lambda x: np.log(x[x > 0]).sum(), lambda x: np.where(M, 1 / selected(x), 0)),
    "mean": (lambda x: (x[x > 0] ** 2).mean(), lambda x: np.where(M, 2 * x / M.sum(), 0)),
    "max": (lambda x: x[x < 1].max(), lambda x: 1.0 * (x == x[x < 1].max())),
    "assigned": (lambda x: np.sum(changed(scale)(x) ** 2), lambda x: np.where(M, 8 * x, 2 * x)),
    "overwritten": (lambda x: np.sum(changed(set_number)(x) ** 2), lambda x: np.where(M, 0, 2 * x)),
    "root": (lambda x: np.sqrt(x[x > 0]).sum(), lambda x: np.where(M, 0.5 / np.sqrt(selected(x)), 0)),
}


def rooted(x):
    """A root whose derivative is infinite where nothing is computed."""
    y = np.zeros_like(x)
    np.sqrt(x, out=y, where=x > 0)
    return y.sum()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name, backend):
    function, derivative = DERIVATIVES[name]
    np.testing.assert_allclose(graph_jit(grad(function), backend=backend)(X), derivative(X), rtol=1e-12)


def test_derivatives_are_zero_where_nothing_is_selected():
    x = np.array([0.0, 4.0, 0.0, 1.0])
    for function in (lambda x: np.sqrt(x[x != 0]).sum(), rooted):
        np.testing.assert_array_equal(graph_jit(grad(function))(x), [0, 0.25, 0, 0.5])


def test_second_derivatives():
    def function(x):
        return (x[x > 0] ** 3).sum()

    expected = np.diag(np.where(M, 6 * X, 0))
    for second in (hessian(function), jacfwd(grad(function))):
        np.testing.assert_allclose(graph_jit(second)(X), expected, rtol=1e-12)


def test_what_is_assigned_has_a_derivative():
    def function(v, x):
        x = x.copy()
        x[x > 0] = v
        return (x**2).sum()

    v = np.arange(float(M.sum()))
    np.testing.assert_allclose(graph_jit(grad(function))(v, X), 2 * v, rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_batches(backend):
    mapped = graph_jit(vmap(lambda x: (x[x > 0].mean(), x[x > 0].size)), backend=backend)(A)
    np.testing.assert_allclose(mapped[0], [row[row > 0].mean() for row in A], rtol=1e-12)
    np.testing.assert_array_equal(mapped[1], (A > 0).sum(axis=1))
    derivative = graph_jit(vmap(grad(lambda x: np.log(x[x > 0]).sum())), backend=backend)(A)
    np.testing.assert_allclose(derivative, np.where(A > 0, 1 / np.where(A > 0, A, 1), 0), rtol=1e-12)
    scaled = graph_jit(vmap(changed(scale)), backend=backend)(A)
    np.testing.assert_array_equal(scaled, changed(scale)(A))


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_and_branches(backend):
    def total(x):
        return fori_loop(0, 3, lambda i, s: s + x[x > s].sum(), 0.0)

    def sums(x):
        return scan(lambda s, row: (s + row[row > 0].sum(), row[row > s].size), 0.0, x)

    def around(x, y):
        s = y[y > 0]
        return scan(lambda t, row: (t + row[row > 0].sum() * s.sum(), None), 0.0, x)[0]

    def chosen(x):
        return cond(x[0] > 0, lambda x: x[x > 0].sum(), lambda x: x[x < 0].sum(), x)

    s, sizes = 0.0, []
    for _ in range(3):
        s = s + X[s < X].sum()
    np.testing.assert_allclose(graph_jit(total, backend=backend)(X), s, rtol=1e-12)
    s = 0.0
    for row in A:
        sizes.append(row[row > s].size)
        s += row[row > 0].sum()
    found = graph_jit(sums, backend=backend)(A)
    np.testing.assert_allclose(found[0], s, rtol=1e-12)
    np.testing.assert_array_equal(found[1], sizes)
    np.testing.assert_allclose(graph_jit(around, backend=backend)(A, Y), s * Y[Y > 0].sum(), rtol=1e-12)
    for each in (X, -X):
        expected = each[each > 0].sum() if each[0] > 0 else each[each < 0].sum()
        np.testing.assert_allclose(graph_jit(chosen, backend=backend)(each), expected, rtol=1e-12)


# ---- errors ----


def numpy_error(function, *arrays):
    with pytest.raises(Exception) as expected:  # noqa: PT011  NumPy says which
        function(*arrays)
    return expected.value


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (lambda x: x[x > 100].max(), [X]),
        (lambda x, y: x[y > 0].sum(), [X, Y[:5]]),
        (lambda x, y: x[y > 0].sum(), [X, A]),
        (lambda x: x[np.ones(4, bool)], [X]),
    ],
)
def test_errors_are_numpy_s(function, arrays, backend):
    expected = numpy_error(function, *arrays)
    with pytest.raises(type(expected)) as found:
        graph_jit(function, backend=backend)(*arrays)
    assert str(expected) in str(found.value)
    assert __file__ in str(found.value)


def test_assigned_arrays_must_be_as_long():
    function = changed(lambda x, v: x.__setitem__(x > 0, v))
    for length in (0, 2, 20):
        with pytest.raises(ValueError, match=rf"cannot assign {length} input values to the output values .*\n.*at .*"):
            graph_jit(function)(X, np.ones(length))
        assert f"cannot assign {length} input values" in str(numpy_error(function, X, np.ones(length)))


def test_arrays_of_an_enclosing_scope():
    found, expected = np.zeros(9), np.zeros(9)
    for write in (lambda to, x: np.putmask(to, x > 0, x), lambda to, x: np.copyto(to, x)):
        graph_jit(lambda x, write=write: write(found, x))(X)
        write(expected, X)
        np.testing.assert_array_equal(found, expected)


def test_what_cannot_be_written_is_refused():
    with pytest.raises(TypeError, match=r"at .*test_masks\.py"):
        graph_jit(lambda x: np.copyto(x, x, where=x > 0), mutates=())(X)
    with pytest.raises(TypeError, match="cannot cast"):
        graph_jit(changed(lambda i: np.copyto(i, i * 0.5)))(INTEGERS)


def test_masks_beside_arrays_are_refused():
    for function in (
        lambda x: x[0, :, x[0, 0] > 0],
        lambda x: x[x[:, 0, 0] > 0, np.array([0, 1])],
        lambda x: x[x[:, 0, 0] > 0, x[0, :, 0] > 0],
    ):
        with pytest.raises(NotImplementedError, match=r"a boolean mask (beside|and)(.|\n)*at .*test_masks\.py"):
            graph_jit(function)(CUBE)


def test_lengths_that_differ_along_a_batch_are_refused():
    with pytest.raises(NotImplementedError, match=r"differs along the batch: .*x\[mask\]\.sum\(\)"):
        graph_jit(vmap(lambda x: x[x > 0]))(A)


def test_jax_has_no_such_lengths():
    with pytest.raises(NotImplementedError, match=r"follows from elements(.|\n)*np\.where\(mask, x, 0\)"):
        graph_jit(lambda x: x[x > 0], backend="jax")(X)
