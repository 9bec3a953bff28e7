"""Results, and arrays on the way, whose length the data decide."""

import ctypes
import inspect
import threading

import numba
import numpy as np
import pytest

import numbagraph.numpy as numbers
from numbagraph import TraceError, cond, grad, graph_jit, scan, value_and_grad, vmap, while_loop

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(2, 9))
A = RNG.normal(size=(6, 4))
LABELS = RNG.integers(0, 5, 14)
COUNTS = np.array([1, 0, 3, 2, 0, 1, 0, 0, 2])
WITH_NAN = np.array([1.0, np.nan, 2.0, np.nan, 1.0])


def sorted_in_place(x):
    x = x.copy()
    x[x > 0] = np.sort(x[x > 0])
    return x


def from_elsewhere(x, y):
    x = x.copy()
    x[x > 0] = y[np.argsort(y)[: (x > 0).sum()]]
    return x


def from_a_result(x):
    """The length follows from an element that is computed twice, of an argument that is a result."""
    y = x * 2
    return x, y, x[int(abs(y[0])) :].sum()


FUNCTIONS = {
    "from a result": (from_a_result, X),
    "selected": (lambda x: x[x > 0], X),
    "none": (lambda x: x[x > 100], X),
    "one": (lambda x: x[x == x.max()], X),
    "all": (lambda x: x[x < 100], X),
    "function of selected": (lambda x: np.sin(x[x > 0]) * 2, X),
    "sorted": (lambda x: np.sort(x[x > 0]), X),
    "position": (lambda x: np.argmax(x[x > 0]), X),
    "several": (lambda x: (x[x > 0][0], x[x > 0][1:], x.sum(), x[x < 0]), X),
    "rows": (lambda x: x[x[:, 0] > 0], A),
    "columns": (lambda x: x[:, x[0] > 0], A),
    "matrix": (lambda x: x[x > 0], A),
    "product": (lambda x: x[x > 0][:, None] * x[x < 0], X),
    "joined": (lambda x, y: np.concatenate([x[x > 0], y[y > 0]]), X, Y),
    "one after the other": (lambda x: np.sort(x[x > 0])[np.sort(x[x > 0]) < 1], X),
    "reversed": (lambda x: x[::-1][x > 0], X[::-1]),
    "solved": (lambda a: np.linalg.solve(a[a[:, 0] != 0][:4], np.ones(4)), A),
    "assigned": (sorted_in_place, X),
    "assigned from elsewhere": (from_elsewhere, X, Y),
    "nonzero": (lambda x: np.nonzero(x > 0), X),
    "nonzero of a matrix": (lambda x: x.nonzero(), np.round(A)),
    "flatnonzero": (lambda x: np.flatnonzero(x > 0), A),
    "argwhere": (lambda x: np.argwhere(x > 0), A),
    "where": (lambda x: np.where(x > 0), A),
    "where as an index": (lambda x: x[np.where(x > 0)], A),
    "compress": (lambda x: np.compress(x > 0, x), X),
    "compress rows": (lambda x: x.compress(x[:, 0] > 0, axis=0), A),
    "compress by a list": (lambda x: np.compress([True, False, True], x), X),
    "extract": (lambda x: np.extract(x > 0, x), A),
    "delete": (lambda x: np.delete(x, x > 0), X),
    "delete rows": (lambda x: np.delete(x, x[:, 0] > 0, axis=0), A),
    "unique": (lambda i: np.unique(i), LABELS),
    "unique with all": (lambda i: np.unique(i, True, True, True), LABELS),
    "unique NaN": (lambda x: np.unique(x, return_counts=True), WITH_NAN),
    "unique NaNs": (lambda x: np.unique(x, equal_nan=False), WITH_NAN),
    "unique of nothing": (lambda i: np.unique(i, True, True, True), LABELS[:0]),
    "unique of a matrix": (lambda i: np.unique(i, return_inverse=True), LABELS.reshape(2, 7)),
    "unique truth values": (lambda i: np.unique(i > 2), LABELS),
    "repeat": (lambda x, c: np.repeat(x, c), X, COUNTS),
    "repeat nothing": (lambda x, c: np.repeat(x, c), X[:0], COUNTS[:0]),
    "repeat never": (lambda x, c: np.repeat(x, c * 0), X, COUNTS),
    "repeat rows": (lambda x, c: np.repeat(x, c[:6], axis=0), A, COUNTS),
    "repeat columns": (lambda x: np.repeat(x, [1, 2, 0, 3], axis=1), A),
    "repeat and add": (lambda x, c: np.repeat(x, c).sum() * 2, X, COUNTS),
    "length from an element": (lambda x, c: x[: c.max()] * 2, X, COUNTS),
}


def same(found, expected):
    found, expected = (each if isinstance(each, tuple) else (each,) for each in (found, expected))
    for one, wanted in zip(found, expected, strict=True):
        assert type(one) is type(wanted)
        assert one.dtype == wanted.dtype
        np.testing.assert_allclose(one, wanted, rtol=1e-12)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results(name, backend):
    function, *arrays = FUNCTIONS[name]
    before = [each.copy() for each in arrays]
    compiled = graph_jit(function, backend=backend)
    for _ in range(2):
        same(compiled(*arrays), function(*arrays))
    np.testing.assert_equal(arrays, before)


def test_one_version_serves_all_lengths():
    function = FUNCTIONS["several"][0]
    compiled = graph_jit(lambda x: (x[x > 0], np.sort(x[x < 0]), np.cumsum(x[x > 0]) * 2))
    for number in (2, 3, 7, 100, 0, 5):
        for x in (RNG.normal(size=number), np.ones(number), -np.ones(number)):
            same(compiled(x), (x[x > 0], np.sort(x[x < 0]), np.cumsum(x[x > 0]) * 2))
    assert compiled.cache_info().versions == 1
    several = graph_jit(function)
    with pytest.raises(IndexError, match=r"out of bounds"):
        several(-np.ones(3))


def test_layouts():
    compiled = graph_jit(lambda x: x[x > 0] * 2)
    for x in (X[::2], X[::-1], A.T, A[:, 1], np.asfortranarray(A), A.astype(np.float32), X[:1], A[:1], X.astype(">f8")):
        same(compiled(x), x[x > 0] * np.asarray(2, x.dtype.newbyteorder("=")))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f4", "f8", "c8", "c16"])
def test_elements_under_masks_of_many_lengths(dtype):
    compiled = graph_jit(lambda x, mask: (x[mask], np.delete(x, mask)))
    for length in (0, 1, 7, 8, 9, 16, 31, 100):
        x = RNG.integers(-9, 9, length).astype(dtype)
        ends = np.arange(length) < length // 2, np.arange(length) >= length // 2
        for mask in (RNG.random(length) < 0.5, np.ones(length, bool), np.zeros(length, bool), *ends):
            same(compiled(x, mask), (x[mask], x[~mask]))


def test_derivatives_by_elements_under_a_mask():
    """Of selected elements alone, also where a function of others is infinite."""
    mask = X > 0
    weighted = graph_jit(grad(lambda x, mask: (np.cumsum(x[mask]) ** 2).sum()))
    totals = np.cumsum(X[mask])
    expected = np.zeros_like(X)
    expected[mask] = 2 * np.cumsum(totals[::-1])[::-1]
    np.testing.assert_allclose(weighted(X, mask), expected, rtol=1e-12)
    roots = graph_jit(grad(lambda x: np.sort(np.sqrt(x[x > 0])).sum()))(np.maximum(X, 0.0))
    np.testing.assert_allclose(roots[mask], 0.5 / np.sqrt(X[mask]), rtol=1e-12)
    assert (roots[~mask] == 0).all()


def test_results_are_the_caller_s():
    compiled = graph_jit(lambda x: (x[x > 0], x[x > 0]))
    first, second = compiled(X)
    first[...] = 0
    same(second, X[X > 0])
    same(compiled(X), (X[X > 0],) * 2)


def test_derivatives():
    def function(x):
        return np.sum(np.sort(x[x > 0]) * numbers.arange(x[x > 0].size))

    positive = np.zeros_like(X)
    positive[X > 0] = np.argsort(np.argsort(X[X > 0]))
    value, gradient = graph_jit(value_and_grad(function))(X)
    np.testing.assert_allclose(value, (np.sort(X[X > 0]) * np.arange((X > 0).sum())).sum(), rtol=1e-12)
    np.testing.assert_allclose(gradient, positive, rtol=1e-12)
    gradient = graph_jit(grad(lambda x, c: (np.repeat(x, c) ** 2).sum()))(X, COUNTS)
    np.testing.assert_allclose(gradient, 2 * X * COUNTS, rtol=1e-12)


def test_out():
    compiled = graph_jit(lambda x: x[x > 0])
    out = np.empty((X > 0).sum())
    assert compiled(X, out=out) is out
    np.testing.assert_array_equal(out, X[X > 0])
    with pytest.raises(ValueError, match=r"out= .* has shape \(9,\), and the result has shape"):
        compiled(X, out=np.empty(9))


def divided(x):
    return {"selected": [x[x > 0]], "rest": x[~(x > 0)]}


def test_trees_donations_and_threads():
    compiled = graph_jit(divided, donate_argnames="x", parallel=True)
    found = compiled(X.copy())
    same((found["selected"][0], found["rest"]), (X[X > 0], X[~(X > 0)]))
    failed = []

    def many():
        for size in [*range(50)] * 4:
            x = np.linspace(-1.0, 1.0, size)
            if not np.array_equal(compiled(x)["rest"], x[~(x > 0)]):
                failed.append(size)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed


LIMIT = 0.5


def test_what_the_function_reads_is_looked_at(monkeypatch):
    compiled = graph_jit(lambda x: x[x > LIMIT])
    same(compiled(X), X[X > 0.5])
    monkeypatch.setitem(globals(), "LIMIT", -0.5)
    same(compiled(X), X[X > -0.5])


def test_it_is_explained():
    compiled = graph_jit(lambda x: np.sort(x[x > 0]))
    text = compiled.explain(X)
    assert "program 1 of 2" in text
    assert "program 2 of 2" in text
    assert compiled.llvm(X).count("target triple") == 2


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_errors(backend):
    repeat = graph_jit(lambda x, c: np.repeat(x, c), backend=backend)
    with pytest.raises(ValueError, match=r"repeats may not contain negative values(.|\n)*at .*test_late_lengths\.py"):
        repeat(X, COUNTS - 1)
    with pytest.raises(ValueError, match=r"could not (be )?broadcast"):
        repeat(X, COUNTS[:4])
    with pytest.raises(IndexError, match=r"out of bounds(.|\n)*at .*test_late_lengths\.py"):
        graph_jit(lambda x, i: x[x > 0][i], backend=backend)(X, np.array([100]))
    with pytest.raises(ValueError, match="either both or neither"):
        graph_jit(lambda x: np.where(x > 0, x), backend=backend)(X)
    with pytest.raises(ValueError, match="0d arrays"):
        graph_jit(lambda x: np.nonzero(x.sum()), backend=backend)(X)
    with pytest.raises(ValueError, match=r"sum_of|broadcast|differ|fit"):
        graph_jit(lambda x, y: x[x > 0] + y, backend=backend)(X, np.ones(3))


@pytest.mark.parametrize("found", [np.intersect1d, np.union1d, lambda x, y: np.sort(x[x > 2])[y[y > 2].argsort()]])
def test_lengths_that_a_condition_alone_depends_on(found):
    """Of elements that are looked at or written, and that no result uses."""

    def looked_at(labels, x):
        found(labels, labels)[1]
        return x * 2

    def written(labels, x):
        common = found(labels, labels)
        common[1] -= 3
        return x * 2

    for function in (looked_at, written):
        compiled = graph_jit(function)
        for labels in (LABELS, LABELS[:0], np.full(3, 4), LABELS):
            try:
                expected = function(labels, X)
            except IndexError as error:
                with pytest.raises(IndexError, match=str(error)):
                    compiled(labels, X)
            else:
                np.testing.assert_array_equal(compiled(labels, X), expected)


def test_for_native_callers_lengths_must_be_known():
    compiled = graph_jit(lambda x: x[x > 0])
    with pytest.raises(ValueError, match=r"follows from elements(.|\n)*native callers"):
        compiled.address(X)
    with pytest.raises(ValueError, match="follows from elements"):
        numba.njit(lambda x: compiled(x))(X)
    reduced = graph_jit(lambda x: x[x > 0].sum())
    np.testing.assert_allclose(numba.njit(lambda x: reduced(x))(X), X[X > 0].sum(), rtol=1e-12)
    result = np.empty(())
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    assert prototype(reduced.address(X))(X.ctypes.data, X.size, result.ctypes.data) == 0
    np.testing.assert_allclose(result, X[X > 0].sum(), rtol=1e-12)


def of_rows(function):
    """For each row of an array what a function makes of it, and of its number."""
    return lambda x, a: scan(lambda number, row: (number + 1, function(x, row, number)), 0, a)[1]


INSIDE = {
    "length of positions": of_rows(lambda x, row, i: np.nonzero(row > 0)[0].shape[0]),
    "size": of_rows(lambda x, row, i: row[row > 0].size),
    "unique": of_rows(lambda x, row, i: np.unique(row).sum()),
    "repeat": of_rows(lambda x, row, i: np.repeat(row, np.arange(4)).sum()),
    "a slice to the step": of_rows(lambda x, row, i: x[:i].sum()),
    "a slice to the step, sorted": of_rows(lambda x, row, i: np.sort(x[: i + 1])[0]),
    "sum of what is selected outside": lambda x, a: of_rows(lambda y, row, i: y.sum() * row[0])(x[x > 0], a),
    "selected outside": lambda x, a: of_rows(lambda y, row, i: np.sort(y)[i % 2] * row[0])(x[x > 0], a),
    "selected outside, in part": lambda x, a: of_rows(lambda y, row, i: np.cumsum(y[1:])[-1] + row[0])(x[x > 0], a),
    "a length of two": lambda x, a: of_rows(lambda y, row, i: (y + np.sort(y)).sum())(x[x > 0], a),
    "carried": lambda x, a: scan(lambda y, row: (y + row[0], y.max()), x[x > 0], a),
    "stacked": lambda x, a: scan(lambda y, row: (y + row[0], y), x[x > 0], a)[1],
    "until": lambda x, a: while_loop(lambda y: y.sum() > 1, lambda y: np.sort(y)[::-1] / 2, x[x > 0]),
    "loop in a loop": lambda x, a: of_rows(
        lambda y, row, i: scan(lambda t, v: (t * 0.5 + v + np.sort(y)[0] * row[0], None), 0.0, y)[0]
    )(x[x > 0], a),
    "branch": lambda x, a: cond(a[0, 0] > 0, lambda y: np.sort(y)[0], lambda y: y.max(), x[x > 0]),
    "a branch of that length": lambda x, a: cond(a[0, 0] > 0, np.sort, lambda y: y, x[x > 0]),
    "batch": lambda x, a: vmap(lambda y: y * a[0, 0])(x[x > 0]),
    "batch of sums": lambda x, a: vmap(lambda row: np.flatnonzero(row > 0).sum())(a),
    "derivative": lambda x, a: grad(lambda x: scan(lambda t, v: (t * 0.5 + v**2, None), 0.0, x[x > 0])[0])(x),
    "derivative by what is carried": lambda x, a: grad(
        lambda x: scan(lambda y, row: (y * row[0], None), x[x > 0], a)[0].sum()
    )(x),
}


@pytest.mark.parametrize("name", INSIDE)
def test_inside_of_loops_and_branches(name):
    """Native code against the NumPy interpreter, which has no phases, and against steps that Python takes."""
    function = INSIDE[name]
    compiled, plain = graph_jit(function), graph_jit(function, backend="numpy")
    for x in (X, X[::-1], -X, np.abs(X)):
        for one, other in zip(each_of(compiled(x, A)), each_of(plain(x, A)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def each_of(found):
    return found if isinstance(found, tuple) else (found,)


def test_inside_of_loops_as_python_would():
    x, a = np.array([3.0, -1.0, 2.0]), np.array([[1.0, 0.0], [2.0, 5.0]])
    found = {name: graph_jit(function)(x, a) for name, function in INSIDE.items() if name != "repeat"}
    assert found["selected outside"].tolist() == [2.0, 6.0]
    assert found["selected outside, in part"].tolist() == [3.0, 4.0]
    assert [each.tolist() for each in found["carried"]] == [[6.0, 5.0], [3.0, 4.0]]
    assert found["stacked"].tolist() == [[3.0, 2.0], [4.0, 3.0]]
    assert found["until"].tolist() == [0.375, 0.25]
    assert found["a branch of that length"].tolist() == [2.0, 3.0]
    assert found["a slice to the step, sorted"].tolist() == [3.0, -1.0]
    assert found["derivative"].tolist() == [3.0, 0.0, 4.0]
    assert found["derivative by what is carried"].tolist() == [2.0, 0.0, 2.0]
    assert found["loop in a loop"].tolist() == [3.5 + 3.0, 3.5 + 6.0]


def line(offset):
    return inspect.currentframe().f_back.f_lineno + offset


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
def test_what_is_refused_inside_of_loops_is_located(backend):
    def stacks(a):
        return scan(lambda s, row: (s, row[row > 0]), 0.0, a)[1]

    with pytest.raises(TraceError, match=rf"depends on the step: reduce(.|\n)*at .*:{line(-2)}\b"):
        graph_jit(stacks, backend=backend)(A)

    def in_a_batch(a):
        return vmap(lambda row: np.sort(row[row > 0]))(a)

    with pytest.raises(NotImplementedError, match=rf"along the batch: reduce(.|\n)*at .*:{line(-2)}\b"):
        graph_jit(in_a_batch, backend=backend)(A)
    if backend != "jax":
        return

    def sorts(a):
        return scan(lambda s, row: (s, np.sort(row[row > 0])[0]), 0.0, a)[1]

    with pytest.raises(NotImplementedError, match=rf"computed here(.|\n)*at .*:{line(-2)}\b") as caught:
        graph_jit(sorts, backend=backend)(A)
    text = f"{caught.value} {getattr(caught.value, '__notes__', '')}"
    assert "x[mask].sum()" in text

    def in_a_branch(a):
        return cond(a[0, 0] > 0, lambda: np.sort(a[a > 0])[0], lambda: 0.0)

    with pytest.raises(NotImplementedError, match=rf"computed here(.|\n)*at .*:{line(-2)}\b"):
        graph_jit(in_a_branch, backend=backend)(A)


def sorted_in_a_scan(a):
    return scan(lambda s, row: (s + np.sort(row[row > 0])[0], np.sort(row[row > 0])[-1]), 0.0, a)


def sorted_in_a_branch(a):
    return cond(a[0, 0] > 0, lambda: np.sort(a[a > 0])[0], lambda: np.sort(a[a < 0])[-1])


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_lengths_that_a_step_or_a_branch_decides(backend):
    rows = [np.sort(row[row > 0]) for row in np.abs(A)]
    total, last = graph_jit(sorted_in_a_scan, backend=backend)(np.abs(A))
    np.testing.assert_allclose(total, sum(row[0] for row in rows), rtol=1e-14)
    np.testing.assert_array_equal(last, [row[-1] for row in rows])
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 0"):
        graph_jit(sorted_in_a_scan, backend=backend)(-np.abs(A))
    for a in (A, -A):
        expected = np.sort(a[a > 0])[0] if a[0, 0] > 0 else np.sort(a[a < 0])[-1]
        assert graph_jit(sorted_in_a_branch, backend=backend)(a) == expected


def test_gradients_with_lengths_that_a_step_decides():
    def middle(a):
        return scan(lambda s, row: (s + np.sort(row[row > 0])[0] ** 2, None), 0.0, a)[0]

    positive = np.abs(A)
    expected = np.where(positive == positive.min(axis=1, keepdims=True), 2 * positive, 0)
    np.testing.assert_allclose(grad(middle)(positive), expected, rtol=1e-14)


def test_lengths_that_do_not_fit_in_a_loop_are_an_error():
    """A body is traced more than once: its second trace finds the nodes of the first."""

    def function(x, k, n):
        total = 0.0
        for _ in range(n):
            total += (x[k:] + x[:k]).sum()
        return total

    compiled, x = graph_jit(function), np.arange(6.0)
    assert compiled(x, 3, 2) == function(x, 3, 2)
    assert compiled(x, 2, 0) == 0.0
    with pytest.raises(ValueError, match="could not be broadcast"):
        compiled(x, 2, 2)


def chosen_array(x):
    if x.sum() > 0:
        return x[x > 0]
    return np.zeros(2)


def chosen_list(x):
    if x.sum() > 0:
        return [v for v in x if v > 0]
    return None


def list_or_another(x):
    if x.sum() > 0:
        return [v for v in x if v > 0]
    return [2 * v for v in x if v < 0]


@pytest.mark.parametrize("x", [np.arange(-1.0, 4), np.arange(-4.0, 1), np.zeros(3)])
@pytest.mark.parametrize("function", [chosen_array, chosen_list, list_or_another])
def test_branches_select_arrays_and_lists_of_several_lengths(function, x):
    found, expected = graph_jit(function)(x), function(x)
    assert type(found) is type(expected)
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("x", [np.arange(-1.0, 4), np.arange(-4.0, 1)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[(x > 0) & (x.sum() > 0)],
        lambda x: [v for v in x if x.sum() > 0 and v > 0],
        lambda x: [v for v in x if v > 0] if x.sum() > 0 else [],
    ],
)
def test_what_to_write_instead(function, x):
    found, expected = graph_jit(function)(x), function(x)
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found, expected)
