"""Python functions that compiled code calls."""

import ctypes
import gc
import os
import re
import sys
import threading
import time

import numba
import numpy as np
import pytest
from scipy import integrate

from numbagraph import (
    Abstract,
    TraceError,
    cond,
    fori_loop,
    grad,
    graph_jit,
    gufunc,
    hessian,
    jvp,
    pure_callback,
    scan,
    stop_gradient,
    vmap,
    while_loop,
)

X = np.arange(3.0)
NUMBER = Abstract(())
BACKENDS = ["numba", "numpy", "jax"]


class Counted:
    """A function that keeps what it is given."""

    def __init__(self, function=np.sin):
        self.function = function
        self.given = []

    def __call__(self, *args):
        self.given.append(args)
        return self.function(*args)


SINES = (np.sin, np.cos, lambda x: -np.sin(x))


def sine(x, order=0):
    slope = lambda g, y, x: (g * sine(x, order + 1),)  # noqa: E731
    return pure_callback(SINES[order], x, x, vjp=slope)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "f", "d", "F", "D"])
def test_all_dtypes_and_ranks(backend, dtype):
    f = graph_jit(lambda *xs: pure_callback(lambda *xs: xs[::-1], xs[::-1], *xs), backend=backend)
    xs = [np.ones((2, 3, 2), dtype)[:, ::-1], np.arange(4).astype(dtype), np.dtype(dtype).type(1)]
    for found, expected in zip(f(*xs), xs[::-1], strict=True):
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("x", [X, X[:0], np.arange(10.0)[::-2], np.asfortranarray(np.ones((2, 3))), np.ones((2, 0, 3))])
def test_layouts_and_lengths(x):
    np.testing.assert_array_equal(graph_jit(lambda x: pure_callback(np.sin, x, x) + 1)(x), np.sin(x) + 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_that_are_views(backend):
    views = lambda x: (x.T, x[::-1, ::2], np.broadcast_to(x[0], (2, 4)))  # noqa: E731
    x = np.arange(12.0).reshape(3, 4)
    f = graph_jit(lambda x: pure_callback(views, views(x), x), backend=backend)
    for found, expected in zip(f(x), views(x), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_lengths_that_are_traced(backend):
    def outer(x, y, n):
        shape = Abstract((x.shape[0], 2, y.shape[0] + 1))
        return pure_callback(lambda x, y: np.outer(x, y).sum() + np.ones((len(x), 2, len(y) + 1)), shape, x, y)

    f = graph_jit(outer, backend=backend)
    for n in (3, 5):
        x, y = np.arange(float(n)), np.arange(4.0)
        np.testing.assert_array_equal(f(x, y, 2), np.full((n, 2, 5), np.outer(x, y).sum() + 1))
    np.testing.assert_array_equal(
        vmap(outer, in_axes=(0, None, None))(np.ones((2, 3)), X, 1), np.full((2, 3, 2, 4), 10.0)
    )


def test_trees_and_numbers():
    def python(tree, n, x):
        assert type(n) is np.int64
        assert type(x) is np.float64
        assert sorted(tree) == ["a", "b"]
        return {"sum": tree["a"] * n, "rest": [tree["b"] + np.float32(x)]}

    f = graph_jit(
        lambda a, n: pure_callback(python, {"rest": [Abstract((2,), np.float32)], "sum": a}, {"b": b, "a": a}, n, 2.5)
    )
    b = np.ones(2, np.float32)
    found = f(X, 3)
    np.testing.assert_array_equal(found["sum"], X * 3)
    np.testing.assert_array_equal(found["rest"][0], np.full(2, 3.5, np.float32), strict=True)


def test_what_is_given_is_a_copy():
    def python(x):
        kept.append(x)
        x += 100
        return x

    kept = []
    f = graph_jit(lambda x: (pure_callback(python, x, x), x * 1, pure_callback(python, x, x * 2)))
    x = np.arange(1000.0)
    results = f(x)
    np.testing.assert_array_equal(x, np.arange(1000.0))
    for found, expected in zip(results, (x + 100, x, x * 2 + 100), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert not any(np.shares_memory(found, each) for each in kept)
    f(-x)
    assert sorted(each[1] for each in kept) == [98.0, 99.0, 101.0, 102.0]


def test_unused_ones_are_not_called_and_equal_ones_once():
    counted = Counted()
    assert graph_jit(lambda x: (pure_callback(counted, x, x), x + 1)[1])(X)[0] == 1
    assert not counted.given
    graph_jit(lambda x: pure_callback(counted, x, x) + pure_callback(counted, x, x))(X)
    assert len(counted.given) == 1
    f = graph_jit(lambda: pure_callback(counted, Abstract((3,)), X))  # captured alone
    for _ in range(3):
        np.testing.assert_array_equal(f(), np.sin(X))
    assert len(counted.given) == 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_and_branches_call_in_the_steps_that_run(backend):
    def of(function):
        counted.given.clear()
        return graph_jit(function, backend=backend)

    counted = Counted(lambda x: x * 2)
    call = lambda x: pure_callback(counted, x, x)  # noqa: E731
    total, each = of(lambda x: scan(lambda c, e: (c + call(e), c), 0.0, x))(X)
    assert (total, list(each)) == (6.0, [0.0, 0.0, 2.0])
    assert [given for (given,) in counted.given] == [0.0, 1.0, 2.0]
    np.testing.assert_array_equal(of(lambda x, n: fori_loop(0, n, lambda i, c: call(c), x))(X, 3), X * 8)
    assert len(counted.given) == 3
    assert of(lambda x, n: fori_loop(0, n, lambda i, c: c + call(x)[0], 1.0))(X, 0) == 1.0
    assert not counted.given
    assert of(lambda x: while_loop(lambda c: call(c) < 9, lambda c: c + 1, x))(0.0) == 5.0
    assert len(counted.given) == 6
    choose = of(lambda p, x: cond(p, call, lambda x: x, x))
    np.testing.assert_array_equal(choose(False, X), X)
    assert not counted.given
    np.testing.assert_array_equal(choose(True, X), X * 2)
    assert len(counted.given) == 1


def test_batches():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(2.0)
    counted = Counted(lambda x, y: x * 10 + y)
    found = vmap(lambda x, y: pure_callback(counted, x, x, y))(x, y)
    np.testing.assert_array_equal(found, x * 10 + y[:, None])
    assert [(each.shape, type(number)) for each, number in counted.given] == [((3,), np.float64)] * 2
    counted.given.clear()
    for method, shapes in (("expand_dims", [(2, 3), (1,)]), ("broadcast_all", [(2, 3), (2,)])):
        once = Counted(lambda x, y: x * 10 + y[:, None])
        f = vmap(lambda x, y: pure_callback(once, x, x, y, vmap_method=method), in_axes=(0, None))  # noqa: B023
        np.testing.assert_array_equal(f(x, 1.0), x * 10 + 1)
        assert [np.shape(each) for (given) in once.given for each in given] == shapes
    elements = vmap(lambda x: cond(x > 0, lambda x: pure_callback(np.sqrt, x, x), lambda x: x, x))
    np.testing.assert_array_equal(elements(np.array([4.0, -1.0])), [2.0, -1.0])
    two = vmap(lambda x: pure_callback(lambda x: (x[::-1], x.sum()), (x, NUMBER), x))
    for found, expected in zip(two(x), (x[:, ::-1], x.sum(axis=1)), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert two(x[:0])[1].shape == (0,)


def test_inside_of_other_functions():
    @gufunc("(n)->()")
    def largest(x):
        return pure_callback(lambda x: np.max(x), Abstract((), x.dtype), x)

    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(largest(x), [2.0, 5.0])
    inner = graph_jit(lambda x: pure_callback(np.sin, x, x))
    np.testing.assert_array_equal(graph_jit(lambda x: inner(x) + 1)(X), np.sin(X) + 1)
    np.testing.assert_array_equal(pure_callback(np.sin, X, X), np.sin(X))
    large = np.linspace(0, 1, 10**6)
    f = graph_jit(lambda x: np.sum(pure_callback(np.sin, x, x) + np.cos(x)), parallel=True)
    np.testing.assert_allclose(f(large), np.sum(np.sin(large) + np.cos(large)))


# ---- derivatives ----


@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives(backend):
    total = lambda x: np.sum(sine(x) ** 2)  # noqa: E731
    np.testing.assert_allclose(graph_jit(grad(total), backend=backend)(X), np.sin(2 * X))
    np.testing.assert_allclose(graph_jit(hessian(total), backend=backend)(X), np.diag(2 * np.cos(2 * X)), atol=1e-15)
    value, slope = graph_jit(lambda x: jvp(sine, (x,), (x,)), backend=backend)(X)
    np.testing.assert_allclose(value, np.sin(X))
    np.testing.assert_allclose(slope, X * np.cos(X))
    steps = graph_jit(grad(lambda x: scan(lambda c, e: (c * sine(e), c), 1.0, x)[0]), backend=backend)
    x = X + 1
    np.testing.assert_allclose(steps(x), np.prod(np.sin(x)) * np.cos(x) / np.sin(x))
    rows = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(graph_jit(vmap(grad(total)), backend=backend)(rows), np.sin(2 * rows))
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(sine)(x)))(rows), np.cos(rows))


def test_a_derivative_of_trees():
    def weighted(x, n, tree):
        def rule(g, y, x, n, tree):
            np.testing.assert_equal(y[1].shape, ())
            return g[0] * tree["w"] + g[1], None, {"w": g[0] * x}

        types = (x, Abstract(()))
        return pure_callback(lambda x, n, tree: (x * tree["w"], x.sum()), types, x, n, tree, vjp=rule)

    f = lambda x, w: np.sum(weighted(x, 3, {"w": w})[0] ** 2) + weighted(x, 3, {"w": w})[1]  # noqa: E731
    gx, gw = grad(f, (0, 1))(X, X + 1)
    np.testing.assert_allclose(gx, 2 * X * (X + 1) ** 2 + 1)
    np.testing.assert_allclose(gw, 2 * X**2 * (X + 1))


def test_a_solver_of_differential_equations():
    def decay(rate):
        return integrate.solve_ivp(lambda t, y: -rate * y, (0, 1), [1.0], rtol=1e-10, atol=1e-12).y[0, -1]

    rule = lambda g, y, rate: (-g * y,)  # noqa: E731
    loss = graph_jit(lambda rate: np.log(pure_callback(decay, NUMBER, rate, vjp=rule)) ** 2)
    np.testing.assert_allclose([loss(2.0), grad(loss)(2.0)], [4.0, 4.0], rtol=1e-7)


def test_no_derivative():
    with pytest.raises(NotImplementedError, match=r"(?s)sin.*give pure_callback its vjp.*test_callbacks"):
        grad(lambda x: np.sum(pure_callback(np.sin, x, x)))(X)
    with pytest.raises(TypeError, match="gave 2 cotangents for 1"):
        grad(lambda x: np.sum(pure_callback(np.sin, x, x, vjp=lambda g, y, x: (g, g))))(X)


def test_no_derivative_is_needed_of_what_is_constant():
    def called(x):
        return pure_callback(np.sin, x, x)

    np.testing.assert_array_equal(grad(lambda x: np.sum(called(stop_gradient(x)) * x))(X), np.sin(X))
    np.testing.assert_array_equal(grad(lambda x: np.sum(called(np.floor(x)) * x))(X + 0.5), np.sin(X))
    np.testing.assert_array_equal(jvp(lambda x: called(stop_gradient(x)) + x, (X,), (X,))[1], X)
    np.testing.assert_array_equal(
        hessian(lambda x: np.sum(called(np.floor(x)) * x**2))(X + 0.5), np.diag(2 * np.sin(X))
    )


# ---- errors ----


class Own(Exception):
    def __init__(self, number, text):
        super().__init__(number, text)


@pytest.mark.parametrize("error", [KeyError("x"), Own(1, "a"), KeyboardInterrupt(), SystemExit(3), StopIteration(1)])
@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("where", ["straight", "loop", "branch", "vmap", "out"])
def test_an_exception_reaches_the_caller(error, backend, where):
    def failing(x):
        if np.sum(x) > 1:
            raise error
        return x

    call = lambda x: pure_callback(failing, x, x)  # noqa: E731
    function = {
        "straight": call,
        "out": call,
        "loop": lambda x: scan(lambda c, e: (c + call(e), c), 0.0, x)[1],
        "branch": lambda x: cond(x[1] > 0, call, lambda x: x, x),
        "vmap": vmap(call),
    }[where]
    f = graph_jit(function, backend=backend)
    assert f(X * 0)[0] == 0
    error.__notes__ = []
    target = np.zeros(3)
    with pytest.raises(type(error)) as caught:
        f(X, out=target) if where == "out" else f(X)
    assert caught.value is error
    assert caught.value.__cause__ is None
    assert "failing" in [each.name for each in caught.traceback]
    note, *_ = error.__notes__  # NumPy's run adds the step, and the operation
    line = failing.__code__.co_firstlineno
    assert note.startswith(f"  in the callback {failing.__name__} ({__file__}:{line})\n  at {__file__}:")
    assert re.search(rf":{line + 5}(, in <lambda>)?\n    call = lambda x: pure_callback", note)
    error.__traceback__ = None
    assert f(X * 0)[0] == 0


@pytest.mark.parametrize(
    ("returned", "error", "text"),
    [
        (X[:2], ValueError, r"gave float64\[2\], where pure_callback was told float64\[3\]"),
        (X[:1], ValueError, r"float64\[1\]"),
        (np.float64(1), ValueError, r"float64\[\]"),
        (X.astype(np.float32), TypeError, r"gave float32\[3\]"),
        (None, TypeError, r"gave object\[\]"),
        ("text", TypeError, "gave <U4"),
        (np.ma.masked_array(X, [0, 1, 0]), TypeError, "gave a masked array, whose mask would be lost"),
    ],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_results_of_other_types(returned, error, text, compiled):
    f = lambda x: pure_callback(lambda x: returned, Abstract((3,)), x)  # noqa: E731
    with pytest.raises(error, match=rf"(?s){text}.*at .*test_callbacks.py:\d+\n    f = lambda x:"):
        (graph_jit(f) if compiled else f)(X)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: pure_callback(3, x, x), "calls functions, not int"),
        (lambda x: pure_callback(np.sin, 1.0, x), r"write numbagraph.Abstract\(shape, dtype\)"),
        (lambda x: pure_callback(np.sin, x, "text"), "is given arrays and numbers"),
        (lambda x: pure_callback(np.sin, x, x, vmap_method="all"), "vmap_method is one of sequential"),
        (lambda x: pure_callback(np.sin, Abstract((3,), np.float16), x), "float16 is not supported"),
        (lambda x: pure_callback(np.sin, (x, x), x), "must return what result_types says, a tuple of 2 arrays"),
    ],
)
def test_wrong_calls(call, text):
    with pytest.raises((TraceError, ValueError, TypeError), match=text):
        graph_jit(call)(X)


def test_nothing_is_left_after_errors():
    def failing(x):
        raise ValueError(x.shape)

    def calls(count):
        for _ in range(count):
            with pytest.raises(ValueError, match="3"):
                f(X)

    f = graph_jit(lambda x: pure_callback(failing, x, x + 1) + 1)

    def growth():
        gc.collect()
        before, objects = sys.getrefcount(np.dtype(float)), len(gc.get_objects())
        calls(200)
        gc.collect()
        return abs(sys.getrefcount(np.dtype(float)) - before) < 20, len(gc.get_objects()) - objects < 100

    calls(20)
    assert (True, True) in [growth() for _ in range(3)]  # what is left by each call is left in each round


# ---- who else runs ----


def test_a_function_that_calls_the_compiled_one():
    def factorial(n):
        return n * compiled(n - 1) if n > 1 else np.float64(1)

    compiled = graph_jit(lambda n: np.sum(np.ones(3) * pure_callback(factorial, NUMBER, n)) / 3)
    assert compiled(5.0) == 120.0
    parallel = graph_jit(lambda x: np.sum(np.exp(x)), parallel=True)
    large = np.linspace(0, 1, 10**6)
    outer = graph_jit(lambda x: np.sum(x * pure_callback(parallel, NUMBER, x)), parallel=True)
    np.testing.assert_allclose(outer(large), large.sum() * np.exp(large).sum())


def test_several_threads():
    def slow(x):
        time.sleep(0.001)
        return x + threading.get_ident() * 0

    f = graph_jit(lambda x: fori_loop(0, 20, lambda i, c: pure_callback(slow, c, c) + 1, x))
    large = graph_jit(lambda x: np.sum(np.exp(pure_callback(slow, x, x))))
    f(X), large(np.zeros(10**5))
    failed = []

    def work(number):
        for _ in range(3):
            failed.append(not np.array_equal(f(X + number), X + number + 20))
            failed.append(large(np.full(10**5, float(number))) != large(np.full(10**5, float(number))))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == [False] * 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_a_function_that_forks():
    def forks(x):
        child = os.fork()
        if not child:
            code = 0 if graph_jit(lambda x: pure_callback(np.sin, x, x))(X)[1] == np.sin(1.0) else 1
            os._exit(code)
        return np.float64(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    assert graph_jit(lambda x: pure_callback(forks, NUMBER, x) + np.sum(np.exp(x)) * 0)(X) == 0


def test_numba_callers():
    def python(x):
        if x[0] < 0:
            raise Own(1, "negative")
        return np.sin(x)

    f = graph_jit(lambda x: pure_callback(python, x, x) + 1)

    @numba.njit(nogil=True)
    def caller(x):
        return f(x) * 2

    np.testing.assert_array_equal(caller(X), (np.sin(X) + 1) * 2)
    for _ in range(3):
        with pytest.raises(Own) as caught:
            caller(X - 1)
        assert "python" in [each.name for each in caught.traceback]
    np.testing.assert_array_equal(caller(X), (np.sin(X) + 1) * 2)


def test_callers_from_c(monkeypatch):
    def python(x):
        if x < 0:
            raise Own(1, "negative")
        return np.sqrt(x)

    printed = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: printed.append(each.exc_type))
    f = graph_jit(lambda x: pure_callback(python, NUMBER, x) + 1)
    call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.c_void_p)(f.address(1.0))
    result = np.empty(())
    assert (call(4.0, result.ctypes.data), result[()]) == (0, 3.0)
    assert call(-4.0, result.ctypes.data) == 2
    assert printed == [Own]
    assert (call(9.0, result.ctypes.data), result[()]) == (0, 4.0)
