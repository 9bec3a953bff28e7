"""What Python functions that are called from compiled code read and change of the world around them."""

import functools
import sys
import warnings

import numpy as np
import pytest

from numbagraph import grad, graph_jit, pure_callback, vmap
from numbagraph.jit import versions
from numbagraph.purity.environment import make_while_unchanged

X = np.arange(3.0)


class Log:
    def __init__(self):
        self.seen = []
        self.factor = 2.0

    def __call__(self, x):
        self.seen.append(x)
        return x * self.factor

    def double(self, x):
        self.seen.append(x)
        return x * 2


def of_an_object():
    log = Log()
    return lambda x: pure_callback(log, x, x), log.seen


def of_a_closure():
    seen = []

    def double(x):
        seen.append(x)
        return x * 2

    return lambda x: pure_callback(double, x, x), seen


def of_a_function_inside():
    seen = []

    def f(x):
        def double(x):
            seen.append(x)
            return x * 2

        return pure_callback(double, x, x)

    return f, seen


def of_two_functions_inside():
    seen = []

    def f(x):
        def double(x):
            seen.append(x)
            return x * 2

        def nothing(x):
            seen.append(x)
            return x * 0

        return pure_callback(double, x, x) + pure_callback(nothing, x, x)

    return f, seen


def of_two_lambdas_on_a_line():
    seen = []
    double = lambda x: seen.append(x) or x * 2  # noqa: E731
    return lambda y: pure_callback(lambda x: double(x), y, y) + pure_callback(lambda x: double(x) * 0, y, y), seen


def of_a_partial():
    seen = []

    def scaled(x, factor):
        seen.append(x)
        return x * factor

    double = functools.partial(scaled, factor=2)
    return lambda x: pure_callback(double, x, x), seen


def of_a_helper():
    seen = {}

    def remember(x):
        return seen.setdefault(x.tobytes(), x * 2)

    def double(x):
        return remember(x)

    return lambda x: pure_callback(double, x, x), seen


def of_a_count():
    counts = {"calls": 0}

    def double(x):
        counts["calls"] += 1
        counts[counts["calls"]] = x
        return x * 2

    return lambda x: pure_callback(double, x, x), counts


def of_a_loop():
    seen = []

    def double(x):
        seen.append(x)
        return x * 2

    def f(x):
        total = np.zeros(3)
        for _ in range(3):
            total = total + pure_callback(double, x, x)
        return total / 3

    return f, seen


def of_a_compiled_function():
    f, seen = of_a_closure()
    compiled = graph_jit(f)
    return lambda x: compiled(x) + 0, seen


def of_a_batch():
    f, seen = of_a_closure()
    return vmap(lambda x: f(x)), seen


def of_a_derivative():
    seen = []
    ones = np.ones(3)

    def total(x):
        return np.sum(pure_callback(lambda x: x * seen_more(x), x, x, vjp=lambda g, _, x: (2 * x * g,)))

    def seen_more(x):
        seen.append(x)
        return x

    return lambda x: grad(total)(x) * ones + total(x) * 0, seen


STATES = [
    of_an_object,
    of_a_closure,
    of_a_function_inside,
    of_two_functions_inside,
    of_two_lambdas_on_a_line,
    of_a_partial,
    of_a_helper,
    of_a_count,
    of_a_loop,
    of_a_compiled_function,
    of_a_batch,
    of_a_derivative,
]


@pytest.mark.parametrize("make", STATES)
def test_a_callback_changes_its_state_and_nothing_is_traced_again(make, monkeypatch):
    f, state = make()
    traces = []

    def counted(*args):
        traces.append(args)
        return make_while_unchanged(*args)

    monkeypatch.setattr(versions, "make_while_unchanged", counted)
    compiled = graph_jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in range(12):
            np.testing.assert_array_equal(compiled(X + step), 2 * (X + step))
            if step == 1:
                known, before = len(traces), len(state)
    assert len(traces) == known
    assert len(state) > before


def test_what_a_callback_reads_is_read_by_each_call():
    log = Log()
    f = graph_jit(lambda x: pure_callback(log, x, x))
    np.testing.assert_array_equal(f(X), X * 2)
    log.factor = 3.0
    np.testing.assert_array_equal(f(X), X * 3)


def scaled_twice():
    settings = {"factor": 1.0}

    def scaled(x):
        return x * settings["factor"]

    return settings, scaled


@pytest.mark.parametrize("first", ["traced", "called"])
def test_a_function_that_is_traced_as_well(first):
    settings, scaled = scaled_twice()

    def f(x):
        if first == "traced":
            return scaled(x) - pure_callback(scaled, x, x)
        return -pure_callback(scaled, x, x) + scaled(x)

    compiled = graph_jit(f)
    for factor in (1.0, 2.0, 3.0):
        settings["factor"] = factor
        np.testing.assert_array_equal(compiled(X), np.zeros(3))


def in_a_loop(settings):
    def scaled(x):
        total = np.zeros(3)
        for i in range(len(x)):
            if x[i] > 1:
                total[i] = x[i] * settings["factor"]
        return total

    return lambda x: scaled(x) - pure_callback(scaled, x, x)


def in_a_while_loop(settings):
    def grown(x):
        while np.sum(x) < 50:
            x = x + X * settings["factor"]
        return x

    return lambda x: grown(x) - pure_callback(grown, x, x)


def of_a_method(settings):
    class Scaled:
        def by(self, x, *, times=1.0):
            return x * sum(settings["factor"] * times for _ in range(2))

    scaled = Scaled()
    return lambda x: scaled.by(x, times=2.0) - pure_callback(functools.partial(scaled.by, times=2.0), x, x)


def of_a_generator(settings):
    def each(x):
        for one in x:
            yield one * settings["factor"]

    def scaled(x):
        total = 0.0
        for one in each(x):
            total = total + one
        return x * total

    return lambda x: scaled(x) - pure_callback(scaled, x, x)


def of_elements(settings):
    def scaled(x):
        return x * settings["factor"]

    return lambda x: vmap(scaled)(x) - pure_callback(scaled, x, x)


def of_a_function_that_was_differentiated_before(settings):
    def total(x):
        return np.sum(x**2) * settings["factor"]

    slope = grad(total)
    slope(X)
    return lambda x: np.sum(slope(x) * x) / 2 - pure_callback(total, np.float64(0), x) + np.zeros(3)


@pytest.mark.parametrize(
    "make",
    [
        in_a_loop,
        in_a_while_loop,
        of_a_method,
        of_a_generator,
        of_elements,
        of_a_function_that_was_differentiated_before,
    ],
)
def test_code_that_capture_rewrites_is_traced_as_well(make):
    settings = {"factor": 1.0}
    compiled = graph_jit(make(settings))
    for factor in (1.0, 2.0, 3.0):
        settings["factor"] = factor
        np.testing.assert_allclose(compiled(X), np.zeros(3), atol=1e-12)


def test_a_function_that_another_dtype_traces():
    settings, scaled = scaled_twice()

    def f(x):
        return scaled(x) if x.dtype == np.float32 else pure_callback(scaled, x, x)

    compiled = graph_jit(f)
    for factor in (1.0, 2.0, 3.0):
        settings["factor"] = factor
        for x in (X, X.astype(np.float32)):
            np.testing.assert_array_equal(compiled(x), x * factor)


def test_another_dtype_has_no_callback(monkeypatch):
    seen = []

    def double(x):
        seen.append(x)
        return x * 2

    def counted(*args):
        traces.append(args)
        return make_while_unchanged(*args)

    traces = []
    monkeypatch.setattr(versions, "make_while_unchanged", counted)
    compiled = graph_jit(lambda x: x * 2 if x.dtype == np.float32 else pure_callback(double, x, x))
    for _ in range(4):
        for x in (X, X.astype(np.float32)):
            np.testing.assert_array_equal(compiled(x), x * 2)
    assert len(traces) == 2
    assert len(seen) == 4


def test_a_compiled_function_that_was_traced_before_traces_it():
    settings, scaled = scaled_twice()
    inner = graph_jit(lambda x: scaled(x))
    outer = graph_jit(lambda x: inner(x) - pure_callback(scaled, x, x))
    np.testing.assert_array_equal(inner(X), X)
    for factor in (1.0, 2.0):
        settings["factor"] = factor
        np.testing.assert_array_equal(outer(X), np.zeros(3))


def test_a_name_of_a_callback_that_is_bound_anew():
    double = functools.partial(np.multiply, 2)

    def f(x):
        return pure_callback(double, x, x)

    compiled = graph_jit(f)
    np.testing.assert_array_equal(compiled(X), X * 2)
    double = functools.partial(np.multiply, 3)
    np.testing.assert_array_equal(compiled(X), X * 3)


def test_a_profiler_of_the_user_stays():
    f, seen = of_a_closure()
    events = []

    def see(*event):
        events.append(event)

    sys.setprofile(see)
    try:
        np.testing.assert_array_equal(graph_jit(f)(X), X * 2)
        assert sys.getprofile() is see
    finally:
        sys.setprofile(None)
    assert events
    assert len(seen) == 1


def test_no_profiler_is_left_behind():
    def f(x):
        pure_callback(np.negative, x, x)
        raise KeyError("x")

    with pytest.raises(KeyError):
        graph_jit(f)(X)
    assert sys.getprofile() is None
