"""Functions with Python's loops and branches under derivatives, batches, backends, and in other functions."""

import linecache
import threading

import numba
import numpy as np
import pytest

import numbagraph as ng

X = np.random.default_rng(0).normal(size=7)
SCALE = 1.0


def recurrence(x):
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        if x[i] > 0:
            out[i] = out[i - 1] * 0.5 + x[i] ** 2
        else:
            out[i] = np.sin(x[i])
    return out.sum()


def growing(x):
    total = 0.0
    while total < 10:
        total += x * x
    return total * x


def square_or_minus(x):
    if x < 0:
        return -x
    return x * x


def difference(function, x, h=1e-6):
    return (function(x + h) - function(x - h)) / (2 * h)


def test_gradients():
    unit = np.eye(len(X))
    expected = [difference(lambda t, row=row: recurrence(X + t * row), 0.0) for row in unit]
    np.testing.assert_allclose(ng.grad(recurrence)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ng.grad(growing)(1.7), difference(growing, 1.7), rtol=1e-6)
    np.testing.assert_allclose(ng.jvp(growing, (1.7,), (1.0,))[1], difference(growing, 1.7), rtol=1e-6)


def test_second_derivatives():
    def powers(x):
        value = x
        for _ in range(10):
            value = value * x
        return value

    assert ng.grad(ng.grad(powers))(1.1) == pytest.approx(110 * 1.1**9)


def test_batches():
    np.testing.assert_allclose(ng.vmap(square_or_minus)(X), [square_or_minus(x) for x in X])
    np.testing.assert_allclose(ng.vmap(recurrence)(np.stack([X, 2 * X])), [recurrence(X), recurrence(2 * X)])
    inputs = np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(ng.vmap(growing)(inputs), list(map(growing, inputs)))
    rows = ng.gufunc("(n)->()")(recurrence)
    np.testing.assert_allclose(rows(np.stack([X, X + 1])), [recurrence(X), recurrence(X + 1)])


def test_jax():
    pytest.importorskip("jax")
    assert ng.graph_jit(recurrence, backend="jax")(X) == pytest.approx(recurrence(X))
    assert ng.graph_jit(square_or_minus, backend="jax")(-2.0) == 2.0


def test_in_other_functions():
    inner, compiled = ng.graph_jit(growing), ng.graph_jit(recurrence)
    outer = ng.graph_jit(lambda x: recurrence(x) + inner(x[0] + 2))
    assert outer(X) == pytest.approx(recurrence(X) + growing(X[0] + 2))

    @numba.njit
    def caller(x):
        return compiled(x) + 1

    assert caller(X) == pytest.approx(recurrence(X) + 1)


def test_functions_that_numba_compiles():
    compiled = numba.njit(recurrence)
    assert ng.graph_jit(compiled)(X) == pytest.approx(recurrence(X))
    assert ng.graph_jit(lambda x: 2 * compiled(x))(X) == pytest.approx(2 * recurrence(X))


def test_functions_of_loops_may_have_branches():
    total, _ = ng.graph_jit(lambda x: ng.scan(lambda c, t: (c + (t if t > 0 else 0.0), None), 0.0, x))(X)
    assert total == pytest.approx(X[X > 0].sum())


def test_threads():
    compiled, found = ng.graph_jit(recurrence), []
    threads = [threading.Thread(target=lambda: found.append(compiled(X))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    np.testing.assert_allclose(found, recurrence(X))


def test_globals_are_read_again():
    global SCALE  # noqa: PLW0603

    def scaled(x):
        total = 0.0
        for i in range(3):
            if x[i] > -10:
                total += x[i] * SCALE
        return total

    compiled = ng.graph_jit(scaled)
    before = compiled(X)
    SCALE = 2.0
    assert compiled(X) == pytest.approx(2 * before)
    SCALE = 1.0


def recursive(n, x):
    if n == 0:
        return x
    return recursive(n - 1, x * 1.5 + 1)


def test_recursion():
    assert ng.graph_jit(recursive, static_argnames="n")(3, 1.0) == recursive(3, 1.0)
    compiled = ng.graph_jit(recursive)
    for n in (3, 0, 2):
        assert compiled(n, 1.0) == recursive(n, 1.0)
    with pytest.raises(ng.TraceError, match="calls itself"):
        compiled(np.array(3), 1.0)


def test_signatures():
    def total(x, *others, times=2, **named):
        for _ in range(times):
            for each in others:
                x = x + each
            if x > 0:
                x = x + named["offset"]
        return x

    expected = total(1.0, 2.0, 3.0, times=3, offset=4.0)
    assert ng.graph_jit(total)(1.0, 2.0, 3.0, times=3, offset=4.0) == expected


def test_methods():
    class Model:
        scale = 2.0

        def __init__(self):
            self.__step = 3.0

        def run(self, x, n):
            for i in range(n):
                x = self.step(x, i)
            return x

        def step(self, x, i):
            return x - self.scale if x > 10 else x + i * self.__step

    model = Model()
    assert ng.graph_jit(model.run)(3.0, 9) == model.run(3.0, 9)


# ---- refused ----


def refusal(function, *args, **options):
    with pytest.raises(ng.TraceError) as caught:
        ng.graph_jit(function, **options)(*args)
    return str(caught.value)


def test_convert_is_an_option():
    assert "the truth of a traced array" in refusal(square_or_minus, 1.0, convert=False)


def test_without_source_the_first_error_stays():
    assert "the truth of a traced array" in refusal(eval("lambda x: 1.0 if x > 0 else 2.0"), 2.0)


def test_changed_source(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(x):\n    return x + 1 if x > 0 else x\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    path.write_text("def f(x):\n    return x + 2 if x > 0 else x\n")
    linecache.checkcache(str(path))
    assert "the source of f has changed" in refusal(space["f"], 1.0)


def test_random_numbers():
    def noisy(x):
        for i in range(len(x)):
            x = x + np.random.random() * i  # noqa: NPY002
        return x

    assert "np.random.random answers otherwise" in refusal(noisy, X)


def test_globals_are_not_written():
    def counting(x):
        global SCALE  # noqa: PLW0603
        for _ in range(len(x)):
            SCALE = SCALE + 1
        return x

    assert "global" in refusal(counting, X)
    assert SCALE == 1.0


def test_objects_are_not_written_in_loops():
    class Counter:
        count = 0

    counter = Counter()

    def counting(x):
        for i in range(len(x)):
            counter.count = counter.count + i
        return x

    assert "count was changed while counting was traced" in refusal(counting, X)
    assert counter.count == 0


def test_lists_that_only_python_changes():
    seen = []

    def remembering(x):
        for i in range(len(x)):
            seen.append(i)  # noqa: PERF402
        return x

    assert "append() of a list" in refusal(remembering, X)
    assert seen == []
