"""Results that are written into arrays of the caller."""

from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from numbagraph import grad, graph_jit, value_and_grad

X = np.linspace(0.1, 1.0, 20)
BACKENDS = pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
CLOSE = 1e-12


@graph_jit
def affine(x, y):
    return x * 2 + y


def guarded(n=20, dtype=np.float64):
    """An array between two others, and what must not change around it."""
    memory = np.full(3 * n, 7, dtype)
    return memory[n : 2 * n], memory


# ---- values ----


@BACKENDS
@pytest.mark.parametrize(
    "function", [lambda x: x * 2, lambda x: np.cumsum(x), lambda x: x[::-1], lambda x: np.outer(x, x)]
)
def test_results_are_written(function, backend):
    f = graph_jit(function, backend=backend)
    expected = function(X)
    out = np.full(expected.shape, np.nan)
    for _ in range(3):
        out[...] = np.nan
        assert f(X, out=out) is out
        np.testing.assert_allclose(out, expected, rtol=CLOSE)


@BACKENDS
def test_trees(backend):
    pair = namedtuple("pair", ["left", "right"])

    def function(x):
        return {"total": np.sum(x), "both": pair(x + 1, (x > 0.5, [x * 2]))}

    f = graph_jit(function, backend=backend)
    out = {"total": np.empty(()), "both": pair(np.empty(20), (np.empty(20, bool), [np.empty(20)]))}
    for x in (X, X * 2, X[::-1]):
        assert f(x, out=out) is out
        expected = function(x)
        np.testing.assert_allclose(out["total"], expected["total"], rtol=CLOSE)
        np.testing.assert_allclose(out["both"].left, expected["both"].left, rtol=CLOSE)
        np.testing.assert_array_equal(out["both"].right[0], expected["both"].right[0])
        np.testing.assert_allclose(out["both"].right[1][0], expected["both"].right[1][0], rtol=CLOSE)


@BACKENDS
def test_tuples_and_results_that_are_given_twice(backend):
    f = graph_jit(lambda x: (np.sum(x), x * 2), backend=backend)
    out = (np.empty(()), np.empty(20))
    assert f(X, out=out) is out
    assert f(X, out=out) is out
    np.testing.assert_allclose(out[1], X * 2, rtol=CLOSE)

    def twice(x):
        y = x * 2
        return y, y

    out = (np.empty(20), np.empty(20))
    assert graph_jit(twice, backend=backend)(X, out=out) is out
    np.testing.assert_allclose(out, [X * 2] * 2, rtol=CLOSE)


@BACKENDS
@pytest.mark.parametrize("argument", [2.5, np.float64(2.5), np.array(2.5)])
def test_numbers(argument, backend):
    f, out = graph_jit(lambda x: x * 2, backend=backend), np.empty(())
    assert f(argument, out=out) is out
    assert f(argument, out=out) is out
    assert out == 5.0


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_dtypes(dtype):
    x = np.arange(6).astype(dtype)
    f, out = graph_jit(lambda x: np.where(x == x[3], x[::-1], x)), np.ones(6, dtype)
    for _ in range(2):
        assert f(x, out=out) is out
        np.testing.assert_array_equal(out, np.where(x == x[3], x[::-1], x))


def test_nothing_else_is_written():
    out, memory = guarded()
    affine(X, X, out=out)
    affine(X, X, out=out)
    np.testing.assert_array_equal(memory, np.concatenate([np.full(20, 7.0), X * 3, np.full(20, 7.0)]))


def test_other_lengths_layouts_and_dtypes_go_to_other_versions():
    for x in (X, X[:7], np.ones(1), np.ones((3, 4)), X.astype(np.float32), X[::2], np.zeros(0)):
        out = np.empty(x.shape, x.dtype)
        for _ in range(2):
            assert affine(x, x, out=out) is out
            np.testing.assert_array_equal(out, x * 2 + x)


def test_keywords_defaults_and_static_arguments():
    @graph_jit(static_argnames="power")
    def f(x, y=2.0, *, power=2):
        return x**power + y

    out = np.empty(20)
    for kwargs in ({}, {"y": 3.0}, {"power": 3}, {"y": X, "power": 1}):
        for _ in range(2):
            assert f(X, **kwargs, out=out) is out
            np.testing.assert_allclose(out, X ** kwargs.get("power", 2) + kwargs.get("y", 2.0), rtol=CLOSE)


def test_captured_arrays():
    weights = np.arange(20.0)
    f = graph_jit(lambda x: x * weights)
    for _ in range(2):
        np.testing.assert_array_equal(f(X, out=np.empty(20)), X * weights)
    expected = X * weights
    assert f(X, out=weights) is weights, "the function has a snapshot"
    np.testing.assert_array_equal(weights, expected)


def test_none_is_as_if_it_were_not_given():
    np.testing.assert_array_equal(affine(X, X, out=None), X * 3)


@BACKENDS
def test_a_function_may_have_an_argument_of_that_name(backend):
    f = graph_jit(lambda x, out: x + out, backend=backend)
    target = np.ones(20)
    np.testing.assert_allclose(f(X, out=target), X + 1, rtol=CLOSE)
    np.testing.assert_array_equal(target, np.ones(20))
    g = graph_jit(lambda x, **options: x + options["out"], backend=backend)
    np.testing.assert_allclose(g(X, out=target), X + 1, rtol=CLOSE)
    assert graph_jit(np.cumsum, backend=backend)(X, out=target) is target
    np.testing.assert_allclose(target, np.cumsum(X), rtol=CLOSE)
    with pytest.raises(TypeError, match=r"assignment into an argument.*copy"):
        graph_jit(np.cumsum, backend=backend, mutates=())(X, out=target)


def test_methods_gradients_and_parallel_functions():
    class Model:
        @graph_jit
        def scaled(self, x):
            return x * 3

    assert np.array_equal(Model().scaled(X, out=np.empty(20)), X * 3)
    f = graph_jit(value_and_grad(lambda x: np.sum(x**2)))
    out = (np.empty(()), np.empty(20))
    for _ in range(2):
        assert f(X, out=out) is out
        np.testing.assert_allclose(out[1], 2 * X, rtol=CLOSE)
    x, long = np.random.default_rng(0).random(500_000), np.empty(500_000)
    g = graph_jit(lambda x: np.sqrt(x) * 2, parallel=True)
    np.testing.assert_array_equal(g(x, out=long), g(x))
    np.testing.assert_array_equal(g(x, out=x), long)


# ---- memory that is shared ----


@BACKENDS
def test_over_an_argument(backend):
    f = graph_jit(lambda x, y: np.sqrt(x) + y, backend=backend)
    for _ in range(3):
        x, y = X.copy(), np.ones(20)
        assert f(x, y, out=x) is x
        np.testing.assert_allclose(x, np.sqrt(X) + 1, rtol=CLOSE)
        assert f(X, y, out=y) is y
        np.testing.assert_allclose(y, np.sqrt(X) + 1, rtol=CLOSE)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[::-1] * 1.0,
        lambda x: np.cumsum(x),
        lambda x: x - np.mean(x),
        lambda x: x + x[0],
        lambda x: np.roll(x, 1),
    ],
)
def test_over_an_argument_that_is_read_elsewhere(function):
    f = graph_jit(function)
    for _ in range(3):
        x = X.copy()
        assert f(x, out=x) is x
        np.testing.assert_allclose(x, function(X), rtol=CLOSE)


def test_over_an_argument_that_is_given_twice():
    f = graph_jit(lambda x, y: x + y[::-1])
    for _ in range(3):
        x = X.copy()
        assert f(x, x, out=x) is x
        np.testing.assert_array_equal(x, X + X[::-1])


def test_an_argument_over_which_nothing_is_copied():
    """The second call takes the memory of the argument, so nothing of the size of the result is allocated."""
    f = graph_jit(lambda x: x * 2)
    x = np.ones(1000)
    f(x, out=x)
    ((traced,),) = (group.values() for group in f.versions._traced.values())
    special = traced.specialisation
    writers = f._writers.into_array
    assert len(writers) == 2
    assert [write(x, x) is NotImplemented for write in writers] == [False, True]
    assert special.signature.results[0].donated is None


@pytest.mark.parametrize("shift", [-19, -5, -1, 1, 5, 19])
def test_memory_that_overlaps(shift):
    for _ in range(3):
        memory = np.arange(60.0)
        x, out = memory[20:40], memory[20 + shift : 40 + shift]
        expected = x * 2 + 1
        assert affine(x, 1.0, out=out) is out
        np.testing.assert_array_equal(out, expected)


def test_results_that_share_memory_with_each_other():
    f = graph_jit(lambda x: (x + 1, x + 2))
    memory = np.zeros((20, 2))
    columns = (memory[:, 0], memory[:, 1])
    for _ in range(2):
        assert f(X, out=columns) is columns
        np.testing.assert_array_equal(memory, np.stack([X + 1, X + 2], axis=1))
    same = np.empty(20)
    f(X, out=(same, same))
    np.testing.assert_array_equal(same, X + 2)


def test_a_result_beside_an_argument():
    memory = np.arange(40.0)
    x, out = memory[:20], memory[20:]
    for _ in range(2):
        assert affine(x, 1.0, out=out) is out
        np.testing.assert_array_equal(memory, np.concatenate([np.arange(20.0), np.arange(20.0) * 2 + 1]))


@pytest.mark.parametrize(
    "out",
    [
        np.empty(40)[::2],
        np.empty(20)[::-1],
        np.empty((20, 3))[:, 1],
        np.empty(20, ">f8"),
        np.empty(20, np.float32),
        np.empty(20, np.complex128),
        np.empty(20).view(np.memmap),
        np.frombuffer(bytearray(161), np.uint8)[1:].view(np.float64),
    ],
)
def test_arrays_that_results_are_copied_to(out):
    for _ in range(2):
        out[...] = 0
        assert affine(X, 1.0, out=out) is out
        np.testing.assert_array_equal(out, (X * 2 + 1).astype(out.dtype))


def test_fortran_order():
    x = np.arange(12.0).reshape(3, 4)
    out = np.empty((3, 4), order="F")
    for _ in range(2):
        assert affine(x, x, out=out) is out
        np.testing.assert_array_equal(out, x * 3)


def test_donated_arguments():
    f = graph_jit(lambda x: x * 2, donate_argnames="x")
    x, out = X.copy(), np.empty(20)
    for _ in range(2):
        x[...] = X
        assert f(x, out=out) is out
        np.testing.assert_array_equal(out, X * 2)
        x[...] = X
        assert f(x, out=x) is x
        np.testing.assert_array_equal(x, X * 2)


# ---- errors ----


def read_only():
    out = np.empty(20)
    out.flags.writeable = False
    return out


@BACKENDS
@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty(19), ValueError, r"out= of .* has shape \(19,\), and the result has shape \(20,\)"),
        (np.empty((20, 1)), ValueError, r"has shape \(20, 1\)"),
        (np.empty(()), ValueError, r"has shape \(\)"),
        (np.empty(20, int), TypeError, "has dtype int64, and the result has dtype float64"),
        (read_only(), ValueError, "is read-only"),
        ([1.0] * 20, ValueError, "is a list of 20 arrays or numbers, and the result is an array or a number: pass"),
        ((np.empty(20),), ValueError, "is a tuple of one array or number, and the result is an array"),
        ("x", TypeError, "must be made of arrays, and has a str"),
    ],
)
def test_what_is_no_place_for_the_result(out, error, message, backend):
    f = graph_jit(lambda x: x * 2, backend=backend)
    for _ in range(2):
        with pytest.raises(error, match=message):
            f(X, out=out)
    np.testing.assert_allclose(f(X), X * 2, rtol=CLOSE)


def test_nothing_is_written_where_one_place_is_wrong():
    f = graph_jit(lambda x: (x + 1, x + 2))
    good = np.zeros(20)
    for wrong in (np.empty(3), np.empty(20, int), read_only()):
        for _ in range(2):
            with pytest.raises((ValueError, TypeError)):
                f(X, out=(good, wrong))
    assert not good.any()


def test_a_result_that_is_the_same_in_each_call():
    with pytest.raises(TypeError, match="the same in each call"):
        graph_jit(lambda x: (x, 3))(X, out=(np.empty(20), np.empty(())))


def test_out_in_a_traced_function():
    with pytest.raises(TypeError, match="traced function"):
        graph_jit(lambda x: affine(x, x, out=np.empty(20)))(X)


def add_in_place(y, x):
    y += x


def add_to_a_slice(y, x):
    y[1:] += x[:-1]


def add_at_positions(y, x):
    y[np.array([2, 0, 1])] += x


def add_at_repeated_positions(y, x):
    np.add.at(y, np.array([1, 1, 2]), x)


def copy_to(y, x):
    np.copyto(y, x)


def add_with_out(y, x):
    np.add(x, 1, out=y)


WRITES = [add_in_place, add_to_a_slice, add_at_positions, add_at_repeated_positions, copy_to, add_with_out]


@pytest.mark.parametrize("write", WRITES, ids=lambda each: each.__name__)
def test_arrays_that_the_function_has_made_with_numpy(write):
    """Such an array is NumPy's own until something traced is written into it."""

    def function(x):
        y = np.ones(3)
        write(y, x)
        return y

    x = np.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(graph_jit(function)(x), function(x))
    weights = np.array([1.0, -3.0, 5.0])
    found = grad(lambda x: np.sum(weights * function(x)))(x)
    expected = [weights @ (function(x + each) - function(x)) for each in np.eye(3)]
    np.testing.assert_allclose(found, expected)


def test_arrays_of_enclosing_scopes_are_written_into():
    own = np.ones(3)

    def add(x):
        own[...] += x
        return x

    graph_jit(add)(np.arange(3.0))
    np.testing.assert_array_equal(own, [1, 2, 3])


def test_checks_that_fail():
    pick = graph_jit(lambda table, i: table[i])
    table, out = np.arange(5.0), np.empty(2)
    np.testing.assert_array_equal(pick(table, np.array([1, -1]), out=out), [1.0, 4.0])
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        pick(table, np.array([1, 9]), out=out)
    with pytest.raises(ValueError, match="could not be broadcast"):
        affine(np.ones(2), np.ones(3), out=np.empty(2))
    i = np.array([1, 9, 2])
    follow = graph_jit(lambda table, i: table[i])
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        follow(np.arange(5), i, out=i)
    np.testing.assert_array_equal(i, [1, 9, 2])


def test_calls_with_out_on_many_threads():
    f = graph_jit(lambda x, y: np.exp(x) * y)

    def work(seed):
        x, out = np.random.default_rng(seed).random(2000), np.empty(2000)
        return all(np.array_equal(f(x, 2.0, out=out), f(x, 2.0)) for _ in range(100))

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(work, range(6)))
